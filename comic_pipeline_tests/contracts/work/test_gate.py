"""Before money leaves: what is committed when, who may send, and what a cancel, a budget and the breaker stop."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault, WorkStopped
from comic_pipeline.model.ledger import Claimed, SpendLimits
from comic_pipeline.model.task import AttemptState, TaskStatus
from comic_pipeline.providers.interface import CancelOutcome, JobStatus, Phase
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import projects as project_rows
from comic_pipeline.work.orders import Order, Round, Rules
from comic_pipeline.work.runner import make, make_all
from comic_pipeline_tests.builders import a_worker, later
from comic_pipeline_tests.contracts.work.bench import RULES, Bench, an_order, limited, repaired, then
from comic_pipeline_tests.fakes import ScriptedProvider, Wish, delivery

BUSY = ProviderFault(ErrorCode.PROVIDER_ERROR, "busy", http_status=503)
QUEUED = JobStatus(Phase.QUEUED, word="queued")
RUNNING = JobStatus(Phase.RUNNING, word="running")


def test_everything_is_committed_before_the_next_step(bench: Bench, database_url: str, videos: ScriptedProvider) -> None:
    """The intent before the create, the id before the first look, link and cost before the download: others see each of them."""
    other, seen = Database(database_url), {}

    def look(step: str) -> Callable[[], None]:
        def act() -> None:
            with other.read() as connection:
                (task,) = ledger.of_project(connection, "p1")
                (one,) = attempts.of_task(connection, task.task_id)
            seen[step] = (one.state.value, one.provider_request_id, task.provider_request_id, one.cost, bool(one.result))

        return act

    for verb in ("submit", "poll", "fetch"):
        videos.plan(verb, look(verb))
    bench.make(an_order(videos))
    other.close()
    assert seen == {
        "submit": ("intent", None, None, None, False),
        "poll": ("submitted", "job-1", "job-1", None, False),
        "fetch": ("succeeded", "job-1", "job-1", videos.price, True),
    }
    (attempt,) = bench.attempts()
    assert (attempt.estimate, attempt.cost, attempt.result) == (videos.estimated, videos.price, None)


def test_a_run_that_lost_its_stage_sends_nothing_more(bench: Bench, images: ScriptedProvider) -> None:
    """A zombie: its round was given up while it waited to try again. Its task is free for the next run at once."""
    images.plan("submit", then(bench.end_stage, BUSY))
    refused = bench.refused(an_order(images))
    assert (refused.code, len(images.sent)) == (ErrorCode.CONFLICT, 1)
    assert (bench.task().status, bench.task().lease_owner) == (TaskStatus.RUNNING, None)
    assert bench.make(an_order(images), desk=bench.desk("w2")).made.cost == images.price


def test_a_run_that_lost_its_lease_sends_nothing_more(bench: Bench, images: ScriptedProvider) -> None:
    """Another run took the task over: the old one neither creates nor ends what is no longer its own."""
    order = an_order(images)

    def taken_over() -> ProviderFault:
        with bench.database.write() as connection:
            claim = ledger.claim(connection, order.new_task(max_retry=3), a_worker("w2"), now=later(61))
        assert isinstance(claim, Claimed)
        return BUSY

    images.plan("submit", taken_over)
    assert (bench.refused(order).code, len(images.sent)) == (ErrorCode.CONFLICT, 1)
    assert (bench.task().status, bench.task().lease_owner) == (TaskStatus.RUNNING, "w2")


def test_a_run_that_lost_its_lease_keeps_its_hands_off_the_slot(bench: Bench, images: ScriptedProvider) -> None:
    """The slot is its successor's, who has a job under way: given back, one job more than the limit would be sent."""
    rules = limited(images, jobs=1)
    order = an_order(images)

    def taken_over() -> ProviderFault:
        with bench.database.write() as connection:
            ledger.claim(connection, order.new_task(max_retry=3), a_worker("w2"), now=later(61))
        return BUSY

    images.plan("submit", taken_over)
    assert bench.refused(order, desk=bench.desk(rules=rules)).code is ErrorCode.CONFLICT
    assert bench.slots() == 1


