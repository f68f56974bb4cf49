"""Stop signals: what is on the wire is waited for, what was paid is kept, and leases and slots are given back."""

import asyncio
from collections.abc import Coroutine
from decimal import Decimal
from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.providers.interface import JobStatus, Phase
from comic_pipeline.work.creating import STOP_PATIENCE
from comic_pipeline.work.runner import make, make_all
from comic_pipeline_tests.contracts.work.bench import Bench, Flickering, an_order, limited
from comic_pipeline_tests.fakes import ScriptedProvider

# Nothing here depends on the kind of database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _stopped(bench: Bench, work: Coroutine[Any, Any, object], *, after: float) -> float:
    """Cancel `work` after some seconds; how long it took to stop. Nothing may be left running."""

    async def main() -> float:
        task = asyncio.ensure_future(work)
        await bench.clock.sleep(after)
        asked = bench.clock.elapsed
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return bench.clock.elapsed - asked

    return bench.clock.run(main())


def test_a_stop_waits_for_the_create_on_the_wire(bench: Bench, videos: ScriptedProvider) -> None:
    """As in dagster #15026: Terminate during a paid step. The id is committed; the next run pays nothing."""
    videos.plan("submit", lambda: bench.clock.sleep(5))
    took = _stopped(bench, make(bench.desk(rules=limited(videos, jobs=1)), an_order(videos)), after=1)
    assert took == 4
    (attempt,) = bench.attempts()
    assert (attempt.state, attempt.provider_request_id, videos.looked) == ("submitted", "job-1", [])
    assert (bench.task().status, bench.task().lease_owner, bench.slots()) == (TaskStatus.RUNNING, None, 0)
    began = bench.clock.elapsed
    bench.make(an_order(videos), desk=bench.desk("w2"))
    assert (len(videos.sent), bench.clock.elapsed - began < 5) == (1, True)


def test_a_stop_keeps_the_answer_on_the_wire(bench: Bench, images: ScriptedProvider) -> None:
    """The same for a call that answers at once: its bytes are staged and its cost is booked."""
    images.plan("submit", lambda: bench.clock.sleep(5))
    assert _stopped(bench, make(bench.desk(), an_order(images)), after=1) == 4
    assert (bench.states(), bench.spent()) == (["succeeded"], images.price)
    assert bench.make(an_order(images), desk=bench.desk("w2")).made.cost == images.price
    assert len(images.sent) == 1


def test_patience_with_a_create_has_an_end(bench: Bench, videos: ScriptedProvider) -> None:
    """After ten seconds the run ends all the same; the intent stays, and the next run looks for the job."""
    videos.plan("submit", lambda: videos.accept(an_order(videos).request) and bench.clock.sleep(60))
    assert _stopped(bench, make(bench.desk(), an_order(videos)), after=1) == STOP_PATIENCE
    assert (bench.states(), bench.task().lease_owner) == (["intent"], None)
    bench.make(an_order(videos), desk=bench.desk("w2"))
    assert (len(videos.sent), bench.spent()) == (1, videos.price)


def test_a_refusal_on_the_wire_is_written_down(bench: Bench, images: ScriptedProvider) -> None:
    """The stop waits for a no as well: the attempt has failed and is not taken for a lost one."""

    async def refuse() -> None:
        await bench.clock.sleep(5)
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, "busy", http_status=503)

    images.plan("submit", refuse)
    _stopped(bench, make(bench.desk(), an_order(images)), after=1)
    assert (bench.states(), len(images.sent)) == (["failed"], 1)


def test_a_stop_while_following_a_job_creates_nothing(bench: Bench, videos: ScriptedProvider) -> None:
    """At once; the job goes on at the provider, and the next run looks at it."""
    videos.always("poll", JobStatus(Phase.RUNNING, word="running"))
    assert _stopped(bench, make(bench.desk(rules=limited(videos, jobs=1)), an_order(videos)), after=95) == 0
    assert (bench.states(), bench.task().lease_owner, bench.slots()) == (["submitted"], None, 0)
    videos.always("poll", None)
    bench.make(an_order(videos), desk=bench.desk("w2"))
    assert len(videos.sent) == 1


