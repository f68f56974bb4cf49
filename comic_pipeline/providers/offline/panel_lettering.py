"""Frame, gutter, number badge and caption box.

Belongs here: everything that is set in type or ruled. Does not: the drawing inside. Characters that the bundled font does
not have (emoji) are left out, because an empty box is worse than nothing.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from comic_pipeline.providers.offline.panel_looks import Look, Rgb, mix

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

# Marks that may not begin a line, by Chinese typesetting rules.
_NO_START = frozenset("，。！？；：、）》」』”’…—,.!?;:)]}%")
_MISSING = "\U0010ffff"


@dataclass(frozen=True)
class Caption:
    """What is set: the text (may be empty), the panel's number, and whether the box stands left or right."""

    text: str
    number: int
    left: bool


def add_frame(picture: "Image", look: Look) -> "Image":
    """The picture inside its border and gutter."""
    from PIL import Image, ImageDraw

    width, height = picture.size
    short = min(picture.size)
    gutter, rule = round(0.02 * short), max(3, round(_RULES.get(look.key, 0.005) * short))
    # Ruled at twice the size: round and cut corners need smooth edges.
    outer, inner = Image.new("L", (2 * width, 2 * height)), Image.new("L", (2 * width, 2 * height))
    for mask, inset in ((outer, gutter), (inner, gutter + rule)):
        box = (2 * inset, 2 * inset, 2 * (width - inset) - 1, 2 * (height - inset) - 1)
        _outline(ImageDraw.Draw(mask), look.key, box, corner=2 * round(0.03 * short))
    ruled = Image.new("RGB", picture.size, look.paper)
    ruled.paste(_rule_colour(look), (0, 0, width, height), outer.reduce(2))
    ruled.paste(picture, (0, 0), inner.reduce(2))
    return ruled


_RULES = {"healing": 0.0042, "ink": 0.006, "cyber": 0.0046, "comedy": 0.0098, "suspense": 0.0075, "fantasy": 0.0062}


def _rule_colour(look: Look) -> Rgb:
    return {"cyber": look.light, "fantasy": (190, 140, 60), "healing": look.ink}.get(look.key, look.ink)


