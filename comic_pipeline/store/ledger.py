"""Tasks: claiming one, and ending it. One row a unit of work; the unique key on its input is what makes paying twice impossible.

Belongs here: the rows of `tasks`. Money and creates are in `attempts.py`; what to do about a failure is decided by the runner.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.ledger import Claim, Claimed, Ended, Finished, Held, NewTask, NotYet, Worker
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import Task, TaskStatus, TaskType
from comic_pipeline.store import attempts
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import tasks

_ENDED = (TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.MANUAL_REQUIRED)
# What a person's wish to go on gives back: the allowance, the time, and a cancel that was taken back.
_FRESH: dict[str, Any] = {
    "retry_count": 0,
    "deadline_at": None,
    "cancel_requested": False,
    "cancel_requested_at": None,
    "cancel_reason": None,
}
_RENEWED = _FRESH | {
    "status": TaskStatus.PENDING,
    "not_before": None,
    "error_code": None,
    "cancelled_at": None,
    "finished_at": None,
}


def claim(connection: Connection, new: NewTask, worker: Worker, *, now: datetime) -> Claim:
    """Find or insert the task and take it if nobody live has it."""
    _insert_if_new(connection, new, now=now)
    row = (
        connection.execute(
            select(tasks)
            .where(tasks.c.project_id == new.project_id, tasks.c.task_type == new.task_type, tasks.c.input_hash == new.input_hash)
            .with_for_update()
        )
        .mappings()
        .one()
    )
    task = _task(row)
    if task.status is TaskStatus.SUCCESS:
        return Finished(task)
    if task.status in _ENDED:
        return Ended(task)
    if task.status is TaskStatus.RETRYING and task.not_before is not None and task.not_before > now:
        return NotYet(task.not_before)
    live = task.lease_expires_at is not None and task.lease_expires_at > now and task.lease_owner != worker.owner
    if task.status is TaskStatus.RUNNING and live and task.lease_expires_at is not None:
        return Held(task.lease_expires_at)
    return Claimed(_take(connection, task, new, worker, now=now), last=attempts.unfinished(connection, task.task_id))


def want(connection: Connection, new: NewTask, *, now: datetime) -> None:
    """Put a task on the list before anybody does it: progress and the breaker count what is planned."""
    _insert_if_new(connection, new, now=now)


def renew_lease(connection: Connection, task_id: str, worker: Worker, *, now: datetime) -> bool:
    """Say that the work goes on. False when somebody else has the task now."""
    done = connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.lease_owner == worker.owner, tasks.c.status == TaskStatus.RUNNING)
        .values(lease_expires_at=now + timedelta(seconds=worker.lease_seconds))
    )
    return done.rowcount == 1


def taken_over(connection: Connection, task_id: str, worker: Worker) -> bool:
    """Whether another worker has the task now. One that nobody has is nobody else's."""
    owner = connection.execute(select(tasks.c.lease_owner).where(tasks.c.task_id == task_id)).scalar_one_or_none()
    return owner not in (None, worker.owner)


def succeed(connection: Connection, task_id: str, output: MediaRef, *, now: datetime) -> Task:
    """The output is stored and verified: book the cost of all attempts and end the task.

    A second finisher finds it done and only brings the cost up to date. Raises WorkStopped(CONFLICT), and forgets nothing, when
    the task was ended or renewed meanwhile.
    """
    done = connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.status.in_((TaskStatus.RUNNING, TaskStatus.CANCELLED)))
        .values(
            status=TaskStatus.SUCCESS,
            output_asset_id=output.key,
            output_json=output.model_dump_json(),
            finished_at=now,
            cost_actual=attempts.cost_of(connection, task_id),
            error_code=None,
            error_message=None,
            not_before=None,
            lease_owner=None,
            lease_expires_at=None,
        )
    )
    if done.rowcount == 0:
        _book_again(connection, task_id)
    attempts.forget_results(connection, task_id)
    return get(connection, task_id)


def postpone(connection: Connection, task_id: str, *, code: ErrorCode, message: str, not_before: datetime) -> None:
    """A retryable failure: one more round from `not_before` on."""
    _leave(
        connection,
        task_id,
        status=TaskStatus.RETRYING,
        error_code=code,
        error_message=message[:4_000],
        not_before=not_before,
        retry_count=tasks.c.retry_count + 1,
    )


def end(connection: Connection, task_id: str, *, status: TaskStatus, code: ErrorCode, message: str, now: datetime) -> None:
    """End a task without output."""
    values: dict[str, Any] = {"cancelled_at": now} if status is TaskStatus.CANCELLED else {}
    _leave(
        connection,
        task_id,
        status=status,
        error_code=code,
        error_message=message[:4_000],
        finished_at=now,
        not_before=None,
        cost_actual=attempts.cost_of(connection, task_id),
        **values,
    )


def put_back(connection: Connection, task_id: str, worker: Worker) -> None:
    """A stopped run lets go of its task, so that the next one need not wait for the lease."""
    connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.lease_owner == worker.owner, tasks.c.status == TaskStatus.RUNNING)
        .values(lease_owner=None, lease_expires_at=None)
    )


