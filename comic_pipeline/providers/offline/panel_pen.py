"""A pen over a Pillow picture: smooth shapes with outlines, in local units that can be moved, scaled, turned and mirrored.

Belongs here: geometry and strokes. Does not: what is drawn (`panel_scenery*.py`, `panel_animals.py`, …) or its colours
(`panel_looks.py`). Shapes are hard-edged: the picture is drawn at twice its size and reduced at the end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from comic_pipeline.providers.offline.panel_looks import Colour, Rgb

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Point = tuple[float, float]


@dataclass(frozen=True)
class Pen:
    """Draws at (x, y) pixels with `size` pixels a unit, y downwards. `line` is the outline in pixels; `brush` makes it swell."""

    draw: "ImageDraw"
    x: float
    y: float
    size: float
    ink: Rgb
    line: float
    brush: bool = False
    flip: bool = False
    turn: float = 0.0

    def at(self, x: float, y: float, size: float = 1.0, *, flip: bool = False, turn: float = 0.0) -> "Pen":
        """A pen whose origin is this pen's (x, y); `turn` is in radians, clockwise."""
        px, py = self.px((x, y))
        return replace(
            self, x=px, y=py, size=self.size * size, flip=self.flip != flip, turn=self.turn + (-turn if self.flip else turn)
        )

    def px(self, point: Point) -> Point:
        """Local units to pixels."""
        across = -point[0] if self.flip else point[0]
        cos, sin = math.cos(self.turn), math.sin(self.turn)
        return (
            self.x + self.size * (across * cos - point[1] * sin),
            self.y + self.size * (across * sin + point[1] * cos),
        )

    def blob(self, points: Sequence[Point], fill: Colour, *, line: float = 1.0) -> None:
        """A smooth closed shape through `points`. `line` scales the outline; 0 leaves it out."""
        self._closed(_smooth(points, closed=True), fill, line)

    def shape(self, points: Sequence[Point], fill: Colour, *, line: float = 1.0) -> None:
        """A closed shape with straight sides."""
        self._closed(list(points), fill, line)

    def oval(self, centre: Point, rx: float, ry: float, fill: Colour, *, turn: float = 0.0, line: float = 1.0) -> None:
        """An ellipse, turned by `turn` radians."""
        count = max(16, min(72, int(max(rx, ry) * self.size / 3)))
        cos, sin = math.cos(turn), math.sin(turn)
        ring = []
        for step in range(count):
            angle = 2 * math.pi * step / count
            across, down = rx * math.cos(angle), ry * math.sin(angle)
            ring.append((centre[0] + across * cos - down * sin, centre[1] + across * sin + down * cos))
        self._closed(ring, fill, line)

    def box(self, corner: Point, width: float, height: float, fill: Colour, *, line: float = 1.0) -> None:
        """An upright rectangle from its upper left corner."""
        x, y = corner
        self._closed([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill, line)

    def limb(self, points: Sequence[Point], width: float, fill: Colour, *, line: float = 1.0) -> None:
        """A round-ended tube along `points`, outlined: arms, tails, stems."""
        path = [self.px(point) for point in _smooth(points, closed=False)]
        if line:
            self._stroke(path, width * self.size + 2 * self.line * line, self.ink)
        self._stroke(path, width * self.size, fill)

    def curve(self, points: Sequence[Point], colour: Colour, *, width: float | None = None, line: float = 1.0) -> None:
        """A smooth open stroke, `width` units or `line` outlines thick."""
        path = [self.px(point) for point in _smooth(points, closed=False)]
        self._stroke(path, self.line * line if width is None else width * self.size, colour)

    def star(self, centre: Point, radius: float, fill: Colour, *, inner: float = 0.5, tips: int = 5, line: float = 1.0) -> None:
        """A star with `tips` points."""
        ring = []
        for step in range(2 * tips):
            reach = radius if step % 2 == 0 else radius * inner
            angle = math.pi * step / tips - math.pi / 2
            ring.append((centre[0] + reach * math.cos(angle), centre[1] + reach * math.sin(angle)))
        self._closed(ring, fill, line)

    def _closed(self, points: list[Point], fill: Colour, line: float) -> None:
        path = [self.px(point) for point in points]
        self.draw.polygon(path, fill=fill)
        if not line:
            return
        width = self.line * line
        if self.brush:
            self._swelling([*path, path[0]], width)
        else:
            self._stroke([*path, path[0], path[1]], width, self.ink)

    def _stroke(self, path: list[Point], width: float, colour: Colour) -> None:
        self.draw.line(path, fill=colour, width=max(1, round(width)), joint="curve")
        if width > 3:
            for x, y in (path[0], path[-1]):
                half = width / 2 - 0.5
                self.draw.ellipse((x - half, y - half, x + half, y + half), fill=colour)

    def _swelling(self, path: list[Point], width: float) -> None:
        """A brush presses harder in the middle of its way: twice around a shape, never thinner than a third."""
        count = len(path) - 1
        for step in range(count):
            pressure = 0.35 + 1.15 * abs(math.sin(2 * math.pi * (step + 0.5) / count + 0.6))
            (x0, y0), (x1, y1) = path[step], path[step + 1]
            self.draw.line(((x0, y0), (x1, y1)), fill=self.ink, width=max(1, round(width * pressure)))
            half = max(0.5, width * pressure / 2 - 0.5)
            self.draw.ellipse((x1 - half, y1 - half, x1 + half, y1 + half), fill=self.ink)


def _smooth(points: Sequence[Point], *, closed: bool) -> list[Point]:
    """A Catmull-Rom curve through `points`, eight steps from one to the next."""
    count = len(points)
    if count < 3:
        return list(points)
    curve: list[Point] = []
    for at in range(count if closed else count - 1):
        if closed:
            before, start, end, after = (points[(at + step) % count] for step in (-1, 0, 1, 2))
        else:
            before, start = points[max(at - 1, 0)], points[at]
            end, after = points[at + 1], points[min(at + 2, count - 1)]
        curve.extend(_between(before, start, end, after, step / 8) for step in range(8))
    return curve if closed else [*curve, points[-1]]


def _between(before: Point, start: Point, end: Point, after: Point, t: float) -> Point:
    def one(a: float, b: float, c: float, d: float) -> float:
        return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t**3)

    return one(before[0], start[0], end[0], after[0]), one(before[1], start[1], end[1], after[1])
