"""The cast: how a figure stands, its colours, its face; and which artist draws which kind.

Belongs here: poses, coats, faces, the dispatch. Does not: animals, people and creatures themselves (`panel_animals.py`,
`panel_people.py`, `panel_creatures.py`). Figure units: feet at (0, 0), top of the head at y = -1, facing right.
"""

import math
from dataclasses import dataclass

from comic_pipeline.providers.offline.panel_looks import Eyes, Look, Rgb, light_of, mix, rgb
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.story_chance import Chance

WHITE: Rgb = (255, 255, 255)


@dataclass(frozen=True)
class Pose:
    """Where hands and feet are; `lean` in radians to the front; `lift` is how far the figure is off the ground."""

    left_hand: Point
    right_hand: Point
    left_foot: Point
    right_foot: Point
    lean: float = 0.0
    lift: float = 0.0


POSES = {
    "stand": Pose(left_hand=(-0.25, -0.2), right_hand=(0.25, -0.2), left_foot=(-0.09, 0.0), right_foot=(0.1, 0.0)),
    "wave": Pose(left_hand=(-0.25, -0.2), right_hand=(0.36, -0.6), left_foot=(-0.09, 0.0), right_foot=(0.1, 0.0), lean=0.03),
    "reach": Pose(left_hand=(-0.2, -0.19), right_hand=(0.38, -0.3), left_foot=(-0.12, 0.0), right_foot=(0.12, 0.0), lean=0.1),
    "cheer": Pose(left_hand=(-0.35, -0.62), right_hand=(0.36, -0.64), left_foot=(-0.14, -0.05), right_foot=(0.13, 0.0), lift=0.1),
    "run": Pose(
        left_hand=(-0.28, -0.36), right_hand=(0.31, -0.32), left_foot=(-0.23, -0.1), right_foot=(0.19, 0.0), lean=0.14, lift=0.03
    ),
    "walk": Pose(left_hand=(-0.2, -0.22), right_hand=(0.24, -0.24), left_foot=(-0.15, -0.02), right_foot=(0.14, 0.0), lean=0.05),
    "sit": Pose(left_hand=(-0.21, -0.14), right_hand=(0.2, -0.15), left_foot=(-0.19, 0.02), right_foot=(0.21, 0.02), lift=-0.07),
    "shield": Pose(left_hand=(-0.4, -0.42), right_hand=(0.4, -0.42), left_foot=(-0.16, 0.0), right_foot=(0.16, 0.0)),
    "fly": Pose(
        left_hand=(-0.4, -0.5), right_hand=(0.4, -0.5), left_foot=(-0.17, -0.05), right_foot=(-0.03, -0.02), lean=0.2, lift=0.24
    ),
    "think": Pose(left_hand=(-0.16, -0.24), right_hand=(0.15, -0.47), left_foot=(-0.09, 0.0), right_foot=(0.1, 0.0)),
    "look": Pose(left_hand=(-0.25, -0.22), right_hand=(0.26, -0.42), left_foot=(-0.1, 0.0), right_foot=(0.1, 0.0), lean=-0.05),
}


@dataclass(frozen=True)
class Coat:
    """A figure's colours and marks, the same in all shots of a project."""

    fur: Rgb
    belly: Rgb
    cloth: Rgb
    accent: Rgb
    skin: Rgb
    hair: Rgb
    eye: Rgb
    mark: int


_FURS = {
    "cat": "#f2a154 #8fa3b8 #e98f5a #5a5668 #f0b45f", "dog": "#d9a066 #f3e3cf #8d6748 #c68642",
    "rabbit": "#f7f1ea #d8c3b0 #f3d2d6",
    "fox": "#e8793a #f0efe9 #b9602c", "bear": "#9c6b45 #7b5236 #c89b6d", "panda": "#fbfaf6", "mouse": "#b8b3ae #c99a6b #e5dccf",
    "pig": "#f7b2b7", "tiger": "#f0a03c", "deer": "#d3a06d #f3eee4", "monkey": "#a9744f", "frog": "#7cbf5a #5fae7f",
    "dragon": "#5fb58a #6aa6d8 #d0605e #8e6bbf", "bird": "#5aa9e6 #f4a259 #e85d75 #8ac926", "duck": "#ffd65c #fbfaf4 #3d4a66",
    "fish": "#f28f3b #5aa9e6 #7d6bb5", "robot": "#cfd8dc #9fb8c9 #e6d3a3", "alien": "#9ad65c", "ghost": "#f4f4fb",
}  # fmt: skip
_HAIR = "#3b2a2a #6b4226 #23232e #a0622d #d8a44c #53354a"


