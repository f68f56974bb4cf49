"""A provider's bytes: media that lead elsewhere when they are read, and media that unpack to more than any machine has."""

import asyncio
import socket
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from comic_pipeline.media import boxes as walking
from comic_pipeline.media import probe
from comic_pipeline.media.boxes import boxes
from comic_pipeline.media.ffmpeg import ffmpeg_path, run_ffmpeg
from comic_pipeline.media.probe import measure_audio, measure_image, measure_video
from comic_pipeline.media.signature import cut_short
from comic_pipeline.model.errors import ErrorCode, MediaFault

_FFMPEG = ffmpeg_path()
_ID3 = b"ID3\x04\x00\x00\x00\x00\x00\x0a" + bytes(10)


@pytest.fixture
def inside() -> Iterator[socket.socket]:
    """A service that only this machine reaches."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a second of picture and two of sound."""
    path = tmp_path_factory.mktemp("made") / "clip.mp4"
    streams = ("-f", "lavfi", "-i", "color=s=64x48:r=24:d=0.5", "-f", "lavfi", "-i", "sine=d=2")
    asyncio.run(run_ffmpeg((*streams, str(path)), ffmpeg=_FFMPEG, timeout=60))
    return path


def _asked(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _playlist(listener: socket.socket) -> bytes:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/latest/meta-data.ts"
    return f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{address}\n#EXT-X-ENDLIST\n".encode()


def test_a_playlist_instead_of_a_clip_opens_no_address(inside: socket.socket, tmp_path: Path) -> None:
    """By its name alone ffmpeg takes it for a list of other files and addresses; ours is told which kinds of files there are."""
    playlist = tmp_path / "clip.m3u8"
    playlist.write_bytes(_playlist(inside))
    with pytest.raises(MediaFault, match="Format not on whitelist"):
        asyncio.run(run_ffmpeg(["-i", str(playlist), "-f", "null", "-"], ffmpeg=_FFMPEG, timeout=60))
    assert not _asked(inside)


def test_a_list_of_files_instead_of_a_clip_reads_none_of_them(clip: Path, tmp_path: Path) -> None:
    """By itself ffmpeg takes this text for the file that it names, whatever its own name is: a way to copy files into films."""
    (tmp_path / "secret.mp4").write_bytes(clip.read_bytes())
    script = tmp_path / "clip.mp4"
    script.write_text("ffconcat version 1.0\nfile secret.mp4\n")
    with pytest.raises(MediaFault, match="Format not on whitelist"):
        asyncio.run(run_ffmpeg(["-i", str(script), str(tmp_path / "out.mp4")], ffmpeg=_FFMPEG, timeout=60))
    assert not (tmp_path / "out.mp4").exists()


@pytest.mark.parametrize("front", [b"", _ID3, b"\x00\x00\x00\x18ftypisom" + bytes(12), b"RIFF\xff\xff\xff\xffWAVE", b"fLaC"])
def test_a_playlist_behind_the_front_of_a_medium_opens_no_address(inside: socket.socket, front: bytes) -> None:
    """What is measured is opened by the demuxer of its first bytes: guessing, ffmpeg skips a tag and looks at what follows."""
    for measure in (measure_audio, measure_video):
        with pytest.raises(MediaFault):
            measure(front + _playlist(inside))
    assert not _asked(inside)


def _png(width: int, height: int) -> bytes:
    """A picture that says how large it is, and has next to no data: unpacking it fails, refusing it does not need to."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(10))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("width", "height"), [(8_000, 6_000), (10_000, 10_000), (60_000, 60_000)])
def test_a_picture_bomb_is_not_unpacked(width: int, height: int) -> None:
    """A picture of one colour packs a thousandfold: its size in pixels is refused before memory is asked for."""
    with pytest.raises(MediaFault, match=r"pixels|bomb") as refused:
        measure_image(_png(width, height))
    assert refused.value.code is ErrorCode.PROVIDER_ERROR


def test_a_clip_with_huge_pictures_is_not_decoded(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder itself keeps the limit: a picture larger than it is never given memory."""
    monkeypatch.setattr(probe, "VIDEO_FRAME_PIXELS", 60 * 40)
    with pytest.raises(MediaFault) as refused:
        measure_video(clip)
    assert refused.value.code is ErrorCode.PROVIDER_ERROR


@pytest.mark.parametrize("limit", ["VIDEO_FRAMES", "VIDEO_PIXELS"])
def test_a_clip_that_hardly_ends_is_left(clip: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """Black packs to some bytes a picture: 400 MB could hold weeks of it, and nothing can stop a thread that decodes."""
    monkeypatch.setattr(probe, limit, 5)
    with pytest.raises(MediaFault, match="unpacks to more"):
        measure_video(clip)


def test_sound_that_hardly_ends_is_left(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence packs to nothing: also the sound beside a short picture has its limit."""
    monkeypatch.setattr(probe, "SOUND_SECONDS", 1)
    for measure in (measure_audio, measure_video):
        with pytest.raises(MediaFault, match="seconds of sound"):
            measure(clip)


def test_a_film_of_empty_boxes_is_not_walked_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box takes 8 bytes: 400 MB of them would be walked for minutes."""
    monkeypatch.setattr(walking, "_MOST", 100)
    film = b"\x00\x00\x00\x10ftypisom" + bytes(4) + b"\x00\x00\x00\x08free" * 150
    assert sum(1 for _ in boxes(BytesIO(film), end=len(film))) == 100
    assert cut_short(BytesIO(film), "video/mp4", len(film)) == 0
