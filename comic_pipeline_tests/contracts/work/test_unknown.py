"""An answer that was lost: look for the job, or book the call; never a blind second create (ArcReel PR#793)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.providers.interface import FoundJob, Phase
from comic_pipeline.store import attempts
from comic_pipeline.store.database import Database
from comic_pipeline.work.orders import PostponedError
from comic_pipeline.work.runner import make_all
from comic_pipeline_tests.builders import later
from comic_pipeline_tests.contracts.work.bench import RULES, Bench, Rival, an_order, then
from comic_pipeline_tests.fakes import Dropped, ScriptedProvider

UNREADABLE = ProviderFault(ErrorCode.PROVIDER_ERROR, "the list is broken")


def _listed(job_id: str, at: datetime) -> FoundJob:
    return FoundJob(job_id, Phase.RUNNING, created_at=at, matches="seed, duration")


# --- jobs -----------------------------------------------------------------------------------------------------------------


def test_a_create_that_timed_out_after_it_was_accepted_is_adopted(bench: Bench, videos: ScriptedProvider) -> None:
    """The server took the POST and the connection broke: the job is in the list, so it is followed. One create, one charge."""
    videos.plan("submit", Dropped(accepted=True))
    made = bench.make(an_order(videos)).made
    assert (len(videos.sent), bench.spent(), made.cost) == (1, videos.charged, videos.price)
    (attempt,) = bench.attempts()
    assert (attempt.provider_request_id, attempt.state) == ("job-1", "succeeded")


def test_a_lost_job_that_is_listed_late_is_adopted(bench: Bench, videos: ScriptedProvider) -> None:
    """The list lags: it is looked at until the grace time is over."""
    videos.plan("submit", Dropped(accepted=True))
    videos.plan("find", (), (), (), ())
    bench.make(an_order(videos))
    assert (len(videos.sent), len(videos.searched), bench.states()) == (1, 5, ["succeeded"])


def test_several_candidates_are_for_a_person(bench: Bench, videos: ScriptedProvider) -> None:
    """Both are named; nothing is created, neither now nor in a later round."""
    videos.plan("submit", Dropped(accepted=True))
    both = (_listed("job-7", later(1)), _listed("job-8", later(2)))
    videos.plan("find", both)
    refused = bench.refused(an_order(videos))
    assert refused.code is ErrorCode.OUTCOME_UNKNOWN
    assert "job-7" in refused.detail
    assert "job-8" in refused.detail
    assert (bench.task().status, bench.states()) == (TaskStatus.MANUAL_REQUIRED, ["intent"])
    assert bench.refused(an_order(videos), desk=bench.desk("w2")).code is ErrorCode.OUTCOME_UNKNOWN
    assert len(videos.sent) == 1


def test_a_persons_retry_looks_again(bench: Bench, videos: ScriptedProvider) -> None:
    """One of the two was somebody else's and is gone from the list: the other is adopted."""
    videos.plan("submit", Dropped(accepted=True))
    videos.plan("find", (_listed("job-7", later(1)), _listed("job-8", later(2))))
    bench.refused(an_order(videos))
    bench.retry()
    assert bench.make(an_order(videos)).made.cost == videos.price
    assert len(videos.sent) == 1


def test_a_job_that_is_surely_absent_is_released_and_made_again(bench: Bench, videos: ScriptedProvider) -> None:
    """Not listed for a whole grace time after the loss: nothing was spent, and a second create is not a blind one."""
    videos.plan("submit", Dropped(accepted=False))
    bench.make(an_order(videos))
    assert [(one.state, one.cost) for one in bench.attempts()] == [("released", 0), ("succeeded", videos.price)]
    first, second = (sent.at for sent in videos.sent)
    assert (second - first).total_seconds() >= RULES.lost_grace
    assert bench.spent() == videos.charged


def test_the_grace_time_begins_when_the_answer_was_lost(bench: Bench, videos: ScriptedProvider) -> None:
    """The create hung for two minutes and was accepted at its very end: it must not be given up at the first look."""

    async def hang() -> Dropped:
        await bench.clock.sleep(120)
        return Dropped(accepted=True)

    videos.plan("submit", hang)
    videos.plan("find", ())
    bench.make(an_order(videos))
    assert len(videos.sent) == 1


