"""Going on where a run died, stopped or timed out: the stored id is looked at, the stored result fetched, nothing made twice."""

import asyncio
from decimal import Decimal
from itertools import pairwise

import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.task import AttemptState, TaskStatus
from comic_pipeline.providers.interface import JobStatus, Phase, Submitted
from comic_pipeline.store import attempts
from comic_pipeline.work.orders import PostponedError
from comic_pipeline.work.runner import make
from comic_pipeline_tests.builders import later
from comic_pipeline_tests.contracts.work.bench import Bench, an_order, limited
from comic_pipeline_tests.fakes import ScriptedProvider, Wish, delivery


def _running_job(bench: Bench, videos: ScriptedProvider) -> None:
    """A run that died after its job was accepted."""
    assert videos.accept(Wish("cat")) == Submitted("job-1")
    bench.abandon(an_order(videos), job="job-1")


def test_a_submitted_job_is_only_looked_at(bench: Bench, videos: ScriptedProvider) -> None:
    """ArcReel #640, #648: a restart neither pays again nor loses the job; the stored id is polled."""
    _running_job(bench, videos)
    made = bench.make(an_order(videos)).made
    assert (videos.sent, set(videos.looked), made.reused) == ([], {"job-1"}, False)


def test_a_resumed_success_is_booked_once_at_its_real_cost(bench: Bench, videos: ScriptedProvider) -> None:
    """ArcReel PR#663: not at nothing, not at the estimate, not twice."""
    _running_job(bench, videos)
    made = bench.make(an_order(videos)).made
    assert made.cost == bench.task().cost_actual == bench.spent() == videos.charged == videos.price
    assert len(bench.attempts()) == 1


def test_a_ready_result_is_only_fetched(bench: Bench, videos: ScriptedProvider) -> None:
    """The job had ended and was booked when the run died: no look, no create, and no wait for a slot."""
    _running_job(bench, videos)
    with bench.database.write() as connection:
        (attempt,) = attempts.of_task(connection, bench.task().task_id)
        attempts.mark_succeeded(
            connection, attempt, cost=videos.price, result='{"url":"https://results.example/cat"}', now=bench.clock.now()
        )
    bench.hold_slot(videos, seconds=10_000)
    made = bench.make(an_order(videos), desk=bench.desk(rules=limited(videos, jobs=1)))
    assert bench.objects.get(made.media.key) == delivery("cat")
    assert (videos.sent, videos.looked, len(videos.served)) == ([], [], 1)
    assert made.made.cost == bench.spent() == videos.price


def test_a_staged_answer_is_read_from_the_store(bench: Bench, images: ScriptedProvider) -> None:
    """The bytes of an answer lie in our own store before the attempt counts as paid: the provider is not asked again."""
    bench.abandon(an_order(images))
    with bench.database.write() as connection:
        (attempt,) = attempts.of_task(connection, bench.task().task_id)
        staged = f"staging/{attempt.task_id}-1"
        bench.objects.put(staged, delivery("cat"), mime="application/octet-stream")
        attempts.mark_succeeded(connection, attempt, cost=images.price, result=f'{{"staged":"{staged}"}}', now=bench.clock.now())
    made = bench.make(an_order(images))
    assert bench.objects.get(made.media.key) == delivery("cat")
    assert (images.sent, images.served, made.made.cost) == ([], [], images.price)
    assert [found.key for found in bench.objects.list("")] == [made.media.key]


def test_a_job_that_never_ends_is_given_up_at_its_deadline_and_kept(bench: Bench, videos: ScriptedProvider) -> None:
    """Pixelle #48: no unlimited wait. TASK_TIMEOUT, the job stays known, and a person's retry looks at the same one."""
    videos.always("poll", JobStatus(Phase.RUNNING, word="running"))
    timed_out = bench.refused(an_order(videos, deadline=600))
    assert timed_out.code is ErrorCode.TASK_TIMEOUT
    assert 600 <= bench.clock.elapsed <= 620
    assert (bench.task().status, bench.states()) == (TaskStatus.FAILED, ["submitted"])
    videos.always("poll", None)
    bench.retry()
    made = bench.make(an_order(videos, deadline=600))
    assert (len(videos.sent), set(videos.looked), made.made.cost) == (1, {"job-1"}, videos.price)