def test_a_run_that_lost_its_lease_does_not_end_the_task(bench: Bench, videos: ScriptedProvider) -> None:
    """The old run sees the job fail after the take-over: the new run, which sees the same, is the one to say so."""
    order = an_order(videos)

    def taken_over() -> ProviderFault:
        with bench.database.write() as connection:
            ledger.claim(connection, order.new_task(max_retry=3), a_worker("w2"), now=later(61))
        return ProviderFault(ErrorCode.PROVIDER_AUTH, "no")

    videos.plan("poll", taken_over)
    assert bench.refused(order).code is ErrorCode.PROVIDER_AUTH
    assert (bench.task().status, bench.task().lease_owner) == (TaskStatus.RUNNING, "w2")


# --- cancel ---------------------------------------------------------------------------------------------------------------


def test_a_cancel_before_the_start_sends_nothing(bench: Bench, images: ScriptedProvider) -> None:
    """The flag is up when the run comes."""
    desk = bench.desk()
    bench.cancel()
    stopped = bench.refused(an_order(images), desk=desk)
    assert (type(stopped), stopped.code, images.sent) == (WorkStopped, ErrorCode.CANCELLED, [])
    assert (bench.task().status, bench.attempts()) == (TaskStatus.CANCELLED, [])
    again = bench.refused(an_order(images), desk=bench.desk("w2"))
    assert (type(again), again.code, again.detail) == (WorkStopped, ErrorCode.CANCELLED, stopped.detail)


def test_a_cancel_between_tries_of_a_call_sends_nothing_more(bench: Bench, images: ScriptedProvider) -> None:
    """It came while the busy provider was being waited for."""
    images.plan("submit", then(bench.cancel, BUSY))
    assert bench.refused(an_order(images)).code is ErrorCode.CANCELLED
    assert (len(images.sent), bench.task().status) == (1, TaskStatus.CANCELLED)


def test_a_cancel_stops_the_creates_that_wait_for_their_turn(bench: Bench, images: ScriptedProvider) -> None:
    """Ten shots, one create a second: after three seconds no more are sent; what was sent is kept."""
    orders = [an_order(images, f"cat {seq}", seq=seq) for seq in range(10)]

    async def main() -> Round:
        making = asyncio.ensure_future(make_all(bench.desk(rules=limited(images, jobs=10, qps=1)), orders))
        await bench.clock.sleep(2.5)
        bench.cancel()
        return await making

    finished = bench.clock.run(main())
    assert (len(images.sent), len(finished.delivered), len(finished.failures)) == (3, 3, 0)
    assert finished.stopped is not None
    assert finished.stopped.code is ErrorCode.CANCELLED
    with pytest.raises(WorkStopped):
        finished.settle(now=bench.clock.now())


def _cancelled_after(bench: Bench, seconds: float, order: Order[Wish], *, rules: Rules = RULES) -> float:
    """Make `order`, cancel after `seconds`; how long after that it stopped."""

    async def main() -> None:
        making = asyncio.ensure_future(make(bench.desk(rules=rules), order))
        await bench.clock.sleep(seconds)
        bench.cancel()
        with pytest.raises(WorkStopped, match="CANCELLED"):
            await making

    began = bench.clock.elapsed
    bench.clock.run(main())
    return bench.clock.elapsed - began - seconds


def test_a_cancel_ends_the_wait_for_a_slot(bench: Bench, images: ScriptedProvider) -> None:
    """Somebody else holds the only slot for a long time."""
    bench.hold_slot(images, seconds=1_000)
    assert _cancelled_after(bench, 30, an_order(images), rules=limited(images, jobs=1)) <= 1.0
    assert (images.sent, bench.task().status) == ([], TaskStatus.CANCELLED)


