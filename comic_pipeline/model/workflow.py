"""The state machine: stages, project states, and every transition that is legal. Pure tables and pure decisions.

Belongs here: what follows from what. Does not: reading tables or runs (`comic_pipeline/workflow/`).
"""

from dataclasses import dataclass
from enum import StrEnum

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.task import TaskType

MAX_ROUNDS = 5
PROJECT_TAG = "comic/project"
STAGE_ID_TAG = "comic/stage_id"


class ProjectState(StrEnum):
    """Where a project stands."""

    QUEUED = "QUEUED"
    SCRIPT = "SCRIPT"
    IMAGE = "IMAGE"
    TTS = "TTS"
    VIDEO = "VIDEO"
    COMPOSE = "COMPOSE"
    PENDING_REVIEW = "PENDING_REVIEW"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    WAITING_CONFIRMATION = "WAITING_CONFIRMATION"
    FAILED = "FAILED"
    MANUAL_REQUIRED = "MANUAL_REQUIRED"
    CANCELLED = "CANCELLED"


ACTIVE_PROJECT_STATES = (
    ProjectState.QUEUED,
    ProjectState.SCRIPT,
    ProjectState.IMAGE,
    ProjectState.TTS,
    ProjectState.VIDEO,
    ProjectState.COMPOSE,
)
STOPPED_STATES = (ProjectState.FAILED, ProjectState.MANUAL_REQUIRED, ProjectState.CANCELLED)
FINISHED_STATES = (ProjectState.PENDING_REVIEW, ProjectState.APPROVED, ProjectState.REJECTED)


class Stage(StrEnum):
    """A step of a project's workflow."""

    STORYBOARD = "storyboard"
    FRAMES = "frames"
    VOICES = "voices"
    CLIPS = "clips"
    FILM = "film"
    RELEASE = "release"


class StageStatus(StrEnum):
    """Where one round of a stage stands.

    requested: a run is asked for. queued: its run was seen in Dagster. running: its run has claimed it. passed: everything is
    made and every gate of the stage open. failed: another round follows, or the user, or a plain retry, can act.
    manual_required: an operator must look. cancelled: somebody asked for it, or it was never reached.
    """

    REQUESTED = "requested"
    QUEUED = "queued"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    MANUAL_REQUIRED = "manual_required"
    CANCELLED = "cancelled"


OPEN_STAGE_STATUSES = (StageStatus.REQUESTED, StageStatus.QUEUED, StageStatus.RUNNING)


class SubmissionKind(StrEnum):
    """What a submission asks for."""

    PRODUCE = "produce"
    RETRY = "retry"
    REDO = "redo"
    CANCEL = "cancel"
    REVIEW = "review"
    CONFIRM = "confirm"


class SubmissionStatus(StrEnum):
    """Where a submission stands. `waiting`: admitted later, when the user's other formal project has ended."""

    NEW = "new"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True)
class StageRule:
    """One row of the stage table. Times in seconds."""

    stage: Stage
    state: ProjectState
    job: str
    assets: tuple[str, ...]
    queue: str
    deadline: float
    serial: bool
    needs: tuple[Stage, ...]
    task_types: tuple[TaskType, ...]


STAGE_RULES: dict[Stage, StageRule] = {
    rule.stage: rule
    for rule in (
        StageRule(
            stage=Stage.STORYBOARD,
            state=ProjectState.SCRIPT,
            job="make_storyboard",
            assets=("storyboard",),
            queue="text_queue",
            deadline=180,
            serial=True,
            needs=(),
            task_types=(TaskType.STORYBOARD,),
        ),
        StageRule(
            stage=Stage.FRAMES,
            state=ProjectState.IMAGE,
            job="make_frames",
            assets=("frame_images",),
            queue="image_queue",
            deadline=600,
            serial=False,
            needs=(Stage.STORYBOARD,),
            task_types=(TaskType.FRAME_IMAGE,),
        ),
        StageRule(
            stage=Stage.VOICES,
            state=ProjectState.TTS,
            job="make_voices",
            assets=("voice_lines",),
            queue="voice_queue",
            deadline=300,
            serial=False,
            needs=(Stage.STORYBOARD,),
            task_types=(TaskType.VOICE_LINE,),
        ),
        StageRule(
            stage=Stage.CLIPS,
            state=ProjectState.VIDEO,
            job="make_clips",
            assets=("clips",),
            queue="video_queue",
            deadline=1_800,
            serial=False,
            needs=(Stage.FRAMES,),
            task_types=(TaskType.CLIP,),
        ),
        StageRule(
            stage=Stage.FILM,
            state=ProjectState.COMPOSE,
            job="make_film",
            assets=("subtitles", "music", "final_video", "cover_image", "timeline_export", "review_page"),
            queue="ffmpeg_queue",
            deadline=1_800,
            serial=True,
            needs=(Stage.CLIPS, Stage.VOICES),
            task_types=(TaskType.FILM_RENDER, TaskType.MUSIC),
        ),
        StageRule(
            stage=Stage.RELEASE,
            state=ProjectState.APPROVED,
            job="release_film",
            assets=("published_video",),
            queue="notification_queue",
            deadline=300,
            serial=True,
            needs=(Stage.FILM,),
            task_types=(),
        ),
    )
}
# What makes the film. A release follows a person's approval, and moves no project that is in production.
PRODUCTION: tuple[Stage, ...] = tuple(stage for stage in STAGE_RULES if stage is not Stage.RELEASE)
# What can be made anew by itself: another storyboard would be another film.
REDOABLE: tuple[Stage, ...] = tuple(stage for stage in PRODUCTION if stage is not Stage.STORYBOARD)
STAGE_OF_ASSET: dict[str, Stage] = {asset: rule.stage for rule in STAGE_RULES.values() for asset in rule.assets}
STAGE_OF_TASK: dict[TaskType, Stage] = {kind: rule.stage for rule in STAGE_RULES.values() for kind in rule.task_types}

_RETRY_FROM = frozenset(STOPPED_STATES)
_REDO_FROM = _RETRY_FROM | frozenset(FINISHED_STATES)
ALLOWED_FROM: dict[SubmissionKind, frozenset[ProjectState]] = {
    SubmissionKind.RETRY: _RETRY_FROM,
    SubmissionKind.REDO: _REDO_FROM,
    SubmissionKind.CANCEL: frozenset(ACTIVE_PROJECT_STATES) | {ProjectState.WAITING_CONFIRMATION},
    SubmissionKind.REVIEW: frozenset({ProjectState.PENDING_REVIEW}),
    SubmissionKind.CONFIRM: frozenset({ProjectState.WAITING_CONFIRMATION}),
}


def check_allowed(kind: SubmissionKind, state: ProjectState, *, project_id: str) -> None:
    """Raise Refused(CONFLICT) with the current state unless `kind` may be done to a project in `state`."""
    if state not in ALLOWED_FROM[kind]:
        allowed = ", ".join(sorted(ALLOWED_FROM[kind]))
        raise Refused(ErrorCode.CONFLICT, f"{kind} is not possible: project {project_id} is {state}; it must be one of {allowed}")


def downstream(stage: Stage) -> tuple[Stage, ...]:
    """`stage` and every stage that needs it, in order."""
    found = {stage}
    for rule in STAGE_RULES.values():
        if found.intersection(rule.needs):
            found.add(rule.stage)
    return tuple(rule for rule in STAGE_RULES if rule in found)


class RunPhase(StrEnum):
    """What matters about a Dagster run."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    GONE = "gone"
