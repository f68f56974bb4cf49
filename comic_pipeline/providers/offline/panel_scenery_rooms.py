"""Settings under a roof: room, library, classroom.

Belongs here: one function a setting, back to front, and what furnishes them. Does not: streets and buildings seen from
outside (`panel_scenery_town.py`), which words choose a setting (`panel_reading.py`).
"""

from comic_pipeline.providers.offline.panel_looks import mix
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.panel_world import WARM, World, fade


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
        pen.blob(
            [
                (x, y + height),
                (x, y + height * 0.72),
                (x + width * 0.4, y + height * 0.6),
                (x + width, y + height * 0.78),
                (x + width, y + height),
            ],
            world.colour("#8fc28a", far=0.3),
            line=0,
        )
    pen.box((x + width / 2 - 0.007, y), 0.014, height, world.colour("#f4e3c6"), line=0.5)
    pen.box((x, y + height / 2 - 0.007), width, 0.014, world.colour("#f4e3c6"), line=0.5)
    world.shine(pen, (x + width / 2, y + height / 2), 0.34, mix(low, (255, 255, 255), 0.4), strength=0.4)
    cloth = world.colour(mix(world.look.accent, (255, 255, 255), 0.25))
    for side, edge in ((1, x - 0.04), (-1, x + width + 0.04)):
        drape = [
            (0.13, -0.04),
            (0.115, 0.25 * height),
            (0.07, 0.62 * height),
            (0.045, height + 0.05),
            (0.0, height + 0.06),
            (-0.045, height + 0.05),
            (-0.05, -0.04),
        ]
        pen.shape([(edge + side * dx, y + dy) for dx, dy in drape], cloth, line=0.8)
        for fold in (0.0, 0.05):
            pen.curve(
                [(edge + side * fold * 1.4, y), (edge + side * fold, y + height * 0.6), (edge + side * fold * 0.3, y + height)],
                mix(cloth, (60, 20, 40), 0.25),
                line=0.6,
            )
    pen.limb([(x - 0.14, y - 0.05), (x + width + 0.14, y - 0.05)], 0.018, world.colour("#8a5a3b"), line=0.7)


def room(world: World) -> None:
    """A room: window with curtains, picture, plant, table with a lamp, carpet."""
    _interior(world, "#f0d3b0", "#b98557")
    pen = world.at_depth(0.6)
    side = 1 if world.lots("room").likely(0.5) else -1
    _window(world, pen, (side * 0.36 - 0.15, -0.46), 0.3, 0.36)
    pen.box((-side * 0.42 - 0.09, -0.42), 0.18, 0.14, world.colour("#8a5a3b"))
    pen.box((-side * 0.42 - 0.07, -0.4), 0.14, 0.1, world.colour("#bfe0ea"), line=0.5)
    pen.shape(
        [(-side * 0.42 - 0.05, -0.3), (-side * 0.42, -0.37), (-side * 0.42 + 0.05, -0.3)], world.colour("#6f9a6a"), line=0.4
    )
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
        pen.blob(
            [
                (x, y - 0.08),
                (x + bend * 0.4 - 0.02, y - tall * 0.6),
                (x + bend, y - tall),
                (x + bend * 0.7 + 0.03, y - tall * 0.55),
            ],
            leaf,
            line=0.7,
        )
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
        pen.limb(
            [(0.548 - rung * 0.0115, 0.06 - rung * 0.1), (0.648 - rung * 0.0115, 0.06 - rung * 0.1)],
            0.01,
            world.colour("#c99a5b"),
            line=0.5,
        )
    pen.curve([(-0.4, world.top - 0.1), (-0.4, world.top + 0.16)], world.look.ink, line=0.7)
    pen.shape(
        [(-0.47, world.top + 0.2), (-0.43, world.top + 0.15), (-0.37, world.top + 0.15), (-0.33, world.top + 0.2)],
        world.colour("#3f6b52"),
    )
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
            desk.shape(
                [(x - 0.09, y - 0.03), (x + 0.09, y - 0.03), (x + 0.11, y + 0.015), (x - 0.11, y + 0.015)],
                world.colour("#dcae74"),
            )
