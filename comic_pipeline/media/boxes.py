"""The boxes that an MP4 file is made of: walking them, and the one repair that ffmpeg cannot be asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_TRACK_ENABLED = 0x01
# A file of nothing but empty boxes would be walked for minutes; a film in pieces of a second has two boxes a piece.
_MOST = 100_000


@dataclass(frozen=True)
class Box:
    """One box: its name, where its content begins, and the byte after its declared end."""

    name: str
    begin: int
    end: int


def boxes(stream: BinaryIO, *, begin: int = 0, end: int) -> Iterator[Box]:
    """The first boxes between two offsets; the last one may claim to end beyond them. What is no MP4 gives nonsense names."""
    for _ in range(_MOST):
        if begin + 8 > end:
            return
        stream.seek(begin)
        header = stream.read(16)
        length, content = int.from_bytes(header[:4], "big"), begin + 8
        if length == 1:  # a 64-bit length follows the name
            length, content = int.from_bytes(header[8:], "big"), begin + 16
        after = end if length == 0 else begin + max(8, length)
        yield Box(name=header[4:8].decode("latin-1"), begin=content, end=after)
        begin = after


def switch_off_subtitles(film: Path) -> None:
    """Mark the subtitle tracks of an MP4 as "not shown unless chosen", in place.

    ffmpeg's MP4 muxer always enables the first subtitle track, whatever disposition it is given; over burned subtitles a player
    would then show every line twice.
    """
    with film.open("r+b") as stream:
        for moov in _named(stream, "moov", begin=0, end=film.stat().st_size):
            for trak in _named(stream, "trak", begin=moov.begin, end=moov.end):
                if _handler(stream, trak) != b"sbtl":
                    continue
                for tkhd in _named(stream, "tkhd", begin=trak.begin, end=trak.end):
                    stream.seek(tkhd.begin + 3)  # version, then three bytes of flags
                    flags = stream.read(1)[0]
                    stream.seek(tkhd.begin + 3)
                    stream.write(bytes([flags & ~_TRACK_ENABLED]))


def _named(stream: BinaryIO, name: str, *, begin: int, end: int) -> list[Box]:
    return [box for box in boxes(stream, begin=begin, end=end) if box.name == name]


def _handler(stream: BinaryIO, trak: Box) -> bytes:
    for mdia in _named(stream, "mdia", begin=trak.begin, end=trak.end):
        for hdlr in _named(stream, "hdlr", begin=mdia.begin, end=mdia.end):
            stream.seek(hdlr.begin + 8)  # version and flags, then a field that MP4 does not use
            return stream.read(4)
    return b""
