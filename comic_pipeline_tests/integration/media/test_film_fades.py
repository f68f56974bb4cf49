"""Shots that fade into each other, frame by frame: nothing moves, nothing gets shorter, whatever the clips are."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import av
import pytest
from PIL import Image, ImageStat

from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.media.probe import measure_video
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language
from comic_pipeline_tests.integration.media.conftest import Make, Voice
from comic_pipeline_tests.integration.media.listening import levels

RED, GREEN, BLUE = "red", "lime", "blue"
Colours = list[tuple[int, int, int]]


class Render(Protocol):
    """How a test gets its film."""

    def __call__(self, plan: FilmPlan, crossfade_ms: int) -> Path: ...


class Flat(Protocol):
    """How a test asks for a clip of one colour."""

    def __call__(self, colour: str, seconds: float) -> Path: ...


@pytest.fixture
def render(ffmpeg: str, tmp_path: Path) -> Render:
    """`render(plan, crossfade_ms)`: the film's path."""

    def _render(plan: FilmPlan, crossfade_ms: int) -> Path:
        out = tmp_path / f"film-{crossfade_ms}.mp4"
        asyncio.run(render_film(replace(plan, crossfade_ms=crossfade_ms), out, ffmpeg=ffmpeg, timeout=60))
        return out

    return _render


@pytest.fixture(scope="session")
def flat(make: Make) -> Flat:
    """`flat(colour, seconds)`: a clip of one colour."""
    return lambda colour, seconds: make(
        f"{colour}-{seconds}.mp4", "-f", "lavfi", "-i", f"color={colour}:s=160x90:r=24:d={seconds}", "-pix_fmt", "yuv420p"
    )


def _plan(*shots: tuple[Path, int, Path | None], cues: tuple[Cue, ...] = ()) -> FilmPlan:
    return FilmPlan(
        frame=Frame(width=160, height=90),
        fps=24,
        shots=tuple(
            FilmShot(seq=seq, clip=clip, length_ms=ms, voice=voice, voice_offset_ms=150)
            for seq, (clip, ms, voice) in enumerate(shots)
        ),
        cues=cues,
        title="fades",
        language=Language.EN,
        burn=False,
    )


def _colours(film: Path) -> Colours:
    """The mean colour of every frame."""
    with av.open(str(film)) as container:
        pictures = [frame.to_image() for frame in container.decode(video=0)]  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
    return [_mean(picture) for picture in pictures]


def _mean(picture: Image.Image) -> tuple[int, int, int]:
    red, green, blue = ImageStat.Stat(picture).mean
    return round(red), round(green), round(blue)


def test_a_fade_takes_its_frames_and_no_others(flat: Flat, render: Render) -> None:
    """Half a second is twelve frames from where the second shot begins: before them all red, after them all green."""
    film = render(_plan((flat(RED, 1.0), 1_000, None), (flat(GREEN, 1.0), 1_000, None)), 500)
    colours = _colours(film)
    assert len(colours) == 48
    assert all(red > 230 and green < 20 for red, green, _ in colours[:24])
    assert all(green > 230 and red < 20 for red, green, _ in colours[36:])
    fading = [green for _, green, _ in colours[24:36]]
    assert fading == sorted(fading)
    assert fading[0] < 40
    assert fading[-1] > 215
    assert fading[6] == pytest.approx(128, abs=25)


def test_picture_and_sound_stay_where_they_are(flat: Flat, voice: Voice, render: Render) -> None:
    """A fade shortened the picture but not the sound (ArcReel PR#578): here neither length nor place of a line changes."""
    cues = (Cue(start_ms=150, end_ms=650, text="one"), Cue(start_ms=1_150, end_ms=1_650, text="two"))
    line = voice(0.5)
    plan = _plan((flat(RED, 1.0), 1_000, line), (flat(GREEN, 1.0), 1_000, line), (flat(BLUE, 0.5), 500, None), cues=cues)
    cut, faded = render(plan, 0), render(plan, 400)
    facts = [measure_video(film) for film in (cut, faded)]
    assert [fact.frames for fact in facts] == [60, 60]
    assert [fact.duration_ms for fact in facts] == [2_500, 2_500]
    assert [fact.audio.duration_ms for fact in facts if fact.audio] == [2_500, 2_500]
    assert levels(cut, every_ms=50) == levels(faded, every_ms=50)