def coat_of(kind: str, look: Look, *, identity: str, role: str) -> Coat:
    """The colours of the figure that plays `role` in the project `identity`."""
    chance = Chance("coat", identity, role, kind)
    fur = look.tone(rgb(chance.pick(_FURS.get(kind, "#e0b48a").split())))
    hair = look.tone(rgb("#c9c9cf" if kind in ("elder", "granny") else chance.pick(_HAIR.split())))
    natural = rgb(chance.pick(("#ffdcc2", "#f6c9a0", "#e0a878", "#ffe3d0")))
    skin = mix(look.tone(natural), natural, 0.55)
    main, second = (look.figure, look.accent) if role == "hero" else (look.accent, look.figure)
    return Coat(
        fur=fur,
        belly=mix(fur, WHITE, 0.62),
        cloth=main,
        accent=second,
        skin=skin,
        hair=hair,
        eye=mix(second, (20, 20, 50), 0.35),
        mark=chance.whole(0, 2),
    )


@dataclass(frozen=True)
class Face:
    """Where a face is and how large: `size` is half the head's width. `toward` shifts the features to where the figure looks."""

    middle: Point
    size: float
    skin: Rgb
    mood: str
    toward: float = 0.12


def draw_face(pen: Pen, look: Look, face: Face, coat: Coat, *, mouth: bool = True) -> None:
    """Eyes, brows, cheeks and (unless a muzzle brings its own) a mouth, in the style's manner."""
    x, y, s = face.middle[0] + face.toward * face.size, face.middle[1], face.size
    for side in (-1, 1):
        _eye(pen, look, (x + side * 0.42 * s, y), s, coat, face)
        _brow(pen, look, (x + side * 0.42 * s, y - 0.36 * s), s, side=side, mood=face.mood)
        if look.key not in ("ink", "suspense"):
            pen.oval((x + side * 0.66 * s, y + 0.33 * s), 0.15 * s, 0.09 * s, mix(face.skin, (244, 96, 108), 0.42), line=0)
    if mouth:
        draw_mouth(pen, look, (x, y + 0.42 * s), s, mood=face.mood)


def _eye(pen: Pen, look: Look, at: Point, s: float, coat: Coat, face: Face) -> None:
    x, y = at
    dark = (28, 22, 34)
    if face.mood == "happy" and look.eyes is not Eyes.DOT:
        ink = look.ink if light_of(face.skin) > 90 else (250, 245, 235)
        pen.curve([(x - 0.15 * s, y + 0.05 * s), (x, y - 0.11 * s), (x + 0.15 * s, y + 0.05 * s)], ink, width=0.07 * s)
        return
    wide = 1.2 if face.mood == "shock" else 1.0
    if look.eyes is Eyes.DOT:
        pen.oval((x, y), 0.23 * s * wide, 0.27 * s * wide, WHITE, line=0.8)
        dot = 0.07 * s if face.mood == "shock" else 0.11 * s
        pen.oval((x + 0.05 * s, y + 0.02 * s), dot, dot * 1.15, dark, line=0)
        pen.oval((x + 0.08 * s, y - 0.03 * s), 0.03 * s, 0.03 * s, WHITE, line=0)
    elif look.eyes is Eyes.SLIT:
        white = (250, 246, 232) if light_of(face.skin) < 200 else WHITE
        almond = [
            (x - 0.2 * s, y + 0.03 * s),
            (x - 0.02 * s, y - 0.14 * s * wide),
            (x + 0.2 * s, y - 0.04 * s),
            (x, y + 0.12 * s * wide),
        ]
        pen.blob(almond, white, line=0.7)
        pen.oval((x + 0.03 * s, y - 0.01 * s), 0.07 * s, 0.11 * s, dark, line=0)
        pen.oval((x + 0.05 * s, y - 0.05 * s), 0.025 * s, 0.03 * s, WHITE, line=0)
    else:
        pen.oval((x, y), 0.2 * s * wide, 0.27 * s * wide, WHITE, line=0.6)
        pen.oval((x + 0.02 * s, y + 0.01 * s), 0.165 * s, 0.235 * s, dark, line=0)
        pen.oval((x + 0.02 * s, y + 0.1 * s), 0.12 * s, 0.12 * s, coat.eye, line=0)
        pen.oval((x + 0.07 * s, y - 0.08 * s), 0.065 * s, 0.075 * s, WHITE, line=0)
        pen.oval((x - 0.05 * s, y + 0.13 * s), 0.033 * s, 0.033 * s, WHITE, line=0)


