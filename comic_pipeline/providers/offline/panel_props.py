"""Things: what lies, stands, floats or is held in a panel. Any of them can have a face when it is somebody in the story.

Belongs here: one small drawing a thing and where such a thing goes. Does not: where exactly (`panels.py`). Units as for
figures: it stands on (0, 0) and is 1 high.
"""

import math
from collections.abc import Callable

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Face, draw_face
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

HELD = frozenset({"sword", "umbrella", "lantern", "book", "letter", "balloon"})
AIRBORNE = frozenset({"star", "note", "butterfly", "heart", "kite", "sparkle", "balloon", "rocket", "crystal"})
GLOWING = frozenset({"star", "lantern", "crystal", "sparkle", "butterfly"})
GOLD: Rgb = (255, 209, 92)


def draw_prop(pen: Pen, look: Look, *, kind: str, colour: Rgb) -> None:
    """A thing of a kind in `PROPS`, mainly in `colour`."""
    PROPS[kind](pen, look, colour)


def draw_living_prop(pen: Pen, look: Look, coat: Coat, *, kind: str, mood: str) -> None:
    """A thing that is a character: with a face in its middle and two small hands."""
    colour = look.tone(GOLD) if kind in ("star", "lantern") else coat.cloth
    for side in (-1, 1):
        pen.limb([(side * 0.2, -0.42), (side * 0.5, -0.5 if side > 0 else -0.34)], 0.075, mix(colour, WHITE, 0.2))
    PROPS[kind](pen, look, colour)
    middle, size = _FACES.get(kind, ((0.0, -0.5), 0.2))
    draw_face(pen, look, Face(middle=middle, size=size, skin=colour, mood=mood, toward=0.05), coat)


def _star(pen: Pen, look: Look, colour: Rgb) -> None:
    ring: list[Point] = []
    for step in range(10):
        reach = 0.54 if step % 2 == 0 else 0.33
        angle = math.pi * step / 5 - math.pi / 2
        ring.append((reach * math.cos(angle), -0.5 + reach * math.sin(angle)))
    pen.blob(ring, look.tone(GOLD) if look.key != "ink" else mix(colour, look.paper, 0.35))


def _flower(pen: Pen, look: Look, colour: Rgb) -> None:
    green = look.tone((86, 158, 84))
    pen.limb([(0.0, 0.0), (0.03, -0.3), (0.0, -0.62)], 0.05, green, line=0.7)
    for side in (-1, 1):
        pen.blob([(0.0, -0.12), (side * 0.14, -0.3), (side * 0.3, -0.33), (side * 0.2, -0.18)], green, line=0.7)
    for step in range(6):
        angle = math.pi * step / 3
        pen.oval((0.2 * math.cos(angle), -0.72 + 0.2 * math.sin(angle)), 0.145, 0.145, colour, line=0.8)
    pen.oval((0.0, -0.72), 0.135, 0.135, look.tone(GOLD), line=0.8)


