"""The words "AI生成" in the picture: where they stand, drawing them, and finding them again.

Belongs here: one layout for films and stills, so that the same check reads both. Does not: the mark inside the file (`aigc.py`),
what is asked of a label (`model/label.py`, `quality/label.py`).

The upper left corner, because subtitles are at the bottom and a cover's small print is at the right; white letters on a dark
plate, readable on any picture.
"""

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comic_pipeline.media.fonts import ascent, line_height, load_font, text_width
from comic_pipeline.media.image import decoded
from comic_pipeline.model.label import HEIGHT_MIN
from comic_pipeline.model.project import Frame

if TYPE_CHECKING:
    from PIL.Image import Image

# Height of a capital letter of the bundled font in em: the lowest letter of "AI生成" must have the height that is asked for.
_CAP_EM = 0.733
_ABOVE_EM, _BELOW_EM = 0.86, 0.2  # from the baseline to the plate's padding; descenders may reach into the padding
_PAD_EM = 0.3
_PLATE_OPACITY = 0.69  # white letters on it keep a contrast of 8:1 above a white picture
_SEARCH_PX = 3  # libass and Pillow place letters within two pixels of each other
_JPEG_QUALITY = 92


@dataclass(frozen=True)
class LabelPlace:
    """Where a label is in a picture, in pixels: the plate's edges, the left end of the text's baseline, the em of its letters."""

    left: int
    top: int
    right: int
    bottom: int
    text_x: int
    baseline: int
    em: int


def label_place(text: str, frame: Frame) -> LabelPlace:
    """The label's place in a frame of this size. Vertical players cover the top of the picture, so it is lower there."""
    em = math.ceil((HEIGHT_MIN + 0.001) * min(frame.width, frame.height) / _CAP_EM)
    tall = frame.height > frame.width
    left = round((0.06 if tall else 0.035) * frame.width)
    top = round((0.09 if tall else 0.045) * frame.height)
    pad = round(_PAD_EM * em)
    baseline = top + pad + round(_ABOVE_EM * em)
    return LabelPlace(
        left=left,
        top=top,
        right=left + 2 * pad + math.ceil(text_width(text) * em),
        bottom=baseline + round(_BELOW_EM * em) + pad,
        text_x=left + pad,
        baseline=baseline,
        em=em,
    )


def draw_label(picture: bytes, text: str) -> bytes:
    """The picture with the label, as PNG if it was one, else as JPEG. Raises MediaFault(PROVIDER_ERROR) for no picture."""
    from PIL import Image, ImageDraw

    image = decoded(picture)
    place = label_place(text, Frame(width=image.width, height=image.height))
    box = (place.left, place.top, place.right, place.bottom)
    plate = Image.new("RGB", (place.right - place.left, place.bottom - place.top), "black")
    image.paste(Image.blend(image.crop(box), plate, _PLATE_OPACITY), box[:2])
    ImageDraw.Draw(image).text((place.text_x, place.baseline), text, font=load_font(place.em), anchor="ls", fill="white")
    out = io.BytesIO()
    if picture.startswith(b"\x89PNG"):
        image.save(out, "PNG", compress_level=3)
    else:
        image.save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()


def label_events(text: str, frame: Frame, *, until: str) -> list[str]:
    """The label as two lines of an ASS file of this frame, seen from 0 until the ASS time `until`: plate and letters."""
    place = label_place(text, frame)
    plain = r"\bord0\shad0\b0"
    alpha = round(255 * (1 - _PLATE_OPACITY))
    corners = f"m {place.left} {place.top} l {place.right} {place.top} {place.right} {place.bottom} {place.left} {place.bottom}"
    plate = rf"{{\an7\pos(0,0){plain}\1c&H000000&\1a&H{alpha:02X}&\p1}}{corners}"
    # ASS places the top of a line and sizes letters by the line's height.
    top = place.baseline - ascent() * place.em
    words = rf"{{\an7\pos({place.text_x},{top:.2f}){plain}\fs{place.em * line_height():.2f}\1c&HFFFFFF&}}{text}"
    return [f"Dialogue: {layer},0:00:00.00,{until},Line,,0,0,0,,{body}" for layer, body in ((1, plate), (2, words))]


def label_likeness(picture: bytes, text: str) -> float:
    """How much the label's place in this picture looks like the label: 1 the same, about 0 anything else.

    The normalised correlation of brightness with the letters as they should be, at the best of the shifts by a few pixels.
    Raises MediaFault(PROVIDER_ERROR) for no picture.
    """
    image = decoded(picture).convert("L")
    place = label_place(text, Frame(width=image.width, height=image.height))
    wanted = _letters(place, text)
    shifts = range(-_SEARCH_PX, _SEARCH_PX + 1)
    return max(
        _correlation(image.crop((place.left + x, place.top + y, place.right + x, place.bottom + y)), wanted)
        for x in shifts
        for y in shifts
    )


def _letters(place: LabelPlace, text: str) -> "Image":
    from PIL import Image, ImageDraw

    wanted = Image.new("L", (place.right - place.left, place.bottom - place.top), 0)
    position = (place.text_x - place.left, place.baseline - place.top)
    ImageDraw.Draw(wanted).text(position, text, font=load_font(place.em), anchor="ls", fill=255)
    return wanted


def _correlation(one: "Image", other: "Image") -> float:
    from PIL import ImageChops, ImageStat

    a, b = ImageStat.Stat(one), ImageStat.Stat(other)
    spread = math.sqrt(a.var[0] * b.var[0])
    # `multiply` divides by 255 to stay in a byte.
    together = ImageStat.Stat(ImageChops.multiply(one, other)).mean[0] * 255
    return (together - a.mean[0] * b.mean[0]) / spread if spread else 0.0
