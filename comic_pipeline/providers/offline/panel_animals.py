"""Animals that walk upright: cat, dog, rabbit, fox, bear, panda, mouse, pig, tiger, deer, monkey, frog, dragon.

Belongs here: one body plan and what makes each kind itself: ears, muzzle, tail, coat. Does not: birds, fish, machines
(`panel_creatures.py`), poses and faces (`panel_figures.py`).
"""

from dataclasses import dataclass

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Face, Pose, bent, draw_face, draw_mouth
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, light_of, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

HEAD: Point = (0.0, -0.69)
_RX, _RY = 0.275, 0.235


@dataclass(frozen=True)
class Species:
    """What makes a kind itself."""

    ears: str
    muzzle: str
    tail: str
    pattern: str = ""


SPECIES = {
    "cat": Species(ears="pointed", muzzle="small", tail="long", pattern="tabby"),
    "dog": Species(ears="floppy", muzzle="broad", tail="curl", pattern="patch"),
    "rabbit": Species(ears="tall", muzzle="small", tail="puff"),
    "fox": Species(ears="large", muzzle="cheeks", tail="bushy"),
    "bear": Species(ears="round", muzzle="broad", tail="puff"),
    "panda": Species(ears="round", muzzle="broad", tail="puff", pattern="panda"),
    "mouse": Species(ears="big round", muzzle="small", tail="thin"),
    "pig": Species(ears="folded", muzzle="snout", tail="thin"),
    "tiger": Species(ears="round", muzzle="broad", tail="long", pattern="stripes"),
    "deer": Species(ears="antlers", muzzle="broad", tail="puff", pattern="spots"),
    "monkey": Species(ears="big round", muzzle="mask", tail="long"),
    "frog": Species(ears="none", muzzle="wide", tail="none"),
    "dragon": Species(ears="horns", muzzle="broad", tail="dragon", pattern="scales"),
}


def draw_animal(pen: Pen, look: Look, coat: Coat, *, kind: str, pose: Pose, mood: str) -> None:
    """An animal of a kind in `SPECIES`."""
    species = SPECIES[kind]
    limbs = mix(coat.fur, (40, 36, 44), 0.82) if species.pattern == "panda" else coat.fur
    _tail(pen, coat, species.tail)
    if kind == "dragon":
        _wings(pen, coat)
    for foot, hip in ((pose.left_foot, -0.085), (pose.right_foot, 0.085)):
        pen.limb([(hip, -0.16), (foot[0], foot[1] - 0.045)], 0.105, limbs)
        pen.oval((foot[0] + 0.015, foot[1] - 0.035), 0.075, 0.042, limbs)
    pen.limb(bent((-0.13, -0.41), pose.left_hand, 0.03), 0.085, limbs)
    pen.blob(
        [(-0.11, -0.5), (-0.175, -0.3), (-0.165, -0.12), (0.0, -0.075), (0.165, -0.12), (0.175, -0.3), (0.11, -0.5)], coat.fur
    )
    pen.oval((0.02, -0.24), 0.105, 0.14, coat.belly, line=0)
    if species.pattern == "scales":
        for row in range(3):
            pen.curve(
                [(-0.07, -0.31 + 0.07 * row), (0.02, -0.295 + 0.07 * row), (0.11, -0.31 + 0.07 * row)],
                mix(coat.belly, coat.fur, 0.6),
                line=0.6,
            )
    pen.limb(bent((0.13, -0.41), pose.right_hand, -0.03), 0.085, limbs)
    _scarf(pen, coat)
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


def _scarf(pen: Pen, coat: Coat) -> None:
    pen.blob([(-0.1, -0.47), (-0.17, -0.38), (-0.27, -0.33), (-0.3, -0.39), (-0.2, -0.45)], coat.accent)
    pen.blob([(-0.16, -0.47), (-0.14, -0.405), (0.0, -0.38), (0.14, -0.405), (0.16, -0.47), (0.0, -0.45)], coat.accent)
    if coat.mark == 1:
        pen.oval((0.03, -0.385), 0.03, 0.03, mix(coat.accent, (255, 215, 90), 0.8), line=0.7)
    elif coat.mark == 2:
        pen.curve([(-0.12, -0.43), (0.0, -0.41), (0.12, -0.43)], mix(coat.accent, WHITE, 0.6), line=0.9)


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


def _tail(pen: Pen, coat: Coat, tail: str) -> None:
    if tail == "long":
        pen.limb([(-0.12, -0.12), (-0.28, -0.1), (-0.38, -0.22), (-0.34, -0.38), (-0.41, -0.47)], 0.062, coat.fur)
    elif tail == "curl":
        pen.limb([(-0.13, -0.16), (-0.25, -0.24), (-0.28, -0.35), (-0.21, -0.37)], 0.075, coat.fur)
    elif tail == "puff":
        pen.oval((-0.19, -0.15), 0.065, 0.06, mix(coat.fur, WHITE, 0.4))
    elif tail == "bushy":
        pen.blob(
            [(-0.1, -0.1), (-0.26, -0.06), (-0.42, -0.2), (-0.44, -0.42), (-0.34, -0.52), (-0.28, -0.36), (-0.2, -0.24)], coat.fur
        )
        pen.blob([(-0.44, -0.36), (-0.43, -0.46), (-0.34, -0.52), (-0.33, -0.42), (-0.38, -0.4)], coat.belly, line=0)
    elif tail == "thin":
        pen.limb([(-0.13, -0.11), (-0.26, -0.08), (-0.34, -0.16), (-0.42, -0.12)], 0.024, mix(coat.fur, (240, 140, 150), 0.4))
    elif tail == "dragon":
        pen.blob(
            [(-0.06, -0.22), (-0.24, -0.16), (-0.4, -0.2), (-0.5, -0.34), (-0.44, -0.1), (-0.26, -0.03), (-0.06, -0.07)], coat.fur
        )
        for x, y in ((-0.22, -0.17), (-0.33, -0.18), (-0.43, -0.24)):
            pen.shape([(x - 0.04, y + 0.01), (x - 0.01, y - 0.07), (x + 0.04, y)], coat.cloth, line=0.7)


def _wings(pen: Pen, coat: Coat) -> None:
    for side in (-1, 1):
        wing = [
            (side * 0.1, -0.4),
            (side * 0.28, -0.64),
            (side * 0.52, -0.72),
            (side * 0.5, -0.56),
            (side * 0.45, -0.46),
            (side * 0.37, -0.4),
            (side * 0.3, -0.3),
            (side * 0.16, -0.28),
        ]
        pen.shape(wing, mix(coat.cloth, coat.belly, 0.3))
        for tip in ((side * 0.49, -0.57), (side * 0.37, -0.41)):
            pen.curve([(side * 0.12, -0.38), tip], mix(coat.cloth, (0, 0, 0), 0.3), line=0.7)


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
