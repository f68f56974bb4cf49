"""Green and white land: forest, bamboo, mountains, field, snow, and what grows there.

Belongs here: one function a setting, back to front, and single plants. Does not: the settings of `panel_scenery_wild.py`,
`panel_scenery_town.py` and `panel_scenery_rooms.py`, which words choose a setting (`panel_reading.py`).
"""

import math

from comic_pipeline.providers.offline.panel_looks import Rgb, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.panel_world import World, floor, ridge, sky


def forest(world: World) -> None:
    """Trees in three depths, light between them, a path."""
    sky(world)
    leaf, bark = world.colour("#4f9d57"), world.colour("#7a5236")
    ridge(world, depth=0.3, height=0.26, colour=world.colour("#5aa469", far=0.6), rough=0.3, line=0.4)
    floor(world, world.colour("#5f9e54"), world.colour("#a6c96a", far=0.25), line=0)
    for depth, count, fade_by, tall in ((0.4, 13, 0.5, 0.5), (0.6, 9, 0.28, 0.72)):
        chance, pen = world.lots(f"trees {depth}"), world.at_depth(depth)
        for number in range(count):
            x = -world.half + (number + chance.between(0.1, 0.9)) * 2 * world.half / count
            shade = mix(mix(leaf, world.colour("#2f7d5b"), chance.between(0, 1)), world.look.heaven(world.time)[1], fade_by)
            tree(
                pen,
                (x, 0.03 + 0.05 * depth),
                tall * chance.between(0.8, 1.15),
                shade,
                mix(bark, world.look.heaven(world.time)[1], fade_by),
            )
    pen = world.at_depth(0.9)
    path = mix(world.colour("#d9c08c"), world.look.light, 0.15)
    pen.blob(
        [(-0.05, 0.0), (0.06, 0.0), (0.12, 0.12), (0.42, world.bottom + 0.1), (-0.5, world.bottom + 0.1), (-0.06, 0.13)],
        path,
        line=0.5,
    )
    for x in (-world.half + 0.34, world.half - 0.36):
        tree(world.at_depth(1.0), (x, 0.16), 1.0, leaf, bark)
    tufts(world, colour=mix(leaf, (20, 60, 30), 0.2), count=26)


def tree(pen: Pen, foot: Point, tall: float, leaf: Rgb, bark: Rgb) -> None:
    """A leafy tree `tall` units high."""
    x, y = foot
    w = tall * 0.055
    pen.shape([(x - w * 1.5, y), (x - w * 0.7, y - tall * 0.5), (x + w * 0.7, y - tall * 0.5), (x + w * 1.5, y)], bark, line=0.8)
    crown = [(-0.26, -0.46), (-0.33, -0.66), (-0.2, -0.86), (0.0, -0.98), (0.2, -0.87), (0.33, -0.66), (0.27, -0.46), (0.0, -0.4)]
    pen.blob([(x + tall * px, y + tall * py) for px, py in crown], leaf, line=0.9)
    lit = mix(leaf, (255, 255, 210), 0.22)
    pen.blob([(x + tall * px * 0.62 - tall * 0.05, y + tall * (py * 0.62 - 0.31)) for px, py in crown], lit, line=0)


def bamboo(world: World) -> None:
    """Bamboo stems in mist, their joints and leaves."""
    sky(world)
    ridge(world, depth=0.3, height=0.34, colour=world.colour("#8fb39a", far=0.65), rough=0.5, line=0.3)
    floor(world, world.colour("#7f9a62"), world.colour("#c5d3a0", far=0.5), line=0)
    for depth, count, fade_by, width in ((0.4, 18, 0.6, 0.014), (0.65, 11, 0.35, 0.024), (1.0, 5, 0.0, 0.042)):
        chance, pen = world.lots(f"bamboo {depth}"), world.at_depth(depth)
        for number in range(count):
            x = -world.half + (number + chance.between(0.05, 0.95)) * 2 * world.half / count
            if depth == 1.0 and abs(x) < 0.36:
                x += 0.5 if x > 0 else -0.5
            _bamboo_stem(world, pen, (x, 0.03 + 0.1 * depth), width, world.colour("#5f9a58", far=fade_by))
    tufts(world, colour=world.colour("#5c8a4c"), count=20)