def test_a_cancel_ends_the_wait_for_the_next_round(bench: Bench, images: ScriptedProvider) -> None:
    """The shot was to go again in half a minute."""
    images.plan("submit", *[BUSY] * 4)
    assert bench.refused(an_order(images)).code is ErrorCode.PROVIDER_ERROR
    assert _cancelled_after(bench, 10, an_order(images)) <= 5.0
    assert (len(images.sent), bench.task().status) == (4, TaskStatus.CANCELLED)


def test_a_cancel_ends_the_search_for_a_lost_job(bench: Bench, videos: ScriptedProvider) -> None:
    """Nothing is created anew; a later retry searches again."""
    order = an_order(videos)
    bench.abandon(order)
    assert _cancelled_after(bench, 10, order) <= 5.0
    assert (videos.sent, bench.states()) == ([], ["intent"])


def test_a_cancel_ends_the_wait_for_a_download(bench: Bench, videos: ScriptedProvider) -> None:
    """The result stays where it is: a later retry fetches it and pays nothing."""
    videos.always("fetch", BUSY)
    assert _cancelled_after(bench, 30, an_order(videos)) <= 15.0
    assert (bench.task().status, bench.states()) == (TaskStatus.CANCELLED, ["succeeded"])
    videos.always("fetch", None)
    bench.retry()
    assert bench.make(an_order(videos)).made.cost == videos.price
    assert len(videos.sent) == 1


def test_a_cancel_forbids_the_repair(bench: Bench, images: ScriptedProvider) -> None:
    """The bad answer was paid; a second create is not."""
    order = an_order(images, "cat?", repair=lambda *given: then(bench.cancel, repaired(*given))())
    assert (bench.refused(order).code, len(images.sent)) == (ErrorCode.CANCELLED, 1)


def test_a_cancel_before_writing_keeps_what_was_paid(bench: Bench, videos: ScriptedProvider) -> None:
    """The work stops there, so no asset is made of the file; but the file is in the ledger, and a retry has it for nothing."""
    videos.plan("fetch", bench.cancel)
    assert bench.refused(an_order(videos)).code is ErrorCode.CANCELLED
    assert (bench.task().status, bench.task().cost_actual) == (TaskStatus.SUCCESS, videos.price)
    bench.retry()
    assert bench.make(an_order(videos)).made.reused
    assert len(videos.sent) == 1


def test_a_queued_job_of_a_cancelled_project_is_dropped_at_the_provider(bench: Bench, videos: ScriptedProvider) -> None:
    """It has not begun, so nothing is charged; a retry makes a new job with an id of its own."""
    videos.plan("poll", QUEUED, then(bench.cancel, QUEUED))
    videos.plan("cancel", CancelOutcome.CANCELLED)
    assert bench.refused(an_order(videos)).code is ErrorCode.CANCELLED
    (attempt,) = bench.attempts()
    assert (videos.dropped, attempt.state, attempt.cost) == (["job-1"], AttemptState.FAILED, Decimal(0))
    assert bench.task().status is TaskStatus.CANCELLED
    bench.retry()
    bench.make(an_order(videos))
    assert [one.provider_request_id for one in bench.attempts()] == ["job-1", "job-2"]


def test_cancel_after_a_retry_is_about_the_retrys_own_job(bench: Bench, videos: ScriptedProvider) -> None:
    """open-ai-canvas #477: fail, retry, cancel while queued; the first job's id is never used again, nothing unrun is settled."""
    videos.plan("poll", JobStatus(Phase.FAILED, word="failed", fault=ProviderFault(ErrorCode.MODERATION_REJECTED, "no")))
    assert bench.refused(an_order(videos)).code is ErrorCode.MODERATION_REJECTED
    bench.retry()
    videos.plan("poll", then(bench.cancel, QUEUED))
    videos.plan("cancel", CancelOutcome.CANCELLED)
    assert bench.refused(an_order(videos)).code is ErrorCode.CANCELLED
    assert videos.dropped == ["job-2"]
    assert [(one.provider_request_id, one.state, one.cost) for one in bench.attempts()] == [
        ("job-1", AttemptState.FAILED, Decimal(0)),
        ("job-2", AttemptState.FAILED, Decimal(0)),
    ]


