"""Creatures with a body plan of their own: robot, alien, ghost, bird, duck, fish.

Belongs here: one function a creature. Does not: animals that walk upright (`panel_animals.py`), poses and faces
(`panel_figures.py`).
"""

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Face, Pose, bent, draw_face, draw_mouth
from comic_pipeline.providers.offline.panel_looks import Look, mix
from comic_pipeline.providers.offline.panel_pen import Pen

CREATURES = frozenset({"robot", "alien", "ghost", "bird", "duck", "fish"})


def draw_creature(pen: Pen, look: Look, coat: Coat, *, kind: str, pose: Pose, mood: str) -> None:
    """A creature of a kind in `CREATURES`."""
    if kind == "robot":
        _robot(pen, look, coat, pose, mood)
    elif kind == "alien":
        _alien(pen, look, coat, pose, mood)
    elif kind == "ghost":
        _ghost(pen, look, coat, pose, mood)
    elif kind == "fish":
        _fish(pen, look, coat, mood)
    else:
        _bird(pen, look, coat, pose, mood, duck=kind == "duck")


def _robot(pen: Pen, look: Look, coat: Coat, pose: Pose, mood: str) -> None:
    metal, joint = coat.fur, mix(coat.fur, (30, 36, 52), 0.6)
    for foot, hip in ((pose.left_foot, -0.08), (pose.right_foot, 0.08)):
        pen.limb([(hip, -0.18), (foot[0], foot[1] - 0.06)], 0.055, joint)
        pen.shape(
            [
                (foot[0] - 0.08, foot[1]),
                (foot[0] - 0.05, foot[1] - 0.075),
                (foot[0] + 0.06, foot[1] - 0.075),
                (foot[0] + 0.09, foot[1]),
            ],
            metal,
        )
    for shoulder, hand, bend in ((-0.16, pose.left_hand, 0.04), (0.16, pose.right_hand, -0.04)):
        pen.limb(bent((shoulder, -0.41), hand, bend), 0.05, joint)
        pen.oval(hand, 0.056, 0.056, metal)
        pen.oval((shoulder, -0.41), 0.056, 0.056, metal)
    pen.blob([(-0.16, -0.47), (-0.18, -0.3), (-0.13, -0.14), (0.0, -0.125), (0.13, -0.14), (0.18, -0.3), (0.16, -0.47)], metal)
    pen.box((-0.085, -0.38), 0.17, 0.13, mix(metal, (20, 26, 44), 0.72), line=0.8)
    pen.oval((-0.035, -0.315), 0.03, 0.03, coat.cloth, line=0.5)
    for row in range(3):
        pen.curve([(0.02, -0.345 + 0.03 * row), (0.065, -0.345 + 0.03 * row)], mix(coat.accent, WHITE, 0.3), line=0.9)
    _robot_head(pen, look, coat, mood)
    if coat.mark:
        pen.star((0.1, -0.21), 0.032, coat.accent, line=0.5)


def _robot_head(pen: Pen, look: Look, coat: Coat, mood: str) -> None:
    metal, joint = coat.fur, mix(coat.fur, (30, 36, 52), 0.6)
    pen.limb([(0.0, -0.46), (0.0, -0.52)], 0.07, joint)
    pen.curve([(0.0, -0.93), (0.0, -1.06)], look.ink, line=1.2)
    pen.oval((0.0, -1.08), 0.04, 0.04, coat.cloth)
    for side in (-1, 1):
        pen.box((side * 0.27 - 0.035, -0.77), 0.07, 0.13, joint)
    pen.blob(
        [(-0.24, -0.9), (-0.27, -0.7), (-0.22, -0.52), (0.0, -0.5), (0.22, -0.52), (0.27, -0.7), (0.24, -0.9), (0.0, -0.945)],
        metal,
    )
    screen = mix((18, 24, 44), look.ink, 0.35)
    pen.blob(
        [
            (-0.19, -0.84),
            (-0.205, -0.7),
            (-0.17, -0.58),
            (0.0, -0.565),
            (0.19, -0.58),
            (0.225, -0.7),
            (0.21, -0.84),
            (0.0, -0.87),
        ],
        screen,
        line=0.8,
    )
    _screen_face(pen, look, mood)
    pen.curve([(-0.15, -0.81), (-0.08, -0.835), (-0.02, -0.84)], mix(screen, WHITE, 0.5), width=0.016)


