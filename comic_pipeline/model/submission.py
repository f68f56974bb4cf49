"""A submission: one request from outside, by CLI, GraphQL or a backend's own INSERT."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import SubmissionKind, SubmissionStatus


class Submission(BaseModel):
    """One row of `submissions`. `payload` and `answer` are JSON text: a backend's rows are parsed only when they are admitted."""

    model_config = ConfigDict(frozen=True)

    id: int
    kind: SubmissionKind
    project_id: str | None
    user_id: str
    tier: Tier
    payload: str
    idempotency_key: str | None
    priority: int | None
    status: SubmissionStatus
    answer: str | None
    error_code: ErrorCode | None
    error_message: str | None
    created_at: datetime
    decided_at: datetime | None


class Answer(BaseModel):
    """What a submission is answered with; stored as JSON in its row."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    status: str
    reused: bool = False
    effective_immediately: bool | None = None
    running_at_provider: tuple[str, ...] = ()
    message_zh: str = ""
    message_en: str = ""
