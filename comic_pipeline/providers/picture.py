"""A picture on its way into a request: what its bytes are, whether the model takes it, and its data URI.

Only headers are looked at here; measuring pictures is `media/`'s, and its numbers come with the request.
"""

import base64

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.interface import Picture

# Input pictures of Seedance (page 1520757): side in pixels, width to height, bytes, and the whole body.
SIDES = (300, 6_000)
RATIOS = (0.4, 2.5)
PICTURE_BYTES = 30 * 1024 * 1024
BODY_BYTES = 64 * 1024 * 1024

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


def sniff_picture(data: bytes) -> str | None:
    """The MIME type that the bytes are, whatever their name says; None when they are no picture that providers take."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC if data.startswith(magic)), None)


def data_uri(picture: Picture) -> str:
    """The picture as `data:image/<lowercase format>;base64,…`. Raises ProviderFault(INPUT_INVALID) for anything else."""
    return f"data:{_mime(picture)};base64,{base64.b64encode(picture.read()).decode('ascii')}"


def check_first_frame(picture: Picture, *, prompt: str) -> None:
    """Raise ProviderFault(INPUT_INVALID) naming the limit that the picture breaks, before any spend."""
    _mime(picture)
    width, height = picture.media.width, picture.media.height
    if not width or not height:
        raise _bad("the first frame has not been measured")
    if not all(SIDES[0] <= side <= SIDES[1] for side in (width, height)):
        raise _bad(f"the first frame is {width}x{height}; its sides must be {SIDES[0]} to {SIDES[1]} pixels")
    if not RATIOS[0] <= width / height <= RATIOS[1]:
        raise _bad(f"the first frame is {width}x{height}; width to height must be {RATIOS[0]} to {RATIOS[1]}")
    size = picture.media.size if picture.data is None else len(picture.data)
    if size >= PICTURE_BYTES:
        raise _bad(f"the first frame has {size} bytes; it must have less than {PICTURE_BYTES}")
    # 4 characters for 3 bytes; a JSON string takes at most 6 bytes for a byte of text, and 4 KB cover the other fields.
    if size * 4 // 3 + len(prompt.encode("utf-8", errors="replace")) * 6 + 4_096 > BODY_BYTES:
        raise _bad(f"the request would be larger than {BODY_BYTES} bytes")


def _mime(picture: Picture) -> str:
    if picture.data is None:
        # Sniffed when it was stored.
        return picture.media.mime
    mime = sniff_picture(picture.data)
    if mime is None:
        raise _bad(f"the first frame {picture.media.key} is not a picture: it begins with {picture.data[:8]!r}")
    return mime


def _bad(reason: str) -> ProviderFault:
    return ProviderFault(ErrorCode.INPUT_INVALID, reason)
