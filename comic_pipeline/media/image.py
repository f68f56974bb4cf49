"""Pictures that people look at: contact sheet, cover, thumbnail. Pillow and the bundled font.

Belongs here: laying out and lettering pictures. Does not: making pictures up (`providers/offline`), measuring them (`probe.py`).
Every function raises MediaFault(PROVIDER_ERROR) for bytes that are not a picture.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from comic_pipeline.media.fonts import drawable, line_height, load_font
from comic_pipeline.media.probe import measure_image
from comic_pipeline.media.typeset import wrap
from comic_pipeline.model.project import Frame

if TYPE_CHECKING:
    from PIL.Image import Image

_JPEG_QUALITY = 85
_PAPER = (24, 24, 28)
_TITLE_LINES = 3
# A capital letter is 0.733 em high: 6 % of the shorter side of a sheet that this band makes higher.
_HEADING_EM = 0.085
# Title letters as shares of the cover's shorter side, largest first.
_TITLE_SIZES = (0.13, 0.115, 0.1, 0.085, 0.07, 0.06, 0.05)


def decoded(picture: bytes) -> "Image":
    """The picture as Pillow has it: upright, RGB."""
    from PIL import Image, ImageOps

    measure_image(picture)
    with Image.open(io.BytesIO(picture)) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def thumbnail(picture: bytes, *, width: int) -> bytes:
    """The picture as JPEG, at most `width` pixels wide; never enlarged."""
    from PIL import Image

    image = decoded(picture)
    width = min(width, image.width)
    height = max(1, round(image.height * width / image.width))
    return _jpeg(image.resize((width, height), Image.Resampling.LANCZOS))


def contact_sheet(pictures: Sequence[bytes], *, columns: int, width: int, heading: str = "") -> bytes:
    """All pictures in a grid of `columns` as one JPEG, `width` pixels wide, each marked with its number from 0 (a shot's `seq`).

    Cells have the shape of the first picture; others are fitted into them. The heading stands above them, large enough to be
    an AI label of the whole sheet. Raises ValueError without pictures.
    """
    from PIL import Image, ImageDraw, ImageOps

    images = [decoded(picture) for picture in pictures]
    if not images:
        raise ValueError("a contact sheet needs at least one picture")
    gap = max(2, width // 160)
    cell_w = (width - gap * (columns + 1)) // columns
    cell_h = max(1, round(cell_w * images[0].height / images[0].width))
    rows = -(-len(images) // columns)
    height = rows * (cell_h + gap) + gap
    em = round(_HEADING_EM * min(width, height)) if heading else 0
    band = round(em * line_height())
    sheet = Image.new("RGB", (width, height + band), _PAPER)
    draw = ImageDraw.Draw(sheet)
    if heading:
        draw.text((2 * gap, gap + band / 2), heading, font=load_font(em), anchor="lm", fill="white")
    font = load_font(max(12, cell_h // 9))
    for number, image in enumerate(images):
        left, top = gap + number % columns * (cell_w + gap), band + gap + number // columns * (cell_h + gap)
        fitted = ImageOps.contain(image, (cell_w, cell_h))
        sheet.paste(fitted, (left + (cell_w - fitted.width) // 2, top + (cell_h - fitted.height) // 2))
        pad = font.size // 3
        box = draw.textbbox((left + pad, top + pad), str(number), font=font, anchor="lt")
        draw.rectangle((left, top, box[2] + pad, box[3] + pad), fill=(0, 0, 0))
        draw.text((left + pad, top + pad), str(number), font=font, anchor="lt", fill="white")
    return _jpeg(sheet)


def make_cover(picture: bytes, *, title: str, small_print: str, frame: Frame) -> bytes:
    """A PNG of size `frame`: the picture cropped to it, the title large over a darkened foot, the small print in the upper right.

    Characters that the font cannot draw are left out; a title that is too long even in small letters ends in "…".
    """
    from PIL import ImageOps

    cover = ImageOps.fit(decoded(picture), (frame.width, frame.height))
    _write_title(cover, drawable(title))
    _write_small_print(cover, drawable(small_print))
    png = io.BytesIO()
    cover.save(png, "PNG")
    return png.getvalue()


def make_card(*, title: str, small_print: str, frame: Frame) -> bytes:
    """A PNG of size `frame` that stands where a picture should be, and says so: the title on plain paper, nothing drawn."""
    from PIL import Image

    blank = io.BytesIO()
    Image.new("RGB", (frame.width, frame.height), _PAPER).save(blank, "PNG")
    return make_cover(blank.getvalue(), title=title, small_print=small_print, frame=frame)


def _write_title(cover: "Image", title: str) -> None:
    from PIL import ImageDraw

    if not title:
        return
    em, lines = _fit_title(title, cover.width, min(cover.size))
    leading = round(em * line_height())
    # Vertical players cover the lowest part of the picture with buttons.
    foot = round(cover.height * (0.16 if cover.height > cover.width else 0.07))
    top = cover.height - foot - leading * len(lines)
    _darken_below(cover, max(0, top - round(0.22 * cover.height)), top)
    draw = ImageDraw.Draw(cover)
    font = load_font(em)
    for number, line in enumerate(lines):
        draw.text(
            (cover.width / 2, top + leading * (number + 0.5)),
            line,
            font=font,
            anchor="mm",
            fill="white",
            stroke_width=max(1, em // 28),
            stroke_fill=(20, 20, 20),
        )


def _fit_title(title: str, width: int, short_side: int) -> tuple[int, tuple[str, ...]]:
    """The largest letters (em in pixels) in which the title needs at most three lines; two, if large: faces are above them."""
    lines: tuple[str, ...] = ()
    em = 1
    for share in _TITLE_SIZES:
        em = max(8, round(share * short_side))
        lines = wrap(title, limit=0.86 * width / em)
        if len(lines) <= (2 if share >= 0.085 else _TITLE_LINES):
            return em, lines
    return em, (*lines[: _TITLE_LINES - 1], lines[_TITLE_LINES - 1][:-1] + "…")


def _darken_below(cover: "Image", start: int, full: int) -> None:
    """Lay a shade over the picture: none at row `start`, growing to two thirds black at row `full` and below."""
    from PIL import Image

    column = bytes(170 * min(row - start, full - start) // max(1, full - start) for row in range(start, cover.height))
    shade = Image.frombytes("L", (1, len(column)), column).resize((cover.width, len(column)))
    cover.paste(Image.new("RGB", shade.size, "black"), (0, start), shade)


def _write_small_print(cover: "Image", text: str) -> None:
    from PIL import Image, ImageDraw

    if not text:
        return
    em = max(8, round(0.026 * min(cover.size)))
    font = load_font(em)
    lines = wrap(text, limit=0.6 * cover.width / em)
    wide, leading, pad = max(font.getlength(line) for line in lines), round(em * line_height()), em // 2
    right, top = cover.width - em, em
    box = (round(right - wide - 2 * pad), top, right, top + leading * len(lines) + pad)
    backing = Image.new("RGB", (box[2] - box[0], box[3] - box[1]), "black")
    cover.paste(Image.blend(cover.crop(box), backing, 0.55), box[:2])
    draw = ImageDraw.Draw(cover)
    for number, line in enumerate(lines):
        draw.text((right - pad, top + pad / 2 + leading * number), line, font=font, anchor="ra", fill=(235, 235, 235))


def _jpeg(image: "Image") -> bytes:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=_JPEG_QUALITY)
    return data.getvalue()
