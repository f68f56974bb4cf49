"""A review: what a person decided about one version of a film."""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from comic_pipeline.model.project import IDEA_MAX_CHARS, PERSON_MAX_CHARS, clean_text
from comic_pipeline.model.submission import check_remakable
from comic_pipeline.model.workflow import Stage


class Decision(StrEnum):
    """What a review says."""

    APPROVE = "approve"
    REJECT = "reject"


class ReviewRequest(BaseModel):
    """Payload of a `review` submission. A rejection with a stage becomes a redo of these shots (all when none are named)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decision: Decision
    by: str
    note: str = ""
    stage: Stage | None = None
    shots: tuple[int, ...] = ()

    @field_validator("by")
    @classmethod
    def _named(cls, by: str) -> str:
        if not by.strip():
            raise ValueError("who decides must be named")
        return clean_text("by", by, limit=PERSON_MAX_CHARS, required=True)

    @field_validator("note")
    @classmethod
    def _clean(cls, note: str) -> str:
        return clean_text("note", note, limit=IDEA_MAX_CHARS, required=False)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.stage is not None and self.decision is Decision.APPROVE:
            raise ValueError("stage: only a rejection asks for something to be made anew")
        if self.shots and self.stage is None:
            raise ValueError("shots: name the stage that is to be made anew for them: frames, voices or clips")
        if self.stage is not None:
            check_remakable(self.stage, self.shots)
        return self


class Review(BaseModel):
    """One row of `reviews`: which film, by its SHA-256, and what a rejection asked for."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    decision: Decision
    by: str
    note: str
    film_sha256: str
    redo_stage: Stage | None
    redo_shots: tuple[int, ...]
    at: datetime
