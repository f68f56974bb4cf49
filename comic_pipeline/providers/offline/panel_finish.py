"""What lies over a finished drawing: glow, weather, and each style's printing: grain, dots, hatching, rice paper, scan lines.

Belongs here: whole-picture effects at final size. Does not: letters and frame (`panel_lettering.py`), anything that depends
on the scene's objects.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix
from comic_pipeline.providers.offline.panel_world import Glow
from comic_pipeline.providers.offline.story_chance import Chance

if TYPE_CHECKING:
    from PIL.Image import Image

# Glow is painted at an eighth of the size: it has no edges, and it costs 64 times less.
_GLOW_STEP = 8


def add_glow(picture: "Image", glows: Sequence[Glow], *, cast: "Image", scale: float) -> "Image":
    """The picture with its lights shining, less on the `cast`. `scale` turns the drawing's pixels into the picture's."""
    from PIL import Image, ImageChops, ImageOps

    small = (picture.width // _GLOW_STEP, picture.height // _GLOW_STEP)
    sheet = Image.new("RGB", small)
    disc = ImageOps.invert(Image.radial_gradient("L")).point(lambda value: round(255 * max(0.0, (value - 75) / 180) ** 1.7))
    for glow in glows:
        if glow.strength <= 0:
            continue
        across = max(2, round(2 * glow.reach * scale / _GLOW_STEP))
        spot = disc.resize((across, across), Image.Resampling.BILINEAR)
        coloured = ImageOps.colorize(spot, (0, 0, 0), tuple(round(part * glow.strength) for part in glow.colour))
        corner = (round(glow.x * scale / _GLOW_STEP - across / 2), round(glow.y * scale / _GLOW_STEP - across / 2))
        layer = Image.new("RGB", small)
        layer.paste(coloured, corner)
        sheet = ImageChops.screen(sheet, layer)
    shine = sheet.resize(picture.size, Image.Resampling.BICUBIC)
    shine.paste((0, 0, 0), (0, 0), cast.point(lambda value: round(value * 0.78)))
    return ImageChops.screen(picture, shine)


def add_weather(picture: "Image", look: Look, *, weather: str, chance: Chance) -> None:
    """Rain or snow, in place."""
    from PIL import ImageDraw

    if weather not in ("rain", "snow"):
        return
    draw, short = ImageDraw.Draw(picture, "RGBA"), min(picture.size)
    pale = mix(look.light, (255, 255, 255), 0.4) if look.key != "ink" else look.ink
    for _ in range(150):
        x, y, near = chance.between(-0.1, 1.1) * picture.width, chance.between(-0.1, 1) * picture.height, chance.between(0.4, 1)
        if weather == "rain":
            length = 0.075 * short * near
            draw.line(
                (x, y, x - length * 0.28, y + length), fill=(*pale, round(130 * near)), width=max(1, round(0.0022 * short * near))
            )
        else:
            r = 0.0065 * short * near
            draw.ellipse((x - r, y - r, x + r, y + r), fill=(255, 255, 255, round(225 * near)))


def print_style(picture: "Image", look: Look, *, cast: "Image", chance: Chance) -> "Image":
    """The picture as this style would print it; `cast` is a mask of the figures, which stay free of printed dots."""
    if look.key == "comedy":
        _dots(picture, look.figure, spared=cast, pitch=max(8, round(0.0125 * min(picture.size))), top=0.5, strength=0.34)
    return _PRINTS[look.key](picture, look, chance)


def _grain(picture: "Image", chance: Chance, *, strength: float) -> "Image":
    from PIL import Image, ImageChops

    side = 256
    tile = Image.frombytes("L", (side, side), chance.grains(side * side)).point(lambda value: round(255 - strength * value))
    sheet = Image.new("L", picture.size)
    for x in range(0, picture.width, side):
        for y in range(0, picture.height, side):
            sheet.paste(tile, (x, y))
    return ImageChops.multiply(picture, Image.merge("RGB", (sheet, sheet, sheet)))


def _bloom(picture: "Image", *, strength: float) -> "Image":
    from PIL import Image, ImageChops, ImageFilter

    small = picture.resize((picture.width // 6, picture.height // 6), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(7))
    small = small.point(lambda value: round(strength * max(0, value - 110)))
    return ImageChops.screen(picture, small.resize(picture.size, Image.Resampling.BICUBIC))


def _vignette(picture: "Image", colour: Rgb, *, start: float, strength: float) -> "Image":
    """Towards the corners the picture turns into `colour`; `start` (0 to 1) is where that begins."""
    from PIL import Image

    curve = [round(255 * strength * min(1.0, max(0.0, (value / 255 - start) / (1 - start))) ** 1.4) for value in range(256)]
    mask = Image.radial_gradient("L").point(curve).resize(picture.size, Image.Resampling.BICUBIC)
    return Image.composite(Image.new("RGB", picture.size, colour), picture, mask)


def _dots(picture: "Image", colour: Rgb, *, spared: "Image", pitch: int, top: float, strength: float) -> None:
    """Printed dots in place, denser downwards from `top` (0 to 1 of the height), not on what is `spared`."""
    from PIL import Image, ImageChops, ImageDraw

    start = round(top * picture.height)
    height = picture.height - start
    sheet = Image.new("L", (picture.width, height))
    fine = 4
    for row in range(0, height + pitch, pitch):
        radius = 0.12 + 0.34 * row / height
        tile = Image.new("L", (2 * pitch * fine, pitch * fine))
        draw, r = ImageDraw.Draw(tile), radius * pitch * fine
        shift = pitch * fine if (row // pitch) % 2 else 0
        for x in (shift, shift + 2 * pitch * fine, shift - 2 * pitch * fine):
            middle = pitch * fine / 2
            draw.ellipse((x - r, middle - r, x + r, middle + r), fill=255)
        small = tile.resize((2 * pitch, pitch), Image.Resampling.BOX)
        band = Image.new("L", (picture.width, pitch))
        for x in range(0, picture.width, 2 * pitch):
            band.paste(small, (x, 0))
        sheet.paste(band, (0, row))
    sheet = ImageChops.subtract(sheet, spared.crop((0, start, picture.width, picture.height))).point(
        lambda value: round(value * strength)
    )
    picture.paste(Image.new("RGB", sheet.size, colour), (0, start), sheet)


def _healing(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import ImageDraw

    picture = _bloom(picture, strength=0.34)
    draw, short = ImageDraw.Draw(picture, "RGBA"), min(picture.size)
    for _ in range(26):
        x, y, r = chance.between(0, picture.width), chance.between(0, picture.height), chance.between(0.003, 0.011) * short
        draw.ellipse((x - r, y - r, x + r, y + r), fill=(*mix(look.light, (255, 255, 255), 0.5), 88))
    return _grain(_vignette(picture, (255, 246, 226), start=0.72, strength=0.35), chance, strength=0.035)


def _ink(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import Image, ImageChops, ImageFilter

    side = 96
    stains = Image.frombytes("L", (side, side), chance.grains(side * side)).filter(ImageFilter.GaussianBlur(5))
    stains = stains.point(lambda value: max(0, min(255, 232 + (value - 128) * 2))).resize(picture.size, Image.Resampling.BICUBIC)
    picture = ImageChops.multiply(picture, Image.merge("RGB", (stains, stains, stains)))
    picture = _vignette(picture, look.paper, start=0.62, strength=0.95)
    return _grain(picture, chance, strength=0.07)


def _cyber(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import Image, ImageChops, ImageDraw

    picture = _bloom(picture, strength=0.85)
    red, green, blue = picture.split()
    shift = max(1, round(0.0022 * min(picture.size)))
    picture = Image.merge("RGB", (ImageChops.offset(red, shift, 0), green, ImageChops.offset(blue, -shift, 0)))
    add_weather(picture, look, weather="rain", chance=chance)
    draw = ImageDraw.Draw(picture, "RGBA")
    for y in range(0, picture.height, 4):
        draw.line((0, y, picture.width, y), fill=(8, 0, 24, 62))
    return _vignette(picture, (10, 0, 30), start=0.55, strength=0.7)


def _comedy(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture, "RGBA")
    x0, y0 = picture.width / 2, picture.height * 0.52
    reach = math.hypot(picture.width, picture.height)
    for number in range(56):
        angle = 2 * math.pi * (number + chance.between(0, 0.7)) / 56
        inner, width = reach * chance.between(0.35, 0.45), chance.between(0.002, 0.006)
        tip = (x0 + inner * math.cos(angle), y0 + inner * math.sin(angle))
        ends = [(x0 + reach * math.cos(angle + turn), y0 + reach * math.sin(angle + turn)) for turn in (-width, width)]
        draw.polygon([tip, *ends], fill=(*look.ink, 215))
    return picture


def _suspense(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import Image, ImageDraw, ImageOps

    picture = ImageOps.autocontrast(picture, cutoff=(1.0, 0.4))
    short, (width, height) = min(picture.size), picture.size
    hatch = Image.new("L", picture.size)
    draw, pitch = ImageDraw.Draw(hatch), max(5, round(0.0085 * short))
    for x in range(-height, width, pitch):
        draw.line((x, height, x + height, 0), fill=150, width=max(1, pitch // 5))
    dark = picture.convert("L").point(lambda value: 255 if value < 70 else 0)
    edge = Image.radial_gradient("L").resize(picture.size, Image.Resampling.BICUBIC).point(lambda value: max(0, value - 70))
    lines = Image.composite(hatch, Image.new("L", picture.size), Image.composite(Image.new("L", picture.size, 255), edge, dark))
    picture.paste(Image.new("RGB", picture.size, (2, 4, 9)), (0, 0), lines)
    beams = ImageDraw.Draw(picture, "RGBA")
    lean = chance.pick((-0.35, 0.35)) * height
    for number in range(3):
        left = width * (0.14 + 0.3 * number) + chance.between(-0.05, 0.05) * width
        beams.polygon(
            [(left, 0), (left + 0.05 * width, 0), (left + 0.12 * width + lean, height), (left + lean, height)],
            fill=(*look.light, 20),
        )
    return _grain(_vignette(picture, (0, 0, 3), start=0.42, strength=0.92), chance, strength=0.16)


def _fantasy(picture: "Image", look: Look, chance: Chance) -> "Image":
    from PIL import Image, ImageChops, ImageDraw, ImageFilter

    width, height = picture.size
    rays = Image.new("L", (width // 8, height // 8))
    draw, x0 = ImageDraw.Draw(rays), chance.between(0.3, 0.7) * width / 8
    for number in range(9):
        angle = math.pi * (0.16 + 0.68 * (number + chance.between(-0.3, 0.3)) / 8)
        reach, half = height / 5, chance.between(0.015, 0.045)
        draw.polygon(
            [(x0, -8), *((x0 + reach * math.cos(angle + turn), -8 + reach * math.sin(angle + turn)) for turn in (-half, half))],
            fill=52,
        )
    soft = rays.filter(ImageFilter.GaussianBlur(3)).resize(picture.size, Image.Resampling.BICUBIC)
    warm = Image.composite(Image.new("RGB", picture.size, look.light), Image.new("RGB", picture.size), soft)
    picture = _bloom(ImageChops.screen(picture, warm), strength=0.55)
    sparks, short = ImageDraw.Draw(picture, "RGBA"), min(picture.size)
    for _ in range(34):
        x, y, r = chance.between(0, width), chance.between(0, height), chance.between(0.003, 0.012) * short
        colour = (*mix(chance.pick((look.light, look.accent)), (255, 255, 255), 0.35), 190)
        sparks.polygon(
            [
                (x, y - r),
                (x + r * 0.2, y - r * 0.2),
                (x + r, y),
                (x + r * 0.2, y + r * 0.2),
                (x, y + r),
                (x - r * 0.2, y + r * 0.2),
                (x - r, y),
                (x - r * 0.2, y - r * 0.2),
            ],
            fill=colour,
        )
    return _grain(_vignette(picture, (30, 4, 60), start=0.55, strength=0.6), chance, strength=0.06)


_PRINTS: dict[str, Callable[["Image", Look, Chance], "Image"]] = {
    "healing": _healing,
    "ink": _ink,
    "cyber": _cyber,
    "comedy": _comedy,
    "suspense": _suspense,
    "fantasy": _fantasy,
}
