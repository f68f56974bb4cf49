"""The next stages of projects in production, the end of cancelled ones, and films that need no person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from comic_pipeline import service
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Project, check_project_id
from comic_pipeline.model.stage import StageRow, due_stages, shown_state, stalled
from comic_pipeline.model.stage_end import StageEnd
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState, Stage
from comic_pipeline.settings import Settings
from comic_pipeline.store import leftovers, projects, stages
from comic_pipeline.store.database import Connection
from comic_pipeline.workflow.ending import move_on
from comic_pipeline.workflow.rows import Rows


@dataclass(frozen=True)
class Advancer:
    """Moves projects on."""

    rows: Rows
    settings: Settings
    now: Callable[[], datetime]

    def advance(self) -> tuple[int, list[str]]:
        """One look at all projects in production: how many moved, and which could not be handled."""
        with self.rows.database.read() as connection:
            producing = projects.in_production(connection)
        return self.rows.each(self.rows.needing(producing, _can_advance), self._advance_project)

    def _advance_project(self, connection: Connection, project_id: str) -> bool:
        projects.lock(connection, check_project_id(project_id))
        project, now = projects.get(connection, project_id), self.now()
        if project.status not in ACTIVE_PROJECT_STATES:
            return False
        latest = stages.latest(connection, project_id)
        if project.cancel_requested:
            return self._finish_cancel(connection, project, latest, now=now)
        for stage in due_stages(latest):
            latest[stage] = stages.request(
                connection, project_id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=now
            )
        if (row := stalled(latest)) is not None:
            end = StageEnd(row.status, again=False, code=row.error_code, message=row.error_message or "")
            move_on(connection, project, row.stage, end, now=now)
            return True
        state = shown_state(latest)
        finished = {"finished_at": now} if state is ProjectState.PENDING_REVIEW else {}
        projects.move(connection, project_id, old=(project.status,), new=state, now=now, **finished)
        if state is ProjectState.PENDING_REVIEW:
            leftovers.end_unwanted(connection, project_id, now=now)
            if project.tier in self.settings.auto_approve:
                service.approve_unattended(connection, project_id, now=now)
        return True

    def _finish_cancel(
        self, connection: Connection, project: Project, latest: Mapping[Stage, StageRow], *, now: datetime
    ) -> bool:
        if any(row.ended_at is None for row in latest.values()):
            return False
        return projects.move(
            connection,
            project.id,
            old=ACTIVE_PROJECT_STATES,
            new=ProjectState.CANCELLED,
            now=now,
            cancelled_at=now,
            finished_at=now,
            error_code=ErrorCode.CANCELLED,
            error_message=project.cancel_reason,
        )


def _can_advance(connection: Connection, project_id: str) -> bool:
    project = projects.get(connection, check_project_id(project_id))
    latest = stages.latest(connection, project_id)
    if project.cancel_requested:
        return all(row.ended_at is not None for row in latest.values())
    return bool(due_stages(latest)) or shown_state(latest) != project.status or stalled(latest) is not None
