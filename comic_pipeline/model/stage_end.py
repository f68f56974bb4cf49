"""How a round ends: from what a run, its tasks and its checks reported to the end of its stage row and the project's next state.

Pure decisions, table-tested. Reading what was reported is `comic_pipeline/workflow/`; the states themselves are in `workflow.py`.
"""

from dataclasses import dataclass

from comic_pipeline.model.errors import ERROR_RULES, ErrorCode
from comic_pipeline.model.workflow import MAX_ROUNDS, ProjectState, RunPhase, Stage, StageStatus


@dataclass(frozen=True)
class StageEnd:
    """What a finished run means for its stage row: the row's status, whether another round follows, and the code to show."""

    status: StageStatus
    again: bool
    code: ErrorCode | None
    message: str


def landing(code: ErrorCode, stage: Stage) -> ProjectState:
    """Where a project lands when `stage` failed for good with `code`.

    A rejected idea is the user's to change; a rejected shot is for an operator, who can redo it with other words.
    """
    if code is ErrorCode.MODERATION_REJECTED and stage is not Stage.STORYBOARD:
        return ProjectState.MANUAL_REQUIRED
    return ProjectState(ERROR_RULES[code].lands_in)


def decide_end(  # noqa: PLR0913  # each fact is one input of the decision; a bag of them would hide which matter
    phase: RunPhase,
    *,
    stage: Stage,
    code: ErrorCode | None,
    message: str,
    verdicts_missing: tuple[str, ...],
    verdicts_failed: tuple[str, ...],
    all_gated: bool,
    round_number: int,
    cancel_requested: bool,
    may_remake: bool,
) -> StageEnd:
    """Decide from what the run, its tasks and its checks reported. Pure; table-tested.

    A run that ended without saying why (killed, lost, machine gone) gets another round, at most MAX_ROUNDS: the ledger resumes
    what was in flight. `all_gated`: every asset of the stage has a gate, so that its verdicts alone show that all was made; the
    stage then passed even if its run failed afterwards, in a later stage that it was started by hand for. `may_remake`: what a
    closed gate is about may be made anew by itself.
    """
    if cancel_requested or phase is RunPhase.CANCELED:
        reason = message or ("cancel was requested" if cancel_requested else "the run was terminated in Dagster")
        return StageEnd(StageStatus.CANCELLED, again=False, code=ErrorCode.CANCELLED, message=reason)
    done = phase is RunPhase.SUCCEEDED or (all_gated and code is None)
    if done and not verdicts_missing and not verdicts_failed:
        return StageEnd(StageStatus.PASSED, again=False, code=None, message="")
    if verdicts_failed:
        status = StageStatus.FAILED if may_remake else StageStatus.MANUAL_REQUIRED
        said = message or f"closed gates: {', '.join(verdicts_failed)}"
        return StageEnd(status, again=may_remake, code=ErrorCode.QC_FAILED, message=said)
    if phase is RunPhase.SUCCEEDED:
        return _another_round(
            round_number, f"the run skipped its checks: {', '.join(verdicts_missing)}", code=ErrorCode.QC_FAILED
        )
    if code is not None:
        return StageEnd(_STATUS_OF_LANDING[landing(code, stage)], again=False, code=code, message=message)
    return _another_round(round_number, message or "the run ended without a word", code=ErrorCode.UNKNOWN_ERROR)


def _another_round(round_number: int, message: str, *, code: ErrorCode) -> StageEnd:
    again = round_number < MAX_ROUNDS
    if again:
        return StageEnd(StageStatus.FAILED, again=True, code=code, message=message)
    return StageEnd(
        StageStatus.MANUAL_REQUIRED, again=False, code=code, message=f"{message}; {round_number} rounds ended this way"
    )


_STATUS_OF_LANDING = {
    ProjectState.FAILED: StageStatus.FAILED,
    ProjectState.MANUAL_REQUIRED: StageStatus.MANUAL_REQUIRED,
    ProjectState.CANCELLED: StageStatus.CANCELLED,
}


def project_state_after(end: StageEnd) -> ProjectState | None:
    """Where the project goes when a stage ended like this; None when it stays in production."""
    if end.again or end.status is StageStatus.PASSED:
        return None
    return next(state for state, status in _STATUS_OF_LANDING.items() if status is end.status)
