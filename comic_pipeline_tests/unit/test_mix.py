"""Where the music goes down, and how loud it is: exact, from the times of the lines."""

from pathlib import Path

import pytest

from comic_pipeline.media.mix import Line, Mix, bed_level, ducks

SECOND = 48_000


def _line(start: float, end: float) -> Line:
    return Line(path=Path("line.wav"), start=round(start * SECOND), end=round(end * SECOND), gain_db=0.0)


def _mix(*lines: Line, seconds: float = 10.0) -> Mix:
    return Mix(samples=round(seconds * SECOND), lines=lines, bed=None)


def test_the_music_is_down_for_exactly_the_lines() -> None:
    """One span a line, at its own times."""
    assert ducks([_line(1, 2), _line(5, 6.5)]) == [(1.0, 2.0), (5.0, 6.5)]


def test_short_pauses_do_not_pump() -> None:
    """Between lines that are less than fall and rise apart (0.85 s) the music stays down; the order given does not matter."""
    assert ducks([_line(2.5, 3), _line(1, 2), _line(3.1, 4)]) == [(1.0, 4.0)]
    assert ducks([_line(1, 4), _line(2, 3)]) == [(1.0, 4.0)]
    assert ducks([_line(1, 2), _line(2.9, 3)]) == [(1.0, 2.0), (2.9, 3.0)]


def test_without_lines_nothing_goes_down() -> None:
    """A film without words."""
    assert ducks([]) == []


@pytest.mark.parametrize(("spoken", "lufs"), [(0.0, -16.0), (1.0, -18.4), (3.4, -24.0), (9.0, -24.0)])
def test_the_less_is_spoken_the_more_the_music_carries_the_film(spoken: float, lufs: float) -> None:
    """One short line in a minute of quiet music would have to be shouted to bring the film to -16 LUFS."""
    lines = [_line(0, spoken)] if spoken else []
    assert bed_level(_mix(*lines)) == pytest.approx(lufs, abs=0.01)
