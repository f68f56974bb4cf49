"""Typed reading of the views: how far a project is, and what work has cost. The views themselves are in the migrations."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection, TableClause, column, select, table
from sqlalchemy.types import TypeEngine

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState, Stage
from comic_pipeline.store.columns import Money, UtcTime
from comic_pipeline.store.rows import read_row


class ProjectProgress(BaseModel):
    """One row of `project_progress`. `progress` is 0-100; 100 also means ended without a film. `cost` is CNY over all attempts.

    Shots are counted once each, by the newest wish for them; totals are of work that was wanted so far.
    """

    model_config = ConfigDict(frozen=True)

    project_id: str
    user_id: str
    tier: Tier
    title: str
    status: ProjectState
    stage: Stage | None
    progress: int
    frames_ready: int
    total_frames: int
    clips_ready: int
    voices_ready: int
    cost: Decimal
    error_code: ErrorCode | None
    created_at: datetime
    updated_at: datetime


class CostLine(BaseModel):
    """One row of `project_costs`, in CNY: `cost` is booked, `reserved` is promised by attempts that are still open."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    task_type: TaskType
    provider_id: str
    tasks: int
    attempts: int
    cost: Decimal
    reserved: Decimal


_TYPES: dict[str, type[TypeEngine[Any]]] = {"cost": Money, "reserved": Money, "created_at": UtcTime, "updated_at": UtcTime}


def _view(name: str, row: type[BaseModel]) -> TableClause:
    return table(name, *(column(field, _TYPES.get(field)) for field in row.model_fields))


_progress = _view("project_progress", ProjectProgress)
_costs = _view("project_costs", CostLine)


def progress_of(connection: Connection, project_id: str) -> ProjectProgress:
    """How far the project is. Raises Refused(NOT_FOUND)."""
    row = connection.execute(select(_progress).where(_progress.c.project_id == project_id)).mappings().one_or_none()
    if row is None:
        raise Refused(ErrorCode.NOT_FOUND, f"project {project_id[:80]!r} does not exist; `comic projects` lists them")
    return read_row(ProjectProgress, row)


def moving(connection: Connection, *, since: datetime | None) -> list[ProjectProgress]:
    """Projects whose numbers may have changed: those at work, and those that moved at or after `since` (None: all).

    The longest unmoved come first.
    """
    statements = [select(_progress)]
    if since is not None:
        # Two questions and not one with an OR, which SQLite would answer by looking at every project there ever was.
        at_work = [state for state in ACTIVE_PROJECT_STATES if state is not ProjectState.QUEUED]
        wanted = (_progress.c.status.in_(at_work), _progress.c.updated_at >= since)
        statements = [select(_progress).where(one) for one in wanted]
    rows = (row for statement in statements for row in connection.execute(statement).mappings())
    found = {row["project_id"]: read_row(ProjectProgress, row) for row in rows}
    return sorted(found.values(), key=lambda one: (one.updated_at, one.project_id))


def costs(connection: Connection, project_id: str | None) -> list[CostLine]:
    """What work has cost, by project, type of task and provider; of all projects when `project_id` is None."""
    statement = select(_costs).order_by(_costs.c.project_id, _costs.c.task_type, _costs.c.provider_id)
    if project_id is not None:
        statement = statement.where(_costs.c.project_id == project_id)
    return [read_row(CostLine, row) for row in connection.execute(statement).mappings()]
