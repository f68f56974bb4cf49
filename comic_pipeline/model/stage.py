"""One round of a stage (one row of `stages`, one Dagster run), and what follows from the rounds of a project."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.workflow import (
    OPEN_STAGE_STATUSES,
    PRODUCTION,
    REDOABLE,
    STAGE_RULES,
    ProjectState,
    Stage,
    StageRule,
    StageStatus,
    downstream,
)

# What a round is for when it is not the whole stage: to follow jobs that were left behind, or to make anew what a gate refused.
SETTLE = "settle"
_REMAKE = "qc"


class StageRow(BaseModel):
    """One row of `stages`. `scope`: `settle`, `qc:` with the shots to be made anew, or None for the whole stage."""

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
    waited_seconds: float


def due_stages(latest: Mapping[Stage, StageRow]) -> tuple[Stage, ...]:
    """Stages to request now: no round of theirs is open, all they need is made, and they never ran or are older than a need.

    Level-triggered: a redo inserts one new round, and everything downstream becomes due by itself when that round passes.
    """
    return tuple(stage for stage in PRODUCTION if _due(STAGE_RULES[stage], latest))


def shown_state(latest: Mapping[Stage, StageRow]) -> ProjectState:
    """A producing project's state: that of the earliest unfinished stage, PENDING_REVIEW when all are fresh and passed."""
    for stage in PRODUCTION:
        if not made(stage, latest):
            return STAGE_RULES[stage].state if latest else ProjectState.QUEUED
    return ProjectState.PENDING_REVIEW


def made(stage: Stage, latest: Mapping[Stage, StageRow]) -> bool:
    """Whether the stage has passed and nothing that it needs was made anew since."""
    row = latest.get(stage)
    if row is None or row.status is not StageStatus.PASSED:
        return False
    return all(made(need, latest) and not _older(row, latest[need]) for need in STAGE_RULES[stage].needs)


def needs_made(stage: Stage, latest: Mapping[Stage, StageRow]) -> bool:
    """Whether everything that the stage needs is there."""
    return all(made(need, latest) for need in STAGE_RULES[stage].needs)


def stalled(latest: Mapping[Stage, StageRow]) -> StageRow | None:
    """The round that keeps a producing project from ever going on: nothing is open, nothing is due, and this one did not pass."""
    if any(row.status in OPEN_STAGE_STATUSES for row in latest.values()) or due_stages(latest):
        return None
    return next((latest[stage] for stage in PRODUCTION if not made(stage, latest)), None)


def rounds_in_a_row(row: StageRow, history: Sequence[StageRow]) -> int:
    """How many rounds of the stage, `row` the last, followed each other by themselves: a person's retry begins a new count."""
    return len(_in_a_row(row, history))


def remakes_in_a_row(row: StageRow, history: Sequence[StageRow]) -> int:
    """How many of these rounds were asked for by a closed gate."""
    return sum((one.scope or "").startswith(_REMAKE) for one in _in_a_row(row, history))


def remake_scope(shots: Collection[int]) -> str:
    """The scope of a round that makes these shots anew; the whole when there are none."""
    return f"{_REMAKE}:{','.join(map(str, sorted(shots))) or 'all'}"


def _in_a_row(row: StageRow, history: Sequence[StageRow]) -> list[StageRow]:
    rounds = {one.round: one for one in history if one.stage is row.stage}
    found = [row]
    while (before := rounds.get(row.round - 1)) is not None and before.status is StageStatus.FAILED:
        # A round that follows by itself is requested in the moment, and in the transaction, in which the one before it ends.
        if before.ended_at != row.requested_at:
            break
        found.append(before)
        row = before
    return found


def check_redoable(stage: Stage, latest: Mapping[Stage, StageRow], *, project_id: str) -> None:
    """Raise Refused(CONFLICT) unless the stage has been tried, its needs are made, and no run works on it or after it."""
    remakable = [one for one in REDOABLE if one in latest]
    if stage not in remakable:
        possible = ", ".join(remakable) or "none yet"
        raise Refused(ErrorCode.CONFLICT, f"stage {stage} of project {project_id} cannot be re-made; one of: {possible}")
    missing = ", ".join(need for need in STAGE_RULES[stage].needs if not made(need, latest))
    if missing:
        raise Refused(ErrorCode.CONFLICT, f"stage {stage} of project {project_id} needs {missing}, to be made first: retry that")
    for row in (latest[one] for one in downstream(stage) if one in latest):
        if row.status in OPEN_STAGE_STATUSES:
            raise Refused(
                ErrorCode.CONFLICT,
                f"stage {row.stage} of project {project_id} is {row.status} in run {row.run_id}; wait for it or terminate it",
            )


def _due(rule: StageRule, latest: Mapping[Stage, StageRow]) -> bool:
    row = latest.get(rule.stage)
    if not needs_made(rule.stage, latest):
        return False
    if row is None:
        return True
    if row.status in OPEN_STAGE_STATUSES:
        return False
    # With the same inputs, a round that did not pass is asked for again only by a retry or a redo, never by itself.
    return any(_older(row, latest[need]) for need in rule.needs)


def _older(row: StageRow, need: StageRow) -> bool:
    if row.run_id is not None and row.run_id == need.run_id:
        # A run by hand over several stages registers all of them when it starts, and makes them in order.
        return False
    return need.ended_at is not None and row.requested_at < need.ended_at
