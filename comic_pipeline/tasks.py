"""What a person decides about one task of the ledger: stop it, or settle what nobody but a person can know.

Belongs here: the rules of those two acts, in one transaction each. Does not: asking providers, moving projects (`workflow/`).
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, Refused
from comic_pipeline.model.submission import CANCEL_ASKED, CANCEL_DONE
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.store import attempts, cancelling, ledger
from comic_pipeline.store.database import Connection


class TaskCancel(BaseModel):
    """The answer to a wish to cancel one task."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    status: TaskStatus
    effective_immediately: bool
    message_zh: str
    message_en: str


class TaskCase(BaseModel):
    """A task with all its attempts: what a person sees before deciding."""

    model_config = ConfigDict(frozen=True)

    task: Task
    attempts: tuple[Attempt, ...]


def case_of(connection: Connection, task_id: str) -> TaskCase:
    """The task and its attempts. Raises Refused(NOT_FOUND)."""
    try:
        task = ledger.get(connection, task_id)
    except LookupError:
        raise Refused(ErrorCode.NOT_FOUND, f"task {task_id[:80]!r} does not exist; `comic status PROJECT` lists them") from None
    return TaskCase(task=task, attempts=tuple(attempts.of_task(connection, task_id)))


def cancel_task(connection: Connection, task_id: str, *, reason: str, now: datetime) -> TaskCancel:
    """Stop one task: at once when it has not begun, else after its current step. Raises Refused(NOT_FOUND, CONFLICT)."""
    task = case_of(connection, task_id).task
    if task.status in (TaskStatus.SUCCESS, TaskStatus.FAILED, TaskStatus.MANUAL_REQUIRED):
        raise Refused(ErrorCode.CONFLICT, f"task {task_id} is {task.status}; there is nothing to stop")
    status = cancelling.cancel_task(connection, task_id, reason=reason, now=now)
    at_once = status is TaskStatus.CANCELLED
    zh, en = CANCEL_DONE if at_once else CANCEL_ASKED
    return TaskCancel(task_id=task_id, status=status, effective_immediately=at_once, message_zh=zh, message_en=en)


def adopt(connection: Connection, task_id: str, *, job_id: str, by: str) -> Task:
    """The lost create was this job of the provider's list: the next round polls it, and nothing is created.

    Raises Refused(CONFLICT) when no create of the task is open, or another attempt owns the job.
    """
    attempt = _undecided(connection, task_id)
    owner = attempts.owner_of(connection, attempt.provider_id, job_id)
    if owner is not None:
        raise Refused(ErrorCode.CONFLICT, f"job {job_id} belongs to task {owner} already; look at both before deciding")
    try:
        attempts.mark_submitted(connection, attempt, request_id=job_id)
    except OutcomeUnknown as taken:
        raise Refused(ErrorCode.CONFLICT, taken.detail) from taken
    return _go_on(connection, task_id, note=f"job {job_id} adopted by {by}")


def release(connection: Connection, task_id: str, *, by: str, now: datetime) -> Task:
    """The lost create surely never happened (somebody looked): its reservation is freed, the next round may create again.

    Raises Refused(CONFLICT) when no create of the task is open.
    """
    attempts.mark_released(connection, _undecided(connection, task_id), now=now)
    return _go_on(connection, task_id, note=f"lost create released by {by}")


def _undecided(connection: Connection, task_id: str) -> Attempt:
    case = case_of(connection, task_id)
    last = case.attempts[-1] if case.attempts else None
    if case.task.status is not TaskStatus.MANUAL_REQUIRED or last is None or last.state is not AttemptState.INTENT:
        state = "no attempt" if last is None else f"its last attempt is {last.state}"
        raise Refused(
            ErrorCode.CONFLICT,
            f"task {task_id} is {case.task.status} and {state}; only a manual_required task whose last attempt is `intent` "
            "has an unknown outcome to decide",
        )
    return last


def _go_on(connection: Connection, task_id: str, *, note: str) -> Task:
    ledger.renew_one(connection, task_id, note=note)
    return ledger.get(connection, task_id)
