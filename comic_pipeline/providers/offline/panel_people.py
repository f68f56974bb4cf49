"""People: girl, boy, woman, man, elder, detective, swordsman, knight, wizard, astronaut.

Belongs here: one body plan, hair, clothes, hats. Does not: poses and faces (`panel_figures.py`).
"""

from dataclasses import dataclass

from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Face, Pose, bent, draw_face
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

HEAD: Point = (0.0, -0.74)
_R = 0.215


@dataclass(frozen=True)
class Person:
    """What a kind of person wears."""

    hair: str
    clothes: str
    hat: str = ""


PEOPLE = {
    "girl": Person(hair="long", clothes="dress"),
    "boy": Person(hair="short", clothes="shirt"),
    "woman": Person(hair="bob", clothes="dress"),
    "man": Person(hair="short", clothes="coat"),
    "elder": Person(hair="beard", clothes="robe"),
    "detective": Person(hair="short", clothes="coat", hat="fedora"),
    "swordsman": Person(hair="topknot", clothes="robe"),
    "knight": Person(hair="short", clothes="armour", hat="helmet"),
    "wizard": Person(hair="beard", clothes="robe", hat="cone"),
    "astronaut": Person(hair="short", clothes="suit", hat="bubble"),
}


def draw_person(pen: Pen, look: Look, coat: Coat, *, kind: str, pose: Pose, mood: str) -> None:
    """A person of a kind in `PEOPLE`."""
    person = PEOPLE[kind]
    hair = mix(coat.hair, WHITE, 0.75) if person.hair == "beard" else coat.hair
    cloth = {"suit": mix(coat.skin, WHITE, 0.85), "armour": mix((158, 166, 182), coat.cloth, 0.15)}.get(person.clothes, coat.cloth)
    _hair_behind(pen, hair, person.hair)
    _legs(pen, coat, person.clothes, cloth, pose)
    _arm(pen, coat, cloth, (-0.105, -0.5), pose.left_hand, bend=0.03)
    _torso(pen, coat, person.clothes, cloth)
    _arm(pen, coat, cloth, (0.105, -0.5), pose.right_hand, bend=-0.03)
    _head(pen, look, coat, person, hair, mood=mood)


def _legs(pen: Pen, coat: Coat, clothes: str, cloth: Rgb, pose: Pose) -> None:
    trousers = {"shirt": mix(coat.accent, (30, 40, 80), 0.55), "coat": mix(cloth, (25, 25, 35), 0.7), "dress": mix(coat.skin, WHITE, 0.1)}.get(clothes, mix(cloth, (30, 30, 50), 0.35))
    shoes = mix(coat.accent, (40, 25, 25), 0.55)
    for foot, hip in ((pose.left_foot, -0.06), (pose.right_foot, 0.06)):
        pen.limb([(hip, -0.24), (foot[0] * 0.9, foot[1] - 0.05)], 0.082, trousers)
        pen.blob([(foot[0] - 0.05, foot[1] - 0.06), (foot[0] + 0.04, foot[1] - 0.06), (foot[0] + 0.095, foot[1] - 0.015), (foot[0] + 0.08, foot[1]), (foot[0] - 0.05, foot[1])], shoes)


def _arm(pen: Pen, coat: Coat, cloth: Rgb, shoulder: Point, hand: Point, *, bend: float) -> None:
    path = bent(shoulder, hand, bend)
    pen.oval(hand, 0.042, 0.042, coat.skin)
    near = (path[1][0] + (hand[0] - path[1][0]) * 0.72, path[1][1] + (hand[1] - path[1][1]) * 0.72)
    pen.limb([path[0], path[1], near], 0.078, cloth)