def _screen_face(pen: Pen, look: Look, mood: str) -> None:
    shine = mix(look.light, (120, 255, 240), 0.55 if look.key != "ink" else 0.1)
    for x in (-0.075, 0.095):
        if mood == "happy":
            pen.curve([(x - 0.045, -0.7), (x, -0.75), (x + 0.045, -0.7)], shine, width=0.024)
        elif mood == "sad":
            pen.curve([(x - 0.04, -0.74), (x, -0.7), (x + 0.04, -0.74)], shine, width=0.022)
        else:
            pen.oval((x, -0.725), 0.034, 0.05 if mood != "brave" else 0.03, shine, line=0)
    if mood == "shock":
        pen.oval((0.01, -0.625), 0.025, 0.025, shine, line=0)
    else:
        dip = -0.022 if mood == "sad" else 0.022
        pen.curve([(-0.045, -0.635), (0.01, -0.635 + dip), (0.065, -0.635)], shine, width=0.017)


def _alien(pen: Pen, look: Look, coat: Coat, pose: Pose, mood: str) -> None:
    for foot, hip in ((pose.left_foot, -0.06), (pose.right_foot, 0.06)):
        pen.limb([(hip, -0.2), (foot[0], foot[1] - 0.03)], 0.06, coat.fur)
        pen.oval((foot[0] + 0.02, foot[1] - 0.02), 0.06, 0.03, coat.fur)
    for shoulder, hand in ((-0.1, pose.left_hand), (0.1, pose.right_hand)):
        pen.limb(bent((shoulder, -0.42), hand, 0.03), 0.05, coat.fur)
    pen.blob([(-0.08, -0.5), (-0.14, -0.3), (-0.11, -0.14), (0.11, -0.14), (0.14, -0.3), (0.08, -0.5)], coat.cloth)
    for side in (-1, 1):
        pen.curve([(side * 0.1, -0.93), (side * 0.15, -1.05)], look.ink, line=1.1)
        pen.oval((side * 0.155, -1.07), 0.032, 0.032, coat.accent)
    pen.blob(
        [(-0.27, -0.78), (-0.2, -0.95), (0.0, -1.0), (0.2, -0.95), (0.27, -0.78), (0.17, -0.57), (0.0, -0.49), (-0.17, -0.57)],
        coat.fur,
    )
    for side in (-1, 1):
        pen.oval((0.02 + side * 0.115, -0.74), 0.07, 0.105, (24, 20, 36), turn=side * 0.45, line=0.6)
        pen.oval((0.04 + side * 0.1, -0.785), 0.022, 0.026, WHITE, line=0)
    draw_mouth(pen, look, (0.02, -0.58), 0.2, mood=mood)


def _ghost(pen: Pen, look: Look, coat: Coat, pose: Pose, mood: str) -> None:
    hem = [(0.24, -0.1), (0.17, -0.18), (0.09, -0.06), (0.0, -0.16), (-0.1, -0.05), (-0.17, -0.16), (-0.26, -0.08)]
    for hand, shoulder in ((pose.left_hand, -0.18), (pose.right_hand, 0.18)):
        pen.limb([(shoulder, -0.46), hand], 0.09, coat.fur)
    pen.blob([(-0.28, -0.4), (-0.25, -0.75), (-0.12, -0.96), (0.1, -0.97), (0.25, -0.76), (0.27, -0.4), *hem], coat.fur)
    draw_face(pen, look, Face(middle=(0.0, -0.68), size=0.24, skin=coat.fur, mood=mood, toward=0.16), coat)
    pen.blob([(-0.24, -0.5), (0.0, -0.44), (0.25, -0.5), (0.25, -0.43), (0.0, -0.37), (-0.25, -0.43)], coat.accent, line=0.8)