def _brow(pen: Pen, look: Look, at: Point, s: float, *, side: int, mood: str) -> None:
    if mood not in ("sad", "shock", "brave"):
        return
    x, y = at
    inner, outer = {"sad": (-0.09, 0.04), "shock": (-0.04, -0.04), "brave": (0.1, -0.04)}[mood]
    points = [
        (x - side * 0.15 * s, y + inner * s),
        (x, y + (inner + outer) / 2 * s - 0.02 * s),
        (x + side * 0.15 * s, y + outer * s),
    ]
    pen.curve(points, mix(look.ink, (90, 60, 60), 0.2), width=0.06 * s)


def draw_mouth(pen: Pen, look: Look, at: Point, s: float, *, mood: str) -> None:
    """A mouth of the mood, for a head half as wide as `s`."""
    x, y = at
    red = mix(look.tone((200, 70, 80)), look.ink, 0.1)
    if mood == "happy":
        pen.blob(
            [
                (x - 0.17 * s, y - 0.04 * s),
                (x, y - 0.01 * s),
                (x + 0.17 * s, y - 0.04 * s),
                (x + 0.1 * s, y + 0.14 * s),
                (x - 0.1 * s, y + 0.14 * s),
            ],
            red,
            line=0.7,
        )
    elif mood == "shock":
        pen.oval((x, y + 0.06 * s), 0.09 * s, 0.12 * s, red, line=0.7)
    elif mood == "sad":
        pen.curve([(x - 0.11 * s, y + 0.08 * s), (x, y + 0.01 * s), (x + 0.11 * s, y + 0.08 * s)], look.ink, width=0.05 * s)
    elif mood == "brave":
        pen.curve([(x - 0.1 * s, y + 0.03 * s), (x + 0.1 * s, y)], look.ink, width=0.055 * s)
    else:
        pen.curve([(x - 0.12 * s, y - 0.01 * s), (x, y + 0.07 * s), (x + 0.12 * s, y - 0.01 * s)], look.ink, width=0.05 * s)


def bent(start: Point, end: Point, bend: float) -> list[Point]:
    """Shoulder, elbow, hand: `bend` pushes the elbow to the side."""
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    length = math.hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    return [start, (middle[0] + bend * (end[1] - start[1]) / length, middle[1] - bend * (end[0] - start[0]) / length), end]


def draw_emotion(pen: Pen, look: Look, *, mood: str) -> None:
    """The small signs beside a head that comics use: rays for a start, a drop for sorrow, sparks for joy."""
    bold = look.figure if look.key in ("cyber", "suspense") else look.ink
    if mood == "shock":
        for angle in (-1.0, -0.68, -0.36):
            out = (math.cos(angle), math.sin(angle))
            tip, base = (0.43 * out[0], -0.72 + 0.43 * out[1]), (0.57 * out[0], -0.72 + 0.57 * out[1])
            across = (-0.018 * out[1], 0.018 * out[0])
            wedge = [tip, (base[0] + across[0], base[1] + across[1]), (base[0] - across[0], base[1] - across[1])]
            pen.shape(wedge, mix(bold, look.accent, 0.3), line=0.3)
    elif mood == "sad":
        pen.blob(
            [(0.3, -0.98), (0.345, -0.87), (0.3, -0.84), (0.255, -0.87)], mix(look.tone((120, 190, 240)), WHITE, 0.2), line=0.7
        )
    elif mood == "happy":
        for x, y, size in ((0.4, -0.96, 0.06), (0.47, -0.83, 0.035)):
            pen.star((x, y), size, mix(look.light, (255, 220, 110), 0.5), inner=0.3, tips=4, line=0.5)