def _torso(pen: Pen, coat: Coat, clothes: str, cloth: Rgb) -> None:
    if clothes == "dress":
        pen.blob([(-0.1, -0.54), (-0.11, -0.4), (-0.21, -0.15), (-0.1, -0.12), (0.0, -0.135), (0.1, -0.12), (0.21, -0.15), (0.11, -0.4), (0.1, -0.54)], cloth)
        pen.blob([(-0.12, -0.37), (0.0, -0.35), (0.12, -0.37), (0.115, -0.41), (-0.115, -0.41)], coat.accent, line=0.7)
        pen.blob([(-0.07, -0.545), (0.0, -0.5), (0.07, -0.545), (0.0, -0.56)], mix(cloth, WHITE, 0.8), line=0.6)
    elif clothes == "robe":
        pen.blob([(-0.11, -0.54), (-0.14, -0.35), (-0.19, -0.07), (0.0, -0.05), (0.19, -0.07), (0.14, -0.35), (0.11, -0.54)], cloth)
        pen.curve([(-0.07, -0.54), (0.03, -0.44), (0.06, -0.36)], mix(cloth, WHITE, 0.7), width=0.026)
        pen.curve([(0.07, -0.54), (0.0, -0.47)], mix(cloth, WHITE, 0.7), width=0.026)
        pen.blob([(-0.15, -0.33), (0.0, -0.31), (0.15, -0.33), (0.145, -0.38), (-0.145, -0.38)], coat.accent, line=0.7)
        pen.shape([(0.03, -0.32), (0.09, -0.32), (0.11, -0.16), (0.05, -0.17)], coat.accent, line=0.7)
    elif clothes == "coat":
        pen.blob([(-0.12, -0.54), (-0.15, -0.35), (-0.18, -0.13), (0.0, -0.11), (0.18, -0.13), (0.15, -0.35), (0.12, -0.54)], cloth)
        pen.shape([(-0.06, -0.55), (0.06, -0.55), (0.015, -0.4)], mix(cloth, WHITE, 0.85), line=0.7)
        pen.shape([(-0.018, -0.53), (0.018, -0.53), (0.014, -0.42)], coat.accent, line=0.5)
        pen.curve([(0.015, -0.4), (0.01, -0.12)], mix(cloth, (0, 0, 0), 0.45), line=0.8)
        for y in (-0.34, -0.25):
            pen.oval((0.045, y), 0.012, 0.012, mix(cloth, (255, 230, 160), 0.7), line=0.4)
    else:
        pen.blob([(-0.12, -0.54), (-0.145, -0.4), (-0.13, -0.21), (0.0, -0.2), (0.13, -0.21), (0.145, -0.4), (0.12, -0.54)], cloth)
        if clothes == "shirt":
            pen.curve([(-0.138, -0.36), (0.0, -0.345), (0.138, -0.36)], mix(coat.accent, WHITE, 0.3), width=0.04)
        elif clothes == "suit":
            pen.box((-0.07, -0.42), 0.14, 0.1, coat.accent, line=0.7)
            pen.oval((-0.035, -0.37), 0.018, 0.018, (255, 220, 90), line=0.4)
            pen.oval((0.03, -0.37), 0.018, 0.018, (110, 230, 160), line=0.4)
        else:
            pen.shape([(-0.05, -0.45), (0.05, -0.45), (0.05, -0.36), (0.0, -0.29), (-0.05, -0.36)], coat.accent, line=0.7)


def _hair_behind(pen: Pen, hair: Rgb, style: str) -> None:
    x, y = HEAD
    if style == "long":
        pen.blob([(x - 0.2, y - 0.16), (x - 0.27, y + 0.05), (x - 0.25, y + 0.3), (x - 0.1, y + 0.34), (x + 0.1, y + 0.34), (x + 0.25, y + 0.3), (x + 0.27, y + 0.05), (x + 0.2, y - 0.16)], hair)
    elif style == "bob":
        pen.blob([(x - 0.2, y - 0.16), (x - 0.27, y + 0.02), (x - 0.25, y + 0.18), (x + 0.25, y + 0.18), (x + 0.27, y + 0.02), (x + 0.2, y - 0.16)], hair)
    elif style == "topknot":
        pen.limb([(x - 0.05, y - 0.24), (x - 0.2, y - 0.24), (x - 0.33, y - 0.08), (x - 0.36, y + 0.14)], 0.06, hair)
        pen.oval((x - 0.03, y - 0.26), 0.075, 0.065, hair)


def _head(pen: Pen, look: Look, coat: Coat, person: Person, hair: Rgb, *, mood: str) -> None:
    x, y = HEAD
    pen.limb([(x, y + 0.17), (x, y + 0.24)], 0.07, mix(coat.skin, (190, 110, 80), 0.2), line=0.7)
    pen.blob([(x - _R, y - 0.02), (x - 0.13, y - 0.19), (x + 0.13, y - 0.19), (x + _R, y - 0.02), (x + 0.17, y + 0.13), (x + 0.03, y + 0.215), (x - 0.05, y + 0.21), (x - 0.17, y + 0.13)], coat.skin)
    draw_face(pen, look, Face(middle=(x, y + 0.03), size=0.2, skin=coat.skin, mood=mood, toward=0.16), coat)
    pen.curve([(x + 0.042, y + 0.065), (x + 0.054, y + 0.082), (x + 0.04, y + 0.088)], mix(coat.skin, (150, 80, 60), 0.5), line=0.7)
    _hair_front(pen, hair, person.hair)
    if person.hat:
        _hat(pen, look, coat, person.hat)
    elif person.hair in ("long", "bob"):
        _ribbon(pen, coat, (x - 0.17, y - 0.17))


