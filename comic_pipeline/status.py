"""Where a project stands, for people and programs: one read of the tables, no decisions."""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from math import ceil

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.limits import IMAGE_TASKS_PER_PROJECT, LOCAL_CLIPS_PER_PROJECT
from comic_pipeline.model.project import Project
from comic_pipeline.model.submission import CANCEL_ASKED
from comic_pipeline.model.task import Task, TaskStatus, newest_film
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, PRODUCTION, STAGE_RULES, ProjectState, Stage
from comic_pipeline.settings import Settings, VideoProviderName
from comic_pipeline.store import ledger, projects
from comic_pipeline.store.database import Connection
from comic_pipeline.store.views import CostLine, costs, progress_of

# Wording that users see (zh / en), by what they want to know rather than by our states.
_WORDS = {
    ProjectState.PENDING_REVIEW: ("完成", "done"),
    ProjectState.APPROVED: ("完成", "done"),
    ProjectState.REJECTED: ("完成", "done"),
    ProjectState.FAILED: ("失败", "failed"),
    ProjectState.MANUAL_REQUIRED: ("失败", "failed"),
    ProjectState.CANCELLED: ("已取消", "cancelled"),
}


class ProjectFacts(BaseModel):
    """One project without its tasks. Money is CNY, times are UTC; `film` is the object key of the newest film."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    user_id: str
    tier: str
    title: str
    status: ProjectState
    words_zh: str
    words_en: str
    stage: Stage | None
    fail_stage: Stage | None
    progress: int
    frames_ready: int
    total_frames: int
    eta_seconds: int | None
    cost: Decimal
    retry_count: int
    error_code: ErrorCode | None
    error_message: str | None
    cancel_requested: bool
    cancel_requested_at: datetime | None
    cancel_reason: str | None
    cancelled_at: datetime | None
    film: str | None
    created_at: datetime
    finished_at: datetime | None


class ProjectStatus(ProjectFacts):
    """One project, with its ledger rows."""

    tasks: tuple[Task, ...]


class ProjectReport(ProjectFacts):
    """One project as it is told to readers outside: `costs` by type of work and provider, `film_url` for people.

    Of two reports the one with the later `updated_at`, then the later `at`, is the newer one.
    """

    film_url: str | None
    updated_at: datetime
    costs: tuple[CostLine, ...]
    at: datetime


def report_of(
    connection: Connection, project_id: str, settings: Settings, *, link: Callable[[str], str], now: datetime
) -> ProjectReport:
    """The project's report; `link` makes a URL of an object key. Raises Refused(NOT_FOUND)."""
    status = status_of(connection, project_id, settings)
    return ProjectReport(
        **status.model_dump(exclude={"tasks"}),
        film_url=link(status.film) if status.film else None,
        updated_at=projects.get(connection, project_id).updated_at,
        costs=tuple(costs(connection, project_id)),
        at=now,
    )


def status_of(connection: Connection, project_id: str, settings: Settings) -> ProjectStatus:
    """The project's status. Raises Refused(NOT_FOUND)."""
    project = projects.get(connection, project_id)
    seen = progress_of(connection, project_id)
    tasks = ledger.of_project(connection, project_id)
    zh, en = _words(project)
    return ProjectStatus(
        **project.model_dump(
            include={
                "user_id",
                "tier",
                "title",
                "status",
                "fail_stage",
                "retry_count",
                "error_code",
                "error_message",
                "cancel_requested",
                "cancel_requested_at",
                "cancel_reason",
                "cancelled_at",
                "created_at",
                "finished_at",
            }
        ),
        project_id=project.id,
        words_zh=zh,
        words_en=en,
        stage=seen.stage,
        progress=seen.progress,
        frames_ready=seen.frames_ready,
        total_frames=seen.total_frames or project.bucket.shots,
        eta_seconds=_eta(connection, project, tasks, settings),
        cost=seen.cost,
        film=film.output_asset_id if (film := newest_film(tasks)) else None,
        tasks=tuple(tasks),
    )


def _words(project: Project) -> tuple[str, str]:
    if project.status in _WORDS:
        return _WORDS[project.status]
    if project.cancel_requested:
        return CANCEL_ASKED
    return "正在进行", "in progress"


def _eta(connection: Connection, project: Project, tasks: Sequence[Task], settings: Settings) -> int | None:
    """Seconds until the film, from the median of finished tasks of each kind; None while a kind was never seen."""
    if project.status not in ACTIVE_PROJECT_STATES:
        return 0
    seconds = {stage: _remaining(connection, project, stage, tasks, settings) for stage in PRODUCTION}
    known = {stage: value for stage, value in seconds.items() if value is not None}
    if len(known) < len(seconds):
        return None
    side_by_side = max(known[Stage.FRAMES] + known[Stage.CLIPS], known[Stage.VOICES])
    return ceil(known[Stage.STORYBOARD] + side_by_side + known[Stage.FILM])


def _remaining(connection: Connection, project: Project, stage: Stage, tasks: Sequence[Task], settings: Settings) -> float | None:
    task_type = STAGE_RULES[stage].task_types[0]
    # Of a shot that was wanted several times the newest wish counts; shots without words have no voice task at all.
    newest = {task.shot_seq: task.status for task in tasks if task.task_type is task_type}
    planned = 1 if stage in (Stage.STORYBOARD, Stage.FILM) else project.bucket.shots
    left = sum(status is not TaskStatus.SUCCESS for status in newest.values()) if newest else planned
    if left == 0:
        return 0.0
    median = ledger.median_seconds(connection, task_type, settings.providers_of(stage)[0])
    return None if median is None else median * ceil(left / _at_once(stage, settings, left))


def _at_once(stage: Stage, settings: Settings, left: int) -> int:
    if stage is Stage.FRAMES:
        return IMAGE_TASKS_PER_PROJECT
    return LOCAL_CLIPS_PER_PROJECT if stage is Stage.CLIPS and settings.video_provider is VideoProviderName.OFFLINE else left
