"""How a still picture looks in numbers: light, contrast, sharpness, and a fingerprint that similar pictures share.

Belongs here: measuring pixels. Does not: decoding (`probe.py`), limits (`quality/thresholds.py`).
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from comic_pipeline.media.probe import decode_image
from comic_pipeline.model.measured import PictureFacts
from comic_pipeline.quality.thresholds import FINGERPRINT_SIDE, PICTURE_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image


def measure_picture(data: bytes) -> PictureFacts:
    """Decode a picture once and measure a grey copy of it. Raises MediaFault(PROVIDER_ERROR) when it does not decode."""
    from PIL import ImageStat

    mime, picture = decode_image(data)
    grey = _grey(picture)
    levels = ImageStat.Stat(grey)
    return PictureFacts(
        mime=mime,
        width=picture.width,
        height=picture.height,
        brightness=round(levels.mean[0], 1),
        contrast=round(levels.stddev[0], 1),
        sharpness=round(_sharpness(grey), 1),
        fingerprint=_fingerprint(grey),
    )


def _grey(picture: "Image") -> "Image":
    # Transparent pixels have any colour; over white they are what a player without transparency shows.
    from PIL import Image

    if picture.mode in ("RGBA", "LA", "P"):
        over = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over)
    grey = picture.convert("L")
    return grey.reduce(max(1, max(grey.size) // PICTURE_SIDE))


def _sharpness(grey: "Image") -> float:
    """The variance of the Laplacian: how strongly neighbouring pixels differ from their middle."""
    from PIL import ImageFilter, ImageStat

    laplacian = ImageFilter.Kernel((3, 3), (0, 1, 0, 1, -4, 1, 0, 1, 0), scale=1, offset=128)
    edges = grey.filter(laplacian)
    if min(edges.size) < 3:
        return 0.0
    # Pillow leaves the outermost pixels as they were; they would count as the sharpest edges of all.
    inner = edges.crop((1, 1, edges.width - 1, edges.height - 1))
    return float(ImageStat.Stat(inner).var[0])


def _fingerprint(grey: "Image") -> int:
    """Whether it gets darker from each of 16x17 areas to its right neighbour (a difference hash)."""
    from PIL import Image

    side = FINGERPRINT_SIDE
    areas = grey.resize((side + 1, side), Image.Resampling.BOX).tobytes()
    bits = 0
    for row in range(side):
        line = areas[row * (side + 1) : (row + 1) * (side + 1)]
        for left, right in pairwise(line):
            bits = bits << 1 | (left > right)
    return bits