def _bamboo_stem(world: World, pen: Pen, foot: Point, width: float, colour: Rgb) -> None:
    x, y = foot
    lean = 0.011 * math.sin(x * 9)
    joints = 7
    reach = (y - world.top + 0.2) / joints
    for step in range(joints):
        x0, x1 = x + lean * step, x + lean * (step + 1)
        y0, y1 = y - reach * step, y - reach * (step + 1)
        pen.shape([(x0 - width / 2, y0), (x1 - width / 2, y1), (x1 + width / 2, y1), (x0 + width / 2, y0)], colour, line=0.5)
        pen.limb([(x1 - width * 0.55, y1), (x1 + width * 0.55, y1)], width * 0.16, mix(colour, (20, 50, 30), 0.35), line=0.3)
        if step in (3, 4, 5):
            side = 1 if (step + round(x * 10)) % 2 else -1
            for spread in (0.1, 0.45, 0.8):
                tip = (x1 + side * width * 6 * math.cos(spread), y1 + width * 6 * math.sin(spread) * 0.7)
                middle = ((x1 + tip[0]) / 2, (y1 + tip[1]) / 2 - width * 0.8)
                pen.shape(
                    [(x1, y1), middle, tip, (middle[0], middle[1] + width * 1.3)], mix(colour, (30, 90, 50), 0.25), line=0.3
                )


def mountain(world: World) -> None:
    """Ranges behind ranges with snow on the tops, pines, a ledge to stand on."""
    sky(world)
    for depth, height, far in ((0.15, 0.52, 0.72), (0.3, 0.36, 0.5), (0.45, 0.22, 0.28)):
        ridge(world, depth=depth, height=height, colour=world.colour("#5d7d8c", far=far), rough=0.85, seed="peak", line=0.6)
        if world.look.key == "ink":
            _mist(world, y=-height * 0.22)
    floor(world, world.colour("#7d9a5e"), world.colour("#a9bb84", far=0.3), line=0.6)
    chance = world.lots("pines")
    for _ in range(9):
        x = chance.between(-world.half, world.half)
        _pine(world.at_depth(0.65), (x, 0.05), chance.between(0.16, 0.3), world.colour("#3f6f52", far=0.15))
    _boulders(world, world.colour("#8c8577"))
    tufts(world, colour=world.colour("#587a42"), count=22)


def _mist(world: World, *, y: float) -> None:
    white = mix(world.look.heaven(world.time)[1], (255, 255, 255), 0.5)
    pen, chance = world.at_depth(0.3), world.lots(f"mist {y}")
    for _ in range(5):
        x = chance.between(-world.half, world.half)
        for layer in range(4):
            pen.oval((x, y + 0.02), 0.42 - 0.08 * layer, 0.05 - 0.009 * layer, veil(white, 0.2), line=0)


def _pine(pen: Pen, foot: Point, tall: float, colour: Rgb) -> None:
    x, y = foot
    pen.box((x - tall * 0.04, y - tall * 0.2), tall * 0.08, tall * 0.2, mix(colour, (90, 50, 30), 0.6), line=0.5)
    for step, width in enumerate((0.3, 0.23, 0.15)):
        base = y - tall * (0.14 + 0.26 * step)
        pen.shape(
            [(x - tall * width, base), (x, base - tall * 0.4), (x + tall * width, base)],
            mix(colour, (255, 255, 255), 0.05 * step),
            line=0.6,
        )


def _boulders(world: World, colour: Rgb) -> None:
    chance, pen = world.lots("boulders"), world.at_depth(1.0)
    for side in (-1, 1):
        x, size = side * chance.between(0.55, 0.8), chance.between(0.07, 0.12)
        pen.blob(
            [
                (x - size, 0.2),
                (x - size * 0.7, 0.2 - size * 0.8),
                (x + size * 0.2, 0.2 - size),
                (x + size, 0.2 - size * 0.3),
                (x + size * 0.9, 0.22),
            ],
            colour,
        )
        pen.curve(
            [(x - size * 0.2, 0.2 - size * 0.7), (x + size * 0.1, 0.2 - size * 0.45), (x, 0.2 - size * 0.2)],
            world.look.ink,
            line=0.6,
        )