def drop_leases(connection: Connection, run_id: str) -> None:
    """A run has surely ended: its tasks need not wait for their leases."""
    connection.execute(
        update(tasks)
        .where(tasks.c.run_id == run_id, tasks.c.status == TaskStatus.RUNNING)
        .values(lease_owner=None, lease_expires_at=None)
    )


def renew(connection: Connection, project_id: str, types: tuple[TaskType, ...]) -> int:
    """A person asked to retry: ended tasks of these types get a fresh allowance. Attempts, and what they cost, stay.

    A task that still says running, because its process was killed, loses its cancel flag and its old deadline too: otherwise the
    cancel that was taken back would stop it again. Returns how many tasks had ended.
    """
    of_types = (tasks.c.project_id == project_id) & tasks.c.task_type.in_(types)
    connection.execute(update(tasks).where(of_types, tasks.c.status == TaskStatus.RUNNING).values(_FRESH))
    done = connection.execute(
        update(tasks).where(of_types, tasks.c.status.in_((*_ENDED, TaskStatus.RETRYING))).values(**_RENEWED, error_message=None)
    )
    return done.rowcount


def get(connection: Connection, task_id: str) -> Task:
    """The task with this id. Raises LookupError."""
    row = connection.execute(select(tasks).where(tasks.c.task_id == task_id)).mappings().one_or_none()
    if row is None:
        raise LookupError(f"no task {task_id}")
    return _task(row)


def of_project(connection: Connection, project_id: str) -> list[Task]:
    """All tasks of a project, in the order in which they were wanted."""
    statement = (
        select(tasks).where(tasks.c.project_id == project_id).order_by(tasks.c.created_at, tasks.c.shot_seq, tasks.c.task_id)
    )
    return [_task(row) for row in connection.execute(statement).mappings()]


def shots(connection: Connection, project_id: str) -> list[int]:
    """The numbers of the shots that the project has tasks for."""
    statement = select(tasks.c.shot_seq).where(tasks.c.project_id == project_id, tasks.c.shot_seq.is_not(None)).distinct()
    return sorted(connection.execute(statement).scalars())


def median_seconds(connection: Connection, task_type: TaskType, provider_id: str) -> float | None:
    """How long a task of this type takes at this provider: the median of the last 50. None before the first."""
    statement = (
        select(tasks.c.started_at, tasks.c.finished_at)
        .where(tasks.c.task_type == task_type, tasks.c.provider_id == provider_id, tasks.c.status == TaskStatus.SUCCESS)
        .order_by(tasks.c.finished_at.desc())
        .limit(50)
    )
    lengths = sorted((end - start).total_seconds() for start, end in connection.execute(statement) if start and end)
    return lengths[len(lengths) // 2] if lengths else None


def _task(row: Any) -> Task:
    stored = row["output_json"]
    return read_row(Task, {**row, "output": None if stored is None else MediaRef.model_validate_json(stored)})


def _insert_if_new(connection: Connection, new: NewTask, *, now: datetime) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(tasks).values(
        task_id=str(uuid4()),
        project_id=new.project_id,
        task_type=new.task_type,
        queue=new.queue,
        shot_seq=new.shot_seq,
        take=new.take,
        provider_id=new.provider_id,
        status=TaskStatus.PENDING,
        input_json=new.input_json,
        input_hash=new.input_hash,
        max_retry=new.max_retry,
        cost_estimate=new.estimate,
        relation_type=new.relation_type,
        relation_entity_id=new.relation_entity_id,
        created_at=now,
    )
    connection.execute(statement.on_conflict_do_nothing(index_elements=["project_id", "task_type", "input_hash"]))


def _take(connection: Connection, task: Task, new: NewTask, worker: Worker, *, now: datetime) -> Task:
    # A task that was running when its process died keeps its deadline; a new round gets a new one.
    keeps = task.status is TaskStatus.RUNNING and task.deadline_at is not None
    row = (
        connection.execute(
            update(tasks)
            .where(tasks.c.task_id == task.task_id)
            .values(
                status=TaskStatus.RUNNING,
                run_id=worker.run_id,
                lease_owner=worker.owner,
                lease_expires_at=now + timedelta(seconds=worker.lease_seconds),
                started_at=task.started_at or now,
                deadline_at=task.deadline_at if keeps else now + timedelta(seconds=new.deadline),
                not_before=None,
            )
            .returning(tasks)
        )
        .mappings()
        .one()
    )
    return _task(row)


def _book_again(connection: Connection, task_id: str) -> None:
    done = connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.status == TaskStatus.SUCCESS)
        .values(cost_actual=attempts.cost_of(connection, task_id))
    )
    if done.rowcount == 0:
        raise WorkStopped(ErrorCode.CONFLICT, f"task {task_id} has been ended meanwhile; its result is kept for a retry")


def _leave(connection: Connection, task_id: str, **values: Any) -> None:
    connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.status == TaskStatus.RUNNING)
        .values(lease_owner=None, lease_expires_at=None, **values)
    )


def renew_one(connection: Connection, task_id: str, *, note: str) -> bool:
    """A person decided about one task: it is to be done again, or gone on with. False when it has not ended."""
    done = connection.execute(
        update(tasks).where(tasks.c.task_id == task_id, tasks.c.status.in_(_ENDED)).values(**_RENEWED, error_message=note)
    )
    return done.rowcount == 1
