"""Animals that walk upright: cat, dog, rabbit, fox, bear, panda, mouse, pig, tiger, deer, monkey, frog, dragon.

Belongs here: one body plan, which parts make each kind itself, tails and wings. Does not: heads (`panel_heads.py`), birds, fish,
machines (`panel_creatures.py`), poses and faces (`panel_figures.py`).
"""

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Pose, bent
from comic_pipeline.providers.offline.panel_heads import Species, draw_head
from comic_pipeline.providers.offline.panel_looks import Look, mix
from comic_pipeline.providers.offline.panel_pen import Pen

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
    draw_head(pen, look, coat, species=species, mood=mood)


def _scarf(pen: Pen, coat: Coat) -> None:
    pen.blob([(-0.1, -0.47), (-0.17, -0.38), (-0.27, -0.33), (-0.3, -0.39), (-0.2, -0.45)], coat.accent)
    pen.blob([(-0.16, -0.47), (-0.14, -0.405), (0.0, -0.38), (0.14, -0.405), (0.16, -0.47), (0.0, -0.45)], coat.accent)
    if coat.mark == 1:
        pen.oval((0.03, -0.385), 0.03, 0.03, mix(coat.accent, (255, 215, 90), 0.8), line=0.7)
    elif coat.mark == 2:
        pen.curve([(-0.12, -0.43), (0.0, -0.41), (0.12, -0.43)], mix(coat.accent, WHITE, 0.6), line=0.9)


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
