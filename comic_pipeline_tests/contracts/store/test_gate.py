"""The gate before every paid call: ownership, cancel, budgets, breaker; and that they hold against whatever commits meanwhile."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from sqlalchemy import Connection, text

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, WorkStopped
from comic_pipeline.model.ledger import Claimed, SpendLimits, Worker
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import Stage, StageStatus
from comic_pipeline.store import attempts, cancelling, ledger, projects, stages
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import AMPLE, NOW, a_frame, a_project, a_worker, begin_project, later
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.contracts.store.racing import outcome, race, start_blocked

TEN_A_DAY = replace(AMPLE, day=Decimal(10))


@pytest.fixture
def task(database: Database) -> Task:
    """A task of p1 (budget 100) that worker w1 has claimed."""
    with database.write() as connection:
        worker = begin_project(connection, a_project())
        return claimed(connection, a_frame(), worker)


def _refused(
    database: Database,
    task: Task,
    *,
    worker: Worker | None = None,
    estimate: str = "0.22",
    limits: SpendLimits = AMPLE,
    at: datetime = NOW,
) -> ErrorCode:
    """The code with which the gate refuses; nothing may have been written."""
    with pytest.raises(WorkStopped) as stopped, database.write() as connection:
        begin(connection, task, worker=worker, estimate=estimate, limits=limits, at=at)
    return stopped.value.code


def _end_stage(connection: Connection) -> bool:
    return stages.end(connection, "stage-p1", status=StageStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=NOW)


def test_only_the_holder_of_the_lease_may_create(database: Database, task: Task) -> None:
    """Not another worker, and not the old one after a take-over."""
    assert _refused(database, task, worker=a_worker("w2")) is ErrorCode.CONFLICT
    with database.write() as connection:
        ledger.claim(connection, a_frame(), replace(a_worker("w2"), run_id="run-w1"), now=later(60))
    assert _refused(database, task) is ErrorCode.CONFLICT
    with database.read() as connection:
        assert attempts.of_task(connection, task.task_id) == []


@pytest.mark.parametrize("worker", [replace(a_worker(), run_id="run-zombie"), replace(a_worker(), stage_id="stage-other")])
def test_only_the_run_that_owns_the_stage_may_create(database: Database, task: Task, worker: Worker) -> None:
    """A zombie with a valid lease but without its stage row never pays."""
    assert _refused(database, task, worker=worker) is ErrorCode.CONFLICT


def test_no_create_after_the_stage_has_ended(database: Database, task: Task) -> None:
    """The reconciler gave the round up: its run may poll and fetch, not create."""
    with database.write() as connection:
        _end_stage(connection)
    assert _refused(database, task) is ErrorCode.CONFLICT


def test_a_running_stage_of_another_project_does_not_count(database: Database, task: Task) -> None:
    """Owning some stage row is not enough: it must be of the task's own project."""
    with database.write() as connection:
        other = begin_project(connection, a_project("p2"))
    assert _refused(database, task, worker=replace(a_worker(), stage_id=other.stage_id)) is ErrorCode.CONFLICT


@pytest.mark.parametrize("status", [TaskStatus.CANCELLED, TaskStatus.MANUAL_REQUIRED])
def test_no_create_for_an_ended_task(database: Database, task: Task, status: TaskStatus) -> None:
    """Ended meanwhile: nothing is sent."""
    with database.write() as connection:
        ledger.end(connection, task.task_id, status=status, code=ErrorCode.CANCELLED, message="", now=NOW)
    assert _refused(database, task) is ErrorCode.CONFLICT


@pytest.mark.parametrize("flag", ["project", "task"])
def test_no_create_after_a_cancel(database: Database, task: Task, flag: str) -> None:
    """Either flag closes the gate, and the checkpoint says the same."""
    with database.write() as connection:
        if flag == "project":
            projects.request_cancel(connection, "p1", reason="x", now=NOW)
        else:
            cancelling.cancel_project(connection, "p1", reason="x", now=NOW)
    assert _refused(database, task) is ErrorCode.CANCELLED
    with database.read() as connection, pytest.raises(WorkStopped):
        attempts.check_cancel(connection, task)


def test_the_budget_may_be_used_up_to_the_last_fen(database: Database, task: Task) -> None:
    """Exactly the budget passes, a millionth more does not."""
    assert _refused(database, task, estimate="100.000001") is ErrorCode.BUDGET_EXCEEDED
    with database.write() as connection:
        begin(connection, task, estimate="100")


