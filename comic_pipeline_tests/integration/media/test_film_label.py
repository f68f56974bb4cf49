"""The AI label of rendered films: seen from the first frame, never hidden, marked in the file."""

import asyncio
from pathlib import Path
from typing import Protocol

import pytest

from comic_pipeline.media.aigc import read_aigc
from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.media.label import label_likeness
from comic_pipeline.media.probe import film_tags, frame_at, measure_video
from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language
from comic_pipeline_tests.integration.media.conftest import Clip

TEXT = "AI生成"
MARK = AigcMark(content_producer="某公司 'A' \"B\"; $x=1\\2", produce_id="p1-0123456789abcdef")
LINES = "那是它回不去的家，也是它日思夜想的地方。"


class Render(Protocol):
    """How a test gets its film."""

    def __call__(self, size: str, *, label: bool = ..., whole_film: bool = ..., burn: bool = ...) -> Path: ...


@pytest.fixture
def render(ffmpeg: str, clip: Clip, tmp_path: Path) -> Render:
    """`render(size, …)`: a film of 3.2 s with a two-line cue all through it."""

    def _render(size: str, *, label: bool = True, whole_film: bool = False, burn: bool = True) -> Path:
        width, height = map(int, size.split("x"))
        plan = FilmPlan(
            frame=Frame(width=width, height=height),
            fps=24,
            shots=(FilmShot(seq=0, clip=clip(0.5, size=size), length_ms=3_200, voice=None, voice_offset_ms=0),),
            cues=(Cue(start_ms=0, end_ms=3_200, text=LINES),),
            title="月球花园",
            language=Language.ZH,
            burn=burn,
            label=AiLabel(text=TEXT, whole_film=whole_film, mark=MARK) if label else None,
        )
        out = tmp_path / "film.mp4"
        asyncio.run(render_film(plan, out, ffmpeg=ffmpeg, timeout=60))
        return out

    return _render


def _seen(film: Path, *times: int) -> list[bool]:
    return [label_likeness(frame_at(film, ms), TEXT) > 0.7 for ms in times]


@pytest.mark.parametrize("size", ["320x180", "180x320", "240x240"])
def test_the_label_is_seen_from_the_first_frame_for_two_seconds(render: Render, size: str) -> None:
    """In every shape, together with a subtitle of two lines that neither hides it nor is hidden."""
    assert _seen(render(size), 0, 1_000, 1_999, 3_000) == [True, True, True, False]


def test_the_label_stays_all_through_when_asked(render: Render) -> None:
    """COMIC_AI_LABEL_WHOLE_FILM."""
    assert _seen(render("320x180", whole_film=True), 0, 3_199) == [True, True]


def test_the_label_does_not_depend_on_burned_subtitles(render: Render) -> None:
    """Without burning there was no ASS filter at all; the label needs it still, and the soft track stays on."""
    film = render("320x180", burn=False)
    assert _seen(film, 0, 3_000) == [True, False]
    assert measure_video(film).subtitle_streams == 1


def test_the_mark_survives_beside_title_and_fast_start(render: Render) -> None:
    """use_metadata_tags changes how every tag is written: the title must still be there, the index still first."""
    film = render("320x180")
    assert read_aigc(film) == read_aigc(film.read_bytes()) == MARK
    assert film_tags(film)["title"] == "月球花园"
    assert measure_video(film).faststart


def test_a_film_without_a_label_says_nothing(render: Render) -> None:
    """COMIC_AI_LABEL=false: no words, no mark."""
    film = render("320x180", label=False)
    assert _seen(film, 0) == [False]
    assert read_aigc(film) is None
