"""The implicit AI mark inside files: written into PNG and JPEG without touching the picture, read from these and from MP4.

Belongs here: where each format keeps it. Does not: what it says (`model/label.py`), writing it into films (`film_graph.py`: the
metadata key `AIGC`).

In pictures it is the property `AIGC` of the standard committee's own XMP namespace (practice guide TC260-PG-20258A).
"""

import html
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from comic_pipeline.media.probe import film_tags
from comic_pipeline.media.signature import sniff
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline.model.label import AIGC_KEY, AigcMark

_NAMESPACE = "http://www.tc260.org.cn/ns/AIGC/1.0/"
_PNG_HEAD = 8
_PNG_XMP = b"XML:com.adobe.xmp\0"
_JPEG_XMP = b"http://ns.adobe.com/xap/1.0/\0"
# JPEG segments that come before the picture's own: JFIF and EXIF must stay first.
_JPEG_FIRST = (b"\xff\xe0", b"\xff\xe1")
_PROPERTY = re.compile(rb"<TC260:AIGC>(.*?)</TC260:AIGC>|TC260:AIGC=\"(.*?)\"|TC260:AIGC='(.*?)'", re.DOTALL)


def mark_picture(picture: bytes, mark: AigcMark) -> bytes:
    """The same picture, bit for bit, in a file that carries the mark; an XMP packet that was there is replaced.

    Raises MediaFault(PROVIDER_ERROR) for bytes that are neither PNG nor JPEG.
    """
    packet = _packet(mark)
    mime = sniff(picture)
    if mime == "image/png":
        # An international text chunk: keyword, not compressed, no language, no translated keyword.
        chunk = _png_chunk(b"iTXt", _PNG_XMP + b"\0\0\0\0" + packet)
        kept = [data for name, data in _png_chunks(picture) if not _is_png_xmp(name, data)]
        return picture[:_PNG_HEAD] + kept[0] + chunk + b"".join(kept[1:])
    if mime == "image/jpeg":
        segment = b"\xff\xe1" + (len(_JPEG_XMP) + len(packet) + 2).to_bytes(2, "big") + _JPEG_XMP + packet
        segments = [data for data in _jpeg_segments(picture) if not _is_jpeg_xmp(data)]
        first = next((i for i, data in enumerate(segments) if data[:2] not in _JPEG_FIRST), len(segments))
        return b"".join([b"\xff\xd8", *segments[:first], segment, *segments[first:]])
    raise MediaFault(ErrorCode.PROVIDER_ERROR, f"expected a PNG or JPEG to mark, found {len(picture)} bytes of {mime}")


def read_aigc(source: bytes | Path) -> AigcMark | None:
    """The mark in an MP4, PNG or JPEG, given as bytes or as a file; None when there is none or it is not what the standard says.

    Raises MediaFault(PROVIDER_ERROR) for other kinds of files, MediaFault(INPUT_INVALID) for a file that is not there.
    """
    data = source if isinstance(source, bytes) else _head(source)
    mime = sniff(data)
    if mime in ("video/mp4", "video/quicktime"):
        text = film_tags(source).get(AIGC_KEY, "")
    elif mime in ("image/png", "image/jpeg"):
        text = _picture_text(source if isinstance(source, bytes) else source.read_bytes(), mime)
    else:
        raise MediaFault(ErrorCode.PROVIDER_ERROR, f"expected an MP4, PNG or JPEG, found {mime}")
    try:
        return AigcMark.model_validate_json(text) if text else None
    except ValidationError:
        return None


def _packet(mark: AigcMark) -> bytes:
    body = html.escape(mark.to_json())
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:TC260="{_NAMESPACE}"><TC260:AIGC>{body}</TC260:AIGC></rdf:Description>'
        '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    ).encode()


def _picture_text(picture: bytes, mime: str) -> str:
    packets: Iterator[bytes]
    if mime == "image/png":
        packets = (data for name, data in _png_chunks(picture) if _is_png_xmp(name, data))
    else:
        packets = (data for data in _jpeg_segments(picture) if _is_jpeg_xmp(data))
    for packet in packets:
        if found := _PROPERTY.search(packet):
            return html.unescape(next(group for group in found.groups() if group is not None).decode("utf-8", errors="replace"))
    return ""


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(64)
    except OSError as missing:
        raise MediaFault(ErrorCode.INPUT_INVALID, f"cannot read {path}: {missing.strerror}") from missing


def _png_chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and whole bytes of each chunk."""
    begin = _PNG_HEAD
    while begin + 12 <= len(picture):
        end = begin + 12 + int.from_bytes(picture[begin : begin + 4], "big")
        yield picture[begin + 4 : begin + 8], picture[begin:end]
        begin = end


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


def _is_png_xmp(name: bytes, chunk: bytes) -> bool:
    return name == b"iTXt" and chunk[8:].startswith(_PNG_XMP)


def _jpeg_segments(picture: bytes) -> Iterator[bytes]:
    """Each segment after the start marker; the picture itself, from its scan to the end of the file, is the last one."""
    begin = 2
    while begin + 4 <= len(picture) and picture[begin + 1] != 0xDA:
        end = begin + 2 + int.from_bytes(picture[begin + 2 : begin + 4], "big")
        yield picture[begin:end]
        begin = end
    yield picture[begin:]


def _is_jpeg_xmp(segment: bytes) -> bool:
    return segment[:2] == b"\xff\xe1" and segment[4:].startswith(_JPEG_XMP)