def test_a_list_that_cannot_be_read_is_not_an_empty_list(bench: Bench, videos: ScriptedProvider) -> None:
    """Five looks that failed prove nothing: a person must look."""
    videos.plan("submit", Dropped(accepted=True))
    videos.always("find", UNREADABLE)
    refused = bench.refused(an_order(videos))
    assert (refused.code, len(videos.searched), len(videos.sent)) == (ErrorCode.OUTCOME_UNKNOWN, 5, 1)
    assert "cannot be read" in refused.detail
    assert bench.states() == ["intent"]


def test_a_list_that_we_may_not_read_is_not_asked_again(bench: Bench, videos: ScriptedProvider) -> None:
    """A refused key does not get better by waiting."""
    videos.plan("submit", Dropped(accepted=True))
    videos.always("find", ProviderFault(ErrorCode.PROVIDER_AUTH, "no", http_status=401))
    assert bench.refused(an_order(videos)).code is ErrorCode.OUTCOME_UNKNOWN
    assert (len(videos.searched), len(videos.sent)) == (1, 1)


def test_a_list_that_was_unreadable_for_a_moment_is_read_again(bench: Bench, videos: ScriptedProvider) -> None:
    """Two failed looks, then the job."""
    videos.plan("submit", Dropped(accepted=True))
    videos.plan("find", UNREADABLE, UNREADABLE)
    bench.make(an_order(videos))
    assert len(videos.sent) == 1


def test_jobs_of_other_attempts_are_never_adopted(bench: Bench, videos: ScriptedProvider) -> None:
    """open-ai-canvas #477: an id belongs to one attempt. The list shows the job of another shot with the same words."""
    bench.make(an_order(videos, "cat", seq=0))
    videos.plan("submit", Dropped(accepted=False))
    videos.always("find", (_listed("job-1", later(1)),))
    made = bench.make(an_order(videos, "cat", seq=1))
    assert (made.seq, made.made.cost, len(videos.sent)) == (1, videos.price, 3)
    assert sorted(videos.jobs) == ["job-1", "job-2"]


def test_two_lost_creates_do_not_adopt_one_job(bench: Bench, videos: ScriptedProvider) -> None:
    """Two shots with the same words, both lost, one accepted: one adopts it, the other is made again."""
    videos.plan("submit", Dropped(accepted=True), Dropped(accepted=False))
    orders = [an_order(videos, "cat", seq=seq) for seq in range(2)]
    finished = bench.clock.run(make_all(bench.desk(), orders))
    assert len(finished.delivered) == 2
    assert (len(videos.sent), bench.spent()) == (3, videos.charged)


def _takes(bench: Bench, database: Database, provider: ScriptedProvider, job_id: str) -> Callable[[], None]:
    """Another task of the same provider, in another process, takes this job."""
    other = bench.abandon(an_order(provider, "dog", seq=5))

    def take() -> None:
        with database.write() as connection:
            (open_one,) = attempts.of_task(connection, other.task_id)
            attempts.mark_submitted(connection, open_one, request_id=job_id)

    return take


def test_a_job_that_another_process_adopts_at_the_same_moment_is_not_adopted_twice(
    bench: Bench, database_url: str, videos: ScriptedProvider
) -> None:
    """Both find the one job in the list and nobody in the books; one has it, the other looks on and finds it taken."""
    rival = Rival(database_url)
    take = _takes(bench, bench.database, videos, "job-7")
    videos.plan("submit", then(lambda: setattr(rival, "first", take), Dropped(accepted=False)))
    videos.plan("find", (_listed("job-7", later(61)),))
    made = bench.make(an_order(videos), desk=bench.desk(database=rival))
    assert (made.made.reused, len(videos.sent), rival.first) == (False, 2, None)
    with bench.database.read() as connection:
        ids = [one.provider_request_id for one in attempts.of_project(connection, "p1") if one.provider_request_id]
    assert sorted(ids) == ["job-1", "job-7"]
    rival.close()


def test_a_job_that_was_adopted_before_its_own_answer_came_is_not_shared(bench: Bench, videos: ScriptedProvider) -> None:
    """A lost create of the same words took it from the list while our answer was on its way: we look for the other one."""
    videos.plan("submit", then(_takes(bench, bench.database, videos, "job-1"), None))
    bench.make(an_order(videos))
    assert (len(videos.sent), len(videos.searched) > 0) == (2, True)
    with bench.database.read() as connection:
        ids = [one.provider_request_id for one in attempts.of_project(connection, "p1") if one.provider_request_id]
    assert sorted(ids) == ["job-1", "job-2"]