@pytest.mark.parametrize("answer", [CancelOutcome.TOO_LATE, CancelOutcome.UNSUPPORTED, BUSY])
def test_a_job_that_cannot_be_dropped_is_followed_and_kept(bench: Bench, videos: ScriptedProvider, answer: object) -> None:
    """open-ai-canvas PR#253: the paid late result is kept, although the project was cancelled."""
    videos.plan("poll", then(bench.cancel, QUEUED), RUNNING)
    videos.plan("cancel", answer)
    assert bench.refused(an_order(videos)).code is ErrorCode.CANCELLED
    assert (bench.task().status, bench.spent(), len(videos.sent)) == (TaskStatus.SUCCESS, videos.price, 1)


def test_a_running_job_is_not_dropped(bench: Bench, videos: ScriptedProvider) -> None:
    """It is paid anyway."""
    videos.plan("poll", then(bench.cancel, RUNNING))
    assert bench.refused(an_order(videos)).code is ErrorCode.CANCELLED
    assert (videos.dropped, bench.task().status) == ([], TaskStatus.SUCCESS)


# --- money ----------------------------------------------------------------------------------------------------------------


def test_a_budget_counts_what_is_under_way(bench: Bench, videos: ScriptedProvider) -> None:
    """Three clips at once, money for two: the third is refused before it is sent, the others are made."""
    with bench.database.write() as connection:
        connection.execute(project_rows.update().values(budget=Decimal("0.60")))
    orders = [an_order(videos, f"cat {seq}", seq=seq) for seq in range(3)]
    finished = bench.clock.run(make_all(bench.desk(), orders))
    assert ([one.seq for one in finished.delivered], len(videos.sent)) == ([0, 1], 2)
    assert [(one.seq, one.code) for one in finished.failures] == [(2, ErrorCode.BUDGET_EXCEEDED)]
    assert [task.status for task in bench.tasks()].count(TaskStatus.MANUAL_REQUIRED) == 1


def test_a_day_budget_counts_all_projects(bench: Bench, images: ScriptedProvider) -> None:
    """0.22 spent of 0.40 a day: another 0.25 is refused."""
    rules = replace(RULES, spend=SpendLimits(day=Decimal("0.40"), attempts_per_planned=10, attempts=0))
    bench.make(an_order(images), desk=bench.desk(rules=rules))
    refused = bench.refused(an_order(images, "dog"), desk=bench.desk(rules=rules))
    assert (refused.code, len(images.sent)) == (ErrorCode.BUDGET_EXCEEDED, 1)


def test_a_provider_that_always_fails_is_not_asked_for_ever(bench: Bench, images: ScriptedProvider) -> None:
    """PlotPilot #169, waooAI #109: 3,200 failed calls in a night. Ten creates for the one planned task, then a person."""
    images.always("submit", BUSY)
    desk = bench.desk()
    for _ in range(20):
        finished = bench.clock.run(make_all(desk, [an_order(images)]))
        if not finished.postponed:
            break
    assert len(images.sent) == 10
    assert [one.code for one in finished.failures] == [ErrorCode.BUDGET_EXCEEDED]
    assert (bench.task().status, bench.spent()) == (TaskStatus.MANUAL_REQUIRED, Decimal(0))


def test_no_input_is_no_task(bench: Bench, images: ScriptedProvider) -> None:
    """new-api #2050: what the provider cannot accept is refused before anything is booked or sent."""
    images.unacceptable.add("")
    assert bench.refused(an_order(images, "")).code is ErrorCode.INPUT_INVALID
    assert (bench.tasks(), images.sent) == ([], [])


def test_an_empty_delivery_is_not_success(bench: Bench, videos: ScriptedProvider) -> None:
    """Toonflow #237: success only after the bytes were looked at."""
    videos.always("fetch", delivery("cat")[:5])
    assert bench.refused(an_order(videos)).code is ErrorCode.PROVIDER_ERROR
    assert bench.task().output is None