def _hair_front(pen: Pen, hair: Rgb, style: str) -> None:
    x, y = HEAD
    lit = mix(hair, WHITE, 0.25)
    if style == "beard":
        pen.blob([(x - 0.16, y + 0.1), (x - 0.06, y + 0.15), (x + 0.04, y + 0.14), (x + 0.14, y + 0.15), (x + 0.19, y + 0.1), (x + 0.15, y + 0.3), (x + 0.03, y + 0.42), (x - 0.09, y + 0.3)], hair)
        for side in (-1, 1):
            pen.blob([(x + side * 0.2, y - 0.12), (x + side * 0.25, y + 0.0), (x + side * 0.2, y + 0.1), (x + side * 0.17, y - 0.02)], hair, line=0.8)
        return
    fringe = [(x - 0.225, y + 0.06), (x - 0.24, y - 0.08), (x - 0.15, y - 0.225), (x + 0.02, y - 0.26), (x + 0.17, y - 0.21), (x + 0.24, y - 0.06), (x + 0.225, y + 0.05)]
    tips = [(x + 0.18, y - 0.05), (x + 0.12, y - 0.09), (x + 0.06, y - 0.03), (x + 0.0, y - 0.1), (x - 0.08, y - 0.02), (x - 0.12, y - 0.1), (x - 0.18, y - 0.02)]
    if style == "short":
        spikes = [(x - 0.1, y - 0.31), (x - 0.05, y - 0.25), (x + 0.05, y - 0.32), (x + 0.1, y - 0.24)]
        fringe = [*fringe[:3], *spikes, *fringe[4:]]
        pen.shape([*fringe, *tips], hair)
    else:
        pen.blob([*fringe, *tips], hair)
    pen.curve([(x - 0.13, y - 0.16), (x - 0.02, y - 0.2), (x + 0.1, y - 0.17)], lit, width=0.018)


def _ribbon(pen: Pen, coat: Coat, at: Point) -> None:
    x, y = at
    for side in (-1, 1):
        pen.blob([(x, y), (x + side * 0.09, y - 0.06), (x + side * 0.1, y + 0.05)], coat.accent, line=0.8)
    pen.oval((x, y), 0.024, 0.024, mix(coat.accent, WHITE, 0.3), line=0.7)


def _hat(pen: Pen, look: Look, coat: Coat, hat: str) -> None:
    x, y = HEAD
    if hat == "fedora":
        felt = mix(coat.cloth, (40, 30, 30), 0.45)
        pen.blob([(x - 0.17, y - 0.13), (x - 0.15, y - 0.3), (x - 0.03, y - 0.29), (x + 0.1, y - 0.31), (x + 0.17, y - 0.13)], felt)
        pen.blob([(x - 0.17, y - 0.14), (x, y - 0.12), (x + 0.17, y - 0.14), (x + 0.165, y - 0.19), (x - 0.165, y - 0.19)], coat.accent, line=0.6)
        pen.blob([(x - 0.31, y - 0.1), (x - 0.1, y - 0.145), (x + 0.1, y - 0.145), (x + 0.33, y - 0.09), (x + 0.1, y - 0.06), (x - 0.1, y - 0.06)], felt)
    elif hat == "cone":
        pen.blob([(x - 0.2, y - 0.12), (x - 0.1, y - 0.34), (x - 0.02, y - 0.5), (x - 0.1, y - 0.6), (x + 0.06, y - 0.5), (x + 0.14, y - 0.32), (x + 0.2, y - 0.12)], coat.cloth)
        pen.blob([(x - 0.34, y - 0.06), (x - 0.1, y - 0.14), (x + 0.1, y - 0.14), (x + 0.34, y - 0.06), (x, y - 0.07)], coat.cloth)
        pen.star((x + 0.02, y - 0.3), 0.05, mix(coat.accent, (255, 230, 120), 0.6), line=0.6)
    elif hat == "helmet":
        steel = mix((170, 178, 194), coat.cloth, 0.12)
        pen.blob([(x - 0.24, y + 0.05), (x - 0.23, y - 0.12), (x - 0.1, y - 0.27), (x + 0.1, y - 0.27), (x + 0.23, y - 0.12), (x + 0.24, y + 0.05), (x + 0.16, y - 0.06), (x - 0.16, y - 0.06)], steel)
        pen.blob([(x - 0.02, y - 0.26), (x - 0.1, y - 0.4), (x - 0.26, y - 0.36), (x - 0.3, y - 0.2), (x - 0.16, y - 0.24)], coat.accent)
    else:
        pen.curve([(x - 0.14, y - 0.13), (x - 0.05, y - 0.19), (x + 0.03, y - 0.2)], WHITE, width=0.018)
        ring = mix(look.light, WHITE, 0.5)
        for start, end in ((-0.29, 0.29),):
            pen.curve([(start, y + 0.08), (start * 0.92, y - 0.16), (0.0, y - 0.29), (end * 0.92, y - 0.16), (end, y + 0.08), (0.18, y + 0.26), (-0.18, y + 0.26), (start, y + 0.08)], ring, width=0.022)
