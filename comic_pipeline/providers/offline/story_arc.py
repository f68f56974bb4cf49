"""The shape of a story: which beats a film of so many shots has, and what a language must supply to tell them.

Belongs here: beats, their order, the types of the phrase books. Does not: the phrases (`story_arc_zh.py`,
`story_arc_en.py`), filling them in (`story.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

# In order of time; the number says from how many shots on a beat is told.
_BEATS = (
    ("opening", 2),
    ("routine", 8),
    ("sign", 9),
    ("encounter", 1),
    ("talk", 6),
    ("journey", 7),
    ("crisis", 4),
    ("doubt", 10),
    ("attempt", 11),
    ("turn", 5),
    ("farewell", 12),
    ("ending", 3),
)

# Wide, medium, near: how the camera changes from shot to shot; the last shot is wide.
_NEARNESS = (0, 1, 2, 1, 0, 2, 1)


@dataclass(frozen=True)
class Line:
    """One spoken line. `who` is `hero`, `friend` (whom the hero meets) or empty for the narrator."""

    who: str
    text: str


@dataclass(frozen=True)
class Beat:
    """What can be seen and what can be said at one point of the arc."""

    scenes: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Flavour:
    """What a style adds: light, the trouble, how it turns, a last word; and what an idea may leave out."""

    lights: tuple[str, ...]
    troubles: tuple[str, ...]
    turns: tuple[str, ...]
    codas: tuple[str, ...]
    heroes: tuple[str, ...]
    places: tuple[str, ...]
    deeds: tuple[str, ...]
    friends: tuple[str, ...]


@dataclass(frozen=True)
class PhraseBook:
    """All that is needed to tell a story in one language.

    `moves` are camera moves, `framings` by how near the camera stands; `about` opens a film whose idea is only a theme.
    """

    beats: Mapping[str, Beat]
    flavours: Mapping[str, Flavour]
    titles: tuple[str, ...]
    moves: tuple[str, ...]
    framings: tuple[str, ...]
    after: tuple[str, ...]
    about: str


def plan_beats(shots: int) -> tuple[str, ...]:
    """The beats of a film of `shots` shots (at least 1) in order of time. Beyond 12 shots the journey gets longer."""
    chosen = [name for name, least in _BEATS if least <= max(shots, 1)]
    extra = shots - len(chosen)
    at = chosen.index("journey") if "journey" in chosen else 0
    return tuple(chosen[:at] + ["journey"] * max(extra, 0) + chosen[at:])


def plan_nearness(shots: int) -> list[int]:
    """How near the camera stands in each of `shots` shots: 0 wide, 1 medium, 2 near."""
    near = [_NEARNESS[seq % len(_NEARNESS)] for seq in range(shots)]
    return [*near[:-1], 0] if shots > 3 else near


def told(*lines: str) -> tuple[Line, ...]:
    """Lines written as `hero: …`, `friend: …`, or plain for the narrator."""
    parsed = []
    for line in lines:
        who, mark, text = line.partition(": ")
        parsed.append(Line(who=who, text=text) if mark and who in ("hero", "friend") else Line(who="", text=line))
    return tuple(parsed)
