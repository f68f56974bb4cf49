"""Settings made by hands: city, street, room, library, classroom, temple, castle.

Belongs here: one function a setting, back to front. Does not: nature (`panel_scenery_wild.py`), which words choose a setting
(`panel_reading.py`).
"""

from comic_pipeline.providers.offline.panel_looks import Rgb, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.panel_scenery_wild import tree, tufts
from comic_pipeline.providers.offline.panel_world import World, fade, floor, ridge, sky
from comic_pipeline.providers.offline.story_chance import Chance

WARM: Rgb = (255, 214, 130)


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
            pen.shape([(side * x0, y * 0.96), (side * x0, y * 0.96 + 0.07), (side * x1, y + 0.075), (side * x1, y)], lit if chance.likely(0.65) else mix(wall, (0, 0, 0), 0.35), line=0.6)
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
    pen.shape([(x - 0.03, y - tall), (x + 0.03, y - tall), (x + 0.02, y - tall - 0.06), (x - 0.02, y - tall - 0.06)], WARM if not world.look.key == "cyber" else world.look.light)
    pen.shape([(x - 0.035, y - tall - 0.06), (x, y - tall - 0.095), (x + 0.035, y - tall - 0.06)], metal)
    if world.dark or world.look.usual_time == world.time:
        world.shine(pen, (x, y - tall - 0.03), 0.3, WARM, strength=0.75 if world.dark else 0.3)


def _interior(world: World, wall: str, ground: str) -> None:
    near = world.colour(wall)
    fade(world, mix(near, (0, 0, 0), 0.12), near, start=world.top, end=0.06)
    boards = world.colour(ground)
    fade(world, mix(boards, (0, 0, 0), 0.15), boards, start=0.06, end=world.bottom + 0.01)
    pen = world.at_depth(0.6)
    pen.box((-world.half - 0.3, 0.035), 2 * world.half + 0.6, 0.03, mix(near, (255, 255, 255), 0.45), line=0.7)
    for step in range(-7, 8):
        pen.curve([(step * 0.16, 0.068), (step * 0.34, world.bottom + 0.2)], mix(boards, (0, 0, 0), 0.3), line=0.5)


def _window(world: World, pen: Pen, corner: Point, width: float, height: float) -> None:
    x, y = corner
    top, low = world.look.heaven(world.time)
    pen.box((x - 0.02, y - 0.02), width + 0.04, height + 0.04, world.colour("#f4e3c6"))
    for band in range(6):
        pen.box((x, y + height * band / 6), width, height / 6 + 0.003, mix(top, low, band / 5), line=0)
    if world.dark:
        pen.oval((x + width * 0.7, y + height * 0.28), 0.035, 0.035, mix(world.look.light, (255, 255, 255), 0.4), line=0)
    else:
        pen.blob([(x, y + height), (x, y + height * 0.72), (x + width * 0.4, y + height * 0.6), (x + width, y + height * 0.78), (x + width, y + height)], world.colour("#8fc28a", far=0.3), line=0)
    pen.box((x + width / 2 - 0.007, y), 0.014, height, world.colour("#f4e3c6"), line=0.5)
    pen.box((x, y + height / 2 - 0.007), width, 0.014, world.colour("#f4e3c6"), line=0.5)
    world.shine(pen, (x + width / 2, y + height / 2), 0.34, mix(low, (255, 255, 255), 0.4), strength=0.4)
    cloth = world.colour(mix(world.look.accent, (255, 255, 255), 0.25))
    for side, edge in ((1, x - 0.04), (-1, x + width + 0.04)):
        drape = [(0.13, -0.04), (0.115, 0.25 * height), (0.07, 0.62 * height), (0.045, height + 0.05), (0.0, height + 0.06), (-0.045, height + 0.05), (-0.05, -0.04)]
        pen.shape([(edge + side * dx, y + dy) for dx, dy in drape], cloth, line=0.8)
        for fold in (0.0, 0.05):
            pen.curve([(edge + side * fold * 1.4, y), (edge + side * fold, y + height * 0.6), (edge + side * fold * 0.3, y + height)], mix(cloth, (60, 20, 40), 0.25), line=0.6)
    pen.limb([(x - 0.14, y - 0.05), (x + width + 0.14, y - 0.05)], 0.018, world.colour("#8a5a3b"), line=0.7)


