"""Tasks that no run works on any more although they have not ended, and jobs at providers that nobody follows."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, func, literal, or_, select, update

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.retry import JOB_LIFE
from comic_pipeline.model.task import OPEN_ATTEMPT_STATES, AttemptState, Task, TaskStatus, TaskType
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, OPEN_STAGE_STATUSES, STAGE_OF_TASK, ProjectState
from comic_pipeline.store import attempts as books
from comic_pipeline.store import ledger
from comic_pipeline.store.columns import Money
from comic_pipeline.store.schema import attempts, projects, stages, tasks

_WORK = (tasks.c.project_id, tasks.c.task_type)


def stopped_projects(connection: Connection, *, now: datetime) -> list[str]:
    """Ids of projects out of production with leftovers of a stage that has no round under way.

    Asked in every pass: all questions begin at an index over what is open, so that finished projects cost nothing.
    """
    unattended = set(connection.execute(select(*_WORK).where(_unattended(now))).tuples())
    jobs = select(*_WORK, tasks.c.status, attempts.c.started_at).join_from(attempts, tasks).where(_is_open())
    with_jobs = connection.execute(jobs).tuples().all()
    old = {(project, task_type) for project, task_type, _, started_at in with_jobs if started_at <= now - JOB_LIFE}
    dropped = {(project, task_type) for project, task_type, status, _ in with_jobs if status == TaskStatus.CANCELLED}
    stopped = _stopped(connection, {project for project, _ in unattended | old | dropped})
    left = {one for one in unattended | old if one[0] in stopped}
    left |= {one for one in dropped if stopped.get(one[0]) == ProjectState.CANCELLED}
    if not left:
        return []
    open_rounds = select(stages.c.project_id, stages.c.stage).where(stages.c.status.in_(OPEN_STAGE_STATUSES))
    at_work = set(connection.execute(open_rounds).tuples())
    return sorted({project for project, task_type in left if (project, STAGE_OF_TASK[TaskType(task_type)]) not in at_work})


def _stopped(connection: Connection, project_ids: Collection[str]) -> dict[str, str]:
    statement = select(projects.c.id, projects.c.status).where(
        projects.c.id.in_(project_ids), projects.c.status.not_in(ACTIVE_PROJECT_STATES)
    )
    return dict(connection.execute(statement).tuples().all()) if project_ids else {}


def of_project(connection: Connection, project_id: str, *, now: datetime) -> list[Task]:
    """The tasks that one project left behind."""
    open_job = exists().where(attempts.c.task_id == tasks.c.task_id, _is_open())
    statement = (
        select(tasks.c.task_id)
        .join_from(tasks, projects, projects.c.id == tasks.c.project_id)
        .where(tasks.c.project_id == project_id, or_(_unattended(now), and_(_to_follow(), open_job)))
    )
    return [ledger.get(connection, task_id) for task_id in connection.execute(statement).scalars().all()]


def overdue(connection: Connection, project_id: str, *, now: datetime) -> list[Task]:
    """Tasks of one project with a job, or a lost create, that its provider will soon have forgotten."""
    statement = (
        select(tasks.c.task_id)
        .join_from(attempts, tasks, tasks.c.task_id == attempts.c.task_id)
        .where(tasks.c.project_id == project_id, _is_open(), _overdue(now))
    )
    return [ledger.get(connection, task_id) for task_id in connection.execute(statement).scalars().all()]


def end_unwanted(connection: Connection, project_id: str, *, now: datetime) -> None:
    """The film is finished: what has not begun is not wanted any more, a redo or another model put a new wish in its place."""
    connection.execute(
        update(tasks)
        .where(tasks.c.project_id == project_id, tasks.c.status.in_((TaskStatus.PENDING, TaskStatus.RETRYING)))
        .values(
            status=TaskStatus.CANCELLED,
            error_code=ErrorCode.CANCELLED,
            error_message="the film was finished without it: a later wish took its place",
            cancelled_at=now,
            finished_at=now,
            not_before=None,
            cost_actual=select(func.coalesce(func.sum(attempts.c.cost), literal(ZERO, Money)))
            .where(attempts.c.task_id == tasks.c.task_id)
            .scalar_subquery(),
        )
    )


def write_off(connection: Connection, task_id: str, *, now: datetime) -> None:
    """Nobody will learn any more what became of the task's open create: it is booked at its estimate. The task stays as it is."""
    connection.execute(
        update(attempts)
        .where(attempts.c.task_id == task_id, _is_open())
        .values(state=AttemptState.UNKNOWN, cost=attempts.c.estimate, finished_at=now)
    )
    connection.execute(update(tasks).where(tasks.c.task_id == task_id).values(cost_actual=books.cost_of(connection, task_id)))


def reopen(connection: Connection, task_id: str) -> None:
    """Let a settle round take the task: it follows the open job, and creates nothing."""
    connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.status.in_((TaskStatus.RUNNING, TaskStatus.CANCELLED)))
        .values(status=TaskStatus.RUNNING, lease_owner=None, lease_expires_at=None, deadline_at=None)
    )


def end(  # one argument a column that the caller decides
    connection: Connection, task_id: str, *, status: TaskStatus, code: ErrorCode, message: str, now: datetime
) -> None:
    """End a task whose run is gone. Its attempts stay: a retry goes on from them."""
    values: dict[str, Any] = {"cancelled_at": now} if status is TaskStatus.CANCELLED else {}
    connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.status.in_((TaskStatus.RUNNING, TaskStatus.CANCELLED)))
        .values(
            status=status,
            error_code=code,
            error_message=message,
            finished_at=now,
            cost_actual=books.cost_of(connection, task_id),
            lease_owner=None,
            lease_expires_at=None,
            **values,
        )
    )


def _unattended(now: datetime) -> ColumnElement[bool]:
    """Running, and nobody has it."""
    free = or_(tasks.c.lease_expires_at.is_(None), tasks.c.lease_expires_at <= now)
    return and_(tasks.c.status == TaskStatus.RUNNING, free)


def _to_follow() -> ColumnElement[bool]:
    """Cancelled while its job was at the provider: what is paid is followed to its end."""
    return and_(tasks.c.status == TaskStatus.CANCELLED, projects.c.status == ProjectState.CANCELLED)


def _overdue(now: datetime) -> ColumnElement[bool]:
    return attempts.c.started_at <= now - JOB_LIFE


def _is_open() -> ColumnElement[bool]:
    # Spelled out in the statement: SQLite takes the index over open attempts only when it can read its condition there.
    states = [state.value for state in OPEN_ATTEMPT_STATES]
    return attempts.c.state.in_(bindparam("open_states", states, expanding=True, literal_execute=True))
