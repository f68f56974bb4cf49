"""The end of a round: what its run reported becomes the row's status, another round, or the project's stop.

Belongs here: writing what `model/stage_end.py: decide_end` decides, in the caller's transaction, with the project locked.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from comic_pipeline import quality, service
from comic_pipeline.launching import max_runtime
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Project
from comic_pipeline.model.stage import StageRow, needs_made, remake_scope, remakes_in_a_row, rounds_in_a_row
from comic_pipeline.model.stage_end import StageEnd, decide_end, project_state_after
from comic_pipeline.model.submission import TAKES
from comic_pipeline.model.verdict import Severity, Verdict
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, STAGE_RULES, ProjectState, RunPhase, Stage, StageStatus
from comic_pipeline.settings import Settings
from comic_pipeline.store import ledger, limits, overrides, projects, stages, verdicts
from comic_pipeline.store.database import Connection

# Who asks when a closed gate has shots made anew by itself.
_BY_GATE = "qc"
# Stages that are made as a whole: their take is kept under this number.
_WHOLE = {Stage.STORYBOARD: (0,), Stage.FILM: (0,)}


def end_round(
    connection: Connection, project: Project, row: StageRow, phase: RunPhase, *, settings: Settings, now: datetime
) -> bool:
    """End the round of a run that is over. False when it had ended."""
    code, message = row.error_code, row.error_message or ""
    if phase in (RunPhase.CANCELED, RunPhase.FAILED) and code is None and _ran_out(row, settings, now=now):
        # Dagster stopped it at its `dagster/max_runtime` and calls that a failure: nobody cancelled anything, nothing died.
        phase, code = RunPhase.FAILED, ErrorCode.TASK_TIMEOUT
        limit = max_runtime(row.stage, settings)
        message = f"the run of {row.stage} took longer than {limit} s (dagster/max_runtime); what was made is kept for a retry"
    given = _verdicts_of(connection, project, row)
    end = _decide(connection, project, row, phase, code=code, message=message, given=given, settings=settings)
    if row.run_id:
        ledger.drop_leases(connection, row.run_id)
        limits.drop_leases(connection, holder=row.run_id)
    no_word = row.error_code is None and not given and phase in (RunPhase.FAILED, RunPhase.GONE)
    if no_word and not project.cancel_requested and not needs_made(row.stage, stages.latest(connection, project.id)):
        # A run by hand selected this stage too but failed before it: it becomes due when its needs are made.
        return stages.end(connection, row.id, status=StageStatus.CANCELLED, code=None, message="not reached", now=now)
    stages.end(connection, row.id, status=end.status, code=end.code, message=end.message, now=now)
    if row.stage is Stage.RELEASE:
        _after_release(connection, project, row, end, now=now)
    elif project.status in ACTIVE_PROJECT_STATES:
        # Elsewhere nothing goes on by itself: a retry or a redo takes up what did not pass.
        if _outlived(connection, project, row, end):
            ledger.renew(connection, project.id, STAGE_RULES[row.stage].task_types)
            end = replace(end, again=True)
        if end.again:
            refused = [verdict for verdict in given.values() if not verdict.passed]
            scope = _remake(connection, project, row, refused, now=now) if end.code is ErrorCode.QC_FAILED and refused else None
            _ask_again(connection, row, scope=scope, now=now)
        move_on(connection, project, row.stage, end, now=now)
    return True


def move_on(connection: Connection, project: Project, stage: Stage, end: StageEnd, *, now: datetime) -> None:
    """Stop a producing project when its stage ended for good without passing."""
    state = project_state_after(end)
    if state is None:
        return
    if state is ProjectState.CANCELLED:
        # Somebody terminated the run: the other stages of the project stop too, and the last one ends it.
        service.stop(connection, project.id, reason=end.message, now=now)
        return
    for row in stages.latest(connection, project.id).values():
        if row.status is StageStatus.REQUESTED:
            # No new paid work for a project that has stopped; a retry asks for it again.
            message = f"not started: {stage} ended {end.status}"
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=None, message=message, now=now)
    _stop(connection, project, stage, end, old=ACTIVE_PROJECT_STATES, new=state, now=now)


def _outlived(connection: Connection, project: Project, row: StageRow, end: StageEnd) -> bool:
    """Whether the round was stopped for what its project had been stopped for, before a person took the project up again.

    A retry may come while the run of a project that timed out, or a round that settles a cancelled one, is still at work.
    """
    stopped = end.status is StageStatus.CANCELLED and not project.cancel_requested
    return stopped and row.requested_at < projects.opened_at(connection, project.id)


def _decide(
    connection: Connection,
    project: Project,
    row: StageRow,
    phase: RunPhase,
    *,
    code: ErrorCode | None,
    message: str,
    given: dict[str, Verdict],
    settings: Settings,
) -> StageEnd:
    assets, history = STAGE_RULES[row.stage].assets, stages.history(connection, project.id)
    required = [quality.GATES[asset] for asset in assets if asset in quality.GATES]
    return decide_end(
        phase,
        stage=row.stage,
        code=code,
        message=message,
        verdicts_missing=tuple(check for check in required if check not in given),
        verdicts_failed=tuple(check for check, verdict in given.items() if not verdict.passed),
        all_gated=len(required) == len(assets),
        round_number=rounds_in_a_row(row, history),
        cancel_requested=project.cancel_requested,
        may_remake=project.status in ACTIVE_PROJECT_STATES and remakes_in_a_row(row, history) < settings.qc_remakes,
    )


def _verdicts_of(connection: Connection, project: Project, row: StageRow) -> dict[str, Verdict]:
    """What the checks of this stage said in its run: a run by hand over several stages gives verdicts about all of them."""
    of_run = verdicts.of_run(connection, project.id, run_id=row.run_id or "")
    return {check: verdict for (asset, check), verdict in of_run.items() if asset in STAGE_RULES[row.stage].assets}


def _remake(connection: Connection, project: Project, row: StageRow, refused: Sequence[Verdict], *, now: datetime) -> str:
    """Give every refused shot its next take; the scope of the round that makes them."""
    blamed = _blamed(refused)
    field, before = TAKES[row.stage], overrides.load(connection, project.id)
    for seq in _WHOLE.get(row.stage) or blamed or ledger.shots(connection, project.id):
        take = str(before.take(seq, field) + 1)
        overrides.add(connection, project.id, seq=seq, field=field, value=take, by=_BY_GATE, now=now)
    return remake_scope(blamed)


def _blamed(refused: Sequence[Verdict]) -> Collection[int]:
    """The shots that an ERROR names; none when what is wrong is the whole."""
    found = (one for verdict in refused for one in verdict.findings)
    return {one.seq for one in found if one.severity is Severity.ERROR and one.seq is not None}


def _after_release(connection: Connection, project: Project, row: StageRow, end: StageEnd, *, now: datetime) -> None:
    """A release that failed is for an operator; the film stays approved, so a retry releases it without another review."""
    if project.status != ProjectState.APPROVED or end.status is StageStatus.PASSED:
        return
    if end.again:
        _ask_again(connection, row, scope=None, now=now)
    else:
        _stop(connection, project, row.stage, end, old=(ProjectState.APPROVED,), new=ProjectState.MANUAL_REQUIRED, now=now)


def _ask_again(connection: Connection, row: StageRow, *, scope: str | None, now: datetime) -> None:
    stages.request(connection, row.project_id, row.stage, stage_id=str(uuid4()), priority=row.priority, scope=scope, now=now)


def _stop(
    connection: Connection,
    project: Project,
    stage: Stage,
    end: StageEnd,
    *,
    old: Collection[ProjectState],
    new: ProjectState,
    now: datetime,
) -> None:
    projects.move(
        connection,
        project.id,
        old=old,
        new=new,
        now=now,
        fail_stage=stage,
        error_code=end.code,
        error_message=end.message[:4_000],
        finished_at=now,
    )


def _ran_out(row: StageRow, settings: Settings, *, now: datetime) -> bool:
    return row.started_at is not None and now - row.started_at >= timedelta(seconds=max_runtime(row.stage, settings))
