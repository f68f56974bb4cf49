"""What a person decides about one task: stopping it, and settling an outcome that nobody else can know."""

from collections.abc import Callable

import pytest

from comic_pipeline import tasks
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.ledger import Claimed, Worker
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.project import Tier
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Connection, Database
from comic_pipeline.store.schema import tasks as task_rows
from comic_pipeline_tests.builders import NOW, a_frame, a_project, begin_project, later
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.reckoning import spent_by


def started(database: Database, *, words: str = "a cat", worker: Worker | None = None) -> tuple[Task, Attempt, Worker]:
    """A picture whose create is on the wire: its intent is written, its answer is not there."""
    with database.write() as connection:
        if worker is None:
            worker = begin_project(connection, a_project(tier=Tier.PAID, status=ProjectState.IMAGE))
        task = claimed(connection, a_frame(words=words), worker)
        return task, begin(connection, task, worker=worker), worker


def lost(database: Database) -> Task:
    """The same, once the runner has given up looking for it."""
    task, _, _ = started(database)
    with database.write() as connection:
        ledger.end(
            connection,
            task.task_id,
            status=TaskStatus.MANUAL_REQUIRED,
            code=ErrorCode.OUTCOME_UNKNOWN,
            message="two jobs",
            now=NOW,
        )
    return task


def states(database: Database, task: Task) -> list[AttemptState]:
    """The states of the task's attempts."""
    with database.read() as connection:
        return [one.state for one in tasks.case_of(connection, task.task_id).attempts]


def test_an_adopted_job_is_polled_by_the_next_round(database: Database) -> None:
    """The id is bound to the open attempt, so that the runner goes on from it and creates nothing."""
    task = lost(database)
    with database.write() as connection:
        decided = tasks.adopt(connection, task.task_id, job_id="cgt-1", by="wang")
    assert (decided.status, decided.error_message) == (TaskStatus.PENDING, "job cgt-1 adopted by wang")
    assert states(database, task) == [AttemptState.SUBMITTED]
    with database.write() as connection:
        claim = ledger.claim(connection, a_frame(), Worker("w2", "run-2", "stage-p1", 60), now=later(60))
    assert isinstance(claim, Claimed)
    assert claim.last is not None
    assert claim.last.provider_request_id == "cgt-1"


def test_a_decided_task_is_not_stopped_by_the_cancel_of_before(database: Database) -> None:
    """It was to be cancelled when its answer was lost; who adopts its job, and retries, wants it after all."""
    task = lost(database)
    with database.write() as connection:
        connection.execute(task_rows.update().values(cancel_requested=True, cancel_reason="enough"))
        decided = tasks.adopt(connection, task.task_id, job_id="cgt-1", by="wang")
        ledger.renew(connection, "p1", (task.task_type,))
        attempts.check_cancel(connection, task)
    assert (decided.cancel_requested, decided.cancel_reason, decided.finished_at) == (False, None, None)


def test_a_released_create_frees_its_reservation(database: Database) -> None:
    """Somebody looked: it never happened. Nothing was spent, and the next round may create."""
    task = lost(database)
    with database.write() as connection:
        decided = tasks.release(connection, task.task_id, by="wang", now=later(60))
        assert spent_by(connection, "p1") == ZERO
    assert decided.status is TaskStatus.PENDING
    assert states(database, task) == [AttemptState.RELEASED]


def test_a_job_that_belongs_to_another_task_is_not_adopted(database: Database) -> None:
    """Two tasks on one job would book it twice and show one clip in two shots."""
    first, attempt, worker = started(database)
    with database.write() as connection:
        attempts.mark_submitted(connection, attempt, request_id="cgt-1")
    second, _, _ = started(database, words="a dog", worker=worker)
    with database.write() as connection:
        ledger.end(
            connection, second.task_id, status=TaskStatus.MANUAL_REQUIRED, code=ErrorCode.OUTCOME_UNKNOWN, message="?", now=NOW
        )
    with pytest.raises(Refused) as refused, database.write() as connection:
        tasks.adopt(connection, second.task_id, job_id="cgt-1", by="wang")
    assert refused.value.code is ErrorCode.CONFLICT
    assert first.task_id in refused.value.detail
    assert states(database, second) == [AttemptState.INTENT]


@pytest.mark.parametrize(
    "decide", [lambda c, t: tasks.adopt(c, t, job_id="x", by="w"), lambda c, t: tasks.release(c, t, by="w", now=NOW)]
)
def test_only_an_unknown_outcome_can_be_settled(database: Database, decide: Callable[[Connection, str], object]) -> None:
    """A task that runs, or is done, has nothing to decide."""
    task, _, _ = started(database)
    with pytest.raises(Refused) as refused, database.write() as connection:
        decide(connection, task.task_id)
    assert refused.value.code is ErrorCode.CONFLICT
    assert "running" in refused.value.detail


def test_a_task_that_has_not_begun_is_cancelled_at_once(database: Database) -> None:
    """Answered with `effective_immediately`, in both languages."""
    with database.write() as connection:
        begin_project(connection, a_project())
        ledger.want(connection, a_frame(), now=NOW)
        (task,) = ledger.of_project(connection, "p1")
        answer = tasks.cancel_task(connection, task.task_id, reason="not this one", now=NOW)
    assert (answer.status, answer.effective_immediately, answer.message_zh) == (TaskStatus.CANCELLED, True, "已取消")


def test_a_running_task_is_only_flagged(database: Database) -> None:
    """The runner stops at its next checkpoint; asking twice keeps the first reason."""
    task, _, _ = started(database)
    for reason in ("first", "second"):
        with database.write() as connection:
            answer = tasks.cancel_task(connection, task.task_id, reason=reason, now=NOW)
    assert (answer.status, answer.effective_immediately) == (TaskStatus.RUNNING, False)
    assert answer.message_zh == "已请求取消，系统会在当前步骤结束后停止"
    with database.read() as connection:
        now = ledger.get(connection, task.task_id)
    assert (now.cancel_requested, now.cancel_reason, now.cancel_requested_at) == (True, "first", NOW)


def test_a_finished_task_cannot_be_cancelled(database: Database) -> None:
    """CONFLICT with its state."""
    task = lost(database)
    with pytest.raises(Refused, match="manual_required"), database.write() as connection:
        tasks.cancel_task(connection, task.task_id, reason="late", now=NOW)


def test_an_unknown_task_is_not_found(database: Database) -> None:
    """With the way out."""
    with pytest.raises(Refused, match="comic status"), database.read() as connection:
        tasks.case_of(connection, "nope")