def test_a_persons_retry_gives_a_job_more_time(bench: Bench, videos: ScriptedProvider) -> None:
    """The job is old, but the retry's deadline is new: it is followed again, not given up at the first look."""
    videos.always("poll", JobStatus(Phase.RUNNING, word="running"))
    bench.refused(an_order(videos, deadline=600))
    bench.clock.advance(3_600)
    bench.retry()
    began = bench.clock.elapsed
    assert bench.refused(an_order(videos, deadline=600)).code is ErrorCode.TASK_TIMEOUT
    assert bench.clock.elapsed - began >= 600


def test_a_run_that_dies_again_and_again_does_not_move_the_deadline(bench: Bench, videos: ScriptedProvider) -> None:
    """The job was begun at 0; runs that came later give up at 600 and not at 600 after their own start."""
    videos.always("poll", JobStatus(Phase.RUNNING, word="running"))
    bench.abandon(an_order(videos, deadline=600), job="job-1")
    bench.clock.advance(400)
    assert bench.refused(an_order(videos, deadline=600)).code is ErrorCode.TASK_TIMEOUT
    assert bench.clock.elapsed <= 620


def test_a_wait_for_a_slot_is_not_the_jobs_time(bench: Bench, videos: ScriptedProvider) -> None:
    """A clip that waited longer than its deadline for a slot is not given up the moment after it was paid."""
    bench.hold_slot(videos, seconds=90)
    made = bench.make(an_order(videos, deadline=60), desk=bench.desk(rules=limited(videos, jobs=1)))
    assert made.made.cost == videos.price
    assert videos.sent[0].at >= later(90)


@pytest.mark.parametrize(
    ("status", "code", "again"),
    [
        (JobStatus(Phase.EXPIRED, word="expired"), ErrorCode.PROVIDER_TIMEOUT, True),
        (JobStatus(Phase.CANCELLED, word="cancelled"), ErrorCode.PROVIDER_ERROR, True),
        (JobStatus(Phase.FAILED, word="failed"), ErrorCode.PROVIDER_ERROR, True),
        (
            JobStatus(Phase.FAILED, word="failed", fault=ProviderFault(ErrorCode.MODERATION_REJECTED, "sensitive")),
            ErrorCode.MODERATION_REJECTED,
            False,
        ),
    ],
    ids=lambda value: value.phase if isinstance(value, JobStatus) else None,
)
def test_an_end_at_the_provider_is_an_end_with_its_own_code(
    bench: Bench, videos: ScriptedProvider, status: JobStatus, code: ErrorCode, *, again: bool
) -> None:
    """Nothing is charged (new-api #2050). What may pass goes again as a new job with an id of its own; the rest does not."""
    videos.plan("poll", status)
    ended = bench.refused(an_order(videos))
    assert (ended.code, isinstance(ended, PostponedError)) == (code, again)
    assert [(one.state, one.cost) for one in bench.attempts()] == [(AttemptState.FAILED, Decimal(0))]
    assert bench.spent() == 0
    if again:
        bench.make(an_order(videos))
        assert [one.provider_request_id for one in bench.attempts()] == ["job-1", "job-2"]
        assert set(videos.looked[1:]) == {"job-2"}
    else:
        assert bench.task().status is TaskStatus.MANUAL_REQUIRED


def test_a_job_that_the_provider_no_longer_knows_is_for_a_person(bench: Bench, videos: ScriptedProvider) -> None:
    """It was accepted, so it counts as paid, at its estimate; whether to pay again is a person's decision."""
    _running_job(bench, videos)
    videos.plan("poll", JobStatus(Phase.LOST, word="404"))
    lost = bench.refused(an_order(videos))
    assert isinstance(lost, OutcomeUnknown)
    assert (bench.task().status, bench.states(), bench.spent()) == (
        TaskStatus.MANUAL_REQUIRED,
        ["unknown"],
        videos.estimated,
    )
    assert videos.sent == []