def test_a_clip_shorter_than_the_fade_is_still_seen(flat: Flat, render: Render) -> None:
    """Three clips, one of 0.3 s, and a fade of 2 s (ArcReel PR#578): a fade takes at most half of the shot that it leads to."""
    colours = _colours(
        render(_plan((flat(RED, 1.0), 1_000, None), (flat(GREEN, 0.3), 300, None), (flat(BLUE, 1.0), 1_000, None)), 2_000)
    )
    assert len(colours) == 24 + 7 + 24
    assert all(red > 230 for red, _, _ in colours[:24])
    assert all(green > 230 and red < 20 for red, green, _ in colours[27:31])
    assert all(blue > 230 and green < 20 for _, green, blue in colours[43:])


def test_a_clip_that_is_over_is_held_while_it_fades_out(flat: Flat, make: Make, render: Render) -> None:
    """The clip of the first shot ends exactly at the cut, and that of the second before it: neither turns black nor jumps."""
    moving = make("rising.mp4", "-f", "lavfi", "-i", "color=white:s=160x90:r=24:d=1", "-vf", "fade=d=1", "-pix_fmt", "yuv420p")
    colours = _colours(render(_plan((moving, 1_000, None), (flat(GREEN, 0.3), 1_000, None), (flat(BLUE, 1.0), 500, None)), 500))
    brightest = colours[23][0]
    assert brightest > 220
    assert [red for red, _, _ in colours[24:36]] == sorted((red for red, _, _ in colours[24:36]), reverse=True)
    assert colours[24][0] > brightest - 25
    assert all(green > 230 for _, green, _ in colours[36:48])
    assert colours[48][1] > 215


def test_a_clip_longer_than_its_shot_plays_on_while_it_fades_out(make: Make, flat: Flat, render: Render) -> None:
    """What the service gave beyond the shot is used; the next shot still begins on its frame."""
    # Blue rises for two seconds, of which one is the shot's.
    rising = make(
        "rising-blue.mp4", "-f", "lavfi", "-i", "color=blue:s=160x90:r=24:d=2", "-vf", "fade=d=2", "-pix_fmt", "yuv420p"
    )
    colours = _colours(render(_plan((rising, 1_000, None), (flat(RED, 1.0), 1_000, None)), 1_000))
    assert colours[24][0] < 40
    held = colours[23][2]
    # Half way through the fade a held frame would give half of what it was; one that plays on gives more.
    assert colours[29][2] > 1.06 * held * (1 - 5.5 / 12)
    assert all(red > 230 for red, _, _ in colours[36:])


def test_one_shot_has_nothing_to_fade_into(flat: Flat, render: Render) -> None:
    """A film of one shot, with fades switched on."""
    colours = _colours(render(_plan((flat(RED, 1.0), 1_000, None)), 500))
    assert len(colours) == 24
    assert all(red > 230 for red, _, _ in colours)


def test_thirty_fades_do_not_drift(flat: Flat, render: Render) -> None:
    """Shots of 208 or 209 ms (five frames): after thirty of them the last still begins on its frame."""
    starts = [number * 5_000 // 24 for number in range(31)]
    clips = [flat(RED, 0.3), flat(GREEN, 0.3)]
    colours = _colours(render(_plan(*((clips[n % 2], starts[n + 1] - starts[n], None) for n in range(30))), 84))
    assert len(colours) == 150
    for number in range(1, 30):
        dominant = [max(range(3), key=colours[5 * number + at].__getitem__) for at in (-1, 2)]
        assert dominant == [(number + 1) % 2, number % 2], number
