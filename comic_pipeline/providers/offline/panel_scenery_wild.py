"""Settings beyond the green land: moon, space, sea, deep sea, desert, clouds.

Belongs here: one function a setting, back to front. Does not: woods and meadows (`panel_scenery_green.py`), streets and
rooms (`panel_scenery_town.py`, `panel_scenery_rooms.py`), which words choose a setting (`panel_reading.py`).
"""

from comic_pipeline.providers.offline.panel_looks import Rgb, mix, veil
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.panel_world import World, cloud, fade, floor, ridge, sky, stars


def moon(world: World) -> None:
    """The moon's surface: black sky, the earth above, craters."""
    top, low = world.look.heaven(world.time)
    fade(world, mix(top, (0, 0, 20), 0.25), mix(low, top, 0.35), start=world.top, end=0.02)
    stars(world, count=110)
    _earth(world)
    dust = world.look.tone((238, 226, 200))
    dust = mix(dust, top, 0.42 if world.look.key in ("cyber", "suspense") else 0.06)
    ridge(world, depth=0.4, height=0.15, colour=mix(dust, low, 0.45), rough=0.3, seed="rim")
    ridge(world, depth=0.65, height=0.05, colour=mix(dust, low, 0.2), rough=0.2, seed="plain")
    floor(world, dust, mix(dust, low, 0.12), line=0)
    chance = world.lots("craters")
    for row in range(4):
        y = 0.05 + 0.13 * row + 0.02 * row * row
        for _ in range(5 - row // 2):
            x = chance.between(-world.half, world.half)
            _crater(world.at_depth(0.7 + 0.1 * row), (x, y), 0.035 + 0.026 * row, dust)


def _crater(pen: Pen, middle: Point, size: float, dust: Rgb) -> None:
    x, y = middle
    pen.oval((x, y), size * 1.15, size * 0.36, mix(dust, (255, 255, 255), 0.35), line=0.7)
    pen.oval((x, y + size * 0.03), size * 0.95, size * 0.27, mix(dust, (60, 50, 90), 0.28), line=0)
    pen.oval((x + size * 0.1, y + size * 0.1), size * 0.78, size * 0.17, mix(dust, (60, 50, 90), 0.14), line=0)


def _earth(world: World) -> None:
    pen = world.at_depth(0.15)
    side = -1 if world.lots("earth").likely(0.5) else 1
    x, y, r = side * 0.52, world.top + 0.3, 0.15
    sea, land = mix(world.look.tone((72, 149, 219)), (255, 255, 255), 0.08), world.look.tone((122, 190, 110))
    world.shine(pen, (x, y), 0.36, mix(sea, (255, 255, 255), 0.4), strength=0.6)
    world.add_orb(pen, (x, y), r)
    pen.oval((x, y), r, r, sea, line=0.8)
    pen.blob(
        [(x - 0.11, y - 0.07), (x - 0.02, y - 0.1), (x + 0.01, y - 0.03), (x - 0.05, y + 0.02), (x - 0.1, y + 0.01)], land, line=0
    )
    pen.blob([(x + 0.03, y + 0.02), (x + 0.1, y), (x + 0.11, y + 0.06), (x + 0.04, y + 0.11), (x, y + 0.08)], land, line=0)
    white = mix(sea, (255, 255, 255), 0.75)
    pen.curve([(x - 0.09, y + 0.07), (x - 0.02, y + 0.05), (x + 0.03, y + 0.08)], white, width=0.016)
    pen.curve([(x + 0.01, y - 0.07), (x + 0.06, y - 0.09), (x + 0.1, y - 0.06)], white, width=0.014)


def space(world: World) -> None:
    """Open space: a ringed planet, a nebula, floating rocks with flat tops to stand on."""
    top, low = world.look.heaven(world.time)
    fade(world, mix(top, (0, 0, 0), 0.3), mix(low, top, 0.55), start=world.top, end=world.bottom + 0.01)
    chance = world.lots("space")
    far = world.at_depth(0.15)
    for _ in range(7):
        point = (chance.between(-0.9, 0.9), chance.between(world.top, 0.2))
        world.shine(
            far, point, chance.between(0.25, 0.5), chance.pick((world.look.accent, world.look.figure, low)), strength=0.35
        )
    stars(world, count=150)
    x, y, ball = 0.5 * (1 if chance.likely(0.5) else -1), world.top + 0.34, world.look.tone((224, 160, 110))
    far.oval((x, y), 0.3, 0.07, mix(ball, world.look.light, 0.5), turn=-0.35, line=0.7)
    world.add_orb(far, (x, y), 0.2)
    far.oval((x, y), 0.16, 0.16, ball, line=0.8)
    far.curve(
        [(x - 0.27, y + 0.12), (x - 0.1, y + 0.09), (x + 0.12, y + 0.01), (x + 0.28, y - 0.1)],
        mix(ball, world.look.light, 0.6),
        width=0.026,
    )
    rock = world.colour("#8d8298")
    for _ in range(5):
        _rock(
            world.at_depth(0.5),
            (chance.between(-world.half, world.half), chance.between(-0.3, 0.05)),
            chance.between(0.03, 0.07),
            rock,
        )
    _rock(world.at_depth(1.0), (0.0, 0.3), 0.95, world.colour("#a89bb0"))


def _rock(pen: Pen, middle: Point, size: float, colour: Rgb) -> None:
    x, y = middle
    under = [(-1, -0.12), (-0.8, 0.2), (-0.4, 0.35), (-0.1, 0.62), (0.25, 0.4), (0.7, 0.25), (1, -0.12)]
    pen.shape([(x + size * px, y + size * py) for px, py in under], mix(colour, (30, 20, 60), 0.4))
    pen.oval((x, y - 0.12 * size), size, size * 0.18, colour)


def sea(world: World) -> None:
    """Water to the horizon, an island, gulls, and a strip of beach."""
    sky(world)
    _, low = world.look.heaven(world.time)
    deep, shallow = world.colour("#2a7fb8"), world.colour("#7fd0d8")
    ridge(world, depth=0.25, height=0.09, colour=world.colour("#6f9a86", far=0.55), rough=0.4, seed="isle", line=0.4)
    fade(world, mix(deep, low, 0.35), shallow, start=0.0, end=0.24)
    pen, chance = world.at_depth(0.6), world.lots("waves")
    for row in range(7):
        y = 0.015 + 0.03 * row
        for _ in range(6):
            x, length = chance.between(-world.half, world.half), 0.03 + 0.016 * row
            pen.curve(
                [(x - length, y), (x - length / 3, y - 0.007), (x + length / 3, y + 0.005), (x + length, y)],
                mix(shallow, (255, 255, 255), 0.65),
                line=0.7,
            )
    sand = world.colour("#f0d9a4")
    edge = [(-world.half - 0.2, 0.2), (-0.5, 0.215), (-0.1, 0.19), (0.3, 0.22), (world.half + 0.2, 0.195)]
    near = world.at_depth(0.9)
    near.blob([*edge, (world.half + 0.2, world.bottom + 0.5), (-world.half - 0.2, world.bottom + 0.5)], sand, line=0)
    near.curve(edge, mix(shallow, (255, 255, 255), 0.85), width=0.014)
    for _ in range(4):
        x, y = chance.between(-0.7, 0.7), chance.between(world.top + 0.14, -0.18)
        pen.curve(
            [(x - 0.03, y - 0.012), (x - 0.012, y - 0.02), (x, y), (x + 0.012, y - 0.02), (x + 0.03, y - 0.012)],
            world.look.ink,
            line=0.8,
        )
    for _ in range(8):
        near.oval(
            (chance.between(-world.half, world.half), chance.between(0.27, world.bottom)),
            0.013,
            0.007,
            mix(sand, (120, 90, 60), 0.3),
            line=0.3,
        )


def undersea(world: World) -> None:
    """Below the waves: shafts of light, corals, weeds, bubbles."""
    top, low = world.colour("#58c4d6"), world.colour("#124a86")
    fade(world, top, low, start=world.top, end=world.bottom + 0.01)
    far, chance = world.at_depth(0.2), world.lots("deep")
    for number in range(5):
        x = -0.8 + 0.4 * number + chance.between(-0.1, 0.1)
        far.shape(
            [(x, world.top), (x + 0.1, world.top), (x + 0.34, 0.3), (x + 0.06, 0.3)],
            veil(mix(top, (255, 255, 255), 0.6), 0.17),
            line=0,
        )
    ridge(world, depth=0.4, height=0.16, colour=mix(low, top, 0.25), rough=0.5, line=0.4)
    sand = world.colour("#d9c79a")
    fade(world, mix(sand, low, 0.5), sand, start=0.06, end=world.bottom + 0.01)
    for number in range(11):
        x = -world.half + (number + chance.between(0.1, 0.9)) * 2 * world.half / 11
        if abs(x) < 0.22:
            continue
        pen, y = world.at_depth(0.75), chance.between(0.08, 0.2)
        if number % 2:
            _coral(pen, (x, y), chance.between(0.12, 0.22), world.colour(chance.pick(("#f26d6d", "#f4a259", "#c77dff"))))
        else:
            for blade in range(3):
                bend = chance.between(0.02, 0.05)
                px, tall = x + 0.025 * blade, chance.between(0.18, 0.34)
                pen.limb(
                    [(px, y), (px + bend, y - tall / 3), (px - bend, y - tall * 0.66), (px + bend, y - tall)],
                    0.014,
                    world.colour("#4caf6d"),
                    line=0.5,
                )
    for _ in range(22):
        r = chance.between(0.005, 0.016)
        far.oval(
            (chance.between(-0.9, 0.9), chance.between(world.top, 0.2)),
            r,
            r,
            veil(mix(top, (255, 255, 255), 0.7), 0.55),
            line=0.3,
        )


def _coral(pen: Pen, foot: Point, tall: float, colour: Rgb) -> None:
    x, y = foot
    for side, reach in ((-1, 0.7), (0, 1.0), (1, 0.8)):
        tip = (x + side * tall * 0.42, y - tall * reach)
        pen.limb([(x, y), (x + side * tall * 0.16, y - tall * 0.45), tip], tall * 0.13, colour, line=0.6)
        pen.limb(
            [(x + side * tall * 0.2, y - tall * 0.5), (tip[0] - tall * 0.2, tip[1] + tall * 0.12)], tall * 0.09, colour, line=0.6
        )


def desert(world: World) -> None:
    """Dunes with lit and shaded sides, cactus, far rocks."""
    sky(world)
    ridge(world, depth=0.2, height=0.18, colour=world.colour("#b5715a", far=0.5), rough=0.9, seed="mesa", line=0.5)
    sand = world.colour("#eac07a")
    ridge(world, depth=0.45, height=0.13, colour=mix(sand, world.colour("#b9784a"), 0.3), rough=0.15, seed="dune", line=0.6)
    floor(world, sand, mix(sand, (255, 255, 255), 0.12), line=0)
    pen, chance = world.at_depth(0.9), world.lots("ripples")
    for row in range(9):
        x, y = chance.between(-world.half, world.half * 0.6), 0.05 + row * 0.05
        pen.curve(
            [(x, y), (x + 0.15, y - 0.015), (x + 0.3, y + 0.005), (x + 0.45, y - 0.008)], mix(sand, (130, 70, 30), 0.3), line=0.6
        )
    green = world.colour("#5b8f5a")
    for x, tall in ((-world.half + 0.5, 0.3), (world.half - 0.6, 0.22)):
        pen.limb([(x, 0.1), (x, 0.1 - tall)], 0.055, green)
        pen.limb([(x, 0.05 - tall * 0.3), (x + 0.08, 0.05 - tall * 0.35), (x + 0.085, 0.02 - tall * 0.65)], 0.036, green)
        pen.limb([(x, 0.08 - tall * 0.5), (x - 0.07, 0.07 - tall * 0.55), (x - 0.075, 0.05 - tall * 0.8)], 0.034, green)


def clouds_land(world: World) -> None:
    """Above the clouds: a sea of cloud tops, and one firm cloud to stand on."""
    sky(world)
    top, low = world.look.heaven(world.time)
    fade(world, mix(low, (255, 255, 255), 0.2), mix(top, (255, 255, 255), 0.5), start=0.0, end=world.bottom + 0.01)
    for depth, row in ((0.3, 0.02), (0.5, 0.09), (0.75, 0.2)):
        chance, pen = world.lots(f"cloud sea {depth}"), world.at_depth(depth)
        for number in range(7):
            x = -world.half + (number + chance.between(0.1, 0.9)) * 2 * world.half / 7
            white = mix(mix(low, (255, 255, 255), 0.35 + 0.5 * depth), top, 0.18 if world.dark else 0.0)
            cloud(pen, (x, row + chance.between(-0.02, 0.03)), 0.08 + 0.12 * depth, white, line=0.4)
    cloud(world.at_depth(1.0), (0.0, 0.42), 0.52, mix(low, (255, 255, 255), 0.88), line=0.8)