def test_a_job_that_is_not_seen_yet_is_looked_at_again(bench: Bench, videos: ScriptedProvider) -> None:
    """A provider's replicas lag: an id that was given a second ago may not be found everywhere."""
    videos.plan("poll", JobStatus(Phase.LOST, word="404"), JobStatus(Phase.LOST, word="404"))
    assert bench.make(an_order(videos)).made.cost == videos.price
    assert len(videos.sent) == 1


def test_an_unknown_word_keeps_the_job_under_observation(bench: Bench, videos: ScriptedProvider) -> None:
    """Providers invent states; they are reported as running and never fail a paid job."""
    videos.plan("poll", *[JobStatus(Phase.RUNNING, word="rendering_v2")] * 5)
    assert bench.make(an_order(videos)).made.cost == videos.price
    assert len(videos.looked) == 6


def test_success_without_a_result_is_looked_at_again(bench: Bench, videos: ScriptedProvider) -> None:
    """The word came before the link."""
    videos.plan("poll", JobStatus(Phase.SUCCEEDED, word="succeeded"))
    bench.make(an_order(videos))
    assert len(videos.sent) == 1


def test_looks_that_fail_are_repeated_freely(bench: Bench, videos: ScriptedProvider) -> None:
    """A hundred failed looks are no reason to give a paid job up; a provider that asks for patience gets it."""
    videos.plan("poll", *[ProviderFault(ErrorCode.PROVIDER_ERROR, "bad gateway", http_status=502)] * 30)
    videos.plan("poll", ProviderFault(ErrorCode.PROVIDER_RATE_LIMIT, "slow down", retry_after=100))
    bench.make(an_order(videos))
    assert (len(videos.sent), len(videos.looked)) == (1, 32)
    assert 30 * 8 + 100 <= bench.clock.elapsed < 600


def test_a_look_is_not_put_off_beyond_the_deadline(bench: Bench, videos: ScriptedProvider) -> None:
    """A Retry-After of an hour parked a ten-minute job, and its stage with it, for an hour."""
    videos.plan("poll", ProviderFault(ErrorCode.PROVIDER_RATE_LIMIT, "slow down", retry_after=3_600))
    bench.make(an_order(videos, deadline=600))
    assert (len(videos.sent), len(videos.looked)) == (1, 2)
    assert bench.clock.elapsed < 620


def test_the_looks_become_rarer_up_to_the_ceiling(bench: Bench) -> None:
    """COMIC_POLL_SECONDS bounds the interval."""
    times: list[float] = []
    patient = ScriptedProvider(bench.clock, name="videos", asynchronous=True, looks=10)
    patient.always("poll", lambda: times.append(bench.clock.elapsed))
    bench.make(an_order(patient))
    waits = [after - before for before, after in pairwise(times)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (1, 10)


def test_a_refused_look_ends_the_task_but_keeps_the_job(bench: Bench, videos: ScriptedProvider) -> None:
    """The key was changed meanwhile: an operator mends it, and the retry looks at the same job."""
    videos.plan("poll", ProviderFault(ErrorCode.PROVIDER_AUTH, "no", http_status=401))
    assert bench.refused(an_order(videos)).code is ErrorCode.PROVIDER_AUTH
    assert (bench.task().status, bench.states()) == (TaskStatus.MANUAL_REQUIRED, ["submitted"])
    bench.retry()
    bench.make(an_order(videos))
    assert (len(videos.sent), set(videos.looked)) == (1, {"job-1"})


def test_the_lease_of_a_long_job_is_renewed(bench: Bench, videos: ScriptedProvider) -> None:
    """A job of five minutes at a lease of one: another run that wants it waits to the end and pays nothing."""
    videos.plan("poll", lambda: bench.clock.sleep(300))
    desks = bench.desk("w1"), bench.desk("w2")
    leases: list[str | None] = []

    async def main() -> None:
        working = asyncio.ensure_future(make(desks[0], an_order(videos)))
        await bench.clock.sleep(5)
        joining = asyncio.ensure_future(make(desks[1], an_order(videos)))
        await bench.clock.sleep(200)
        leases.append(bench.task().lease_owner)
        assert (await working).media == (await joining).media

    bench.clock.run(main())
    assert (leases, len(videos.sent)) == (["w1"], 1)
