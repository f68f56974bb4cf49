"""The ledger's words: tasks, attempts, their states, and the key that makes paying twice impossible."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.media import MediaRef


class TaskType(StrEnum):
    """Kinds of costly work."""

    STORYBOARD = "storyboard"
    FRAME_IMAGE = "frame_image"
    VOICE_LINE = "voice_line"
    CLIP = "clip"
    MUSIC = "music"
    FILM_RENDER = "film_render"


class TaskStatus(StrEnum):
    """Where a task stands. Legal moves are guarded in `store/ledger.py`.

    pending: wanted, nobody is at it. running: a run holds its lease. retrying: goes again from `not_before` on. success: its
    output is stored and its cost booked. failed: the user, or a plain retry, can act. manual_required: an operator must look.
    cancelled: somebody asked for it.
    """

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    RETRYING = "retrying"
    CANCELLED = "cancelled"
    MANUAL_REQUIRED = "manual_required"


class AttemptState(StrEnum):
    """Where one create stands.

    intent: about to be sent, or its answer was lost. submitted: the provider has given an id. succeeded: the result is ready
    (`result` says where) and paid. failed: the provider said no. unknown: booked as lost. released: surely never happened.
    """

    INTENT = "intent"
    SUBMITTED = "submitted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    RELEASED = "released"


# Not settled yet: what such an attempt will cost is reserved.
OPEN_ATTEMPT_STATES = (AttemptState.INTENT, AttemptState.SUBMITTED)


class AttemptKind(StrEnum):
    """Why a create was made: the work itself, or one repair round of a model's answer."""

    CREATE = "create"
    REPAIR = "repair"


class Task(BaseModel):
    """One row of `tasks`."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    project_id: str
    task_type: TaskType
    queue: str
    shot_seq: int | None
    take: int
    provider_id: str
    status: TaskStatus
    input_json: str
    input_hash: str
    output_asset_id: str | None
    output: MediaRef | None
    provider_request_id: str | None
    retry_count: int
    max_retry: int
    not_before: datetime | None
    cost_estimate: Decimal
    cost_actual: Decimal
    error_code: ErrorCode | None
    error_message: str | None
    relation_type: str | None
    relation_entity_id: str | None
    cancel_requested: bool
    cancel_requested_at: datetime | None
    cancel_reason: str | None
    cancelled_at: datetime | None
    lease_owner: str | None
    lease_expires_at: datetime | None
    deadline_at: datetime | None
    run_id: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Attempt(BaseModel):
    """One row of `attempts`: one create with its polls and its fetch; it owns its request id and its cost."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    number: int
    kind: AttemptKind
    provider_id: str
    provider_base_url: str
    provider_request_id: str | None
    request_hash: str
    state: AttemptState
    http_status: int | None
    provider_code: str | None
    estimate: Decimal
    cost: Decimal | None
    result: str | None
    started_at: datetime
    finished_at: datetime | None


def canonical_json(value: Any) -> str:
    """One spelling for equal values: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: bytes) -> str:
    """Hex SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def hash_of(value: Any) -> str:
    """Hex SHA-256 of the canonical JSON of `value`."""
    return sha256_hex(canonical_json(value).encode())


def newest_film(tasks: Iterable[Task]) -> Task | None:
    """The render that was finished last."""
    films = [task for task in tasks if task.task_type is TaskType.FILM_RENDER and task.status is TaskStatus.SUCCESS]
    return max(films, key=lambda task: task.finished_at or task.created_at, default=None)
