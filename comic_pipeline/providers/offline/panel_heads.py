"""The heads of animals that walk upright: ears, horns and antlers, markings, muzzle, whiskers.

Belongs here: what sits on the neck of `panel_animals.py`. Does not: eyes, brows and mouths (`panel_figures.py`).
"""

from dataclasses import dataclass

from comic_pipeline.providers.offline.panel_figures import Coat, Face, draw_face, draw_mouth
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, light_of, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

# Its middle and half its width and height, in units of the figure's height.
HEAD: Point = (0.0, -0.69)
_RX, _RY = 0.275, 0.235


@dataclass(frozen=True)
class Species:
    """What makes a kind itself: the names of its parts."""

    ears: str
    muzzle: str
    tail: str
    pattern: str = ""


def draw_head(pen: Pen, look: Look, coat: Coat, *, species: Species, mood: str) -> None:
    """Ears first, so that the head stands before them; then what is on it."""
    _ears(pen, coat, species.ears)
    pen.blob(_head_shape(), coat.fur)
    _pattern(pen, coat, species.pattern)
    _muzzle(pen, look, coat, species.muzzle, mood=mood)


def _head_shape() -> list[Point]:
    x, y = HEAD
    return [
        (x - _RX, y + 0.02), (x - _RX * 0.8, y - _RY * 0.7), (x - _RX * 0.3, y - _RY), (x + _RX * 0.3, y - _RY),
        (x + _RX * 0.8, y - _RY * 0.7),
        (x + _RX, y + 0.02), (x + _RX * 0.86, y + _RY * 0.66), (x + _RX * 0.35, y + _RY * 0.98),
        (x - _RX * 0.35, y + _RY * 0.98), (x - _RX * 0.86, y + _RY * 0.66),
    ]  # fmt: skip


def _ears(pen: Pen, coat: Coat, ears: str) -> None:
    pink = mix(coat.fur, (250, 150, 160), 0.5)
    x, y = HEAD
    for side in (-1, 1):
        at = x + side * 0.17
        if ears in ("pointed", "large"):
            tall = 0.2 if ears == "pointed" else 0.27
            pen.blob(
                [
                    (at - side * 0.1, y - 0.18),
                    (at + side * 0.02, y - 0.2 - tall * 0.7),
                    (at + side * 0.075, y - 0.2 - tall * 0.86),
                    (at + side * 0.1, y - 0.08),
                ],
                coat.fur,
            )
            pen.blob(
                [(at - side * 0.045, y - 0.19), (at + side * 0.05, y - 0.18 - tall * 0.62), (at + side * 0.07, y - 0.12)],
                pink,
                line=0,
            )
        elif ears == "tall":
            tilt = 0.1 * side + 0.06
            pen.oval((at * 0.75 + tilt * 0.5, y - 0.4), 0.072, 0.21, coat.fur, turn=tilt)
            pen.oval((at * 0.75 + tilt * 0.5, y - 0.39), 0.036, 0.15, pink, turn=tilt, line=0)
        elif ears in ("round", "big round"):
            r, out = (0.095, 0.02) if ears == "round" else (0.14, 0.07)
            black = light_of(coat.fur) > 240
            pen.oval((at + side * out, y - 0.2), r, r, (52, 48, 54) if black else coat.fur)
            pen.oval((at + side * out, y - 0.2), r * 0.6, r * 0.6, (84, 78, 86) if black else pink, line=0)
        elif ears == "folded":
            pen.shape(
                [(at - side * 0.08, y - 0.2), (at + side * 0.1, y - 0.3), (at + side * 0.1, y - 0.08)],
                mix(coat.fur, (240, 110, 130), 0.25),
            )
        else:
            _odd_ears(pen, coat, ears, side=side)


def _odd_ears(pen: Pen, coat: Coat, ears: str, *, side: int) -> None:
    x, y = HEAD
    at = x + side * 0.17
    if ears == "floppy":
        brown = mix(coat.fur, (90, 50, 30), 0.4)
        pen.blob(
            [
                (at, y - 0.22),
                (at + side * 0.13, y - 0.16),
                (at + side * 0.17, y + 0.06),
                (at + side * 0.1, y + 0.13),
                (at + side * 0.05, y - 0.04),
            ],
            brown,
        )
    elif ears == "antlers":
        pen.blob([(at + side * 0.04, y - 0.1), (at + side * 0.2, y - 0.2), (at + side * 0.17, y - 0.08)], coat.fur)
        horn = mix(coat.fur, (80, 50, 30), 0.5)
        pen.limb([(at * 0.5, y - 0.2), (at * 0.9, y - 0.36), (at * 0.8, y - 0.48)], 0.03, horn)
        pen.limb([(at * 0.85, y - 0.35), (at * 1.45, y - 0.42)], 0.026, horn)
    elif ears == "horns":
        pen.blob(
            [(at - side * 0.08, y - 0.19), (at, y - 0.36), (at + side * 0.08, y - 0.42), (at + side * 0.03, y - 0.17)],
            mix(coat.belly, (240, 200, 120), 0.5),
        )
        pen.blob(
            [
                (at + side * 0.08, y - 0.08),
                (at + side * 0.22, y - 0.14),
                (at + side * 0.19, y - 0.02),
                (at + side * 0.2, y + 0.06),
                (at + side * 0.07, y + 0.04),
            ],
            coat.cloth,
        )
    elif ears == "none":
        pen.oval((at * 0.85, y - 0.2), 0.1, 0.1, coat.fur)