def test_a_job_that_comes_after_its_create_was_given_up_is_booked(bench: Bench, videos: ScriptedProvider) -> None:
    """A process frozen on its way out, for longer than lease and grace: its create was taken for absent, and is paid."""
    videos.plan("submit", then(bench.release, None))
    assert bench.refused(an_order(videos)).code is ErrorCode.CONFLICT
    (late,) = bench.attempts()
    assert (late.state, late.provider_request_id, late.cost) == ("unknown", "job-1", videos.estimated)


def test_a_loss_older_than_the_providers_list_is_for_a_person(bench: Bench, videos: ScriptedProvider) -> None:
    """After a week no job is listed any more: "not there" says nothing, and a second create would be a blind one."""
    bench.abandon(an_order(videos))
    bench.clock.advance(6 * 86_400)
    refused = bench.refused(an_order(videos))
    assert (refused.code, videos.searched, videos.sent) == (ErrorCode.OUTCOME_UNKNOWN, [], [])
    assert bench.states() == ["intent"]


def test_creates_that_never_arrive_are_not_repeated_for_ever(bench: Bench, videos: ScriptedProvider) -> None:
    """A proxy that swallows every POST: five tries, then the round's waits, then a person."""
    videos.always("submit", Dropped(accepted=False))
    refused = bench.refused(an_order(videos))
    assert isinstance(refused, PostponedError)
    assert (refused.code, len(videos.sent), bench.spent()) == (ErrorCode.PROVIDER_TIMEOUT, 5, Decimal(0))
    for name in ("w2", "w3", "w4"):
        refused = bench.refused(an_order(videos), desk=bench.desk(name))
    assert (isinstance(refused, PostponedError), len(videos.sent)) == (False, 8)
    assert bench.task().status is TaskStatus.MANUAL_REQUIRED


# --- calls that answer at once --------------------------------------------------------------------------------------------


def test_a_lost_call_is_booked_and_made_again_once(bench: Bench, images: ScriptedProvider) -> None:
    """Its answer cannot be fetched later: the lost one counts at its estimate, the second at its cost."""
    images.plan("submit", Dropped(accepted=True))
    made = bench.make(an_order(images)).made
    assert [(one.state, one.cost) for one in bench.attempts()] == [("unknown", images.estimated), ("succeeded", images.price)]
    assert made.cost == bench.spent() == images.estimated + images.price
    assert len(images.sent) == 2


def test_a_call_that_is_lost_twice_is_for_a_person(bench: Bench, images: ScriptedProvider) -> None:
    """Two booked losses and no third create, in no round, until somebody decides."""
    images.always("submit", Dropped(accepted=True))
    refused = bench.refused(an_order(images))
    assert refused.code is ErrorCode.OUTCOME_UNKNOWN
    assert (len(images.sent), bench.states(), bench.spent()) == (2, ["unknown", "unknown"], 2 * images.estimated)
    assert bench.task().status is TaskStatus.MANUAL_REQUIRED
    assert bench.refused(an_order(images), desk=bench.desk("w2")).code is ErrorCode.OUTCOME_UNKNOWN
    assert len(images.sent) == 2


def test_no_lost_call_is_made_again_when_that_is_forbidden(bench: Bench, images: ScriptedProvider) -> None:
    """COMIC_LOST_RECREATES=0."""
    images.always("submit", Dropped(accepted=True))
    desk = bench.desk(rules=replace(RULES, lost_recreates=0))
    assert isinstance(bench.refused(an_order(images), desk=desk), OutcomeUnknown)
    assert (len(images.sent), bench.states()) == (1, ["unknown"])


def test_local_work_that_was_killed_is_simply_done_again(bench: Bench, local: ScriptedProvider) -> None:
    """Nothing was spent."""
    bench.abandon(an_order(local))
    assert bench.make(an_order(local)).made.cost == 0
    assert (len(local.sent), bench.states()) == (1, ["released", "succeeded"])


def test_local_work_that_is_killed_again_and_again_gets_a_pause(bench: Bench, local: ScriptedProvider) -> None:
    """A film that kills its process each time must not become a hot loop."""
    order = an_order(local)
    for _ in range(5):
        bench.release()
        bench.abandon(order)
    refused = bench.refused(order)
    assert isinstance(refused, PostponedError)
    assert (refused.code, refused.postponed.not_before >= later(5 * 60 + 30), local.sent) == ("PROVIDER_TIMEOUT", True, [])
    assert not bench.make(order).made.reused
    assert len(local.sent) == 1
