"""A proof sheet: the pictures that a check found fault with, row by row, so that a person sees what the numbers mean.

Belongs here: laying out and labelling. Does not: which pictures are at fault (`quality/`).
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from comic_pipeline.media.fonts import drawable, line_height, load_font
from comic_pipeline.media.probe import decode_image

_PAPER, _INK = (24, 24, 28), (235, 235, 235)
_GAP = 6
_LETTERS = 18
# The label standard asks for letters of 5 % of the shorter side; a capital letter is 0.733 em high.
_HEADING_EM = 0.085


@dataclass(frozen=True)
class ProofRow:
    """One line of words over pictures side by side."""

    label: str
    pictures: tuple[bytes, ...]


def proof_sheet(rows: Sequence[ProofRow], *, width: int, heading: str = "") -> bytes:
    """The rows below each other as one JPEG, `width` pixels wide; a row's pictures share its width equally.

    The heading above them is large enough to be an AI label of the whole sheet. Raises ValueError without rows,
    MediaFault(PROVIDER_ERROR) for bytes that are not a picture.
    """
    from PIL import Image, ImageDraw, ImageOps

    if not rows:
        raise ValueError("a proof sheet needs at least one row")
    columns = max(len(row.pictures) for row in rows)
    cell = (width - _GAP * (columns + 1)) // max(1, columns)
    images = [[decode_image(data)[1].convert("RGB") for data in row.pictures] for row in rows]
    heights = [max((round(cell * image.height / image.width) for image in row), default=0) for row in images]
    em = round(_HEADING_EM * width) if heading else 0
    band = round(em * line_height())
    sheet = Image.new("RGB", (width, band + sum(heights) + len(rows) * (_LETTERS + 3 * _GAP)), _PAPER)
    draw, font, top = ImageDraw.Draw(sheet), load_font(_LETTERS), band + _GAP
    if heading:
        draw.text((_GAP, 0), heading, font=load_font(em), fill=_INK)
    for row, shown, height in zip(rows, images, heights, strict=True):
        draw.text((_GAP, top), drawable(row.label), font=font, fill=_INK)
        top += _LETTERS + _GAP
        for number, image in enumerate(shown):
            sheet.paste(ImageOps.contain(image, (cell, height)), (_GAP + number * (cell + _GAP), top))
        top += height + 2 * _GAP
    jpeg = io.BytesIO()
    sheet.save(jpeg, "JPEG", quality=85)
    return jpeg.getvalue()
