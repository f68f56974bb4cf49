"""The one font that films, covers and sheets are lettered with: Noto Sans SC from a wheel, so that every machine draws the same.

Belongs here: where it is, which characters it has, how wide text is in it. Does not: breaking text into lines (`typeset.py`).
"""

import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

_MEASURE_PX = 100
_JOINERS = {"\u200d", "\ufe0e", "\ufe0f"}


def font_path() -> Path:
    """The font's file."""
    from pylopdf_fonts_zh_cn import sans_path

    return Path(sans_path())


@lru_cache(maxsize=1)
def font_name() -> str:
    """The family name, as subtitle styles want it."""
    return str(load_font(_MEASURE_PX).getname()[0])


def load_font(pixels: int) -> "ImageFont.FreeTypeFont":
    """The font for drawing with Pillow; `pixels` is the em height."""
    from PIL import ImageFont

    return ImageFont.truetype(str(font_path()), pixels)


@lru_cache(maxsize=1)
def line_height() -> float:
    """Height of a line (ascent and descent) in em."""
    ascent, descent = _measuring_font().getmetrics()
    return (ascent + descent) / _MEASURE_PX


@lru_cache(maxsize=1)
def ascent() -> float:
    """From the baseline to the top of a line, in em."""
    return _measuring_font().getmetrics()[0] / _MEASURE_PX


def text_width(text: str) -> float:
    """Width of one line of `text` in em."""
    return float(_measuring_font().getlength(text)) / _MEASURE_PX


def has_glyph(char: str) -> bool:
    """Whether the font can draw this one character."""
    return ord(char) in _covered()


def missing_glyphs(text: str) -> set[str]:
    """The characters of `text` that would be drawn as empty boxes. White space and emoji joiners are never among them."""
    return {char for char in text if not char.isspace() and char not in _JOINERS and not has_glyph(char)}


def drawable(text: str) -> str:
    """`text` as one line, without characters that the font cannot draw (emoji) and without the gaps that they leave."""
    missing = missing_glyphs(text) | _JOINERS
    return " ".join("".join(char for char in text if char not in missing).split())


@lru_cache(maxsize=1)
def _measuring_font() -> "ImageFont.FreeTypeFont":
    return load_font(_MEASURE_PX)


@lru_cache(maxsize=1)
def _covered() -> frozenset[int]:
    """Code points of the font's Unicode character map (OpenType `cmap`, format 12), read from the file itself."""
    data = font_path().read_bytes()
    cmap = _table(data, b"cmap")
    (count,) = struct.unpack_from(">H", data, cmap + 2)
    for entry in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", data, cmap + 4 + 8 * entry)
        if (platform, encoding) == (3, 10):  # Windows, full Unicode: always format 12
            (groups,) = struct.unpack_from(">I", data, cmap + offset + 12)
            ranges = struct.iter_unpack(">III", data[cmap + offset + 16 : cmap + offset + 16 + 12 * groups])
            return frozenset(point for first, last, _ in ranges for point in range(first, last + 1))
    raise LookupError(f"{font_path().name} has no full Unicode character map")


def _table(data: bytes, name: bytes) -> int:
    (count,) = struct.unpack_from(">H", data, 4)
    for entry in range(count):
        tag, _, offset, _ = struct.unpack_from(">4sIII", data, 12 + 16 * entry)
        if tag == name:
            return int(offset)
    raise LookupError(f"{font_path().name} has no table {name.decode()}")
