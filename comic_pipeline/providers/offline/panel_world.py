"""The stage of a panel: picture, camera, light and colours, which scenery and figures draw on.

Belongs here: the `World` and what every setting needs (sky, stars, hills, clouds, glow). Does not: single settings
(`panel_scenery_*.py`). World units: 1 is the picture's shorter side; x = 0 is the middle, y = 0 the horizon, y grows
downwards.
"""

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from comic_pipeline.providers.offline.panel_looks import Colour, Look, Rgb, Time, mix, rgb
from comic_pipeline.providers.offline.panel_pen import Pen, Point
from comic_pipeline.providers.offline.story_chance import Chance

if TYPE_CHECKING:
    from PIL.Image import Image

# Drawn at twice the size and reduced: that makes the edges smooth.
FINE = 2
# Lamps and lit windows.
WARM: Rgb = (255, 214, 130)


@dataclass(frozen=True)
class Glow:
    """A light: its middle and reach in pixels of the drawing, its colour, its strength from 0 to 1."""

    x: float
    y: float
    reach: float
    colour: Rgb
    strength: float


@dataclass(frozen=True)
class Camera:
    """`pan` in world units to the right, `zoom` 1 and more, `horizon` as a share of the height from the top."""

    pan: float
    zoom: float
    horizon: float


@dataclass(frozen=True)
class World:
    """All that a setting draws with. `key` is the same for all shots in one setting of a project: they show one place.

    `cast` is a mask, at half the drawing's size, of the figures: lights behind them do not wash them out.
    `orbs` are the sun, the moon, planets: nothing small is drawn over them.
    """

    image: "Image"
    pen: Pen
    look: Look
    time: Time
    key: str
    camera: Camera
    short: float
    cast: "Image"
    glows: list[Glow] = field(default_factory=list)
    orbs: list[Glow] = field(default_factory=list)

    @property
    def half(self) -> float:
        """How far the picture reaches to the left and to the right, in world units, with room for any pan."""
        return self.image.width / self.short / 2 + 0.45

    @property
    def top(self) -> float:
        """The picture's upper edge (negative)."""
        return -self.camera.horizon * self.image.height / self.short

    @property
    def bottom(self) -> float:
        """The picture's lower edge."""
        return (1 - self.camera.horizon) * self.image.height / self.short

    @property
    def dark(self) -> bool:
        """Whether it is night."""
        return self.time is Time.NIGHT

    def at_depth(self, depth: float) -> Pen:
        """A pen for things that far away: 0 moves and grows with the camera not at all, 1 fully."""
        zoom = 1 + (self.camera.zoom - 1) * depth
        return replace(
            self.pen,
            x=self.image.width / 2 - self.camera.pan * depth * self.short * zoom,
            y=self.image.height * self.camera.horizon,
            size=self.short * zoom,
        )

    def colour(self, natural: str | Rgb, *, far: float = 0.0) -> Rgb:
        """A natural colour in this style and light; `far` (0 to 1) fades it into the air."""
        toned = self.look.tone(rgb(natural) if isinstance(natural, str) else natural)
        top, low = self.look.heaven(self.time)
        if self.dark:
            toned = mix(toned, mix(top, (0, 0, 0), 0.35), 0.52)
        elif self.time is Time.DUSK:
            toned = mix(toned, low, 0.16)
        return mix(toned, low, far) if far else toned

    def lots(self, name: str) -> Chance:
        """A fresh stream of draws for the thing `name` of this place."""
        return Chance(self.key, name)

    def shine(self, pen: Pen, point: Point, reach: float, colour: Rgb, *, strength: float = 0.8) -> None:
        """Let `point` of `pen` glow `reach` units far."""
        x, y = pen.px(point)
        self.glows.append(Glow(x=x, y=y, reach=reach * pen.size, colour=colour, strength=strength))

    def add_orb(self, pen: Pen, point: Point, radius: float) -> None:
        """Keep `point` of `pen` and `radius` units around it free of small things."""
        x, y = pen.px(point)
        self.orbs.append(Glow(x=x, y=y, reach=radius * pen.size, colour=self.look.light, strength=0.0))


def fade(world: World, top: Rgb, low: Rgb, *, start: float, end: float) -> None:
    """Fill the whole width from y = `start` to `end` (world units) from one colour to the other."""
    from PIL import Image, ImageOps

    zero = world.image.height * world.camera.horizon
    y0 = max(0, round(zero + start * world.short))
    y1 = min(world.image.height, round(zero + end * world.short))
    if y1 <= y0:
        return
    ramp = ImageOps.colorize(Image.linear_gradient("L").resize((1, y1 - y0), Image.Resampling.BILINEAR), top, low)
    world.image.paste(ramp.resize((world.image.width, y1 - y0), Image.Resampling.NEAREST), (0, y0))


