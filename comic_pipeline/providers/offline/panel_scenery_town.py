"""Settings made by hands, out of doors: city, street, temple, castle.

Belongs here: one function a setting, back to front. Does not: rooms (`panel_scenery_rooms.py`), nature
(`panel_scenery_green.py`, `panel_scenery_wild.py`), which words choose a setting (`panel_reading.py`).
"""

from comic_pipeline.providers.offline.panel_looks import Rgb, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.panel_scenery_green import tree, tufts
from comic_pipeline.providers.offline.panel_world import WARM, World, floor, ridge, sky
from comic_pipeline.providers.offline.story_chance import Chance


def city(world: World) -> None:
    """A skyline in three depths seen from a roof with a parapet."""
    sky(world)
    for depth, tall, far in ((0.2, 0.5, 0.62), (0.4, 0.4, 0.38), (0.6, 0.26, 0.12)):
        _skyline(world, depth=depth, tall=tall, far=far)
    roof = world.colour("#8d8fa3")
    floor(world, roof, mix(roof, world.look.heaven(world.time)[1], 0.25), line=0)
    pen = world.at_depth(0.85)
    pen.box((-world.half - 0.3, -0.02), 2 * world.half + 0.6, 0.07, mix(roof, (255, 255, 255), 0.18))
    pen.box((-world.half - 0.3, 0.05), 2 * world.half + 0.6, 0.025, mix(roof, (0, 0, 0), 0.3), line=0)
    for step in range(-4, 5):
        pen.curve([(step * 0.24, 0.075), (step * 0.5, world.bottom + 0.1)], mix(roof, (0, 0, 0), 0.22), line=0.6)
    x = world.half - 0.75
    tank = world.colour("#b0785a")
    pen.box((x, -0.2), 0.2, 0.2, tank)
    pen.shape([(x - 0.02, -0.2), (x + 0.1, -0.28), (x + 0.22, -0.2)], mix(tank, (0, 0, 0), 0.2))


def _skyline(world: World, *, depth: float, tall: float, far: float) -> None:
    chance, pen = world.lots(f"skyline {depth}"), world.at_depth(depth)
    neon = (world.look.light, world.look.figure, world.look.accent)
    x = -world.half - 0.3
    while x < world.half + 0.3:
        width, height = chance.between(0.1, 0.22), tall * chance.between(0.45, 1.2)
        wall = world.colour(chance.pick(("#6d7fa8", "#8a7a9b", "#a8958a", "#5f8f99")), far=far)
        pen.box((x, -height), width, height + 0.1, wall, line=0.7)
        if chance.likely(0.4):
            pen.curve([(x + width / 2, -height), (x + width / 2, -height - 0.07)], world.look.ink, line=0.8)
        _windows(world, pen, (x, -height), width, height, chance=chance, far=far)
        if world.look.key == "cyber" and chance.likely(0.5):
            _sign(world, pen, (x + width * 0.3, -height * 0.8), height * 0.3, chance.pick(neon))
        x += width + chance.between(0.0, 0.03)


def _windows(world: World, pen: Pen, corner: Point, width: float, height: float, *, chance: Chance, far: float) -> None:
    _, low = world.look.heaven(world.time)
    lit = mix(WARM, low, far * 0.7) if world.look.key != "cyber" else mix(world.look.light, low, far * 0.6)
    plain = world.colour("#3f4f78" if world.dark else "#d7e6f2", far=far)
    columns, rows = max(2, int(width / 0.04)), max(2, int(height / 0.055))
    for row in range(rows - 1):
        for column in range(columns):
            x, y = corner[0] + width * (column + 0.3) / columns, corner[1] + 0.03 + row * 0.055
            pen.box((x, y), width * 0.4 / columns, 0.026, lit if chance.likely(0.5 if world.dark else 0.12) else plain, line=0)


def _sign(world: World, pen: Pen, corner: Point, tall: float, colour: Rgb) -> None:
    x, y = corner
    pen.box((x, y), 0.035, tall, mix(colour, (0, 0, 0), 0.75), line=0.5)
    for step in range(4):
        top = y + tall * (0.07 + 0.23 * step)
        pen.curve([(x + 0.008, top), (x + 0.027, top)], colour, line=1.0)
        pen.curve([(x + 0.0175, top), (x + 0.0175, top + tall * 0.12)], colour, line=0.9)
        if step % 2:
            pen.curve([(x + 0.008, top + tall * 0.12), (x + 0.027, top + tall * 0.12)], colour, line=1.0)
    world.shine(pen, (x + 0.017, y + tall / 2), max(0.1, tall), colour, strength=0.75)


