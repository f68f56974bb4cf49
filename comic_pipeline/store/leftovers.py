"""Tasks that no run works on any more although they have not ended, and jobs at providers that nobody follows."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, exists, or_, select, update

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import OPEN_ATTEMPT_STATES, Task, TaskStatus
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, OPEN_STAGE_STATUSES, STAGE_OF_TASK, ProjectState
from comic_pipeline.store import attempts as books
from comic_pipeline.store import ledger
from comic_pipeline.store.schema import attempts, projects, stages, tasks


def stopped_projects(connection: Connection, *, now: datetime) -> list[str]:
    """Ids of projects out of production with leftovers of a stage that has no round under way."""
    stage = case({task_type.value: stage.value for task_type, stage in STAGE_OF_TASK.items()}, value=tasks.c.task_type)
    at_work = exists().where(
        stages.c.project_id == projects.c.id, stages.c.stage == stage, stages.c.status.in_(OPEN_STAGE_STATUSES)
    )
    statement = (
        select(projects.c.id)
        .distinct()
        .join_from(tasks, projects, projects.c.id == tasks.c.project_id)
        .where(projects.c.status.not_in(ACTIVE_PROJECT_STATES), ~at_work, _left(now))
    )
    return list(connection.execute(statement).scalars())


def of_project(connection: Connection, project_id: str, *, now: datetime) -> list[Task]:
    """The leftovers of one project."""
    statement = (
        select(tasks.c.task_id)
        .join_from(tasks, projects, projects.c.id == tasks.c.project_id)
        .where(tasks.c.project_id == project_id, _left(now))
    )
    return [ledger.get(connection, task_id) for task_id in connection.execute(statement).scalars().all()]


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


def _left(now: datetime) -> ColumnElement[bool]:
    """Running without a live lease; or cancelled while its job at the provider is still open."""
    open_job = exists().where(attempts.c.task_id == tasks.c.task_id, attempts.c.state.in_(OPEN_ATTEMPT_STATES))
    unattended = or_(tasks.c.lease_expires_at.is_(None), tasks.c.lease_expires_at <= now)
    return or_(
        and_(tasks.c.status == TaskStatus.RUNNING, unattended),
        and_(tasks.c.status == TaskStatus.CANCELLED, projects.c.status == ProjectState.CANCELLED, open_job),
    )