def room(world: World) -> None:
    """A room: window with curtains, picture, plant, table with a lamp, carpet."""
    _interior(world, "#f0d3b0", "#b98557")
    pen = world.at_depth(0.6)
    side = 1 if world.lots("room").likely(0.5) else -1
    _window(world, pen, (side * 0.36 - 0.15, -0.46), 0.3, 0.36)
    pen.box((-side * 0.42 - 0.09, -0.42), 0.18, 0.14, world.colour("#8a5a3b"))
    pen.box((-side * 0.42 - 0.07, -0.4), 0.14, 0.1, world.colour("#bfe0ea"), line=0.5)
    pen.shape([(-side * 0.42 - 0.05, -0.3), (-side * 0.42, -0.37), (-side * 0.42 + 0.05, -0.3)], world.colour("#6f9a6a"), line=0.4)
    near = world.at_depth(0.8)
    table, x = world.colour("#9c6644"), -side * 0.62
    for leg in (-0.15, 0.13):
        near.box((x + leg, -0.08), 0.025, 0.24, mix(table, (0, 0, 0), 0.2), line=0.8)
    near.box((x - 0.2, -0.11), 0.4, 0.04, table)
    near.limb([(x + 0.06, -0.115), (x + 0.06, -0.2)], 0.014, world.colour("#555566"), line=0.6)
    near.shape([(x, -0.19), (x + 0.03, -0.27), (x + 0.09, -0.27), (x + 0.12, -0.19)], mix(WARM, world.look.light, 0.3))
    world.shine(near, (x + 0.06, -0.2), 0.26, WARM, strength=0.7 if world.dark else 0.35)
    near.oval((0.0, 0.24), 0.52, 0.09, world.colour(mix(world.look.accent, (255, 255, 255), 0.35)), line=0.8)
    near.oval((0.0, 0.24), 0.42, 0.066, world.colour(mix(world.look.accent, (255, 255, 255), 0.62)), line=0.4)
    _plant(world, near, (side * 0.72, 0.16))


def _plant(world: World, pen: Pen, foot: Point) -> None:
    x, y = foot
    for bend, tall in ((-0.1, 0.26), (-0.04, 0.33), (0.04, 0.34), (0.11, 0.25)):
        leaf = world.colour("#4f9d69")
        pen.blob([(x, y - 0.08), (x + bend * 0.4 - 0.02, y - tall * 0.6), (x + bend, y - tall), (x + bend * 0.7 + 0.03, y - tall * 0.55)], leaf, line=0.7)
    pen.shape([(x - 0.07, y - 0.1), (x + 0.07, y - 0.1), (x + 0.05, y), (x - 0.05, y)], world.colour("#d07b4f"))


def library(world: World) -> None:
    """Shelves full of books to the ceiling, a ladder, a hanging lamp."""
    _interior(world, "#8a6248", "#8d6040")
    pen, chance = world.at_depth(0.6), world.lots("books")
    wood = world.colour("#6f4528")
    for shelf in range(6):
        y = 0.0 - 0.145 * shelf
        x = -world.half - 0.2
        while x < world.half + 0.2:
            width, tall = chance.between(0.016, 0.036), chance.between(0.08, 0.118)
            spine = world.colour(chance.pick(("#b5484b", "#3d6b8e", "#d6a44a", "#5b8a62", "#8b5a8c", "#d8cbb0")))
            pen.box((x, y - tall), width, tall, spine, line=0.45)
            x += width + (0.03 if chance.likely(0.06) else 0.001)
        pen.box((-world.half - 0.3, y), 2 * world.half + 0.6, 0.02, wood, line=0.7)
    for post in (-0.92, -0.31, 0.31, 0.92):
        pen.box((post - 0.014, world.top - 0.1), 0.028, -world.top + 0.14, wood, line=0.7)
    for offset in (0.0, 0.1):
        pen.limb([(0.56 + offset, 0.14), (0.48 + offset, -0.62)], 0.014, world.colour("#c99a5b"), line=0.6)
    for rung in range(7):
        pen.limb([(0.548 - rung * 0.0115, 0.06 - rung * 0.1), (0.648 - rung * 0.0115, 0.06 - rung * 0.1)], 0.01, world.colour("#c99a5b"), line=0.5)
    pen.curve([(-0.4, world.top - 0.1), (-0.4, world.top + 0.16)], world.look.ink, line=0.7)
    pen.shape([(-0.47, world.top + 0.2), (-0.43, world.top + 0.15), (-0.37, world.top + 0.15), (-0.33, world.top + 0.2)], world.colour("#3f6b52"))
    world.shine(pen, (-0.4, world.top + 0.22), 0.42, WARM, strength=0.7)