def street(world: World) -> None:
    """Two rows of shops running to one point, lamps, awnings, lit windows, wet reflections."""
    sky(world)
    _skyline(world, depth=0.2, tall=0.34, far=0.5)
    road = world.colour("#6c6f80")
    floor(world, mix(road, (0, 0, 0), 0.1), mix(road, world.look.heaven(world.time)[1], 0.3), line=0)
    pen = world.at_depth(0.8)
    for step in range(-3, 4):
        pen.curve([(step * 0.05, 0.02), (step * 0.4, world.bottom + 0.2)], mix(road, (0, 0, 0), 0.25), line=0.5)
    for side in (-1, 1):
        for depth in range(2, -1, -1):
            _house(world, pen, side=side, depth=depth)
        _lamp(world, pen, (side * 0.46, 0.2), 0.62)
    if world.dark:
        for x, colour in ((-0.5, world.look.figure), (0.5, world.look.accent), (-0.2, WARM), (0.25, world.look.light)):
            pen.oval((x, 0.2), 0.035, 0.12, veil(colour, 0.25), line=0)


def _house(world: World, pen: Pen, *, side: int, depth: int) -> None:
    chance = world.lots(f"house {side} {depth}")
    near, end = (0.42 + 0.34 * (2 - depth)), (0.2 + 0.24 * (2 - depth))
    tall, foot = 0.42 + 0.2 * (2 - depth), 0.05 + 0.08 * (2 - depth)
    wall = world.colour(chance.pick(("#d98c6a", "#7f9bb8", "#c9b27c", "#9a86b3", "#86a87f")), far=0.14 * depth)
    pen.shape([(side * end, foot * 0.62), (side * end, -tall * 0.78), (side * near, -tall), (side * near, foot)], wall)
    lit = WARM if world.dark else world.colour("#e9f3f7")
    for row in (0.52, 0.78):
        for column in (0.25, 0.62):
            x0, x1 = end + (near - end) * column, end + (near - end) * (column + 0.24)
            y = -tall * row
            pen.shape(
                [(side * x0, y * 0.96), (side * x0, y * 0.96 + 0.07), (side * x1, y + 0.075), (side * x1, y)],
                lit if chance.likely(0.65) else mix(wall, (0, 0, 0), 0.35),
                line=0.6,
            )
    awning = world.colour(chance.pick(("#e4572e", "#2e86ab", "#f2c14e", "#5fad56")))
    pen.shape([(side * end, -0.12), (side * near, -0.16), (side * (near - 0.06), -0.07), (side * (end - 0.05), -0.06)], awning)
    glass = mix(WARM, wall, 0.2) if world.dark else world.colour("#bcd9e6")
    x0, x1 = end + (near - end) * 0.2, end + (near - end) * 0.8
    pen.shape([(side * x0, -0.05), (side * x1, -0.055), (side * x1, foot * 0.85), (side * x0, foot * 0.7)], glass, line=0.8)
    if world.dark:
        world.shine(pen, (side * (end + near) / 2, -0.02), 0.14, WARM, strength=0.4)
    if world.look.key == "cyber" or (world.dark and chance.likely(0.4)):
        colour = chance.pick((world.look.light, world.look.figure, world.look.accent))
        _sign(world, pen, (side * (end - 0.01) - (0.035 if side > 0 else 0), -tall * 0.6), 0.24, colour)


def _lamp(world: World, pen: Pen, foot: Point, tall: float) -> None:
    x, y = foot
    metal = world.colour("#4a4a58")
    pen.limb([(x, y), (x, y - tall)], 0.016, metal, line=0.7)
    pen.shape(
        [(x - 0.03, y - tall), (x + 0.03, y - tall), (x + 0.02, y - tall - 0.06), (x - 0.02, y - tall - 0.06)],
        WARM if world.look.key != "cyber" else world.look.light,
    )
    pen.shape([(x - 0.035, y - tall - 0.06), (x, y - tall - 0.095), (x + 0.035, y - tall - 0.06)], metal)
    if world.dark or world.look.usual_time == world.time:
        world.shine(pen, (x, y - tall - 0.03), 0.3, WARM, strength=0.75 if world.dark else 0.3)