def test_the_budget_counts_open_reservations_and_lost_and_failed_costs(database: Database, task: Task) -> None:
    """Promised 40, lost 30 and unusable 20 leave 10 of 100: an estimate of 10.01 is refused, 10 passes."""
    with database.write() as connection:
        made = [claimed(connection, a_frame(seq=seq), a_worker()) for seq in (1, 2, 3)]
        begin(connection, made[0], estimate="40")
        attempts.mark_unknown(connection, begin(connection, made[1], estimate="30"), now=NOW)
        attempts.mark_failed(
            connection, begin(connection, made[2], estimate="1"), http_status=None, provider_code="", now=NOW, cost=Decimal(20)
        )
    assert _refused(database, task, estimate="10.01") is ErrorCode.BUDGET_EXCEEDED
    with database.write() as connection:
        begin(connection, task, estimate="10")


def test_a_settled_attempt_counts_what_it_cost(database: Database, task: Task) -> None:
    """The reservation of 90 is released when the job cost 5: 95 are left."""
    with database.write() as connection:
        first = claimed(connection, a_frame(seq=1), a_worker())
        attempts.mark_succeeded(connection, begin(connection, first, estimate="90"), cost=Decimal(5), result="{}", now=NOW)
        begin(connection, task, estimate="95")


def test_other_projects_do_not_use_this_budget(database: Database, task: Task) -> None:
    """A budget belongs to one project."""
    with database.write() as connection:
        other = begin_project(connection, a_project("p2"))
        begin(connection, claimed(connection, a_frame("p2"), other), worker=other, estimate="99")
        begin(connection, task, estimate="100")


def test_the_day_budget_is_shared_by_all_projects(database: Database, task: Task) -> None:
    """6 of 10 are promised by another project: 4.01 is refused, free work and 4 pass."""
    with database.write() as connection:
        other = begin_project(connection, a_project("p2"))
        begin(connection, claimed(connection, a_frame("p2"), other), worker=other, estimate="6", limits=TEN_A_DAY)
    assert _refused(database, task, estimate="4.01", limits=TEN_A_DAY) is ErrorCode.BUDGET_EXCEEDED
    with database.write() as connection:
        begin(connection, claimed(connection, a_frame(seq=1), a_worker()), estimate="0", limits=replace(AMPLE, day=Decimal(0)))
        begin(connection, task, estimate="4", limits=TEN_A_DAY)


def test_the_day_is_that_of_shanghai(database: Database, task: Task) -> None:
    """A second before Shanghai's midnight (16:00 UTC) is another day's money, in both directions."""
    midnight = datetime(2026, 3, 10, 16, 0, 0, tzinfo=UTC)
    with database.write() as connection:
        attempts.mark_unknown(
            connection, begin(connection, task, estimate="9", limits=TEN_A_DAY, at=midnight.replace(hour=15, minute=59)), now=NOW
        )
    almost = midnight.replace(hour=15, minute=59, second=59)
    assert _refused(database, task, estimate="2", limits=TEN_A_DAY, at=almost) is ErrorCode.BUDGET_EXCEEDED
    with database.write() as connection:
        tomorrow = begin(connection, task, estimate="10", limits=TEN_A_DAY, at=midnight)
        attempts.mark_unknown(connection, tomorrow, now=midnight)
    # A process that read the clock a moment before midnight, and comes to the gate after it.
    with database.write() as connection:
        begin(connection, task, estimate="1", limits=TEN_A_DAY, at=almost)


def test_the_breaker_counts_every_create_of_the_project(database: Database, task: Task) -> None:
    """Two per planned task, two tasks planned: the fifth create is refused although each failed for free."""
    two_each = SpendLimits(day=Decimal(2000), attempts_per_planned=2, attempts=0)
    with database.write() as connection:
        ledger.want(connection, a_frame(seq=1), now=NOW)
        # What another project has planned does not count.
        begin_project(connection, a_project("p2"))
        ledger.want(connection, a_frame("p2"), now=NOW)
        for _ in range(4):
            attempt = begin(connection, task, limits=two_each, estimate="0")
            attempts.mark_failed(connection, attempt, http_status=500, provider_code="x", now=NOW)
    assert _refused(database, task, limits=two_each, estimate="0") is ErrorCode.BUDGET_EXCEEDED
    assert _refused(database, task, limits=replace(two_each, attempts=4)) is ErrorCode.BUDGET_EXCEEDED
    with database.write() as connection:
        begin(connection, task, limits=replace(two_each, attempts=5))


def _begin(database: Database, task: Task, *, estimate: str = "0.22", limits: SpendLimits = AMPLE) -> Callable[[], Attempt]:
    def act() -> Attempt:
        with database.write() as connection:
            return begin(connection, task, estimate=estimate, limits=limits)

    return act


def test_racing_creates_cannot_overdraw_the_budget(database: Database, task: Task) -> None:
    """Four shots of 30 at once against a budget of 100: three pass, the fourth is refused."""
    with database.write() as connection:
        others = [claimed(connection, a_frame(seq=seq), a_worker()) for seq in (1, 2, 3)]
    outcomes = race([_begin(database, one, estimate="30") for one in (task, *others)])
    assert sum(isinstance(result, Attempt) for result in outcomes) == 3, outcomes
    assert [result.code for result in outcomes if isinstance(result, WorkStopped)] == [ErrorCode.BUDGET_EXCEEDED]


