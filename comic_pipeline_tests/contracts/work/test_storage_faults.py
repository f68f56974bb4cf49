"""A database that is away: nothing that a provider said is forgotten, and nothing is said twice."""

import asyncio

import pytest

from comic_pipeline.model.errors import ErrorCode, InvalidAnswer, ProviderFault, StorageFault
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.work.orders import PostponedError, Round
from comic_pipeline.work.runner import make_all
from comic_pipeline_tests.contracts.work.bench import Bench, Flickering, Rival, an_order, limited, repaired
from comic_pipeline_tests.fakes import ScriptedProvider, Verb, Wish


def test_the_id_of_a_job_survives_a_database_that_restarts(
    bench: Bench, flickering: Flickering, videos: ScriptedProvider
) -> None:
    """The provider has accepted, the database is away: the id is written as soon as it is back; one create."""
    videos.plan("submit", lambda: setattr(flickering, "away", 4))
    made = bench.make(an_order(videos), desk=bench.desk(database=flickering))
    assert (len(videos.sent), bench.states(), made.made.cost) == (1, ["succeeded"], videos.price)
    assert videos.searched == []


def test_an_answer_survives_a_database_that_restarts(bench: Bench, flickering: Flickering, images: ScriptedProvider) -> None:
    """The same for bytes that came at once."""
    images.plan("submit", lambda: setattr(flickering, "away", 4))
    bench.make(an_order(images), desk=bench.desk(database=flickering))
    assert (len(images.sent), bench.states()) == (1, ["succeeded"])


@pytest.mark.parametrize("verb", ["submit", "poll", "fetch"])
def test_commits_that_went_through_unseen_are_not_done_twice(
    bench: Bench, flickering: Flickering, videos: ScriptedProvider, verb: Verb
) -> None:
    """The connection breaks during the commit, which succeeds: the second try finds it done. One create, one cost."""
    videos.plan(verb, lambda: setattr(flickering, "unsure", 2))
    made = bench.make(an_order(videos), desk=bench.desk(database=flickering))
    assert (len(videos.sent), made.made.cost) == (1, videos.price)
    assert (bench.states(), bench.spent(), bench.task().status) == (["succeeded"], videos.price, TaskStatus.SUCCESS)


def test_a_postponement_that_went_through_unseen_counts_once(
    bench: Bench, flickering: Flickering, images: ScriptedProvider
) -> None:
    """The retry allowance is not used up by a broken connection."""

    def last_try() -> ProviderFault:
        if len(images.sent) == 4:
            flickering.unsure = 2
        return ProviderFault(ErrorCode.PROVIDER_ERROR, "busy", http_status=503)

    images.plan("submit", *[last_try] * 4)
    assert isinstance(bench.refused(an_order(images), desk=bench.desk(database=flickering)), PostponedError)
    assert (bench.task().status, bench.task().retry_count) == (TaskStatus.RETRYING, 1)


def test_a_promise_that_cannot_be_written_sends_nothing(bench: Bench, flickering: Flickering, images: ScriptedProvider) -> None:
    """The database is away at the gate: the shot goes again later, as any storage fault."""
    busy = ProviderFault(ErrorCode.PROVIDER_ERROR, "busy", http_status=503)
    images.plan("submit", busy)
    desk = bench.desk(database=flickering)

    async def main() -> Round:
        working = asyncio.ensure_future(make_all(desk, [an_order(images)]))
        await bench.clock.sleep(0.5)
        flickering.away = 1
        return await working

    finished = bench.clock.run(main())
    assert [one.code for one in finished.postponed] == [ErrorCode.STORAGE_FAILED]
    assert (len(images.sent), bench.states()) == (1, ["failed"])
    bench.make(an_order(images))
    assert len(images.sent) == 2