def temple(world: World) -> None:
    """An old hall with upswept roofs on stone steps, pines and far peaks."""
    sky(world)
    for depth, height, far in ((0.15, 0.46, 0.7), (0.3, 0.26, 0.5)):
        ridge(world, depth=depth, height=height, colour=world.colour("#7f8f93", far=far), rough=0.8, seed="peak", line=0.4)
    floor(world, world.colour("#b9ad94"), world.colour("#cfc5ad", far=0.2), line=0.6)
    pen = world.at_depth(0.55)
    red, tile = world.colour("#a8443c"), world.colour("#4f5d63")
    for width, base, tall in ((0.44, 0.0, 0.17), (0.3, -0.24, 0.12)):
        pen.box((-width * 0.8, base - tall), width * 1.6, tall, world.colour("#ead9b5"), line=0.8)
        for post in range(5):
            pen.box((-width * 0.78 + post * width * 0.38, base - tall), 0.03, tall, red, line=0.7)
        eave = base - tall
        pen.blob(
            [
                (-width * 1.25, eave - 0.035),
                (-width * 0.85, eave + 0.02),
                (0.0, eave + 0.025),
                (width * 0.85, eave + 0.02),
                (width * 1.25, eave - 0.035),
                (width * 0.6, eave - 0.06),
                (width * 0.45, eave - 0.1),
                (-width * 0.45, eave - 0.1),
                (-width * 0.6, eave - 0.06),
            ],
            tile,
        )
    for step in range(4):
        pen.box(
            (-0.2 - 0.05 * step, 0.0 + 0.03 * step),
            0.4 + 0.1 * step,
            0.03,
            mix(world.colour("#c9c1ae"), (0, 0, 0), 0.05 * step),
            line=0.7,
        )
    for side in (-1, 1):
        tree(world.at_depth(0.75), (side * 0.72, 0.08), 0.55, world.colour("#5f8460"), world.colour("#5c4433"))
        pen.box((side * 0.34 - 0.035, -0.02), 0.07, 0.1, world.colour("#9b958a"))
        pen.shape([(side * 0.34 - 0.06, -0.02), (side * 0.34, -0.07), (side * 0.34 + 0.06, -0.02)], tile)
        world.shine(pen, (side * 0.34, 0.03), 0.07, WARM, strength=0.6 if world.dark else 0.2)


def castle(world: World) -> None:
    """A castle on a hill, flags, a winding road."""
    sky(world)
    ridge(world, depth=0.2, height=0.26, colour=world.colour("#6f8f9a", far=0.55), rough=0.7, seed="peak", line=0.5)
    pen = world.at_depth(0.3).at(0.0, 0.0, 0.8)
    hill = world.colour("#78a060", far=0.2)
    pen.blob(
        [(-world.half - 0.7, 0.1), (-0.5, -0.03), (-0.1, -0.16), (0.3, -0.15), (0.7, -0.02), (world.half + 0.7, 0.1), (0.0, 0.4)],
        hill,
        line=0.7,
    )
    _keep(world, pen)
    floor(world, world.colour("#6a9955"), hill, line=0)
    world.at_depth(0.8).blob(
        [
            (0.03, 0.0),
            (0.08, 0.0),
            (0.02, 0.08),
            (0.2, 0.2),
            (0.1, world.bottom + 0.2),
            (-0.4, world.bottom + 0.2),
            (-0.1, 0.2),
            (-0.08, 0.09),
        ],
        world.colour("#dcc79a"),
        line=0.6,
    )
    tufts(world, colour=world.colour("#4f7f42"), count=26)


def _keep(world: World, pen: Pen) -> None:
    stone = world.colour("#cbbfcf", far=0.1)
    roof = world.colour(mix(world.look.figure, world.look.sky, 0.3))
    pen.box((-0.2, -0.38), 0.5, 0.24, stone)
    for notch in range(6):
        pen.box((-0.2 + notch * 0.09, -0.41), 0.05, 0.035, stone, line=0.7)
    for x, tall, width in ((-0.26, 0.38, 0.11), (0.24, 0.42, 0.12), (0.0, 0.56, 0.13)):
        pen.box((x, -0.14 - tall), width, tall, mix(stone, (255, 255, 255), 0.1))
        pen.shape([(x - 0.02, -0.14 - tall), (x + width / 2, -0.32 - tall), (x + width + 0.02, -0.14 - tall)], roof)
        pen.curve([(x + width / 2, -0.32 - tall), (x + width / 2, -0.39 - tall)], world.look.ink, line=0.7)
        pen.shape(
            [(x + width / 2, -0.39 - tall), (x + width / 2 + 0.07, -0.37 - tall), (x + width / 2, -0.35 - tall)],
            world.colour(world.look.accent),
            line=0.6,
        )
        pen.box(
            (x + width * 0.36, -0.05 - tall), width * 0.28, 0.07, WARM if world.dark else mix(stone, (60, 50, 90), 0.6), line=0.6
        )
        world.shine(pen, (x + width / 2, -0.02 - tall), 0.1, WARM, strength=0.6 if world.dark else 0.0)
    pen.blob([(0.0, -0.14), (0.0, -0.25), (0.05, -0.29), (0.1, -0.25), (0.1, -0.14)], mix(stone, (50, 30, 40), 0.7), line=0.8)