def test_local_work_is_stopped_at_once(bench: Bench, local: ScriptedProvider) -> None:
    """It costs nothing, so nobody waits for it; the next run does it again."""
    local.plan("submit", lambda: bench.clock.sleep(600))
    assert _stopped(bench, make(bench.desk(), an_order(local)), after=1) == 0
    assert bench.task().lease_owner is None
    bench.make(an_order(local), desk=bench.desk("w2"))
    assert (bench.states(), bench.spent()) == (["released", "succeeded"], Decimal(0))


@pytest.mark.parametrize("waiting_for", ["slot", "turn", "next try", "next round", "download", "lost job"])
def test_a_stop_ends_every_wait_at_once(
    bench: Bench, images: ScriptedProvider, videos: ScriptedProvider, waiting_for: str
) -> None:
    """Whatever is waited for, the lease comes back, and nothing more is sent."""
    busy = ProviderFault(ErrorCode.PROVIDER_RATE_LIMIT, "busy", retry_after=20)
    provider = videos if waiting_for in ("download", "lost job") else images
    order, rules = an_order(provider), limited(provider, jobs=1, qps=0.01)
    if waiting_for == "slot":
        bench.hold_slot(provider, seconds=1_000)
    elif waiting_for == "turn":
        bench.make(an_order(provider, "first", seq=1), desk=bench.desk(rules=rules))
    elif waiting_for == "next try":
        provider.plan("submit", busy)
    elif waiting_for == "next round":
        provider.plan("submit", ProviderFault(ErrorCode.PROVIDER_RATE_LIMIT, "busy", retry_after=900))
        bench.refused(order)
    elif waiting_for == "download":
        provider.always("fetch", busy)
    else:
        bench.abandon(order)
    sent = len(provider.sent)
    assert _stopped(bench, make(bench.desk(rules=rules), order), after=10.2) == 0
    assert len(provider.sent) - sent <= 1
    (task,) = (one for one in bench.tasks() if one.shot_seq == 0)
    assert (task.lease_owner, task.status in (TaskStatus.RUNNING, TaskStatus.RETRYING)) == (None, True)


def test_a_stop_of_many_keeps_all_of_them(bench: Bench, videos: ScriptedProvider) -> None:
    """Ten shots: some on the wire, some waiting. Every job that was accepted is known, the next run makes the rest, once each."""
    videos.always("submit", lambda: bench.clock.sleep(4))
    orders = [an_order(videos, f"shot {seq}", seq=seq) for seq in range(10)]
    rules = limited(videos, jobs=5, qps=1)
    assert _stopped(bench, make_all(bench.desk(rules=rules), orders), after=2.5) <= 4
    assert [task.lease_owner for task in bench.tasks()] == [None] * 10
    assert (bench.slots(), len(videos.jobs)) == (0, len(videos.sent))
    finished = bench.clock.run(make_all(bench.desk("w2", rules=rules), orders))
    assert (len(finished.delivered), len(videos.sent), bench.spent()) == (10, 10, videos.charged)


def test_a_stop_stays_a_stop_when_the_database_is_away(bench: Bench, flickering: Flickering, videos: ScriptedProvider) -> None:
    """The lease cannot be given back and runs out by itself; what is reported is the stop, not a storage fault."""

    async def away() -> JobStatus:
        flickering.away = 100
        await bench.clock.sleep(1_000)
        raise AssertionError

    videos.plan("poll", away)
    assert _stopped(bench, make(bench.desk(database=flickering, rules=limited(videos, jobs=1)), an_order(videos)), after=5) == 0
    bench.make(an_order(videos), desk=bench.desk("w2"))
    assert len(videos.sent) == 1