def _book(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.blob([(-0.55, -0.1), (-0.5, -0.62), (0.0, -0.5), (0.5, -0.62), (0.55, -0.1), (0.0, 0.0)], colour)
    for side in (-1, 1):
        pen.blob(
            [(0.0, -0.08), (0.0, -0.56), (side * 0.25, -0.68), (side * 0.46, -0.62), (side * 0.48, -0.16), (side * 0.24, -0.18)],
            mix(look.paper, WHITE, 0.4),
            line=0.8,
        )
        for row in range(3):
            pen.curve(
                [(side * 0.1, -0.5 + row * 0.12), (side * 0.38, -0.53 + row * 0.12)], mix(look.ink, look.paper, 0.4), line=0.5
            )


def _boat(pen: Pen, look: Look, colour: Rgb) -> None:
    wood = look.tone((156, 104, 62))
    pen.limb([(0.0, -0.2), (0.0, -1.0)], 0.04, wood, line=0.7)
    pen.blob([(0.05, -0.96), (0.5, -0.5), (0.52, -0.32), (0.05, -0.3)], mix(colour, WHITE, 0.45))
    pen.blob([(-0.05, -0.86), (-0.36, -0.36), (-0.05, -0.32)], mix(colour, WHITE, 0.7))
    pen.blob([(-0.7, -0.25), (0.0, -0.2), (0.72, -0.28), (0.5, 0.0), (-0.48, 0.0)], wood)
    pen.curve([(-0.6, -0.14), (0.0, -0.1), (0.62, -0.16)], mix(wood, (0, 0, 0), 0.35), line=0.7)


def _sword(pen: Pen, look: Look, colour: Rgb) -> None:
    steel = mix((214, 224, 236), look.light, 0.15)
    pen.shape([(-0.045, -0.2), (0.045, -0.2), (0.035, -0.95), (0.0, -1.06), (-0.035, -0.95)], steel)
    pen.curve([(0.0, -0.22), (0.0, -0.94)], mix(steel, (60, 70, 90), 0.4), line=0.6)
    pen.limb([(0.0, 0.0), (0.0, -0.18)], 0.06, look.tone((120, 72, 44)))
    pen.limb([(-0.14, -0.2), (0.14, -0.2)], 0.05, look.tone(GOLD))
    pen.oval((0.0, 0.02), 0.045, 0.045, colour)


def _umbrella(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.limb([(0.0, -0.9), (0.0, -0.06), (-0.06, 0.03), (-0.13, -0.03)], 0.035, look.tone((110, 74, 52)), line=0.7)
    hem = [(0.62, -0.62), (0.4, -0.68), (0.2, -0.6), (0.0, -0.67), (-0.2, -0.6), (-0.4, -0.68), (-0.62, -0.62)]
    pen.blob([(-0.5, -0.86), (0.0, -1.06), (0.5, -0.86), *hem], colour)
    for x in (-0.2, 0.2):
        pen.curve([(0.0, -1.04), (x * 0.9, -0.86), (x, -0.6)], mix(colour, (0, 0, 0), 0.35), line=0.7)


def _lantern(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.curve([(0.0, -1.05), (0.0, -0.84)], look.ink, line=0.9)
    pen.blob(
        [(-0.2, -0.78), (-0.34, -0.5), (-0.2, -0.2), (0.2, -0.2), (0.34, -0.5), (0.2, -0.78)],
        mix(look.tone((255, 120, 80)), look.tone(GOLD), 0.35),
    )
    for x in (-0.13, 0.13):
        pen.curve([(x * 0.9, -0.77), (x * 1.6, -0.5), (x * 0.9, -0.21)], mix(colour, (120, 30, 20), 0.4), line=0.6)
    for y in (-0.84, -0.22):
        pen.box((-0.18, y), 0.36, 0.07, look.tone((110, 62, 44)), line=0.8)
    pen.limb([(0.0, -0.14), (0.0, 0.0)], 0.04, colour, line=0.5)


def _balloon(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.curve([(0.0, 0.0), (0.06, -0.18), (0.0, -0.4)], look.ink, line=0.8)
    pen.blob([(0.0, -0.4), (-0.26, -0.62), (-0.24, -0.9), (0.0, -1.02), (0.24, -0.9), (0.26, -0.62)], colour)
    pen.blob([(-0.15, -0.76), (-0.12, -0.9), (-0.05, -0.94), (-0.08, -0.82)], mix(colour, WHITE, 0.6), line=0)


def _note(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.limb([(0.12, -0.2), (0.12, -0.95), (0.34, -0.78)], 0.075, mix(colour, look.light, 0.15), line=0.9)
    pen.oval((-0.02, -0.17), 0.18, 0.14, colour, turn=-0.35, line=0.9)


def _letter(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.box((-0.5, -0.7), 1.0, 0.66, mix(look.paper, WHITE, 0.4))
    pen.shape([(-0.5, -0.7), (0.0, -0.3), (0.5, -0.7)], mix(look.paper, WHITE, 0.2), line=0.8)
    pen.oval((0.0, -0.34), 0.1, 0.1, colour, line=0.7)


def _heart(pen: Pen, look: Look, colour: Rgb) -> None:
    red = mix(look.tone((236, 72, 96)), colour, 0.2)
    pen.blob(
        [(0.0, -0.05), (-0.42, -0.46), (-0.4, -0.78), (-0.16, -0.86), (0.0, -0.68), (0.16, -0.86), (0.4, -0.78), (0.42, -0.46)],
        red,
    )


def _cake(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.oval((0.0, -0.06), 0.6, 0.1, mix(look.paper, WHITE, 0.5))
    pen.blob([(-0.42, -0.52), (-0.44, -0.1), (0.0, -0.02), (0.44, -0.1), (0.42, -0.52)], look.tone((244, 205, 150)))
    pen.blob(
        [
            (-0.43, -0.56),
            (-0.43, -0.36),
            (-0.28, -0.26),
            (-0.14, -0.38),
            (0.02, -0.24),
            (0.18, -0.38),
            (0.3, -0.28),
            (0.43, -0.38),
            (0.43, -0.56),
            (0.0, -0.68),
        ],
        mix(colour, WHITE, 0.55),
    )
    pen.oval((0.0, -0.72), 0.1, 0.1, look.tone((225, 60, 70)), line=0.8)


def _butterfly(pen: Pen, look: Look, colour: Rgb) -> None:
    for side in (-1, 1):
        pen.blob([(0.0, -0.5), (side * 0.3, -0.92), (side * 0.52, -0.8), (side * 0.36, -0.48)], colour, line=0.8)
        pen.blob(
            [(0.0, -0.48), (side * 0.34, -0.42), (side * 0.38, -0.18), (side * 0.14, -0.2)], mix(colour, WHITE, 0.4), line=0.8
        )
    pen.limb([(0.0, -0.7), (0.0, -0.24)], 0.06, look.ink, line=0)


def _chest(pen: Pen, look: Look, colour: Rgb) -> None:
    wood = look.tone((150, 92, 52))
    pen.blob([(-0.5, -0.42), (-0.42, -0.72), (0.0, -0.8), (0.42, -0.72), (0.5, -0.42)], mix(wood, WHITE, 0.12))
    pen.box((-0.5, -0.42), 1.0, 0.42, wood)
    for x in (-0.36, 0.28):
        pen.box((x, -0.74), 0.08, 0.74, look.tone(GOLD), line=0.6)
    pen.box((-0.09, -0.5), 0.18, 0.18, mix(look.tone(GOLD), colour, 0.2), line=0.8)


def _rocket(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.blob([(-0.08, -0.1), (0.0, 0.1), (0.08, -0.1)], look.tone(GOLD), line=0.7)
    for side in (-1, 1):
        pen.blob([(side * 0.12, -0.36), (side * 0.34, -0.1), (side * 0.12, -0.12)], colour)
    pen.blob([(0.0, -1.08), (-0.2, -0.7), (-0.16, -0.12), (0.16, -0.12), (0.2, -0.7)], mix(look.paper, WHITE, 0.5))
    pen.oval((0.0, -0.62), 0.1, 0.1, mix(colour, (90, 190, 230), 0.6))


def _tree(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.shape([(-0.09, 0.0), (-0.05, -0.5), (0.05, -0.5), (0.09, 0.0)], look.tone((122, 82, 54)))
    pen.blob(
        [(-0.28, -0.44), (-0.36, -0.7), (-0.16, -0.96), (0.16, -0.96), (0.36, -0.7), (0.28, -0.44), (0.0, -0.38)],
        mix(look.tone((90, 160, 90)), colour, 0.12),
    )


def _kite(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.curve([(0.0, -0.3), (-0.2, -0.12), (-0.05, 0.0), (-0.25, 0.2)], look.ink, line=0.8)
    pen.shape([(0.0, -1.05), (0.38, -0.7), (0.0, -0.25), (-0.38, -0.7)], colour)
    pen.shape([(0.0, -1.05), (0.38, -0.7), (0.0, -0.7)], mix(colour, WHITE, 0.5), line=0.6)


def _clock(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.oval((0.0, -0.5), 0.46, 0.46, mix(look.tone(GOLD), colour, 0.25))
    pen.oval((0.0, -0.5), 0.36, 0.36, mix(look.paper, WHITE, 0.4), line=0.8)
    pen.limb([(0.0, -0.5), (0.0, -0.78)], 0.035, look.ink, line=0)
    pen.limb([(0.0, -0.5), (0.18, -0.42)], 0.045, look.ink, line=0)


def _crystal(pen: Pen, look: Look, colour: Rgb) -> None:
    bright = mix(colour, look.light, 0.45)
    pen.shape([(0.0, -1.0), (-0.28, -0.66), (-0.2, -0.1), (0.0, 0.0), (0.2, -0.1), (0.28, -0.66)], bright)
    pen.shape([(0.0, -1.0), (-0.28, -0.66), (0.0, -0.6)], mix(bright, WHITE, 0.55), line=0.6)
    pen.shape([(0.0, -0.6), (0.28, -0.66), (0.2, -0.1), (0.0, 0.0)], mix(bright, (40, 20, 90), 0.25), line=0.6)


def _sparkle(pen: Pen, look: Look, colour: Rgb) -> None:
    pen.star((0.0, -0.5), 0.5, mix(look.light, WHITE, 0.5), inner=0.2, tips=4, line=0)
    pen.star((0.34, -0.9), 0.2, mix(colour, WHITE, 0.6), inner=0.22, tips=4, line=0)


PROPS: dict[str, Callable[[Pen, Look, Rgb], None]] = {
    "star": _star, "flower": _flower, "book": _book, "boat": _boat, "sword": _sword, "umbrella": _umbrella, "lantern": _lantern,
    "balloon": _balloon, "note": _note, "letter": _letter, "heart": _heart, "cake": _cake, "butterfly": _butterfly,
    "chest": _chest,
    "rocket": _rocket, "tree": _tree, "kite": _kite, "clock": _clock, "crystal": _crystal, "sparkle": _sparkle,
}  # fmt: skip
_FACES: dict[str, tuple[Point, float]] = {
    "star": ((0.0, -0.5), 0.25),
    "flower": ((0.0, -0.73), 0.15),
    "book": ((0.0, -0.36), 0.3),
    "boat": ((0.0, -0.16), 0.2),
    "letter": ((0.0, -0.54), 0.16),
    "clock": ((0.0, -0.52), 0.28),
    "lantern": ((0.0, -0.5), 0.24),
    "tree": ((0.0, -0.68), 0.24),
    "cake": ((0.0, -0.22), 0.26),
    "balloon": ((0.0, -0.72), 0.18),
}
