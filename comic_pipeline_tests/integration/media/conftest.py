"""Small real media, made once a session with the bundled ffmpeg."""

import subprocess
from pathlib import Path
from typing import Protocol

import pytest

from comic_pipeline.media.ffmpeg import ffmpeg_path


class Make(Protocol):
    """How a test asks for a file of its own."""

    def __call__(self, name: str, *args: str) -> Path: ...


class Clip(Protocol):
    """How a test asks for a moving picture."""

    def __call__(self, seconds: float, *, size: str = ..., rate: int = ..., extra: tuple[str, ...] = ()) -> Path: ...


class Voice(Protocol):
    """How a test asks for a sound."""

    def __call__(self, seconds: float, *, db: float = ..., suffix: str = ...) -> Path: ...


@pytest.fixture(scope="session")
def ffmpeg() -> str:
    """The bundled ffmpeg."""
    return ffmpeg_path()


@pytest.fixture(scope="session")
def make(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """`make("clip.mp4", "-f", "lavfi", …)`: a file made by ffmpeg with these arguments; made once for each name."""
    folder = tmp_path_factory.mktemp("made")

    def _make(name: str, *args: str) -> Path:
        path = folder / name
        if not path.exists():
            subprocess.run([ffmpeg, "-nostdin", "-loglevel", "error", *args, str(path)], check=True)
        return path

    return _make


@pytest.fixture(scope="session")
def clip(make: Make) -> Clip:
    """`clip(seconds, size=…, rate=…)`: a silent moving test pattern in H.264."""

    def _clip(seconds: float, *, size: str = "320x180", rate: int = 24, extra: tuple[str, ...] = ()) -> Path:
        name = f"clip-{seconds}-{size}-{rate}{'-'.join(extra)}.mp4".replace("/", "_")
        source = f"testsrc2=s={size}:r={rate}:d={seconds}"
        return make(name, "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-preset", "ultrafast", *extra)

    return _clip


@pytest.fixture(scope="session")
def voice(make: Make) -> Voice:
    """`voice(seconds, db=…)`: a tone that stands for a spoken line, 24 kHz mono as speech services send it."""

    def _voice(seconds: float, *, db: float = 0.0, suffix: str = "wav") -> Path:
        return make(
            f"voice-{seconds}-{db}.{suffix}",
            "-f",
            "lavfi",
            "-i",
            f"sine=f=300:r=24000:d={seconds}",
            "-filter:a",
            f"volume={db}dB",
        )

    return _voice
