"""How each style looks on the drawing table: skies, line, eyes, colour temper. And the colour arithmetic.

Belongs here: numbers and colours only. Does not: drawing (`panel_pen.py`), textures over the finished picture
(`panel_finish.py`).
"""

from dataclasses import dataclass
from enum import StrEnum

from comic_pipeline.model.style import Style

Rgb = tuple[int, int, int]
Rgba = tuple[int, int, int, int]
Colour = Rgb | Rgba


class Time(StrEnum):
    """The time of day, which decides sky and light."""

    DAY = "day"
    DUSK = "dusk"
    NIGHT = "night"


class Eyes(StrEnum):
    """How eyes are drawn."""

    ANIME = "anime"
    DOT = "dot"
    SLIT = "slit"


def rgb(text: str) -> Rgb:
    """`#8ecae6` as numbers."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def mix(one: Colour, other: Colour, share: float) -> Rgb:
    """`one` with `share` (0 to 1) of `other`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one[:3], other[:3], strict=True))
    return red, green, blue


def light_of(colour: Colour) -> float:
    """How bright a colour looks, 0 to 255."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def veil(colour: Colour, opacity: float) -> Rgba:
    """The colour, `opacity` (0 to 1) opaque."""
    return colour[0], colour[1], colour[2], round(255 * opacity)


@dataclass(frozen=True)
class Look:
    """One style. `line` is a share of the picture's shorter side; `vivid` scales saturation, `tint` pulls all colours."""

    key: str
    sky: Rgb
    ground: Rgb
    light: Rgb
    figure: Rgb
    accent: Rgb
    paper: Rgb
    ink: Rgb
    line: float
    brush: bool
    eyes: Eyes
    vivid: float
    tint: Rgb
    tinted: float
    skies: tuple[tuple[Rgb, Rgb], tuple[Rgb, Rgb], tuple[Rgb, Rgb]]
    usual_time: Time

    def tone(self, colour: Colour) -> Rgb:
        """A natural colour as this style would mix it."""
        grey = light_of(colour)
        lively = tuple(min(255, max(0, round(grey + (part - grey) * self.vivid))) for part in colour[:3])
        return mix((lively[0], lively[1], lively[2]), self.tint, self.tinted)

    def heaven(self, time: Time) -> tuple[Rgb, Rgb]:
        """The sky's colours at the top and at the horizon."""
        return self.skies[list(Time).index(time)]


@dataclass(frozen=True)
class _Temper:
    paper: str
    ink: str
    line: float
    eyes: Eyes
    vivid: float
    tint: str
    tinted: float
    skies: str
    usual_time: Time
    brush: bool = False


_TEMPERS = {
    "healing": _Temper(
        paper="#fffaf0", ink="#5b3a4a", line=0.0030, eyes=Eyes.ANIME, vivid=0.95, tint="#ffe9d6", tinted=0.16,
        skies="#7cc4ea #fff2c4 #f7a58b #ffe3b3 #2f3f86 #a99be0", usual_time=Time.DAY,
    ),
    "ink": _Temper(
        paper="#f4eedd", ink="#23211f", line=0.0046, eyes=Eyes.SLIT, vivid=0.2, tint="#eee6d2", tinted=0.2,
        skies="#d9d3c1 #f3eddc #c9bda4 #f0e2c8 #8f8d86 #ddd6c4", usual_time=Time.DAY, brush=True,
    ),
    "cyber": _Temper(
        paper="#0d0221", ink="#0b0118", line=0.0036, eyes=Eyes.ANIME, vivid=1.15, tint="#3a0ca3", tinted=0.34,
        skies="#3b0f70 #f15bb5 #2a0a5e #ff5d8f #12002b #6a1b9a", usual_time=Time.NIGHT,
    ),
    "comedy": _Temper(
        paper="#ffffff", ink="#15151f", line=0.0078, eyes=Eyes.DOT, vivid=1.25, tint="#fff6d6", tinted=0.06,
        skies="#4cc9f0 #ffe066 #ff9f1c #ffe066 #3a4fc4 #8fb0ff", usual_time=Time.DAY,
    ),
    "suspense": _Temper(
        paper="#e6e6e2", ink="#05070c", line=0.0052, eyes=Eyes.SLIT, vivid=0.22, tint="#16233f", tinted=0.36,
        skies="#33445f #9fb0c4 #2a3448 #b08968 #060b16 #33476b", usual_time=Time.NIGHT,
    ),
    "fantasy": _Temper(
        paper="#fbf3df", ink="#2c1246", line=0.0038, eyes=Eyes.ANIME, vivid=1.12, tint="#7b2cbf", tinted=0.15,
        skies="#5b8def #ffd9a0 #8f2d8f #ffb74d #240a52 #c05bbd", usual_time=Time.DUSK,
    ),
}  # fmt: skip


def look_of(style: Style) -> Look:
    """The style's look. Every key of `model/style.py` has one."""
    temper = _TEMPERS[style.key]
    sky, ground, light, figure, accent = (rgb(colour) for colour in style.palette)
    skies = [rgb(colour) for colour in temper.skies.split()]
    return Look(
        key=style.key,
        sky=sky,
        ground=ground,
        light=light,
        figure=figure,
        accent=accent,
        paper=rgb(temper.paper),
        ink=rgb(temper.ink),
        line=temper.line,
        brush=temper.brush,
        eyes=temper.eyes,
        vivid=temper.vivid,
        tint=rgb(temper.tint),
        tinted=temper.tinted,
        skies=((skies[0], skies[1]), (skies[2], skies[3]), (skies[4], skies[5])),
        usual_time=temper.usual_time,
    )
