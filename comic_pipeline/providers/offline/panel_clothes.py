"""What people wear: trousers, sleeves, dress, robe, coat, armour, suit, hats.

Belongs here: clothes and the limbs in them. Does not: heads and who wears what (`panel_people.py`).
"""

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Pose, bent
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

HEAD: Point = (0.0, -0.74)


def draw_legs(pen: Pen, coat: Coat, clothes: str, cloth: Rgb, pose: Pose) -> None:
    """Two legs in trousers or stockings, with shoes."""
    trousers = {
        "shirt": mix(coat.accent, (30, 40, 80), 0.55),
        "coat": mix(cloth, (25, 25, 35), 0.7),
        "dress": mix(coat.skin, WHITE, 0.1),
    }.get(clothes, mix(cloth, (30, 30, 50), 0.35))
    shoes = mix(coat.accent, (40, 25, 25), 0.55)
    for foot, hip in ((pose.left_foot, -0.06), (pose.right_foot, 0.06)):
        pen.limb([(hip, -0.24), (foot[0] * 0.9, foot[1] - 0.05)], 0.082, trousers)
        pen.blob(
            [
                (foot[0] - 0.05, foot[1] - 0.06),
                (foot[0] + 0.04, foot[1] - 0.06),
                (foot[0] + 0.095, foot[1] - 0.015),
                (foot[0] + 0.08, foot[1]),
                (foot[0] - 0.05, foot[1]),
            ],
            shoes,
        )


def draw_arm(pen: Pen, coat: Coat, cloth: Rgb, shoulder: Point, hand: Point, *, bend: float) -> None:
    """A sleeve from shoulder to hand; `bend` pushes the elbow out."""
    path = bent(shoulder, hand, bend)
    pen.oval(hand, 0.042, 0.042, coat.skin)
    near = (path[1][0] + (hand[0] - path[1][0]) * 0.72, path[1][1] + (hand[1] - path[1][1]) * 0.72)
    pen.limb([path[0], path[1], near], 0.078, cloth)


def draw_torso(pen: Pen, coat: Coat, clothes: str, cloth: Rgb) -> None:
    """What covers the body: dress, robe, coat, shirt, suit, armour."""
    if clothes == "dress":
        _dress(pen, coat, cloth)
    elif clothes == "robe":
        _robe(pen, coat, cloth)
    elif clothes == "coat":
        _coat(pen, coat, cloth)
    else:
        _short(pen, coat, cloth, clothes)


def _dress(pen: Pen, coat: Coat, cloth: Rgb) -> None:
    pen.blob(
        [
            (-0.1, -0.54),
            (-0.11, -0.4),
            (-0.21, -0.15),
            (-0.1, -0.12),
            (0.0, -0.135),
            (0.1, -0.12),
            (0.21, -0.15),
            (0.11, -0.4),
            (0.1, -0.54),
        ],
        cloth,
    )
    pen.blob([(-0.12, -0.37), (0.0, -0.35), (0.12, -0.37), (0.115, -0.41), (-0.115, -0.41)], coat.accent, line=0.7)
    pen.blob([(-0.07, -0.545), (0.0, -0.5), (0.07, -0.545), (0.0, -0.56)], mix(cloth, WHITE, 0.8), line=0.6)


def _robe(pen: Pen, coat: Coat, cloth: Rgb) -> None:
    pen.blob([(-0.11, -0.54), (-0.14, -0.35), (-0.19, -0.07), (0.0, -0.05), (0.19, -0.07), (0.14, -0.35), (0.11, -0.54)], cloth)
    pen.curve([(-0.07, -0.54), (0.03, -0.44), (0.06, -0.36)], mix(cloth, WHITE, 0.7), width=0.026)
    pen.curve([(0.07, -0.54), (0.0, -0.47)], mix(cloth, WHITE, 0.7), width=0.026)
    pen.blob([(-0.15, -0.33), (0.0, -0.31), (0.15, -0.33), (0.145, -0.38), (-0.145, -0.38)], coat.accent, line=0.7)
    pen.shape([(0.03, -0.32), (0.09, -0.32), (0.11, -0.16), (0.05, -0.17)], coat.accent, line=0.7)


def _coat(pen: Pen, coat: Coat, cloth: Rgb) -> None:
    pen.blob([(-0.12, -0.54), (-0.15, -0.35), (-0.18, -0.13), (0.0, -0.11), (0.18, -0.13), (0.15, -0.35), (0.12, -0.54)], cloth)
    pen.shape([(-0.06, -0.55), (0.06, -0.55), (0.015, -0.4)], mix(cloth, WHITE, 0.85), line=0.7)
    pen.shape([(-0.018, -0.53), (0.018, -0.53), (0.014, -0.42)], coat.accent, line=0.5)
    pen.curve([(0.015, -0.4), (0.01, -0.12)], mix(cloth, (0, 0, 0), 0.45), line=0.8)
    for y in (-0.34, -0.25):
        pen.oval((0.045, y), 0.012, 0.012, mix(cloth, (255, 230, 160), 0.7), line=0.4)


