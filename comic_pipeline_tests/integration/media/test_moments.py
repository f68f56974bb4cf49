"""Single pictures out of a real film."""

import io
from pathlib import Path

import pytest
from PIL import Image

from comic_pipeline.media.moments import moments_of
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline_tests.integration.media.conftest import Make
from comic_pipeline_tests.pixels import rgb

_COLOURS = ("red", "lime", "blue")


@pytest.fixture
def film(make: Make) -> Path:
    """A second each of red, green and blue, with one key frame at the start and B-frames, which most films have."""
    inputs = [part for name in _COLOURS for part in ("-f", "lavfi", "-i", f"color={name}:s=320x180:r=24:d=1")]
    joined = ("-filter_complex", "concat=n=3", "-pix_fmt", "yuv420p", "-g", "500", "-sc_threshold", "0")
    return make("three-colours.mp4", *inputs, *joined)


def test_each_moment_shows_what_the_film_shows_then(film: Path) -> None:
    """In any order, between key frames and beyond the end (the last picture), in the width that is asked for."""
    found = [Image.open(io.BytesIO(one)) for one in moments_of(film, (2500, 500, 1500, 9000), width=160)]

    assert [one.size for one in found] == [(160, 90)] * 4
    strongest = [max(range(3), key=rgb(one.convert("RGB"), (80, 45)).__getitem__) for one in found]
    assert strongest == [2, 0, 1, 2]


def test_a_film_that_does_not_decode_is_a_fault_by_name(tmp_path: Path) -> None:
    """A sheet is never empty in silence."""
    broken = tmp_path / "film.mp4"
    broken.write_bytes(b"not a film")
    with pytest.raises(MediaFault) as raised:
        moments_of(broken, (0,), width=160)
    assert raised.value.code is ErrorCode.FFMPEG_FAILED
