"""Cancel flags on tasks. Work under way sees its flag at the next checkpoint; only what has not begun ends at once.

Belongs here: the rows of `tasks` that a cancel touches. Does not: jobs at providers (`upkeep.py`), runs (`workflow/`), taking a
cancel back (`ledger.renew`).
"""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, update

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.store import ledger, projects
from comic_pipeline.store.schema import tasks

_NOT_BEGUN = (TaskStatus.PENDING, TaskStatus.RETRYING)


def cancel_project(connection: Connection, project_id: str, *, reason: str, now: datetime) -> None:
    """Flag all work of a project. Work that has not begun, or waits for its next round, ends at once."""
    projects.lock(connection, project_id)
    _flag(connection, tasks.c.project_id == project_id, reason=reason, now=now)


def cancel_task(connection: Connection, task_id: str, *, reason: str, now: datetime) -> TaskStatus:
    """Flag one task; what has not begun, or waits for its next round, ends at once. Returns the status it has now."""
    _flag(connection, tasks.c.task_id == task_id, reason=reason, now=now)
    return ledger.get(connection, task_id).status


def _flag(connection: Connection, which: ColumnElement[bool], *, reason: str, now: datetime) -> None:
    connection.execute(
        update(tasks)
        .where(which, tasks.c.status.in_((*_NOT_BEGUN, TaskStatus.RUNNING)), tasks.c.cancel_requested.is_(False))
        .values(cancel_requested=True, cancel_requested_at=now, cancel_reason=reason[:255])
    )
    connection.execute(
        update(tasks)
        .where(which, tasks.c.status.in_(_NOT_BEGUN))
        .values(
            status=TaskStatus.CANCELLED,
            cancelled_at=now,
            finished_at=now,
            error_code=ErrorCode.CANCELLED,
            error_message=reason,
            not_before=None,
            lease_owner=None,
            lease_expires_at=None,
        )
    )