def _pattern(pen: Pen, coat: Coat, pattern: str) -> None:
    x, y = HEAD
    dark = mix(coat.fur, (60, 36, 30), 0.42)
    if pattern == "panda":
        for side in (-1, 1):
            pen.oval((x + 0.03 + side * 0.12, y + 0.01), 0.075, 0.09, (52, 48, 54), turn=side * 0.4, line=0)
    elif pattern in ("stripes", "tabby") and (pattern == "stripes" or coat.mark != 2):
        for offset in (-0.07, 0.0, 0.07):
            pen.shape(
                [
                    (x + offset - 0.016, y - 0.235 + abs(offset) * 0.2),
                    (x + offset + 0.016, y - 0.235 + abs(offset) * 0.2),
                    (x + offset * 0.8, y - 0.13),
                ],
                dark,
                line=0,
            )
        for side in (-1, 1):
            for row in (0.02, 0.09):
                pen.shape(
                    [(x + side * 0.27, y + row - 0.02), (x + side * 0.27, y + row + 0.02), (x + side * 0.19, y + row + 0.01)],
                    dark,
                    line=0,
                )
    elif pattern == "patch":
        pen.blob(
            [(x + 0.06, y - 0.1), (x + 0.14, y - 0.16), (x + 0.25, y - 0.08), (x + 0.22, y + 0.08), (x + 0.11, y + 0.09)],
            mix(coat.fur, (90, 50, 30), 0.35),
            line=0,
        )
    elif pattern == "spots":
        for dx, dy in ((-0.12, -0.15), (0.0, -0.19), (0.12, -0.15)):
            pen.oval((x + dx, y + dy), 0.02, 0.016, coat.belly, line=0)


def _muzzle(pen: Pen, look: Look, coat: Coat, muzzle: str, *, mood: str) -> None:
    x, y = HEAD[0] + 0.034, HEAD[1]
    nose: Rgb = mix((64, 40, 48), look.ink, 0.5)
    _light_fur(pen, coat, muzzle, (x, y))
    face = Face(middle=(HEAD[0], y + 0.005), size=0.25, skin=coat.fur, mood=mood, toward=0.14)
    if muzzle == "wide":
        face = Face(middle=(HEAD[0], y - 0.16), size=0.3, skin=coat.fur, mood="calm" if mood == "happy" else mood, toward=0.03)
    draw_face(pen, look, face, coat, mouth=False)
    if muzzle == "snout":
        pen.oval((x + 0.01, y + 0.1), 0.075, 0.055, mix(coat.fur, (235, 110, 130), 0.35))
        for side in (-1, 1):
            pen.oval((x + 0.01 + side * 0.028, y + 0.1), 0.012, 0.018, nose, line=0)
    elif muzzle != "wide":
        size = 0.032 if muzzle in ("broad", "cheeks") else 0.022
        pen.blob([(x - size, y + 0.07), (x + size, y + 0.07), (x, y + 0.07 + size * 1.25)], nose, line=0)
    draw_mouth(pen, look, (x + 0.005, y + (0.17 if muzzle == "snout" else 0.128)), 0.22 if muzzle != "wide" else 0.5, mood=mood)
    if muzzle == "small":
        _whiskers(pen, look, coat, (x, y + 0.1))


def _light_fur(pen: Pen, coat: Coat, muzzle: str, at: Point) -> None:
    x, y = at
    if muzzle == "cheeks":
        for side in (-1, 1):
            pen.blob(
                [
                    (x, y + 0.06),
                    (x + side * 0.12, y + 0.04),
                    (x + side * 0.25, y + 0.06),
                    (x + side * 0.2, y + 0.17),
                    (x, y + 0.22),
                ],
                coat.belly,
                line=0,
            )
    elif muzzle == "mask":
        pen.blob(
            [
                (x - 0.19, y - 0.04),
                (x - 0.1, y - 0.11),
                (x, y - 0.06),
                (x + 0.1, y - 0.11),
                (x + 0.19, y - 0.04),
                (x + 0.14, y + 0.2),
                (x - 0.14, y + 0.2),
            ],
            coat.belly,
            line=0,
        )
    elif muzzle in ("broad", "small"):
        wide = 0.12 if muzzle == "broad" else 0.085
        pen.oval((x + 0.01, y + 0.115), wide, 0.078, coat.belly, line=0)


def _whiskers(pen: Pen, look: Look, coat: Coat, at: Point) -> None:
    ink = look.ink if light_of(coat.fur) > 90 else (235, 230, 225)
    for side in (-1, 1):
        for rise in (-0.025, 0.02):
            pen.curve([(at[0] + side * 0.13, at[1] + rise * 0.5), (at[0] + side * 0.29, at[1] + rise * 1.6)], ink, line=0.55)
