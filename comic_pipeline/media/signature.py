"""What a file says about itself in its first bytes, and whether all of it is there. Reads headers, decodes nothing."""

import struct
from itertools import chain
from typing import BinaryIO

from comic_pipeline.media.boxes import boxes

UNKNOWN = "application/octet-stream"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
_BRANDS = {
    b"qt  ": "video/quicktime",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"avif": "image/avif",
    b"heic": "image/heic",
    b"mif1": "image/heic",
}
_RIFF = {b"WAVE": "audio/wav", b"WEBP": "image/webp"}
_BOXED = frozenset({"video/mp4", "video/quicktime", "audio/mp4"})


def sniff(data: bytes) -> str:
    """The MIME type by the first bytes, whatever the file is called; `application/octet-stream` when they say nothing."""
    for signature, mime in _SIGNATURES:
        if data.startswith(signature):
            return mime
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], UNKNOWN)
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "video/mp4")
    if data[4:8] in (b"moov", b"mdat", b"wide"):  # QuickTime files without a brand
        return "video/quicktime"
    return _mpeg_audio(data[:3]) or _text(data)


def cut_short(stream: BinaryIO, mime: str, size: int) -> int:
    """How many bytes at the end of an MP4, QuickTime or WAV file are missing by its own account; 0 where it cannot say."""
    if mime in _BOXED:
        return max(chain((box.end - size for box in boxes(stream, end=size)), [0]))
    if mime == "audio/wav":
        stream.seek(4)
        (length,) = struct.unpack("<I", stream.read(4))
        # Writers that stream cannot know the length and write all ones or nothing.
        return 0 if length in (0, 0xFFFFFFFF) else max(0, length + 8 - size)
    return 0


def _mpeg_audio(head: bytes) -> str:
    """MP3 (layer III) and AAC in ADTS frames begin with a sync word of eleven or twelve ones."""
    if len(head) < 3 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return ""
    if head[1] & 0xF6 == 0xF0:
        return "audio/aac"
    is_layer_3 = head[1] & 0x06 == 0x02
    return "audio/mpeg" if is_layer_3 and head[2] & 0xF0 != 0xF0 and head[2] & 0x0C != 0x0C else ""


def _text(data: bytes) -> str:
    start = data[:1_024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "text/html"
    if start.startswith((b"<?xml", b"<error")):
        return "application/xml"
    if start.startswith((b"{", b"[")):
        return "application/json"
    if start.startswith(b"#extm3u"):
        return "application/vnd.apple.mpegurl"
    return UNKNOWN