def classroom(world: World) -> None:
    """Blackboard, windows, rows of desks."""
    _interior(world, "#f3e9cf", "#c79a66")
    pen = world.at_depth(0.55)
    pen.box((-0.44, -0.44), 0.88, 0.33, world.colour("#8a5a3b"))
    pen.box((-0.42, -0.42), 0.84, 0.29, world.colour("#2f6b52"), line=0.6)
    chalk = mix(world.colour("#2f6b52"), (255, 255, 255), 0.75)
    pen.curve([(-0.34, -0.34), (-0.26, -0.37), (-0.2, -0.33), (-0.12, -0.36)], chalk, line=0.9)
    pen.star((0.3, -0.27), 0.05, mix(world.colour("#2f6b52"), world.look.light, 0.6), line=0)
    for row in range(3):
        pen.curve([(-0.34, -0.28 + 0.045 * row), (0.1 - 0.07 * row, -0.28 + 0.045 * row)], chalk, line=0.6)
    for side in (-1, 1):
        _window(world, pen, (side * 0.72 - 0.11, -0.44), 0.22, 0.32)
    for side in (-1, 1):
        for number in range(2):
            x, y = side * (0.42 + 0.24 * number), 0.12 + 0.08 * number
            desk = world.at_depth(0.85)
            for leg in (-0.08, 0.07):
                desk.box((x + leg, y), 0.014, 0.13, world.colour("#777c8a"), line=0.5)
            desk.shape([(x - 0.09, y - 0.03), (x + 0.09, y - 0.03), (x + 0.11, y + 0.015), (x - 0.11, y + 0.015)], world.colour("#dcae74"))


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
        pen.blob([(-width * 1.25, eave - 0.035), (-width * 0.85, eave + 0.02), (0.0, eave + 0.025), (width * 0.85, eave + 0.02), (width * 1.25, eave - 0.035), (width * 0.6, eave - 0.06), (width * 0.45, eave - 0.1), (-width * 0.45, eave - 0.1), (-width * 0.6, eave - 0.06)], tile)
    for step in range(4):
        pen.box((-0.2 - 0.05 * step, 0.0 + 0.03 * step), 0.4 + 0.1 * step, 0.03, mix(world.colour("#c9c1ae"), (0, 0, 0), 0.05 * step), line=0.7)
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
    pen.blob([(-world.half - 0.7, 0.1), (-0.5, -0.03), (-0.1, -0.16), (0.3, -0.15), (0.7, -0.02), (world.half + 0.7, 0.1), (0.0, 0.4)], hill, line=0.7)
    stone = world.colour("#cbbfcf", far=0.1)
    roof = world.colour(mix(world.look.figure, world.look.sky, 0.3))
    pen.box((-0.2, -0.38), 0.5, 0.24, stone)
    for notch in range(6):
        pen.box((-0.2 + notch * 0.09, -0.41), 0.05, 0.035, stone, line=0.7)
    for x, tall, width in ((-0.26, 0.38, 0.11), (0.24, 0.42, 0.12), (0.0, 0.56, 0.13)):
        pen.box((x, -0.14 - tall), width, tall, mix(stone, (255, 255, 255), 0.1))
        pen.shape([(x - 0.02, -0.14 - tall), (x + width / 2, -0.32 - tall), (x + width + 0.02, -0.14 - tall)], roof)
        pen.curve([(x + width / 2, -0.32 - tall), (x + width / 2, -0.39 - tall)], world.look.ink, line=0.7)
        pen.shape([(x + width / 2, -0.39 - tall), (x + width / 2 + 0.07, -0.37 - tall), (x + width / 2, -0.35 - tall)], world.colour(world.look.accent), line=0.6)
        pen.box((x + width * 0.36, -0.05 - tall), width * 0.28, 0.07, WARM if world.dark else mix(stone, (60, 50, 90), 0.6), line=0.6)
        world.shine(pen, (x + width / 2, -0.02 - tall), 0.1, WARM, strength=0.6 if world.dark else 0.0)
    pen.blob([(0.0, -0.14), (0.0, -0.25), (0.05, -0.29), (0.1, -0.25), (0.1, -0.14)], mix(stone, (50, 30, 40), 0.7), line=0.8)
    floor(world, world.colour("#6a9955"), hill, line=0)
    world.at_depth(0.8).blob([(0.03, 0.0), (0.08, 0.0), (0.02, 0.08), (0.2, 0.2), (0.1, world.bottom + 0.2), (-0.4, world.bottom + 0.2), (-0.1, 0.2), (-0.08, 0.09)], world.colour("#dcc79a"), line=0.6)
    tufts(world, colour=world.colour("#4f7f42"), count=26)
