"""Bar charts for reports: Pillow and the bundled font. The same numbers give the same bytes.

Belongs here: laying out and drawing. Does not: which numbers are worth a bar (`daily_report.py`).
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comic_pipeline.media.fonts import drawable, load_font

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw as Draw
    from PIL.ImageFont import FreeTypeFont

_PAPER, _INK, _FAINT, _BAR, _TRACK = (250, 249, 246), (34, 34, 40), (120, 120, 128), (46, 106, 158), (231, 229, 223)
_WIDTH, _MARGIN, _TITLE, _HEAD, _LETTERS, _LINE = 960, 28, 28, 19, 15, 26
_LABELS, _TRACK_LENGTH = 390, 400


@dataclass(frozen=True)
class Bar:
    """One line: a label, a length (0 or more, in the panel's own unit) and the words at its end."""

    label: str
    length: float
    words: str


@dataclass(frozen=True)
class Panel:
    """Bars that share one scale, under a heading; `full` is the length that fills it, by default the longest bar's."""

    heading: str
    bars: tuple[Bar, ...]
    full: float = 0.0


def bar_chart(title: str, panels: Sequence[Panel], *, nothing: str) -> bytes:
    """The panels below each other as one PNG, 960 pixels wide; one without bars says `nothing`."""
    from PIL import Image, ImageDraw

    height = 2 * _MARGIN + _TITLE + sum(2 * _LINE + max(1, len(panel.bars)) * _LINE for panel in panels)
    sheet = Image.new("RGB", (_WIDTH, height), _PAPER)
    draw, top, font, heading = ImageDraw.Draw(sheet), _MARGIN, load_font(_LETTERS), load_font(_HEAD)
    draw.text((_MARGIN, top), drawable(title), font=load_font(_TITLE), fill=_INK, anchor="lm")
    top += _TITLE
    for panel in panels:
        top += _LINE
        draw.text((_MARGIN, top), drawable(panel.heading), font=heading, fill=_INK, anchor="lm")
        top += _LINE
        full = max(panel.full, *(bar.length for bar in panel.bars), 0.0)
        for bar in panel.bars:
            _line(draw, bar, font, top=top, full=full)
            top += _LINE
        if not panel.bars:
            draw.text((_MARGIN, top), nothing, font=font, fill=_FAINT, anchor="lm")
            top += _LINE
    png = io.BytesIO()
    sheet.save(png, "PNG", optimize=True)
    return png.getvalue()


def _line(draw: "Draw", bar: Bar, font: "FreeTypeFont", *, top: int, full: float) -> None:
    left, half = _MARGIN + _LABELS, _LETTERS // 2
    right = left + _TRACK_LENGTH
    draw.text((_MARGIN, top), _fitted(bar.label, font), font=font, fill=_INK, anchor="lm")
    draw.rectangle((left, top - half, right - 1, top + half), fill=_TRACK)
    if bar.length > 0:
        draw.rectangle((left, top - half, left + max(1, round(_TRACK_LENGTH * bar.length / full)) - 1, top + half), fill=_BAR)
    draw.text((right + 10, top), drawable(bar.words), font=font, fill=_INK, anchor="lm")


def _fitted(label: str, font: "FreeTypeFont") -> str:
    text = drawable(label)
    if font.getlength(text) <= _LABELS - 10:
        return text
    while font.getlength(f"{text}…") > _LABELS - 10:
        text = text[:-1]
    return f"{text}…"
