"""Opening audio and video: from bytes or a file to a demuxer that is the right one for what the bytes are.

Belongs here: which kinds are opened at all, and the words for what is none of them. Does not: decoding, measuring (`probe.py`).
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from comic_pipeline.media.signature import cut_short, sniff
from comic_pipeline.model.errors import ErrorCode, MediaFault

if TYPE_CHECKING:
    from av.container import InputContainer

VIDEO_MIMES = frozenset({"video/mp4", "video/quicktime", "video/webm"})
AUDIO_MIMES = frozenset({"audio/mpeg", "audio/wav", "audio/ogg", "audio/flac", "audio/aac", "audio/mp4"})
_HEAD = 4_096
# The demuxer of each kind: left to guess, ffmpeg looks behind an ID3 tag and finds playlists there.
_DEMUXER = {
    "video/mp4": "mov",
    "video/quicktime": "mov",
    "audio/mp4": "mov",
    "video/webm": "matroska",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/aac": "aac",
}


@contextmanager
def opened(source: bytes | Path, wanted: str, mimes: frozenset[str]) -> "Iterator[tuple[InputContainer, str, int]]":
    """The container, its MIME type and size in bytes. Raises MediaFault when the bytes are none of `mimes`, or not all there."""
    import av

    with reader(source) as (stream, size):
        head = stream.read(_HEAD)
        mime = sniff(head)
        # Only known containers are handed on: a playlist would make the demuxer open addresses.
        if mime not in mimes:
            raise unlike(wanted, mime, size)
        if missing := cut_short(stream, mime, size):
            raise unlike(wanted, mime, size, f"its last {missing} bytes are missing")
        stream.seek(0)
        try:
            container = av.open(stream, mode="r", format=_DEMUXER[mime])
        except av.FFmpegError as broken:
            raise unlike(wanted, mime, size, broken) from broken
        with container:
            yield container, mime, size


@contextmanager
def reader(source: bytes | Path) -> Iterator[tuple[BinaryIO, int]]:
    """The bytes and how many they are. Raises MediaFault(INPUT_INVALID) for a file that is not there."""
    if isinstance(source, bytes):
        yield io.BytesIO(source), len(source)
        return
    try:
        stream = source.open("rb")
    except OSError as missing:
        raise MediaFault(ErrorCode.INPUT_INVALID, f"cannot read {source}: {missing.strerror}") from missing
    with stream:
        yield stream, source.stat().st_size


def unlike(wanted: str, mime: str, size: int, reason: object = "") -> MediaFault:
    """The fault that says what was expected (`wanted`, with its article) and what was found."""
    found = f"expected {wanted}, found {size} bytes of {mime}" if size else f"expected {wanted}, found nothing (0 bytes)"
    return MediaFault(ErrorCode.PROVIDER_ERROR, f"{found}: {reason}" if reason else found)
