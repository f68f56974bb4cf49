"""One round of a stage (one row of `stages`, one Dagster run), and what follows from the rounds of a project."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.workflow import OPEN_STAGE_STATUSES, STAGE_RULES, ProjectState, Stage, StageRule, StageStatus


class StageRow(BaseModel):
    """One row of `stages`. `scope` is JSON text: the shots that a round was asked for, or None for all."""

    model_config = ConfigDict(frozen=True)

    id: str
    project_id: str
    stage: Stage
    round: int
    scope: str | None
    status: StageStatus
    run_id: str | None
    heartbeat_at: datetime | None
    priority: int
    error_code: ErrorCode | None
    error_message: str | None
    requested_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None


def due_stages(latest: Mapping[Stage, StageRow]) -> tuple[Stage, ...]:
    """Stages to request now: no round of theirs is open, all they need is made, and they never ran or are older than a need.

    Level-triggered: a redo inserts one new round, and everything downstream becomes due by itself when that round passes.
    """
    return tuple(rule.stage for rule in STAGE_RULES.values() if _due(rule, latest))


def shown_state(latest: Mapping[Stage, StageRow]) -> ProjectState:
    """A producing project's state: that of the earliest unfinished stage, PENDING_REVIEW when all are fresh and passed."""
    for rule in STAGE_RULES.values():
        if not made(rule.stage, latest):
            return rule.state if latest else ProjectState.QUEUED
    return ProjectState.PENDING_REVIEW


def made(stage: Stage, latest: Mapping[Stage, StageRow]) -> bool:
    """Whether the stage has passed and nothing that it needs was made anew since."""
    row = latest.get(stage)
    if row is None or row.status is not StageStatus.PASSED:
        return False
    return all(made(need, latest) and not _older(row, latest[need]) for need in STAGE_RULES[stage].needs)


def _due(rule: StageRule, latest: Mapping[Stage, StageRow]) -> bool:
    row = latest.get(rule.stage)
    if not all(made(need, latest) for need in rule.needs):
        return False
    if row is None:
        return True
    if row.status in OPEN_STAGE_STATUSES:
        return False
    # With the same inputs, a round that did not pass is asked for again only by a retry or a redo, never by itself.
    return any(_older(row, latest[need]) for need in rule.needs)


def _older(row: StageRow, need: StageRow) -> bool:
    return need.ended_at is not None and row.requested_at < need.ended_at
