"""What the reconciler sees to beside moving stages: jobs left at providers, tasks left behind, projects that take too long.

Belongs here: one short act a row, called by `workflow/` in a transaction of its own. Does not: polling a job (`work/`): a
settle round is an ordinary run of the stage in which every create is refused.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Project
from comic_pipeline.model.stage import SETTLE, StageRow
from comic_pipeline.model.task import Task, TaskStatus
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    MAX_ROUNDS,
    OPEN_STAGE_STATUSES,
    PRODUCTION,
    STAGE_OF_TASK,
    ProjectState,
    Stage,
    StageStatus,
)
from comic_pipeline.store import attempts, cancelling, leftovers, projects, stages
from comic_pipeline.store.database import Connection


def settle_left_behind(connection: Connection, project_id: str, *, now: datetime) -> bool:
    """End what no run works on any more in a project that has stopped, and ask for a round that follows jobs still open.

    A cancelled project's paid jobs are followed to their end: the result is kept as an unused candidate and its cost booked. In
    other stopped projects the attempts stay as they are: a retry goes on from them, until the provider has forgotten the job.
    """
    projects.lock(connection, project_id)
    project = projects.get(connection, project_id)
    if project.status in ACTIVE_PROJECT_STATES:
        return False
    latest, history = stages.latest(connection, project_id), stages.history(connection, project_id)
    open_stages = {stage for stage, row in latest.items() if row.status in OPEN_STAGE_STATUSES}
    for task in leftovers.overdue(connection, project_id, now=now):
        if STAGE_OF_TASK[task.task_type] not in open_stages:
            leftovers.write_off(connection, task.task_id, now=now)
    to_follow: set[Stage] = set()
    opened_at = projects.opened_at(connection, project_id)
    for task in leftovers.of_project(connection, project_id, now=now):
        stage = STAGE_OF_TASK[task.task_type]
        if stage in open_stages:
            continue
        if not _worth_following(connection, project, task):
            _end(connection, project, task, now=now)
        elif _settle_rounds(history, stage, since=opened_at) < MAX_ROUNDS:
            leftovers.reopen(connection, task.task_id)
            to_follow.add(stage)
        else:
            _hand_over(connection, task, now=now)
    for stage in to_follow:
        stages.request(connection, project_id, stage, stage_id=str(uuid4()), priority=0, scope=SETTLE, now=now)
    return bool(to_follow)


def expire(connection: Connection, project_id: str, *, limit: float, now: datetime) -> bool:
    """End a project whose stages have run longer than `limit` seconds. Finished work stays; a retry goes on from there."""
    projects.lock(connection, project_id)
    reason = f"the stages have run for more than COMIC_PROJECT_TIMEOUT ({limit:.0f} s)"
    latest = stages.latest(connection, project_id)
    cancelling.cancel_project(connection, project_id, reason=reason, now=now)
    for row in latest.values():
        if row.status is StageStatus.REQUESTED:
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=ErrorCode.TASK_TIMEOUT, message=reason, now=now)
    unfinished = next((stage for stage in PRODUCTION if stage in latest and latest[stage].status is not StageStatus.PASSED), None)
    return projects.move(
        connection,
        project_id,
        old=ACTIVE_PROJECT_STATES,
        new=ProjectState.FAILED,
        now=now,
        fail_stage=unfinished,
        error_code=ErrorCode.TASK_TIMEOUT,
        error_message=reason,
        finished_at=now,
    )


def _worth_following(connection: Connection, project: Project, task: Task) -> bool:
    return project.status == ProjectState.CANCELLED and attempts.unfinished(connection, task.task_id) is not None


def _settle_rounds(history: Iterable[StageRow], stage: Stage, *, since: datetime) -> int:
    """Those since somebody last took the project up: what was cancelled before says nothing about this job."""
    return sum(row.stage is stage and row.scope == SETTLE and row.requested_at >= since for row in history)


def _end(connection: Connection, project: Project, task: Task, *, now: datetime) -> None:
    cancelled = project.status == ProjectState.CANCELLED
    code = ErrorCode.CANCELLED if cancelled else project.error_code or ErrorCode.UNKNOWN_ERROR
    status = TaskStatus.CANCELLED if cancelled else TaskStatus.FAILED
    leftovers.end(
        connection, task.task_id, status=status, code=code, message="its run ended before it; a retry goes on from here", now=now
    )


def _hand_over(connection: Connection, task: Task, *, now: datetime) -> None:
    leftovers.end(
        connection,
        task.task_id,
        status=TaskStatus.MANUAL_REQUIRED,
        code=ErrorCode.OUTCOME_UNKNOWN,
        message=f"{MAX_ROUNDS} rounds could not follow its job to the end; see `comic task show {task.task_id}`",
        now=now,
    )
