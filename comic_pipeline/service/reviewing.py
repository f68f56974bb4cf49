"""What a person says about a finished film: approve it for release, or reject it, with a redo or without."""

from datetime import datetime

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Project, Tier
from comic_pipeline.model.review import Decision, Review, ReviewRequest
from comic_pipeline.model.submission import Answer, RedoRequest, Submission
from comic_pipeline.model.task import newest_film
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState, Stage, SubmissionKind, check_allowed
from comic_pipeline.service.house import House, parse, request, target
from comic_pipeline.service.remaking import make_anew
from comic_pipeline.store import ledger, projects, reviews, verdicts
from comic_pipeline.store.database import Connection

UNATTENDED = "unattended"


def review(connection: Connection, submission: Submission, house: House) -> Answer:
    """Carry out a review, once: the same one again finds it done. Raises Refused(CONFLICT) in any other state."""
    project, asked = target(connection, submission), parse(ReviewRequest, submission)
    before = reviews.of_project(connection, project.id)
    if before and _says_the_same(before[-1], asked) and project.status in _states_after(asked):
        return Answer(project_id=project.id, status=project.status, reused=True, **_words(asked))
    check_allowed(SubmissionKind.REVIEW, project.status, project_id=project.id)
    _record(connection, project, asked, now=house.now)
    if asked.decision is Decision.APPROVE:
        _approve(connection, project, now=house.now)
        return Answer(project_id=project.id, status=ProjectState.APPROVED, **_words(asked))
    if asked.stage is None:
        _move(connection, project, ProjectState.REJECTED, now=house.now)
        return Answer(project_id=project.id, status=ProjectState.REJECTED, **_words(asked))
    redo = RedoRequest(stage=asked.stage, shots=asked.shots)
    make_anew(connection, project, redo, by=asked.by, now=house.now)
    return Answer(project_id=project.id, status=ProjectState.QUEUED, **_words(asked))


def approve_unattended(connection: Connection, project_id: str, *, now: datetime) -> bool:
    """Approve a film without a person, where the settings allow it: never a premium one, never one with a finding."""
    project = projects.get(connection, project_id)
    found = verdicts.latest(connection, project_id)
    clean = all(verdict.passed and verdict.override_by is None and not verdict.findings for verdict in found)
    if project.tier is Tier.PREMIUM or project.status != ProjectState.PENDING_REVIEW or not clean:
        return False
    asked = ReviewRequest(decision=Decision.APPROVE, by=UNATTENDED, note="no finding")
    _record(connection, project, asked, now=now)
    _approve(connection, project, now=now)
    return True


def _approve(connection: Connection, project: Project, *, now: datetime) -> None:
    _move(connection, project, ProjectState.APPROVED, now=now)
    request(connection, project, Stage.RELEASE, now=now)


def _move(connection: Connection, project: Project, new: ProjectState, *, now: datetime) -> None:
    if not projects.move(connection, project.id, old=(ProjectState.PENDING_REVIEW,), new=new, now=now):
        raise Refused(ErrorCode.CONFLICT, f"project {project.id} has just changed; look at its status and try again")


def _record(connection: Connection, project: Project, asked: ReviewRequest, *, now: datetime) -> None:
    film = newest_film(ledger.of_project(connection, project.id))
    if film is None or film.output is None:
        raise Refused(ErrorCode.CONFLICT, f"project {project.id} has no film to review")
    reviews.record(
        connection,
        Review(
            project_id=project.id,
            decision=asked.decision,
            by=asked.by,
            note=asked.note,
            film_sha256=film.output.sha256,
            redo_stage=asked.stage,
            redo_shots=asked.shots,
            at=now,
        ),
    )


def _says_the_same(last: Review, asked: ReviewRequest) -> bool:
    return (last.decision, last.redo_stage, last.redo_shots) == (asked.decision, asked.stage, asked.shots)


def _states_after(asked: ReviewRequest) -> tuple[ProjectState, ...]:
    """Where a project is between such a review and the next one."""
    if asked.decision is Decision.APPROVE:
        return (ProjectState.APPROVED,)
    return (ProjectState.REJECTED,) if asked.stage is None else ACTIVE_PROJECT_STATES


def _words(asked: ReviewRequest) -> dict[str, str]:
    if asked.decision is Decision.APPROVE:
        return {"message_zh": "已通过审核，正在发布", "message_en": "approved; the release follows"}
    if asked.stage is None:
        return {"message_zh": "未通过审核", "message_en": "rejected"}
    return {"message_zh": "未通过审核，正在重新制作", "message_en": f"rejected; {asked.stage} are made anew"}
