"""A submission: one request from outside, by CLI, GraphQL or a backend's own INSERT; its payloads and its answer."""

from collections.abc import Collection
from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import IDEA_MAX_CHARS, Tier, clean_text
from comic_pipeline.model.storyboard import OverrideField, Overrides, ShotOverride
from comic_pipeline.model.workflow import Stage, SubmissionKind, SubmissionStatus


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


class CancelRequest(BaseModel):
    """Payload of a `cancel` submission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str = ""
    force: bool = False

    @field_validator("reason")
    @classmethod
    def _clean(cls, reason: str) -> str:
        return clean_text("reason", reason, limit=IDEA_MAX_CHARS, required=False)


class RedoRequest(BaseModel):
    """Payload of a `redo` submission: which stage, which shots (all when empty), with which words or seed.

    The film is rendered whole: it takes neither shots nor words nor a seed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage
    shots: tuple[int, ...] = ()
    prompt: str = ""
    # What every provider takes: a signed 32-bit number that is not negative.
    seed: int | None = Field(default=None, ge=0, lt=2**31)

    @field_validator("prompt")
    @classmethod
    def _clean(cls, prompt: str) -> str:
        return clean_text("prompt", prompt, limit=IDEA_MAX_CHARS, required=False)

    @model_validator(mode="after")
    def _fits_stage(self) -> Self:
        check_remakable(self.stage, self.shots)
        if self.prompt and self.stage not in _WORDS:
            raise ValueError(f"prompt: stage {self.stage} takes no words; one of: {', '.join(_WORDS)}")
        if self.seed is not None and self.stage not in _SEEDED:
            raise ValueError(f"seed: stage {self.stage} takes no seed; one of: {', '.join(_SEEDED)}")
        return self

    def overrides(self, seq: int, before: Overrides) -> tuple[ShotOverride, ...]:
        """What to store for one shot: its next take after `before`, and the words and the seed when there are any."""
        take = ShotOverride(seq=seq, field=TAKES[self.stage], value=str(before.take(seq, TAKES[self.stage]) + 1))
        words = [ShotOverride(seq=seq, field=_WORDS[self.stage], value=self.prompt)] if self.prompt else []
        seed = [] if self.seed is None else [ShotOverride(seq=seq, field=_SEEDED[self.stage], value=str(self.seed))]
        return (take, *words, *seed)


TAKES = {
    Stage.STORYBOARD: OverrideField.TAKE_STORYBOARD,
    Stage.FRAMES: OverrideField.TAKE_FRAMES,
    Stage.VOICES: OverrideField.TAKE_VOICES,
    Stage.CLIPS: OverrideField.TAKE_CLIPS,
    Stage.FILM: OverrideField.TAKE_FILM,
}
_WORDS = {
    Stage.FRAMES: OverrideField.IMAGE_PROMPT,
    Stage.VOICES: OverrideField.SPOKEN,
    Stage.CLIPS: OverrideField.MOTION_PROMPT,
}
_SEEDED = {Stage.FRAMES: OverrideField.SEED, Stage.CLIPS: OverrideField.CLIP_SEED}


def check_remakable(stage: Stage, shots: Collection[int]) -> None:
    """Raise ValueError for what is never made anew by itself, and for shots of a film."""
    if stage not in TAKES:
        raise ValueError(f"stage: {stage} is not made anew; a retry goes on from it")
    if shots and stage is Stage.FILM:
        raise ValueError("shots: the film is rendered whole; leave shots out")


# What people are told about a cancel that was done, and about one that waits for a step to end: Chinese, English.
CANCEL_DONE = ("已取消", "cancelled")
CANCEL_ASKED = ("已请求取消，系统会在当前步骤结束后停止", "cancel requested: work stops after the current step")


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
