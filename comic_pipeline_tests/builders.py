"""Values for tests: complete and legal as they come, with the one fact that a test is about given by name."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection

from comic_pipeline.model.ledger import NewTask, SpendLimits, Worker
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Aspect, DurationBucket, Language, Project, ProjectKind, Resolution, Tier
from comic_pipeline.model.task import Task, TaskStatus, TaskType, hash_of, sha256_hex
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store import projects, stages

# Noon in Shanghai: far from the ends of the day by which budgets are counted.
NOW = datetime(2026, 3, 10, 4, 0, 0, 123_456, tzinfo=UTC)
AMPLE = SpendLimits(day=Decimal(2000), attempts_per_planned=10, attempts=0)


def later(seconds: float) -> datetime:
    """The time `seconds` after NOW."""
    return NOW + timedelta(seconds=seconds)


def a_project(project_id: str = "p1", **facts: Any) -> Project:
    """A free project in production of a cat on the moon."""
    usual: dict[str, Any] = {
        "id": project_id,
        "user_id": "user-1",
        "tier": Tier.FREE,
        "kind": ProjectKind.IDEA,
        "title": "",
        "idea": "一只小猫在月球上种花",
        "script": "",
        "style": "healing",
        "duration_bucket": DurationBucket.SHORT_15,
        "aspect": Aspect.WIDE,
        "resolution": Resolution.HD,
        "language": Language.ZH,
        "status": ProjectState.IMAGE,
        "budget": Decimal(100),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Project(**(usual | facts))


def a_frame(project_id: str = "p1", *, seq: int | None = 0, words: str = "a cat", **facts: Any) -> NewTask:
    """The wish for one picture; equal words of one shot are the same work."""
    document = {"seq": seq, "words": words}
    wish = NewTask(
        project_id=project_id,
        task_type=TaskType.FRAME_IMAGE,
        queue="image_queue",
        shot_seq=seq,
        take=0,
        provider_id="ark_image",
        input_json=str(document),
        input_hash=hash_of(document),
        max_retry=3,
        deadline=600,
        estimate=Decimal("0.22"),
    )
    return replace(wish, **facts)


def a_task(wish: NewTask, *, status: TaskStatus = TaskStatus.SUCCESS) -> Task:
    """The ledger's row of this wish, not yet touched but for its status."""
    return Task(
        task_id=f"{wish.task_type}-{wish.shot_seq}-{wish.take}",
        project_id=wish.project_id,
        task_type=wish.task_type,
        queue=wish.queue,
        shot_seq=wish.shot_seq,
        take=wish.take,
        provider_id=wish.provider_id,
        status=status,
        input_json=wish.input_json,
        input_hash=wish.input_hash,
        output_asset_id=None,
        output=None,
        provider_request_id=None,
        retry_count=0,
        max_retry=wish.max_retry,
        not_before=None,
        cost_estimate=wish.estimate,
        cost_actual=Decimal(0),
        error_code=None,
        error_message=None,
        relation_type=wish.relation_type,
        relation_entity_id=wish.relation_entity_id,
        cancel_requested=False,
        cancel_requested_at=None,
        cancel_reason=None,
        cancelled_at=None,
        lease_owner=None,
        lease_expires_at=None,
        deadline_at=None,
        run_id=None,
        created_at=NOW,
        started_at=None,
        finished_at=None,
    )


def a_status(**facts: Any) -> ProjectStatus:
    """A project in production, three shots long, of which nothing is made yet."""
    project = a_project()
    usual: dict[str, Any] = project.model_dump(include=set(ProjectStatus.model_fields) & set(Project.model_fields)) | {
        "project_id": project.id,
        "words_zh": "制作中",
        "words_en": "in production",
        "stage": Stage.FRAMES,
        "progress": 0,
        "frames_ready": 0,
        "total_frames": 3,
        "eta_seconds": None,
        "cost": Decimal(0),
        "film": None,
        "tasks": (),
    }
    return ProjectStatus(**(usual | facts))


def a_worker(name: str = "w1", *, stage_id: str = "stage-p1") -> Worker:
    """A process with a lease of one minute, in the run `run-<name>`."""
    return Worker(owner=name, run_id=f"run-{name}", stage_id=stage_id, lease_seconds=60)


def a_picture(words: str = "bytes") -> MediaRef:
    """A stored picture."""
    data = words.encode()
    return MediaRef(key=f"projects/p1/frames/{words}.png", sha256=sha256_hex(data), size=len(data), mime="image/png")


def begin_project(connection: Connection, project: Project, *, worker: str = "w1", stage: Stage = Stage.FRAMES) -> Worker:
    """Store `project` with one running round of `stage`; returns the worker whose run owns it."""
    projects.insert(connection, project)
    owner = a_worker(worker, stage_id=f"stage-{project.id}")
    stages.request(connection, project.id, stage, stage_id=owner.stage_id, priority=20, now=NOW, run_id=owner.run_id)
    return owner
