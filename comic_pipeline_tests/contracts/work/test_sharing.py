"""A provider shared by many processes: jobs under way, creates a second, and no work while waiting."""

import asyncio
import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import event

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.store.database import Database
from comic_pipeline.work.orders import Round
from comic_pipeline.work.runner import make, make_all
from comic_pipeline_tests.contracts.work.bench import Bench, an_order, limited
from comic_pipeline_tests.fakes import ScriptedProvider


def _jobs_under_way(bench: Bench, videos: ScriptedProvider, *, seconds: float) -> list[int]:
    """Let each job run for `seconds`; how many ran at each look."""
    counts: list[int] = []

    def look() -> None:
        counts.append(sum((bench.clock.now() - job.at).total_seconds() < seconds for job in videos.jobs.values()))

    videos.always("poll", look)
    return counts


def test_two_processes_never_have_more_jobs_than_allowed(bench: Bench, database_url: str) -> None:
    """Two runs of four clips each, three jobs allowed: never four at once, and all eight are made."""
    videos = ScriptedProvider(bench.clock, name="videos", asynchronous=True, looks=5)
    counts = _jobs_under_way(bench, videos, seconds=8)
    others = Database(database_url)
    rules = limited(videos, jobs=3)
    desks = bench.desk("w1", rules=rules), bench.desk("w2", rules=rules, database=others)

    async def main() -> list[Round]:
        orders = [[an_order(videos, f"{run} {seq}", seq=seq) for seq in range(4)] for run in range(2)]
        return await asyncio.gather(*(make_all(desk, mine) for desk, mine in zip(desks, orders, strict=True)))

    rounds = bench.clock.run(main())
    others.close()
    assert [len(one.delivered) for one in rounds] == [4, 4]
    assert max(counts) == 3
    assert (len(videos.sent), bench.slots()) == (8, 0)


def test_two_processes_take_turns(bench: Bench, database_url: str, images: ScriptedProvider) -> None:
    """Four creates a second between them, however they start."""
    others = Database(database_url)
    rules = limited(images, jobs=20, qps=4)
    desks = bench.desk("w1", rules=rules), bench.desk("w2", rules=rules, database=others)

    async def main() -> None:
        orders = [[an_order(images, f"{run} {seq}", seq=seq) for seq in range(5)] for run in range(2)]
        await asyncio.gather(*(make_all(desk, mine) for desk, mine in zip(desks, orders, strict=True)))

    bench.clock.run(main())
    others.close()
    times = sorted(sent.at for sent in images.sent)
    assert len(times) == 10
    assert min((after - before).total_seconds() for before, after in pairwise(times)) >= 0.25


def _succeed(_: ScriptedProvider) -> None:
    """Nothing goes wrong."""


def _refuse(provider: ScriptedProvider) -> None:
    provider.plan("submit", ProviderFault(ErrorCode.INPUT_INVALID, "no"))


def _fail_later(provider: ScriptedProvider) -> None:
    provider.plan("submit", *[ProviderFault(ErrorCode.PROVIDER_ERROR, "busy")] * 4)


def _lose(provider: ScriptedProvider) -> None:
    provider.plan("poll", ProviderFault(ErrorCode.PROVIDER_AUTH, "no"))


@pytest.mark.parametrize("course", [_succeed, _refuse, _fail_later, _lose])
def test_a_slot_is_given_back_whatever_happens(
    bench: Bench, videos: ScriptedProvider, course: Callable[[ScriptedProvider], None]
) -> None:
    """Success, refusal, postponement, a job that cannot be followed: the next shot does not wait for a lease to run out."""
    course(videos)
    rules = limited(videos, jobs=1)
    bench.clock.run(make_all(bench.desk(rules=rules), [an_order(videos)]))
    assert bench.slots() == 0
    began = bench.clock.elapsed
    bench.make(an_order(videos, "dog", seq=1), desk=bench.desk(rules=rules))
    assert bench.clock.elapsed - began < 30


@pytest.mark.parametrize("craft", ["images", "videos"])
def test_a_slot_is_kept_through_a_long_create_and_a_long_download(
    bench: Bench, craft: str, images: ScriptedProvider, videos: ScriptedProvider
) -> None:
    """Seventy seconds in one call at a lease of sixty: nobody else gets the only slot meanwhile."""
    provider = {"images": images, "videos": videos}[craft]
    provider.plan("submit", lambda: bench.clock.sleep(70))
    rules = limited(provider, jobs=1)
    desks = bench.desk("w1", rules=rules), bench.desk("w2", rules=rules)

    async def main() -> None:
        await asyncio.gather(*(make(desk, an_order(provider, f"cat {seq}")) for seq, desk in enumerate(desks)))

    bench.clock.run(main())
    first, second = (sent.at for sent in provider.sent)
    assert (provider.most_at_once, (second - first).total_seconds() >= 70) == (1, True)


def test_the_slot_of_a_killed_process_opens_with_its_lease(bench: Bench, images: ScriptedProvider) -> None:
    """Not before, and not never."""
    bench.hold_slot(images, seconds=60)
    bench.make(an_order(images), desk=bench.desk(rules=limited(images, jobs=1)))
    assert 60 <= bench.clock.elapsed <= 62


def test_a_full_provider_is_not_a_busy_loop(bench: Bench, videos: ScriptedProvider, caplog: pytest.LogCaptureFixture) -> None:
    """ArcReel #640: one slot, 50 shots queued, the provider holds it for a minute: 684 MB of logs there, and none here."""
    statements: list[str] = []

    def count(_c: Any, _k: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    async def minute() -> None:
        orders = [an_order(videos, f"cat {seq}", seq=seq) for seq in range(50)]
        waiting = asyncio.ensure_future(make_all(bench.desk(rules=limited(videos, jobs=1)), orders))
        await bench.clock.sleep(10)
        event.listen(bench.database.engine, "before_cursor_execute", count)
        await bench.clock.sleep(60)
        event.remove(bench.database.engine, "before_cursor_execute", count)
        waiting.cancel()
        await asyncio.wait({waiting})

    bench.hold_slot(videos, seconds=1_000)
    with caplog.at_level(logging.DEBUG, logger="comic_pipeline"):
        bench.clock.run(minute())
    assert (videos.sent, caplog.records) == ([], [])
    about_slots = [one for one in statements if one.lstrip().startswith(("SELECT", "DELETE")) and "provider_slots" in one]
    assert 60 <= len(about_slots) <= 150
    # Four statements for each of three renewals of 50 leases, and eight a look.
    assert len(statements) <= 4 * 3 * 50 + 8 * 70
