"""People: girl, boy, woman, man, elder, detective, swordsman, knight, wizard, astronaut.

Belongs here: one body plan, hair, heads. Does not: poses and faces (`panel_figures.py`), what they wear
(`panel_clothes.py`).
"""

from dataclasses import dataclass

from comic_pipeline.providers.offline.panel_clothes import HEAD, draw_arm, draw_hat, draw_legs, draw_torso
from comic_pipeline.providers.offline.panel_figures import WHITE, Coat, Face, Pose, draw_face
from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point

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
    "granny": Person(hair="bob", clothes="robe"),
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
    cloth = {"suit": mix(coat.skin, WHITE, 0.85), "armour": mix((158, 166, 182), coat.cloth, 0.15)}.get(
        person.clothes, coat.cloth
    )
    _hair_behind(pen, hair, person.hair)
    draw_legs(pen, coat, person.clothes, cloth, pose)
    draw_arm(pen, coat, cloth, (-0.105, -0.5), pose.left_hand, bend=0.03)
    draw_torso(pen, coat, person.clothes, cloth)
    draw_arm(pen, coat, cloth, (0.105, -0.5), pose.right_hand, bend=-0.03)
    _head(pen, look, coat, person, hair, mood=mood)


def _hair_behind(pen: Pen, hair: Rgb, style: str) -> None:
    x, y = HEAD
    if style == "long":
        pen.blob(
            [
                (x - 0.2, y - 0.16),
                (x - 0.27, y + 0.05),
                (x - 0.25, y + 0.3),
                (x - 0.1, y + 0.34),
                (x + 0.1, y + 0.34),
                (x + 0.25, y + 0.3),
                (x + 0.27, y + 0.05),
                (x + 0.2, y - 0.16),
            ],
            hair,
        )
    elif style == "bob":
        pen.blob(
            [
                (x - 0.2, y - 0.16),
                (x - 0.27, y + 0.02),
                (x - 0.25, y + 0.18),
                (x + 0.25, y + 0.18),
                (x + 0.27, y + 0.02),
                (x + 0.2, y - 0.16),
            ],
            hair,
        )
    elif style == "topknot":
        pen.limb([(x - 0.05, y - 0.24), (x - 0.2, y - 0.24), (x - 0.33, y - 0.08), (x - 0.36, y + 0.14)], 0.06, hair)
        pen.oval((x - 0.03, y - 0.26), 0.075, 0.065, hair)


def _head(pen: Pen, look: Look, coat: Coat, person: Person, hair: Rgb, *, mood: str) -> None:
    x, y = HEAD
    pen.limb([(x, y + 0.17), (x, y + 0.24)], 0.07, mix(coat.skin, (190, 110, 80), 0.2), line=0.7)
    pen.blob(
        [
            (x - _R, y - 0.02),
            (x - 0.13, y - 0.19),
            (x + 0.13, y - 0.19),
            (x + _R, y - 0.02),
            (x + 0.17, y + 0.13),
            (x + 0.03, y + 0.215),
            (x - 0.05, y + 0.21),
            (x - 0.17, y + 0.13),
        ],
        coat.skin,
    )
    draw_face(pen, look, Face(middle=(x, y + 0.03), size=0.2, skin=coat.skin, mood=mood, toward=0.16), coat)
    pen.curve(
        [(x + 0.042, y + 0.065), (x + 0.054, y + 0.082), (x + 0.04, y + 0.088)], mix(coat.skin, (150, 80, 60), 0.5), line=0.7
    )
    _hair_front(pen, hair, person.hair)
    if person.hat:
        draw_hat(pen, look, coat, person.hat)
    elif person.clothes == "dress":
        _ribbon(pen, coat, (x - 0.17, y - 0.17))


def _hair_front(pen: Pen, hair: Rgb, style: str) -> None:
    x, y = HEAD
    lit = mix(hair, WHITE, 0.25)
    if style == "beard":
        _beard(pen, hair)
        return
    fringe = [
        (x - 0.225, y + 0.06),
        (x - 0.24, y - 0.08),
        (x - 0.15, y - 0.225),
        (x + 0.02, y - 0.26),
        (x + 0.17, y - 0.21),
        (x + 0.24, y - 0.06),
        (x + 0.225, y + 0.05),
    ]
    tips = [
        (x + 0.18, y - 0.05),
        (x + 0.12, y - 0.09),
        (x + 0.06, y - 0.03),
        (x + 0.0, y - 0.1),
        (x - 0.08, y - 0.02),
        (x - 0.12, y - 0.1),
        (x - 0.18, y - 0.02),
    ]
    if style == "short":
        spikes = [(x - 0.1, y - 0.31), (x - 0.05, y - 0.25), (x + 0.05, y - 0.32), (x + 0.1, y - 0.24)]
        fringe = [*fringe[:3], *spikes, *fringe[4:]]
        pen.shape([*fringe, *tips], hair)
    else:
        pen.blob([*fringe, *tips], hair)
    pen.curve([(x - 0.13, y - 0.16), (x - 0.02, y - 0.2), (x + 0.1, y - 0.17)], lit, width=0.018)


def _beard(pen: Pen, hair: Rgb) -> None:
    x, y = HEAD
    pen.blob(
        [
            (x - 0.16, y + 0.1),
            (x - 0.06, y + 0.15),
            (x + 0.04, y + 0.14),
            (x + 0.14, y + 0.15),
            (x + 0.19, y + 0.1),
            (x + 0.15, y + 0.3),
            (x + 0.03, y + 0.42),
            (x - 0.09, y + 0.3),
        ],
        hair,
    )
    for side in (-1, 1):
        pen.blob(
            [(x + side * 0.2, y - 0.12), (x + side * 0.25, y + 0.0), (x + side * 0.2, y + 0.1), (x + side * 0.17, y - 0.02)],
            hair,
            line=0.8,
        )


def _ribbon(pen: Pen, coat: Coat, at: Point) -> None:
    x, y = at
    for side in (-1, 1):
        pen.blob([(x, y), (x + side * 0.09, y - 0.06), (x + side * 0.1, y + 0.05)], coat.accent, line=0.8)
    pen.oval((x, y), 0.024, 0.024, mix(coat.accent, WHITE, 0.3), line=0.7)
