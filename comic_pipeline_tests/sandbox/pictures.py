"""Real pictures, drawn with Pillow: different for every prompt and seed, with shapes, edges and text; and deliberately bad ones.

Belongs here: picture bytes. Does not: films (`clips.py`), where bytes are served (`media.py`).
"""

import hashlib
import io
import random
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

HTML_PAGE = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"
MIME = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
_FLAT = {"black": (0, 0, 0), "white": (255, 255, 255), "flat": (96, 112, 128)}


def draw_picture(*, text: str, width: int, height: int, salt: str = "", look: str = "", watermark: bool = False) -> "Image.Image":
    """A scene for this text. The same text, size and salt give the same pixels; `look` black, white or flat gives one colour."""
    from PIL import Image, ImageDraw

    if look in _FLAT:
        return Image.new("RGB", (width, height), _FLAT[look])
    dice = random.Random(hashlib.sha256(f"{text}|{salt}".encode()).digest())
    corners = bytes(dice.randrange(40, 230) for _ in range(27))
    picture = Image.frombytes("RGB", (3, 3), corners).resize((width, height), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    _shapes(draw, dice, width, height)
    _caption(draw, text, width, height)
    if watermark:
        draw.text((width * 0.8, height * 0.03), "AI生成", font=_font(max(12, height // 40)), fill="white")
    return picture


def encode_picture(picture: "Image.Image", kind: str) -> bytes:
    """The picture as jpeg, png or webp; `html` gives an error page and `empty` nothing instead."""
    if kind == "html":
        return HTML_PAGE
    if kind == "empty":
        return b""
    out = io.BytesIO()
    # Level 1 keeps a 4-megapixel PNG below half a second.
    options = {"jpeg": {"quality": 90}, "png": {"compress_level": 1}, "webp": {"quality": 80, "method": 0}}[kind]
    picture.save(out, format=kind.upper(), **options)
    return out.getvalue()


def _shapes(draw: "ImageDraw.ImageDraw", dice: random.Random, width: int, height: int) -> None:
    unit = min(width, height)
    for _ in range(14):
        x, y = dice.randrange(width), dice.randrange(height)
        size = dice.uniform(0.05, 0.3) * unit
        colour = (dice.randrange(256), dice.randrange(256), dice.randrange(256))
        box = (x - size / 2, y - size / 2, x + size / 2, y + size / 2)
        kind = dice.randrange(3)
        if kind == 0:
            draw.ellipse(box, fill=colour, outline="black", width=max(2, unit // 200))
        elif kind == 1:
            draw.rectangle(box, fill=colour, outline="white", width=max(2, unit // 200))
        else:
            draw.polygon([(x, y - size), (x - size, y + size), (x + size, y + size / 2)], fill=colour, outline="black")
    for _ in range(10):
        ends = [dice.randrange(width), dice.randrange(height), dice.randrange(width), dice.randrange(height)]
        draw.line(ends, fill=(dice.randrange(256), 20, dice.randrange(256)), width=max(2, unit // 150))


def _caption(draw: "ImageDraw.ImageDraw", text: str, width: int, height: int) -> None:
    size = max(14, min(width, height) // 22)
    per_line = max(4, int(width * 0.8 / size))
    lines = [text[start : start + per_line] for start in range(0, min(len(text), per_line * 3), per_line)]
    for number, line in enumerate(lines):
        where = (width * 0.08, height * 0.06 + number * size * 1.3)
        draw.text(where, line.replace("\n", " "), font=_font(size), fill="white", stroke_width=2, stroke_fill="black")


@lru_cache(maxsize=16)
def _font(size: int) -> "ImageFont.FreeTypeFont":
    import pylopdf_fonts_zh_cn
    from PIL import ImageFont

    return ImageFont.truetype(str(pylopdf_fonts_zh_cn.sans_path()), size)