def test_racing_creates_of_one_task_leave_one(database: Database, task: Task) -> None:
    """Two coroutines that both believe the task theirs: one passes the gate."""
    outcomes = race([_begin(database, task)] * 3)
    assert sum(isinstance(result, Attempt) for result in outcomes) == 1, outcomes
    assert [result.code for result in outcomes if isinstance(result, WorkStopped)] == [ErrorCode.CONFLICT] * 2


def test_the_day_budget_holds_between_projects_that_do_not_see_each_other(database: Database, task: Task) -> None:
    """While one project's promise is not committed yet, another's create must wait for it, not overlook it."""
    with database.write() as connection:
        other = begin_project(connection, a_project("p2"))
        others = claimed(connection, a_frame("p2"), other)
    with database.write() as connection:
        begin(connection, others, worker=other, estimate="6", limits=TEN_A_DAY)
        second = start_blocked(_begin(database, task, estimate="6", limits=TEN_A_DAY))
    refused = outcome(second)
    assert isinstance(refused, WorkStopped)
    assert refused.code is ErrorCode.BUDGET_EXCEEDED


def test_two_attempts_that_find_one_job_at_once_do_not_share_it(database: Database, task: Task) -> None:
    """Each sees that nobody has it; the second must wait for the first one's commit, and is told."""
    with database.write() as connection:
        other = claimed(connection, a_frame(seq=1), a_worker())
        first, second = begin(connection, task), begin(connection, other)

    def take() -> Attempt:
        with database.write() as connection:
            return attempts.mark_submitted(connection, second, request_id="job-1")

    with database.write() as connection:
        attempts.mark_submitted(connection, first, request_id="job-1")
        late = start_blocked(take)
    refused = outcome(late)
    assert isinstance(refused, OutcomeUnknown)
    with database.read() as connection:
        assert attempts.get(connection, second.task_id, second.number).state is AttemptState.INTENT


def test_a_take_over_waits_for_a_create_at_the_gate(database: Database, task: Task) -> None:
    """The lease expires while its holder is at the gate: the rescuer must find the intent, or there would be two creates."""
    with database.write() as connection:
        intent = begin(connection, task)

        def take_over() -> object:
            with database.write() as other:
                return ledger.claim(other, a_frame(), a_worker("w2"), now=later(60))

        rescue = start_blocked(take_over)
    claim = outcome(rescue)
    assert isinstance(claim, Claimed)
    assert claim.last == intent


def test_a_create_waits_for_a_take_over_and_is_refused(database: Database, task: Task) -> None:
    """The other way round: the rescuer has the task but has not committed; the old holder's create must not slip through."""
    with database.write() as connection:
        ledger.claim(connection, a_frame(), a_worker("w2"), now=later(60))
        late = start_blocked(_begin(database, task))
    refused = outcome(late)
    assert isinstance(refused, WorkStopped)
    assert refused.code is ErrorCode.CONFLICT


def test_the_end_of_a_stage_waits_for_a_create_at_the_gate(database: Database, task: Task) -> None:
    """A round that is being ended must see the intent, so that the next round resumes it."""
    with database.write() as connection:
        begin(connection, task)

        def end() -> tuple[bool, AttemptState | None]:
            with database.write() as other:
                ended = _end_stage(other)
                last = attempts.of_task(other, task.task_id)[-1]
                return ended, last.state

        ending = start_blocked(end)
    assert outcome(ending) == (True, AttemptState.INTENT)


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (_end_stage, ErrorCode.CONFLICT),
        (lambda c: projects.request_cancel(c, "p1", reason="x", now=NOW), ErrorCode.CANCELLED),
        (lambda c: cancelling.cancel_project(c, "p1", reason="x", now=NOW), ErrorCode.CANCELLED),
    ],
    ids=["stage ended", "project cancelled", "tasks flagged"],
)
def test_a_create_waits_for_whatever_is_stopping_it(
    database: Database, task: Task, stop: Callable[[Connection], object], code: ErrorCode
) -> None:
    """A stop that is on its way but not committed yet closes the gate all the same."""
    with database.write() as connection:
        stop(connection)
        late = start_blocked(_begin(database, task))
    refused = outcome(late)
    assert isinstance(refused, WorkStopped)
    assert refused.code is code


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_stage_may_be_requested_beside_a_create(database: Database, task: Task) -> None:
    """The gate's lock is for creates, cancels and ends: rows that refer to the project may be written meanwhile.

    Not so on SQLite, which has one writer.
    """
    with database.write() as connection:
        begin(connection, task)
        with database.write() as other:
            other.execute(text("SET LOCAL lock_timeout = '5s'"))
            stages.request(other, "p1", Stage.VOICES, stage_id="v1", priority=0, now=NOW)
