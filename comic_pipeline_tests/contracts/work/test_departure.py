"""The last gate before a request leaves: the pace holds there, and what is stopped there was surely not sent."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, StorageFault, WorkStopped
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.store import attempts, limits
from comic_pipeline.work.runner import make, make_all
from comic_pipeline_tests.builders import later
from comic_pipeline_tests.contracts.work.bench import Bench, Flickering, an_order, limited
from comic_pipeline_tests.contracts.work.pacer import Plan
from comic_pipeline_tests.fakes import FakeClock, ScriptedProvider

SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@dataclass
class Oversleeper:
    """A clock on a busy machine: what sleeps is woken late, by these many seconds, time after time."""

    clock: FakeClock
    late: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        """The time it is."""
        return self.clock.now()

    async def sleep(self, seconds: float) -> None:
        """Sleep, and longer."""
        await self.clock.sleep(seconds + (self.late.pop(0) if self.late else 0.0))


def _gaps(provider: ScriptedProvider) -> list[float]:
    moments = sorted(sent.at for sent in provider.sent)
    return [round((later - earlier).total_seconds(), 6) for earlier, later in pairwise(moments)]


def _another_leaves(bench: Bench, provider: ScriptedProvider, *, in_seconds: float) -> Callable[[], None]:
    """A step of `build`: while this request was built, another process fixed the moment of its own."""

    def step() -> None:
        with bench.database.write() as connection:
            moment = bench.clock.now() + timedelta(seconds=in_seconds)
            limits.take_departure(connection, provider.name, step=0.0, earliest=moment)

    return step


def _beside(work: Coroutine[Any, Any, Any], act: Callable[["asyncio.Task[Any]"], object], *, bench: Bench, after: float) -> float:
    """Run `work`, do `act` to it after some seconds, and say how many seconds later it ended."""

    async def main() -> float:
        task = asyncio.ensure_future(work)
        await bench.clock.sleep(after)
        asked = bench.clock.elapsed
        act(task)
        await asyncio.wait({task})
        with pytest.raises((asyncio.CancelledError, WorkStopped)):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return bench.clock.elapsed - asked

    return bench.clock.run(main())


def test_creates_leave_apart_however_late_their_processes_are(bench: Bench, images: ScriptedProvider) -> None:
    """Two turns a second apart once arrived 0.33 s apart: the first had been late. Five creates, woken late by up to 1.3 s."""
    late = Oversleeper(bench.clock, late=[0.0, 0.7, 0.0, 1.3, 0.1, 0.0, 0.4])
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(5)]
    bench.clock.run(make_all(bench.desk(rules=limited(images, jobs=5, qps=1), clock=late), orders))
    assert len(images.sent) == 5
    assert min(_gaps(images)) >= 1.0


def test_creates_leave_apart_although_some_requests_take_long_to_build(bench: Bench, images: ScriptedProvider) -> None:
    """A picture in base64 on a busy machine: 0.9 s for every other request, after its turn and its promise."""
    images.plan("build", *[lambda: bench.clock.sleep(0.9), None] * 3)
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(6)]
    bench.clock.run(make_all(bench.desk(rules=limited(images, jobs=6, qps=1)), orders))
    assert _gaps(images) == [1.04] * 5


@SQLITE
def test_a_create_that_is_woken_late_does_not_leave_on_the_next_ones_heels(bench: Bench, images: ScriptedProvider) -> None:
    """It takes another moment: the one after it is counted from when it really left, 0.9 s late, and not from when it should."""
    late = Oversleeper(bench.clock)
    images.plan("build", lambda: late.late.append(0.9))
    desk = bench.desk(rules=limited(images, jobs=1, qps=1), clock=late)
    for seq in range(2):
        bench.make(an_order(images, f"shot {seq}", seq=seq), desk=desk)
    assert min(_gaps(images)) >= 1.0


@SQLITE
def test_a_moment_that_was_missed_costs_no_step(bench: Bench, images: ScriptedProvider) -> None:
    """Late by half a second, it leaves at once and not a step later: nobody left in the moment that it could not keep."""
    late = Oversleeper(bench.clock)
    images.plan("build", lambda: late.late.append(0.5))
    bench.make(an_order(images), desk=bench.desk(rules=limited(images, jobs=1, qps=1), clock=late))
    assert later(0.5) <= images.sent[0].at <= later(0.6)


def test_punctual_creates_use_more_than_nine_tenths_of_the_limit(bench: Bench, images: ScriptedProvider) -> None:
    """The margin is all that is lost."""
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(5)]
    bench.clock.run(make_all(bench.desk(rules=limited(images, jobs=5, qps=2)), orders))
    assert _gaps(images) == [0.52] * 4


@SQLITE
def test_a_stop_while_the_gate_waits_sends_nothing_and_pays_nothing(bench: Bench, images: ScriptedProvider) -> None:
    """At once, not after the wait: the promise is taken back, and the call is not booked as one whose answer was lost."""
    images.plan("build", _another_leaves(bench, images, in_seconds=30))
    desk = bench.desk(rules=limited(images, jobs=1, qps=1))
    assert _beside(make(desk, an_order(images)), lambda task: task.cancel(), bench=bench, after=5) == 0
    assert (images.sent, bench.states(), bench.spent(), bench.slots()) == ([], ["released"], Decimal(0), 0)
    assert (bench.task().status, bench.task().lease_owner) == (TaskStatus.RUNNING, None)
    bench.make(an_order(images), desk=bench.desk("w2"))
    assert (len(images.sent), bench.states(), bench.spent()) == (1, ["released", "succeeded"], images.price)


@SQLITE
def test_a_cancel_while_the_gate_waits_sends_nothing(bench: Bench, videos: ScriptedProvider) -> None:
    """The flag is read once more before the request leaves."""
    videos.plan("build", _another_leaves(bench, videos, in_seconds=30))
    desk = bench.desk(rules=limited(videos, jobs=1, qps=1))
    assert _beside(make(desk, an_order(videos)), lambda _: bench.cancel(), bench=bench, after=5) == pytest.approx(25.94)
    assert (videos.sent, bench.states(), bench.spent()) == ([], ["released"], Decimal(0))
    assert bench.task().status is TaskStatus.CANCELLED


@SQLITE
def test_a_cancel_without_a_limit_is_heard_before_the_request_leaves(bench: Bench, images: ScriptedProvider) -> None:
    """Between promise and request a person cancels: no limit, no wait, and still nothing is sent."""
    images.plan("build", bench.cancel)
    assert bench.refused(an_order(images)).code is ErrorCode.CANCELLED
    assert (images.sent, bench.states(), bench.spent()) == ([], ["released"], Decimal(0))


@SQLITE
def test_who_waits_for_a_turn_has_promised_nothing(bench: Bench, images: ScriptedProvider) -> None:
    """A run that is killed in line must not leave promises: each would be booked as a call that was paid and lost."""
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(3)]

    async def main() -> int:
        working = asyncio.ensure_future(make_all(bench.desk(rules=limited(images, jobs=3, qps=0.1)), orders))
        await bench.clock.sleep(5)
        with bench.database.read() as connection:
            promised = len(attempts.of_project(connection, "p1"))
        await working
        return promised

    assert bench.clock.run(main()) == 1
    assert len(images.sent) == 3


def test_a_run_that_was_frozen_before_its_request_left_sends_nothing(bench: Bench, videos: ScriptedProvider) -> None:
    """Its lease ran out, another run found the create absent and made it anew: the first one, awake again, must not pay too."""

    def meanwhile() -> None:
        with bench.database.write() as connection:
            attempts.mark_released(connection, bench.attempts()[0], now=bench.clock.now())

    videos.plan("build", meanwhile)
    assert bench.refused(an_order(videos)).code is ErrorCode.CONFLICT
    assert (videos.sent, bench.states(), bench.spent()) == ([], ["released"], Decimal(0))


@SQLITE
def test_a_database_that_is_away_at_the_gate_sends_nothing(
    bench: Bench, flickering: Flickering, images: ScriptedProvider
) -> None:
    """Without it nobody knows whether another create has just left. It is tried for half a minute, then the round ends."""

    def away() -> None:
        flickering.away = 8

    images.plan("build", away)
    error = bench.refused(an_order(images), desk=bench.desk(database=flickering, rules=limited(images, jobs=1, qps=1)))
    assert (error.code, images.sent, bench.spent()) == (StorageFault("").code, [], Decimal(0))
    bench.clock.advance(600)
    bench.make(an_order(images), desk=bench.desk("w2"))
    assert len(images.sent) == 1


def test_creates_of_three_processes_leave_apart(bench: Bench) -> None:
    """In real time, over one database: eight a second, each request built for up to 90 ms after its turn."""
    names = ("w1", "w2", "w3")
    for name in names:
        bench.worker(name)
    plan = Plan(url=bench.url, folder=str(bench.folder), workers=names, creates=4, qps=8, clumsy=0.09)
    command = [sys.executable, "-m", "comic_pipeline_tests.contracts.work.pacer"]
    done = subprocess.run(command, input=plan.model_dump_json(), capture_output=True, text=True, check=True, timeout=60)
    left = json.loads(done.stdout)
    assert len(left) == 12
    # Turns alone let them leave 4 to 40 ms apart. A process that is not scheduled between gate and note is some 20 ms late.
    assert min(later - earlier for earlier, later in pairwise(left)) > 0.1
