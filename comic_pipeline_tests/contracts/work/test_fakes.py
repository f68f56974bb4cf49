"""The doubles keep their word: a clock that jumps but never past anybody, a provider whose books are true."""

import asyncio
import time

import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.interface import CancelOutcome, Done, Inline, JobStatus, Phase, Provider, Remote, Submitted
from comic_pipeline_tests.builders import NOW, later
from comic_pipeline_tests.fakes import Dropped, FakeClock, ScriptedProvider, Sent, Wish, delivery


@pytest.mark.timeout(30)
def test_the_clock_jumps_to_the_next_waker_in_order() -> None:
    """An hour costs no real time; who waits shorter wakes first, each at its own time."""
    clock, woken = FakeClock(), []

    async def wait(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((seconds, clock.now()))

    async def main() -> None:
        await asyncio.gather(wait(3_600), wait(5), wait(60))

    clock.run(main())
    assert woken == [(5, later(5)), (60, later(60)), (3_600, later(3_600))]


def test_time_stands_still_while_a_thread_works() -> None:
    """Otherwise every file that is written would cost an unknown number of leases."""
    clock = FakeClock()

    async def main() -> None:
        ticking = asyncio.create_task(clock.sleep(10))
        await asyncio.to_thread(time.sleep, 0.05)
        assert clock.now() == NOW
        await ticking

    clock.run(main())
    assert clock.now() == later(10)


def test_time_outs_live_in_the_clocks_time() -> None:
    """The runner's patience is measured with `asyncio.wait`."""
    clock = FakeClock()

    async def main() -> None:
        async with asyncio.timeout(10):
            await clock.sleep(60)

    with pytest.raises(TimeoutError):
        clock.run(main())
    assert clock.now() == later(10)


def test_the_clock_refuses_to_be_slept_on_elsewhere() -> None:
    """In a loop of real time nobody would move it."""
    with pytest.raises(RuntimeError, match="stands still"):
        asyncio.run(FakeClock().sleep(1))


def test_a_provider_that_answers_at_once_behaves() -> None:
    """The answer, its cost and its bytes; the books say what was sent and charged."""
    clock = FakeClock()
    fake: Provider[Wish] = ScriptedProvider(clock)
    scripted = ScriptedProvider(clock)
    assert fake.describe(Wish("cat")) == {"words": "cat", "size": "720p"}
    answer = clock.run(scripted.submit(Wish("cat")))
    assert answer == Done(Inline(delivery("cat")), usage={"files": 1}, cost=scripted.price, request_id="call-1")
    assert clock.run(scripted.fetch(answer.output)) == delivery("cat")
    assert (scripted.sent, scripted.accepted, scripted.charged) == ([Sent(Wish("cat"), NOW)], [Wish("cat")], scripted.price)


def test_a_provider_of_jobs_behaves() -> None:
    """A job is listed, runs, and ends with a link to its bytes; an unknown one is lost."""
    clock = FakeClock()
    videos = ScriptedProvider(clock, asynchronous=True)

    async def main() -> None:
        assert await videos.submit(Wish("a cat")) == Submitted("job-1")
        assert [job.job_id for job in await videos.find(Wish("a cat"), since=NOW)] == ["job-1"]
        assert await videos.find(Wish("a dog"), since=NOW) == ()
        assert (await videos.poll("job-1", Wish("a cat"))).phase is Phase.RUNNING
        ended = await videos.poll("job-1", Wish("a cat"))
        assert ended.done is not None
        assert isinstance(ended.done.output, Remote)
        assert await videos.fetch(ended.done.output) == delivery("a cat")
        assert (await videos.poll("job-9", Wish("a cat"))).phase is Phase.LOST
        assert await videos.cancel("job-1") is CancelOutcome.TOO_LATE

    clock.run(main())
    assert (videos.looked, videos.dropped) == (["job-1", "job-1", "job-9"], ["job-1"])


def test_steps_are_taken_in_order_and_then_it_behaves() -> None:
    """Faults are raised, values returned, functions called; a dropped create counts as charged only when it was accepted."""
    clock = FakeClock()
    videos = ScriptedProvider(clock, asynchronous=True)
    seen = []
    videos.plan("submit", Dropped(accepted=False), Dropped(accepted=True), ProviderFault(ErrorCode.PROVIDER_ERROR, "busy"))
    videos.plan("submit", lambda: clock.sleep(7), lambda: seen.append("called"))
    for fault in (OutcomeUnknown, OutcomeUnknown, ProviderFault):
        with pytest.raises(fault):
            clock.run(videos.submit(Wish("cat")))
    assert [clock.run(videos.submit(Wish("cat"))) for _ in range(2)] == [Submitted("job-2"), Submitted("job-3")]
    assert (len(videos.sent), len(videos.accepted), clock.now(), seen) == (5, 3, later(7), ["called"])
    queued = JobStatus(Phase.QUEUED, word="queued")
    videos.plan("poll", queued)
    assert clock.run(videos.poll("job-2", Wish("cat"))) == queued
