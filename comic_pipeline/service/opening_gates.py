"""Opening a closed QC gate by hand: recorded as a verdict of its own, shown in review and in Dagster."""

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import PERSON_MAX_CHARS, clean_text
from comic_pipeline.model.submission import Answer
from comic_pipeline.model.verdict import Severity, Verdict
from comic_pipeline.model.workflow import ALLOWED_FROM, ProjectState, SubmissionKind
from comic_pipeline.service.house import House, go_on, refuse_second_formal, reopen
from comic_pipeline.store import projects, stages, verdicts
from comic_pipeline.store.database import Connection

_REASON_MAX_CHARS = 2_000


def open_gate(connection: Connection, project_id: str, check: str, *, by: str, reason: str, house: House) -> Answer:
    """Let this version of the data pass `check`, and go on: the next round finds everything made, and the gate open.

    Raises Refused: NOT_FOUND for a check that gave no verdict, CONFLICT when it passed, or while the project is at work.
    """
    by = clean_text("by", by, limit=PERSON_MAX_CHARS, required=True)
    reason = clean_text("reason", reason, limit=_REASON_MAX_CHARS, required=True)
    projects.lock(connection, project_id)
    project = projects.get(connection, project_id)
    closed = _closed(verdicts.latest(connection, project_id), check, project_id=project_id)
    if project.status not in ALLOWED_FROM[SubmissionKind.RETRY]:
        allowed = ", ".join(sorted(ALLOWED_FROM[SubmissionKind.RETRY]))
        raise Refused(ErrorCode.CONFLICT, f"project {project_id} is {project.status}; a gate is opened in one of {allowed}")
    refuse_second_formal(connection, project)
    opened = {"passed": True, "severity": Severity.WARN, "override_by": by, "override_reason": reason, "at": house.now}
    verdicts.record(connection, closed.model_copy(update=opened))
    go_on(connection, project, stages.latest(connection, project_id), now=house.now)
    reopen(connection, project, house.now)
    return Answer(
        project_id=project_id,
        status=ProjectState.QUEUED,
        message_zh="已放行该质检项",
        message_en=f"{check} is open; work goes on",
    )


def _closed(found: list[Verdict], check: str, *, project_id: str) -> Verdict:
    for verdict in found:
        if verdict.check == check:
            if verdict.passed:
                raise Refused(ErrorCode.CONFLICT, f"{check} of project {project_id} is open; there is nothing to override")
            return verdict
    given = ", ".join(verdict.check for verdict in found) or "none yet"
    raise Refused(ErrorCode.NOT_FOUND, f"{check!r} gave no verdict for project {project_id}; those that did: {given}")
