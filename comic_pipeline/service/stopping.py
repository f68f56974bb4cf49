"""Stopping a project: the flags, the rounds that no run has begun, and what users are told."""

from datetime import datetime

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.submission import CANCEL_ASKED, CANCEL_DONE, Answer, CancelRequest, Submission
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import ALLOWED_FROM, ProjectState, StageStatus, SubmissionKind, check_allowed
from comic_pipeline.service.house import House, parse, target
from comic_pipeline.store import cancelling, ledger, projects, stages
from comic_pipeline.store.database import Connection


def stop(connection: Connection, project_id: str, *, reason: str, now: datetime) -> bool:
    """Raise the flags of a project and end the rounds that no run has begun. True while a run is still at it.

    The first reason stays. The reconciler moves the project to CANCELLED when its last round has ended.
    """
    projects.request_cancel(connection, project_id, reason=reason, now=now)
    cancelling.cancel_project(connection, project_id, reason=reason, now=now)
    busy = False
    for row in stages.latest(connection, project_id).values():
        if row.status is StageStatus.REQUESTED:
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=ErrorCode.CANCELLED, message=reason, now=now)
        busy = busy or row.status in (StageStatus.QUEUED, StageStatus.RUNNING)
    return busy


def cancel(connection: Connection, submission: Submission, house: House) -> Answer:
    """End what has not begun, ask what runs to stop after its step. Raises Refused(CONFLICT)."""
    project, asked = target(connection, submission), parse(CancelRequest, submission)
    if project.status == ProjectState.CANCELLED:
        return _cancelled(project.id, ProjectState.CANCELLED, running=())
    check_allowed(SubmissionKind.CANCEL, project.status, project_id=project.id)
    reason = project.cancel_reason or asked.reason or f"cancelled by {submission.user_id}"
    busy = stop(connection, project.id, reason=reason, now=house.now)
    if asked.force:
        projects.force_cancel(connection, project.id)
    running = tuple(
        task.task_id
        for task in ledger.of_project(connection, project.id)
        if task.status is TaskStatus.RUNNING and task.provider_request_id
    )
    if busy:
        return _cancelled(project.id, project.status, running=running)
    projects.move(
        connection,
        project.id,
        old=ALLOWED_FROM[SubmissionKind.CANCEL],
        new=ProjectState.CANCELLED,
        now=house.now,
        cancelled_at=house.now,
        finished_at=house.now,
        error_code=ErrorCode.CANCELLED,
        error_message=reason,
    )
    return _cancelled(project.id, ProjectState.CANCELLED, running=running)


def _cancelled(project_id: str, state: ProjectState, *, running: tuple[str, ...]) -> Answer:
    at_once = state is ProjectState.CANCELLED
    zh, en = CANCEL_DONE if at_once else CANCEL_ASKED
    return Answer(
        project_id=project_id,
        status=state,
        effective_immediately=at_once,
        running_at_provider=running,
        message_zh=zh,
        message_en=en,
    )