def sky(world: World) -> None:
    """Sky, and by the time of day sun or moon, stars, clouds."""
    top, low = world.look.heaven(world.time)
    fade(world, top, low, start=world.top, end=0.02)
    if world.dark:
        stars(world, count=70)
    _sun_or_moon(world)
    if not world.dark:
        clouds(world, count=3)


def stars(world: World, *, count: int) -> None:
    """Scattered stars, some of them with rays."""
    pen, chance = world.at_depth(0.2), world.lots("stars")
    pale = mix(world.look.light, (255, 255, 255), 0.55)
    for _ in range(count):
        x, y = chance.between(-world.half, world.half), chance.between(world.top, -0.06)
        size = chance.between(0.0016, 0.0045)
        if chance.likely(0.16):
            pen.star((x, y), size * 3.4, pale, inner=0.24, tips=4, line=0)
            world.shine(pen, (x, y), size * 9, pale, strength=0.5)
        else:
            pen.oval((x, y), size, size, pale, line=0)


def _sun_or_moon(world: World) -> None:
    chance = world.lots("orb")
    side = -1 if chance.likely(0.5) else 1
    pen = world.at_depth(0.25)
    x, y = side * chance.between(0.34, 0.5), world.top + chance.between(0.24, 0.3)
    if world.dark:
        pale = mix(world.look.light, (255, 255, 255), 0.4)
        pen.oval((x, y), 0.085, 0.085, pale, line=0)
        for dx, dy, r in ((-0.03, -0.02, 0.018), (0.025, 0.03, 0.024), (0.03, -0.035, 0.011)):
            pen.oval((x + dx, y + dy), r, r, mix(pale, world.look.sky, 0.22), line=0)
        world.shine(pen, (x, y), 0.4, pale, strength=0.55)
        world.add_orb(pen, (x, y), 0.085)
        return
    y = -0.12 if world.time is Time.DUSK else y
    sun = mix(world.look.light, world.look.accent, 0.55 if world.look.key == "ink" else 0.08)
    world.add_orb(pen, (x, y), 0.1)
    pen.oval((x, y), 0.1, 0.1, sun, line=0.6 if world.look.key == "comedy" else 0)
    world.shine(pen, (x, y), 0.5, mix(sun, (255, 230, 170), 0.4), strength=0.45 if world.look.key == "ink" else 0.7)


def clouds(world: World, *, count: int) -> None:
    """Heaps of round clouds; in ink, long bands of mist."""
    chance = world.lots("clouds")
    white = mix(world.look.heaven(world.time)[1], (255, 255, 255), 0.72)
    pen = world.at_depth(0.3)
    for number in range(count):
        x = -world.half + (number + chance.between(0.2, 0.8)) * 2 * world.half / count
        y, size = world.top + chance.between(0.12, 0.42), chance.between(0.08, 0.15)
        if world.look.key == "ink":
            for band in range(3):
                pen.oval((x + 0.1 * band, y + 0.03 * band), size * 2.4, 0.012, (*white, 150), line=0)
            continue
        cloud(pen, (x, y), size, white, line=0.5 if world.look.key == "comedy" else 0)


def cloud(pen: Pen, middle: Point, size: float, colour: Colour, *, line: float = 0.0) -> None:
    """One heap cloud, about `size` units half as wide as it is long."""
    x, y = middle
    ring = [
        (-1.5, 0.3),
        (-1.35, -0.15),
        (-0.95, -0.25),
        (-0.7, -0.75),
        (-0.1, -0.85),
        (0.3, -0.5),
        (0.75, -0.65),
        (1.1, -0.2),
        (1.5, 0.0),
    ]
    pen.blob([(x + size * px, y + size * py) for px, py in (*ring, (1.5, 0.35), (0.0, 0.42))], colour, line=line)


def ridge(
    world: World, *, depth: float, height: float, colour: Rgb, rough: float = 0.35, seed: str = "ridge", line: float = 0.7
) -> None:
    """Hills from edge to edge, `height` units tall; `rough` 0 is rolling, 1 is craggy."""
    chance, pen = world.lots(f"{seed} {depth}"), world.at_depth(depth)
    steps = 9
    points: list[Point] = [(-world.half - 0.4, 0.5)]
    for step in range(steps + 1):
        x = -world.half - 0.2 + step * (2 * world.half + 0.4) / steps
        wave = 0.55 + 0.45 * math.sin(step * 1.9 + chance.between(-0.4, 0.4))
        points.append((x, -height * (wave * (1 - rough) + rough * chance.between(0.1, 1.3) * (step % 2 or 0.45))))
    points.append((world.half + 0.4, 0.5))
    (pen.shape if rough > 0.6 else pen.blob)(points, colour, line=line)


def floor(world: World, near: Rgb, far: Rgb, *, line: float = 1.0) -> None:
    """Ground from the horizon down, with the horizon's line."""
    fade(world, far, near, start=0.0, end=world.bottom + 0.01)
    if line:
        world.at_depth(0.6).curve([(-world.half, 0.0), (world.half, 0.0)], world.look.ink, line=line)