def test_a_promise_that_went_through_unseen_is_kept(bench: Bench, flickering: Flickering, images: ScriptedProvider) -> None:
    """The server fails over in the commit of the intent: nothing was sent for it yet, so it is sent now and no loss booked."""
    images.plan("submit", ProviderFault(ErrorCode.PROVIDER_ERROR, "busy", http_status=503))
    desk = bench.desk(database=flickering)

    async def main() -> Round:
        working = asyncio.ensure_future(make_all(desk, [an_order(images)]))
        await bench.clock.sleep(0.5)
        flickering.unsure = 1
        return await working

    assert len(bench.clock.run(main()).delivered) == 1
    assert (len(images.sent), bench.states(), bench.spent()) == (2, ["failed", "succeeded"], images.price)


def test_a_repair_that_could_not_be_promised_is_not_sent_under_the_first_answer(
    bench: Bench, flickering: Flickering, images: ScriptedProvider
) -> None:
    """The bad answer is still there, ready and paid; it is no promise for the second request."""

    def repair(request: Wish, answer: bytes, problem: InvalidAnswer) -> Wish:
        flickering.away = 1
        return repaired(request, answer, problem)

    refused = bench.refused(an_order(images, "why?", repair=repair), desk=bench.desk(database=flickering))
    assert (refused.code, len(images.sent), bench.states()) == (ErrorCode.STORAGE_FAILED, 1, ["succeeded"])


def test_a_promise_of_another_run_is_not_taken_for_ones_own(bench: Bench, database_url: str, images: ScriptedProvider) -> None:
    """The database is away at the gate, and behind it somebody has taken the task over and promised: nothing is sent for that."""
    rival, order = Rival(database_url), an_order(images)

    def taken_over() -> None:
        bench.clock.advance(60)
        bench.abandon(order)
        raise StorageFault("the database is away")

    class Hooked(FolderStore):
        def check_room(self) -> None:
            rival.first = taken_over

    desk = bench.desk(database=rival, objects=Hooked(bench.folder, media_url="/media"))
    bench.refused(order, desk=desk)
    assert (images.sent, bench.states()) == ([], ["intent"])
    rival.close()


def test_a_database_that_stays_away_ends_the_round_and_the_next_one_goes_on(
    bench: Bench, flickering: Flickering, videos: ScriptedProvider
) -> None:
    """Half a minute of patience, then STORAGE_FAILED; the job that was under way is followed by the next run."""
    videos.plan("poll", None, lambda: setattr(flickering, "away", 1_000))
    desk = bench.desk(database=flickering, rules=limited(videos, jobs=1))
    refused = bench.refused(an_order(videos), desk=desk)
    assert refused.code is ErrorCode.STORAGE_FAILED
    assert 30 <= bench.clock.elapsed <= 120
    bench.make(an_order(videos), desk=bench.desk("w2", rules=limited(videos, jobs=1)))
    assert (len(videos.sent), bench.spent()) == (1, videos.price)


def test_a_missed_renewal_is_made_up_for(bench: Bench, flickering: Flickering, videos: ScriptedProvider) -> None:
    """One renewal fails, the work goes on, and the lease is there when the next is due."""
    owners: list[str | None] = []

    async def long() -> None:
        await bench.clock.sleep(19)
        flickering.away = 1
        await bench.clock.sleep(30)
        owners.append(bench.task().lease_owner)
        expires = bench.task().lease_expires_at
        assert expires is not None
        assert expires > bench.clock.now()

    videos.plan("submit", long)
    bench.make(an_order(videos), desk=bench.desk(database=flickering))
    assert owners == ["w1"]


def test_a_defect_in_the_renewal_is_not_swallowed(bench: Bench, database_url: str, images: ScriptedProvider) -> None:
    """Nobody waits for the renewal: an error in it that is not the database's would end it unheard, and with it the lease."""
    rival = Rival(database_url)

    def defect() -> None:
        raise ZeroDivisionError("a defect")

    async def long() -> None:
        await bench.clock.sleep(15)
        rival.first = defect
        await bench.clock.sleep(30)

    images.plan("submit", long)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        bench.make(an_order(images), desk=bench.desk(database=rival))
    assert (rival.first, bench.states()) == (None, ["succeeded"])
    rival.close()