def field(world: World) -> None:
    """Rolling meadows, a fence, a far house, flowers in the grass."""
    sky(world)
    ridge(world, depth=0.25, height=0.2, colour=world.colour("#7fb77e", far=0.5), rough=0.25, line=0.5)
    ridge(world, depth=0.45, height=0.1, colour=world.colour("#8cc56f", far=0.22), rough=0.2, seed="near", line=0.6)
    _cottage(world)
    floor(world, world.colour("#79b857"), world.colour("#a5d36e"), line=0)
    pen, wood = world.at_depth(0.65), world.colour("#f2e6cf")
    for rail in (-0.03, 0.0):
        pen.box((-world.half - 0.2, rail), 2 * world.half + 0.4, 0.012, wood, line=0.5)
    for post in range(-12, 13):
        pen.shape(
            [
                (post * 0.13 - 0.012, 0.05),
                (post * 0.13 - 0.012, -0.05),
                (post * 0.13, -0.07),
                (post * 0.13 + 0.012, -0.05),
                (post * 0.13 + 0.012, 0.05),
            ],
            wood,
            line=0.5,
        )
    tufts(world, colour=world.colour("#569a45"), count=36)
    chance = world.lots("meadow")
    for _ in range(26):
        x, y = chance.between(-world.half, world.half), chance.between(0.1, world.bottom)
        daisy(
            world.at_depth(0.95),
            (x, y),
            0.012 + 0.016 * y,
            world.colour(chance.pick(("#ffffff", "#ffd166", "#ff8fab", "#cdb4ff"))),
        )


def _cottage(world: World) -> None:
    pen, x = world.at_depth(0.45), 0.55 if world.lots("cottage").likely(0.5) else -0.55
    pen.box((x - 0.07, -0.15), 0.14, 0.12, world.colour("#f6e7cb"), line=0.7)
    pen.shape([(x - 0.095, -0.145), (x, -0.23), (x + 0.095, -0.145)], world.colour("#d1605e"), line=0.7)
    pen.box((x - 0.018, -0.09), 0.036, 0.06, world.colour("#8a5a3b"), line=0.5)
    if world.dark:
        world.shine(pen, (x + 0.045, -0.1), 0.06, (255, 220, 140), strength=0.9)


def snow(world: World) -> None:
    """White ground, blue shadows, pines under snow."""
    sky(world)
    ridge(world, depth=0.2, height=0.4, colour=world.colour("#b7c9dd", far=0.4), rough=0.85, seed="peak", line=0.5)
    ridge(world, depth=0.4, height=0.1, colour=world.colour("#dfeaf4"), rough=0.2, seed="drift", line=0.5)
    floor(world, world.colour("#f7fbff"), world.colour("#d5e3f0"), line=0)
    chance = world.lots("snow pines")
    for _ in range(10):
        x, tall = chance.between(-world.half, world.half), chance.between(0.2, 0.36)
        pen = world.at_depth(0.6)
        _pine(pen, (x, 0.05), tall, world.colour("#4a7a70", far=0.2))
        pen.shape(
            [(x - tall * 0.07, 0.05 - tall * 0.87), (x, 0.05 - tall * 1.06), (x + tall * 0.07, 0.05 - tall * 0.87)],
            world.colour("#ffffff"),
            line=0,
        )
    for row in range(8):
        x, y = chance.between(-world.half, world.half * 0.7), 0.06 + 0.05 * row
        world.at_depth(0.9).curve([(x, y), (x + 0.12, y - 0.01), (x + 0.26, y)], world.colour("#aebfd6"), line=0.7)


def tufts(world: World, *, colour: Rgb, count: int) -> None:
    """Tufts of grass over the ground, larger when nearer."""
    chance, pen = world.lots("tufts"), world.at_depth(0.95)
    for _ in range(count):
        x, y = chance.between(-world.half, world.half), chance.between(0.05, world.bottom)
        size = 0.015 + 0.05 * y
        for bend in (-0.6, 0.0, 0.6):
            pen.shape(
                [(x + size * (bend * 0.35 - 0.12), y), (x + size * bend, y - size), (x + size * (bend * 0.35 + 0.12), y)],
                colour,
                line=0,
            )


def daisy(pen: Pen, middle: Point, size: float, colour: Rgb) -> None:
    """A small flower seen from above."""
    x, y = middle
    for step in range(5):
        angle = 2 * math.pi * step / 5
        pen.oval((x + size * 0.62 * math.cos(angle), y + size * 0.62 * math.sin(angle)), size * 0.45, size * 0.45, colour, line=0)
    pen.oval((x, y), size * 0.34, size * 0.34, mix(colour, (240, 170, 40), 0.75), line=0)
