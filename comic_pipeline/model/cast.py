"""Who is who: one person has one name, and the narrator is nobody on screen.

Models call one person by three names, and a narrator "I". Voices and portraits follow names, so names are settled first.
"""

import re
from collections.abc import Iterable, Mapping

from comic_pipeline.model.storyboard import Shot, Storyboard

_NARRATOR = frozenset({"narrator", "narration", "voiceover", "voice over", "i", "me", "旁白", "画外音", "解说", "叙述者", "我"})
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "lady", "captain"})
_TITLES_ZH = ("先生", "女士", "小姐", "太太", "老师", "医生", "同学")


def settle_cast(storyboard: Storyboard) -> Storyboard:
    """The storyboard with every speaker under one name, and the narrator's dialogue as narration."""
    names = merge_names(shot.speaker for shot in storyboard.shots if shot.speaker)
    return storyboard.model_copy(update={"shots": tuple(_settle(shot, names) for shot in storyboard.shots)})


def merge_names(names: Iterable[str]) -> dict[str, str]:
    """Each name that occurs, mapped to the fullest name of the same person; to "" for the narrator.

    Two names are one person's when the words of one, without titles, are among the words of the other. A word that could be two
    different people's merges with neither.
    """
    distinct = list(dict.fromkeys(names))
    people = [name for name in distinct if not _is_narrator(name)]
    words = {name: _words(name) for name in people}
    merged = {name: "" for name in distinct if _is_narrator(name)}
    for name in people:
        fuller = [other for other in people if words[name] < words[other]]
        widest = [other for other in fuller if not any(words[other] < words[third] for third in fuller)]
        same = [other for other in people if words[other] == words[name]]
        kinds = {frozenset(words[other]) for other in widest}
        chosen = widest if len(kinds) == 1 else same
        merged[name] = max(chosen, key=lambda other: (len(other), -people.index(other)))
    return merged


def _settle(shot: Shot, names: Mapping[str, str]) -> Shot:
    if not shot.speaker:
        return shot
    name = names[shot.speaker]
    if name or not shot.dialogue:
        return shot.model_copy(update={"speaker": name})
    # What the narrator says is not spoken by anybody in the picture.
    return shot.model_copy(update={"speaker": "", "dialogue": "", "narration": shot.narration or shot.dialogue})


def _is_narrator(name: str) -> bool:
    return name.strip().lower() in _NARRATOR


def _words(name: str) -> frozenset[str]:
    plain = name
    for title in _TITLES_ZH:
        plain = plain.removesuffix(title)
    found = re.findall(r"\w+", plain.lower())
    return frozenset(word for word in found if word not in _TITLES) or frozenset(found) or frozenset({name.lower()})