def _outline(draw: "ImageDraw", key: str, box: tuple[int, int, int, int], *, corner: int) -> None:
    x0, y0, x1, y1 = box
    if key == "healing":
        draw.rounded_rectangle(box, radius=corner, fill=255)
    elif key == "cyber":
        draw.polygon([(x0 + corner, y0), (x1, y0), (x1, y1 - corner), (x1 - corner, y1), (x0, y1), (x0, y0 + corner)], fill=255)
    elif key == "ink":
        lean = corner // 4
        draw.polygon([(x0 + lean, y0), (x1, y0 + lean // 2), (x1 - lean, y1), (x0, y1 - lean // 2)], fill=255)
    else:
        draw.rectangle(box, fill=255)


def add_caption(picture: "Image", look: Look, caption: Caption) -> None:
    """Set the caption's box and the number badge, in place."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    width, short = picture.width, min(picture.size)
    # The camera of `motion.py` leaves out up to TRAVEL / (1 + TRAVEL) = 12.3 % of a side: the lettering stays inside. Wherever
    # the camera is, the upper left corner stays free for the AI label: boxes at the left are below it, others beside it.
    side, edge = round(0.13 * width), round((0.27 if caption.left else 0.13) * picture.height)
    badge = round(0.042 * short)
    size = round(0.041 * short)
    text = printable(caption.text)
    narrow = width - 2 * side - 2 * badge if caption.left else 0.42 * width
    room = round(0.5 * width if width > 1.2 * short else narrow) - 2 * size
    lines = wrap(text, size=size, room=room)
    if len(lines) > 3:
        size = round(size * 0.84)
        lines = _at_most(wrap(text, size=size, room=room), 4)
    else:
        lines = _balanced(text, lines, size=size, room=room)
    x = side + badge if caption.left else width - side - badge
    if lines:
        leading, beside = round(size * 1.36), round(1.15 * badge)
        box_width = max(_width(line, size) for line in lines) + round(0.65 * size) + beside
        x0 = x if caption.left else x - box_width
        box = (x0, edge, x0 + box_width, edge + leading * len(lines) + round(0.75 * size))
        _caption_box(draw, look, box, short=short)
        fill = _letter_colour(look)
        for number, line in enumerate(lines):
            at = (x0 + (beside if caption.left else round(0.65 * size)), edge + round(0.28 * size) + number * leading)
            draw.text(at, line, font=_font(size), fill=fill, stroke_width=1 if size > 30 else 0, stroke_fill=fill)
    _badge(draw, look, (x, edge + 0.6 * badge), badge, caption.number)


def _caption_box(draw: "ImageDraw", look: Look, box: tuple[int, int, int, int], *, short: int) -> None:
    rule = max(2, round(0.0032 * short))
    x0, y0, x1, y1 = box
    drop = round(0.008 * short)
    if look.key in ("comedy", "cyber"):
        draw.rectangle((x0 + drop, y0 + drop, x1 + drop, y1 + drop), fill=look.ink if look.key == "comedy" else look.figure)
    fill = {"cyber": (18, 4, 44), "suspense": (10, 13, 20), "comedy": (255, 244, 178), "ink": look.paper}.get(
        look.key, look.paper
    )
    if look.key in ("healing", "fantasy"):
        draw.rounded_rectangle(box, radius=round(0.018 * short), fill=fill, outline=_rule_colour(look), width=rule)
    else:
        draw.rectangle(box, fill=fill, outline=look.light if look.key in ("cyber", "suspense") else look.ink, width=rule)


def _letter_colour(look: Look) -> Rgb:
    return {"cyber": mix(look.light, (255, 255, 255), 0.35), "suspense": (236, 236, 230)}.get(
        look.key, mix(look.ink, (20, 14, 20), 0.5)
    )


def _badge(draw: "ImageDraw", look: Look, middle: tuple[float, float], radius: int, number: int) -> None:
    x, y = middle
    rule = max(2, round(radius * 0.1))
    box = (x - radius * 0.82, y - radius * 0.62, x + radius * 0.82, y + radius * 1.02)
    fill = {"ink": look.accent, "suspense": look.accent, "cyber": look.accent, "comedy": look.accent}.get(look.key, look.figure)
    if look.key == "ink":
        draw.rounded_rectangle(box, radius=radius * 0.16, fill=fill)
    else:
        draw.ellipse(box, fill=fill, outline=look.ink if look.key != "cyber" else (18, 4, 44), width=rule)
    letters = (18, 4, 44) if look.key == "cyber" else (255, 252, 244)
    draw.text(
        (x, y + radius * 0.18),
        str(number),
        font=_font(round(radius * 0.98)),
        fill=letters,
        anchor="mm",
        stroke_width=1,
        stroke_fill=letters,
    )


def printable(text: str) -> str:
    """`text` on one line, without characters that the bundled font cannot draw."""
    flat = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(char for char in flat if char == " " or _has_glyph(char))


def wrap(text: str, *, size: int, room: int) -> list[str]:
    """`text` in lines of at most `room` pixels: Latin words stay whole where they can, no mark begins a line."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(text):
        if not line or _width((line + piece).rstrip(), size) <= room or piece in _NO_START:
            line += piece
            while _width(line, size) > room + 2 * size and len(line) > 1:
                cut = next(at for at in range(len(line) - 1, 0, -1) if at == 1 or _width(line[:at], size) <= room)
                lines.append(line[:cut])
                line = line[cut:]
        else:
            lines.append(line.strip())
            line = piece.lstrip()
    return [*lines, line.strip()] if line.strip() else lines


def _pieces(text: str) -> list[str]:
    """Single characters, but Latin words with the space behind them."""
    return re.findall(r"[!-~]+ *|[^!-~]\s*", text)


def _at_most(lines: list[str], count: int) -> list[str]:
    return lines if len(lines) <= count else [*lines[: count - 1], lines[count - 1][:-1].rstrip("，。、,. ") + "…"]


def _balanced(text: str, lines: list[str], *, size: int, room: int) -> list[str]:
    """The same number of lines, about equally long: no single character alone on the last one."""
    for narrower in range(room, room // 2, -size):
        tried = wrap(text, size=size, room=narrower)
        if len(tried) > len(lines):
            break
        lines = tried
    return lines


def _width(text: str, size: int) -> int:
    return round(_font(size).getlength(text))


@lru_cache(maxsize=16)
def _font(size: int) -> "FreeTypeFont":
    from PIL import ImageFont
    from pylopdf_fonts_zh_cn import sans_path

    return ImageFont.truetype(str(sans_path()), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def _has_glyph(char: str) -> bool:
    if unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Mn", "Me"):
        return False
    font = _font(24)
    return bytes(font.getmask(char)) != bytes(font.getmask(_MISSING))
