"""What a run waits in line is written down in its round: it is not the project's time."""

import pytest

from comic_pipeline.store import stages
from comic_pipeline.work.runner import make, make_all
from comic_pipeline.work.waiting import Waiting
from comic_pipeline_tests.contracts.work.bench import Bench, an_order, limited
from comic_pipeline_tests.fakes import FakeClock, ScriptedProvider

# Nothing here depends on the kind of database.
SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _waited(bench: Bench) -> float:
    with bench.database.read() as connection:
        row = stages.get(connection, "stage-w1")
    assert row is not None
    return row.waited_seconds


def test_only_a_run_all_of_whose_orders_wait_is_waiting() -> None:
    """One that works is progress, whatever the others do."""
    clock = FakeClock()
    waiting = Waiting(clock.now)
    with waiting.working():
        clock.advance(1)
        with waiting.in_line():
            clock.advance(10)
            with waiting.working():
                clock.advance(100)
            clock.advance(1_000)
        clock.advance(10_000)
    clock.advance(100_000)
    assert waiting.seconds() == 1_010
    waiting.forget(1_000)
    assert waiting.seconds() == 10


@SQLITE
def test_a_wait_for_a_place_is_written_down_while_it_lasts(bench: Bench, videos: ScriptedProvider) -> None:
    """All places are somebody else's for ten minutes: nearly all of them are in the row before the work begins."""
    bench.hold_slot(videos, seconds=600)
    seen: list[float] = []
    videos.plan("build", lambda: seen.append(_waited(bench)))
    bench.make(an_order(videos), desk=bench.desk(rules=limited(videos, jobs=1)))
    assert 575 < seen[0] <= 601
    assert 599 < _waited(bench) <= 601


@SQLITE
def test_a_wait_for_a_turn_is_written_down(bench: Bench, images: ScriptedProvider) -> None:
    """One create in ten seconds: the third has waited 20.8 s, and so has the run."""
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(3)]
    bench.clock.run(make_all(bench.desk(rules=limited(images, jobs=5, qps=0.1)), orders))
    assert _waited(bench) == pytest.approx(20.8, abs=1.0)


@SQLITE
def test_work_beside_a_wait_is_work(bench: Bench, videos: ScriptedProvider) -> None:
    """Two orders and one place: while the one is made, the other's wait costs the project its time as before."""
    orders = [an_order(videos, f"shot {seq}", seq=seq) for seq in range(2)]
    bench.clock.run(make_all(bench.desk(rules=limited(videos, jobs=1)), orders))
    assert _waited(bench) < 1.0


@SQLITE
def test_what_is_made_at_once_has_waited_for_nothing(bench: Bench, images: ScriptedProvider) -> None:
    """No row is written for it either."""
    bench.clock.run(make(bench.desk(rules=limited(images, jobs=5)), an_order(images)))
    assert _waited(bench) == 0.0