def _bird(pen: Pen, look: Look, coat: Coat, pose: Pose, mood: str, *, duck: bool) -> None:
    beak = look.tone((246, 160, 60))
    for foot in (pose.left_foot, pose.right_foot):
        pen.limb([(foot[0] * 0.8, -0.14), (foot[0], foot[1] - 0.02)], 0.028, beak)
        pen.blob([(foot[0] - 0.03, foot[1]), (foot[0] + 0.01, foot[1] - 0.04), (foot[0] + 0.1, foot[1])], beak, line=0.8)
    pen.blob(
        [(-0.18, -0.22), (-0.4, -0.34), (-0.46, -0.28), (-0.38, -0.2), (-0.42, -0.14), (-0.16, -0.12)],
        mix(coat.fur, coat.cloth, 0.35),
    )
    pen.blob([(-0.2, -0.5), (-0.26, -0.28), (-0.16, -0.1), (0.04, -0.07), (0.2, -0.14), (0.25, -0.32), (0.18, -0.5)], coat.fur)
    pen.oval((0.06, -0.26), 0.14, 0.15, coat.belly, line=0)
    for hand, shoulder in ((pose.left_hand, -0.16), (pose.right_hand, 0.17)):
        side = -1 if hand[0] < 0 else 1
        tip = (hand[0] * 1.12, hand[1])
        pen.blob(
            [
                (shoulder, -0.46),
                (tip[0] * 0.75, tip[1] - 0.1),
                tip,
                (tip[0] - side * 0.06, tip[1] + 0.09),
                (shoulder + side * 0.02, -0.28),
            ],
            mix(coat.fur, coat.cloth, 0.4),
        )
    if not duck:
        for lean in (-0.09, 0.0, 0.08):
            pen.limb([(0.0, -0.92), (lean, -1.04)], 0.035, coat.cloth, line=0.8)
    pen.oval((0.0, -0.71), 0.245, 0.225, coat.fur)
    pen.blob([(-0.17, -0.52), (0.0, -0.46), (0.18, -0.52), (0.17, -0.46), (0.0, -0.4), (-0.18, -0.45)], coat.accent, line=0.8)
    draw_face(pen, look, Face(middle=(0.0, -0.72), size=0.22, skin=coat.fur, mood=mood, toward=0.12), coat, mouth=False)
    drop = 0.05 if mood in ("shock", "happy") else 0.015
    wide = 0.11 if duck else 0.07
    pen.blob([(0.03 - wide, -0.64), (0.03, -0.625 + drop * 1.4), (0.03 + wide, -0.64)], mix(beak, (120, 40, 20), 0.4), line=0.8)
    pen.blob([(0.03 - wide, -0.645), (0.03, -0.7), (0.03 + wide, -0.645), (0.03, -0.61)], beak, line=0.8)


def _fish(pen: Pen, look: Look, coat: Coat, mood: str) -> None:
    pen.blob([(-0.3, -0.5), (-0.56, -0.74), (-0.52, -0.5), (-0.58, -0.26)], coat.cloth)
    pen.blob([(-0.12, -0.72), (0.0, -0.92), (0.16, -0.76)], coat.cloth)
    pen.blob([(-0.36, -0.5), (-0.1, -0.76), (0.24, -0.74), (0.42, -0.52), (0.26, -0.28), (-0.1, -0.26)], coat.fur)
    pen.blob([(-0.24, -0.42), (0.1, -0.36), (0.36, -0.46), (0.24, -0.29), (-0.1, -0.27)], coat.belly, line=0)
    pen.blob([(-0.02, -0.46), (-0.2, -0.36), (-0.16, -0.26), (0.02, -0.36)], coat.cloth, line=0.8)
    for x in (-0.16, -0.06):
        pen.curve([(x, -0.64), (x - 0.04, -0.52), (x, -0.42)], mix(coat.fur, WHITE, 0.6), width=0.024)
    draw_face(pen, look, Face(middle=(0.18, -0.54), size=0.17, skin=coat.fur, mood=mood, toward=0.2), coat)