def _short(pen: Pen, coat: Coat, cloth: Rgb, clothes: str) -> None:
    pen.blob([(-0.12, -0.54), (-0.145, -0.4), (-0.13, -0.21), (0.0, -0.2), (0.13, -0.21), (0.145, -0.4), (0.12, -0.54)], cloth)
    if clothes == "shirt":
        pen.curve([(-0.138, -0.36), (0.0, -0.345), (0.138, -0.36)], mix(coat.accent, WHITE, 0.3), width=0.04)
    elif clothes == "suit":
        pen.box((-0.07, -0.42), 0.14, 0.1, coat.accent, line=0.7)
        pen.oval((-0.035, -0.37), 0.018, 0.018, (255, 220, 90), line=0.4)
        pen.oval((0.03, -0.37), 0.018, 0.018, (110, 230, 160), line=0.4)
    else:
        pen.shape([(-0.05, -0.45), (0.05, -0.45), (0.05, -0.36), (0.0, -0.29), (-0.05, -0.36)], coat.accent, line=0.7)


def draw_hat(pen: Pen, look: Look, coat: Coat, hat: str) -> None:
    """Fedora, cone, helmet, or (any other) an astronaut's bubble."""
    if hat == "fedora":
        _fedora(pen, coat)
    elif hat == "cone":
        _cone(pen, coat)
    elif hat == "helmet":
        _helmet(pen, coat)
    else:
        _bubble(pen, look)


def _fedora(pen: Pen, coat: Coat) -> None:
    x, y = HEAD
    felt = mix(coat.cloth, (40, 30, 30), 0.45)
    pen.blob([(x - 0.17, y - 0.13), (x - 0.15, y - 0.3), (x - 0.03, y - 0.29), (x + 0.1, y - 0.31), (x + 0.17, y - 0.13)], felt)
    pen.blob(
        [(x - 0.17, y - 0.14), (x, y - 0.12), (x + 0.17, y - 0.14), (x + 0.165, y - 0.19), (x - 0.165, y - 0.19)],
        coat.accent,
        line=0.6,
    )
    pen.blob(
        [
            (x - 0.31, y - 0.1),
            (x - 0.1, y - 0.145),
            (x + 0.1, y - 0.145),
            (x + 0.33, y - 0.09),
            (x + 0.1, y - 0.06),
            (x - 0.1, y - 0.06),
        ],
        felt,
    )


def _cone(pen: Pen, coat: Coat) -> None:
    x, y = HEAD
    pen.blob(
        [
            (x - 0.2, y - 0.12),
            (x - 0.1, y - 0.34),
            (x - 0.02, y - 0.5),
            (x - 0.1, y - 0.6),
            (x + 0.06, y - 0.5),
            (x + 0.14, y - 0.32),
            (x + 0.2, y - 0.12),
        ],
        coat.cloth,
    )
    pen.blob([(x - 0.34, y - 0.06), (x - 0.1, y - 0.14), (x + 0.1, y - 0.14), (x + 0.34, y - 0.06), (x, y - 0.07)], coat.cloth)
    pen.star((x + 0.02, y - 0.3), 0.05, mix(coat.accent, (255, 230, 120), 0.6), line=0.6)


def _helmet(pen: Pen, coat: Coat) -> None:
    x, y = HEAD
    steel = mix((170, 178, 194), coat.cloth, 0.12)
    pen.blob(
        [
            (x - 0.24, y + 0.05),
            (x - 0.23, y - 0.12),
            (x - 0.1, y - 0.27),
            (x + 0.1, y - 0.27),
            (x + 0.23, y - 0.12),
            (x + 0.24, y + 0.05),
            (x + 0.16, y - 0.06),
            (x - 0.16, y - 0.06),
        ],
        steel,
    )
    pen.blob(
        [(x - 0.02, y - 0.26), (x - 0.1, y - 0.4), (x - 0.26, y - 0.36), (x - 0.3, y - 0.2), (x - 0.16, y - 0.24)],
        coat.accent,
    )


def _bubble(pen: Pen, look: Look) -> None:
    x, y = HEAD
    pen.curve([(x - 0.14, y - 0.13), (x - 0.05, y - 0.19), (x + 0.03, y - 0.2)], WHITE, width=0.018)
    ring = mix(look.light, WHITE, 0.5)
    rim = [(-0.29, 0.08), (-0.267, -0.16), (0.0, -0.29), (0.267, -0.16), (0.29, 0.08), (0.18, 0.26), (-0.18, 0.26), (-0.29, 0.08)]
    pen.curve([(dx, y + dy) for dx, dy in rim], ring, width=0.022)
