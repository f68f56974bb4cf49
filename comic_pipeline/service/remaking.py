"""Going on and making anew: retry from where a project stopped, redo of chosen shots."""

from datetime import datetime

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Project
from comic_pipeline.model.stage import check_redoable
from comic_pipeline.model.submission import Answer, RedoRequest, Submission
from comic_pipeline.model.workflow import STAGE_RULES, ProjectState, Stage, SubmissionKind, check_allowed, downstream
from comic_pipeline.service.house import House, go_on, parse, refuse_second_formal, reopen, request, target
from comic_pipeline.store import ledger, overrides, stages
from comic_pipeline.store.database import Connection


def retry(connection: Connection, submission: Submission, house: House) -> Answer:
    """Go on from the stage that did not pass, with a fresh allowance. Raises Refused(CONFLICT)."""
    project = target(connection, submission)
    check_allowed(SubmissionKind.RETRY, project.status, project_id=project.id)
    refuse_second_formal(connection, project)
    go_on(connection, project, stages.latest(connection, project.id), now=house.now)
    # A release that failed is tried again; its film is approved and needs no second review.
    state = ProjectState.APPROVED if project.fail_stage == Stage.RELEASE else ProjectState.QUEUED
    reopen(connection, project, house.now, new=state, retry_count=project.retry_count + 1)
    return Answer(project_id=project.id, status=state)


def redo(connection: Connection, submission: Submission, house: House) -> Answer:
    """Make some shots anew, and what depends on them; what is changed is stored as overrides. Raises Refused."""
    project, asked = target(connection, submission), parse(RedoRequest, submission)
    check_allowed(SubmissionKind.REDO, project.status, project_id=project.id)
    make_anew(connection, project, asked, by=submission.user_id, now=house.now)
    return Answer(project_id=project.id, status=ProjectState.QUEUED)


def make_anew(connection: Connection, project: Project, asked: RedoRequest, *, by: str, now: datetime) -> None:
    """Store what is wanted, ask for the stage's next round and put the project back into production. Raises Refused."""
    refuse_second_formal(connection, project)
    latest = stages.latest(connection, project.id)
    affected = downstream(asked.stage)
    check_redoable(asked.stage, latest, project_id=project.id)
    before = overrides.load(connection, project.id)
    for seq in _shots_to_redo(connection, project, asked):
        for wish in asked.overrides(seq, before):
            overrides.add(connection, project.id, seq=seq, field=wish.field, value=wish.value, by=by, now=now)
    for stage in affected:
        ledger.renew(connection, project.id, STAGE_RULES[stage].task_types)
    request(connection, project, asked.stage, now=now)
    # What failed beside it would otherwise keep the project from ever being finished.
    go_on(connection, project, {stage: row for stage, row in latest.items() if stage not in affected}, now=now)
    reopen(connection, project, now)


def _shots_to_redo(connection: Connection, project: Project, asked: RedoRequest) -> tuple[int, ...]:
    if asked.stage is Stage.FILM:
        return (0,)
    known = ledger.shots(connection, project.id)
    unknown = sorted(set(asked.shots).difference(known))
    if unknown:
        raise Refused(ErrorCode.INPUT_INVALID, f"shots {unknown[:10]} do not exist in project {project.id}; it has {known}")
    return tuple(sorted(set(asked.shots)) or known)
