"""The one door for every request from outside: CLI, operator jobs, the backend's rows.

Belongs here: what a submission does to the tables, in one transaction. Does not: reading status (`status.py`), launching or
stopping runs (`workflow.py`), asking providers.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ComicError, ErrorCode, Refused
from comic_pipeline.model.limits import DAILY_QUOTA, FORMAL_TIERS, PRIORITY
from comic_pipeline.model.project import ProduceRequest, Project, RawProduceRequest, Tier
from comic_pipeline.model.stage import made
from comic_pipeline.model.storyboard import OverrideField
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.workflow import (
    ALLOWED_FROM,
    STAGE_RULES,
    ProjectState,
    Stage,
    StageStatus,
    SubmissionKind,
    check_allowed,
    downstream,
)
from comic_pipeline.store import attempts, ledger, overrides, projects, stages, submissions
from comic_pipeline.store.submissions import NewSubmission

_Payload = TypeVar("_Payload", bound=BaseModel)

_SHOT_FIELDS = {
    Stage.FRAMES: OverrideField.TAKE_FRAMES,
    Stage.VOICES: OverrideField.TAKE_VOICES,
    Stage.CLIPS: OverrideField.TAKE_CLIPS,
    Stage.FILM: OverrideField.TAKE_FILM,
}


class CancelRequest(BaseModel):
    """Payload of a `cancel` submission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str = ""
    force: bool = False


class RedoRequest(BaseModel):
    """Payload of a `redo` submission: which stage, which shots (all when empty), with which words or seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage
    shots: tuple[int, ...] = ()
    prompt: str = ""
    seed: int | None = None


class Waits(Exception):
    """Not an error: the submission keeps its place in line, for `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class House:
    """What the door needs to know: budgets by tier, and the time."""

    budgets: dict[Tier, Decimal]
    now: datetime


def submit(connection: Connection, new: NewSubmission, *, now: datetime) -> Submission:
    """Write a request down, once: a repeated key finds the first one. The reconciler admits it."""
    if not new.user_id or len(new.user_id) > 128:
        raise Refused(ErrorCode.INPUT_INVALID, f"user id {new.user_id[:40]!r} must have 1 to 128 characters")
    submission, _ = submissions.insert(connection, new, now=now)
    return submission


def decide(connection: Connection, submission: Submission, house: House) -> Answer | None:
    """Carry out one submission and answer it in its row; None when it keeps waiting. Never raises for a bad request."""
    try:
        with connection.begin_nested():
            answer = _HANDLERS[submission.kind](connection, submission, house)
    except Waits as waits:
        submissions.wait(connection, submission.id, message=waits.reason)
        return None
    except ComicError as refused:
        submissions.reject(connection, submission.id, code=refused.code, message=refused.detail, now=house.now)
        return None
    submissions.accept(connection, submission.id, answer, now=house.now)
    return answer


def answer_of(connection: Connection, submission_id: int) -> Answer:
    """The answer to a decided submission. Raises Refused with the reason when it was rejected or keeps waiting."""
    decided = submissions.get(connection, submission_id)
    if decided is None:
        raise Refused(ErrorCode.NOT_FOUND, f"submission {submission_id} does not exist")
    if decided.answer is not None:
        return Answer.model_validate_json(decided.answer)
    raise Refused(
        decided.error_code or ErrorCode.CONFLICT, decided.error_message or f"submission {decided.id} is {decided.status}"
    )


def _produce(connection: Connection, submission: Submission, house: House) -> Answer:
    asked = _parse(RawProduceRequest, submission).checked()
    project = _new_project(asked, submission, house)
    same = projects.find_same(connection, project)
    if same is not None:
        return Answer(project_id=same.id, status=same.status, reused=True)
    if project.tier in FORMAL_TIERS and (active := projects.find_active_formal(connection, project.user_id)):
        raise Waits(f"waiting for project {active}: one formal project a user at a time / 等待用户的上一个项目完成")
    _check_quota(connection, submission, house.now)
    try:
        with connection.begin_nested():
            projects.insert(connection, project)
    except IntegrityError:
        raise Refused(ErrorCode.CONFLICT, f"project id {project.id} is taken") from None
    return Answer(project_id=project.id, status=project.status)


def _new_project(asked: ProduceRequest, submission: Submission, house: House) -> Project:
    return Project(
        id=submission.project_id or f"p-{house.now:%Y%m%d}-{uuid4().hex[:10]}",
        user_id=submission.user_id,
        tier=submission.tier,
        kind=asked.kind,
        title="",
        idea=asked.idea,
        script=asked.script,
        style=asked.style.key,
        duration_bucket=asked.duration,
        aspect=asked.aspect,
        resolution=asked.resolution,
        language=asked.language,
        status=ProjectState.QUEUED,
        budget=house.budgets[submission.tier],
        created_at=house.now,
        updated_at=house.now,
    )


def _check_quota(connection: Connection, submission: Submission, now: datetime) -> None:
    quota = DAILY_QUOTA[submission.tier]
    if quota is None:
        return
    local = now.astimezone(attempts.BOOK_ZONE)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    used = submissions.count_produced(connection, submission.user_id, since=start, until=start + timedelta(days=1))
    if used >= quota:
        raise Refused(
            ErrorCode.QUOTA_NOT_ENOUGH,
            f"user {submission.user_id} has used {used} of {quota} {submission.tier} films of {start:%Y-%m-%d} (Asia/Shanghai)",
        )


def _retry(connection: Connection, submission: Submission, house: House) -> Answer:
    project = _target(connection, submission)
    check_allowed(SubmissionKind.RETRY, ProjectState(project.status), project_id=project.id)
    _refuse_second_formal(connection, project)
    latest = stages.latest(connection, project.id)
    ended = (StageStatus.FAILED, StageStatus.MANUAL_REQUIRED, StageStatus.CANCELLED)
    for stage, row in latest.items():
        if row.status not in ended:
            continue
        ledger.renew(connection, project.id, STAGE_RULES[stage].crafts)
        # Stages whose needs are not made become due by themselves when those are.
        if all(made(need, latest) for need in STAGE_RULES[stage].needs):
            stages.request(connection, project.id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=house.now)
    _reopen(connection, project, house.now, retry_count=project.retry_count + 1)
    return Answer(project_id=project.id, status=ProjectState.QUEUED)


def _redo(connection: Connection, submission: Submission, house: House) -> Answer:
    project, asked = _target(connection, submission), _parse(RedoRequest, submission)
    check_allowed(SubmissionKind.REDO, ProjectState(project.status), project_id=project.id)
    _refuse_second_formal(connection, project)
    latest = stages.latest(connection, project.id)
    if asked.stage not in latest or asked.stage is Stage.STORYBOARD:
        possible = ", ".join(stage for stage in latest if stage is not Stage.STORYBOARD)
        raise Refused(
            ErrorCode.CONFLICT, f"stage {asked.stage} of project {project.id} cannot be re-made; one of: {possible or 'none yet'}"
        )
    for seq in _shots_to_redo(connection, project, asked):
        _override(connection, project, asked, seq=seq, by=submission.user_id, now=house.now)
    affected = downstream(asked.stage)
    for stage in affected:
        ledger.renew(connection, project.id, STAGE_RULES[stage].crafts)
    stages.request(connection, project.id, asked.stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=house.now)
    _reopen(connection, project, house.now)
    return Answer(project_id=project.id, status=ProjectState.QUEUED)


def _shots_to_redo(connection: Connection, project: Project, asked: RedoRequest) -> tuple[int, ...]:
    if asked.stage is Stage.FILM:
        return (0,)
    made = {task.shot_seq for task in ledger.of_project(connection, project.id) if task.shot_seq is not None}
    unknown = sorted(set(asked.shots) - made)
    if unknown:
        raise Refused(ErrorCode.INPUT_INVALID, f"shots {unknown} do not exist in project {project.id}; it has {sorted(made)}")
    return asked.shots or tuple(sorted(made))


def _override(  # what, where, by whom, when
    connection: Connection, project: Project, asked: RedoRequest, *, seq: int, by: str, now: datetime
) -> None:
    words = {
        Stage.FRAMES: OverrideField.IMAGE_PROMPT,
        Stage.CLIPS: OverrideField.MOTION_PROMPT,
        Stage.VOICES: OverrideField.DIALOGUE,
    }
    field = _SHOT_FIELDS[asked.stage]
    take = overrides.load(connection, project.id).take(seq, field) + 1
    overrides.add(connection, project.id, seq=seq, field=field, value=str(take), by=by, now=now)
    if asked.prompt and asked.stage in words:
        overrides.add(connection, project.id, seq=seq, field=words[asked.stage], value=asked.prompt, by=by, now=now)
    if asked.seed is not None:
        overrides.add(connection, project.id, seq=seq, field=OverrideField.SEED, value=str(asked.seed), by=by, now=now)


def _cancel(connection: Connection, submission: Submission, house: House) -> Answer:
    project, asked = _target(connection, submission), _parse(CancelRequest, submission)
    if project.status == ProjectState.CANCELLED:
        return _cancelled(project.id, ProjectState.CANCELLED, running=())
    check_allowed(SubmissionKind.CANCEL, ProjectState(project.status), project_id=project.id)
    reason = asked.reason or f"cancelled by {submission.user_id}"
    projects.request_cancel(connection, project.id, reason=reason, now=house.now)
    ledger.cancel_project(connection, project.id, reason=reason, now=house.now)
    for row in stages.latest(connection, project.id).values():
        if row.status is StageStatus.REQUESTED:
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=ErrorCode.CANCELLED, message=reason, now=house.now)
    busy = [
        row for row in stages.latest(connection, project.id).values() if row.status in (StageStatus.QUEUED, StageStatus.RUNNING)
    ]
    running = tuple(
        task.task_id
        for task in ledger.of_project(connection, project.id)
        if task.status == "running" and task.provider_request_id
    )
    if busy:
        return _cancelled(project.id, ProjectState(project.status), running=running)
    projects.move(
        connection,
        project.id,
        old=ALLOWED_FROM[SubmissionKind.CANCEL],
        new=ProjectState.CANCELLED,
        now=house.now,
        cancelled_at=house.now,
        finished_at=house.now,
        error_code=ErrorCode.CANCELLED,
        error_message=reason,
    )
    return _cancelled(project.id, ProjectState.CANCELLED, running=running)


def _cancelled(project_id: str, state: ProjectState, *, running: tuple[str, ...]) -> Answer:
    at_once = state is ProjectState.CANCELLED
    return Answer(
        project_id=project_id,
        status=state,
        effective_immediately=at_once,
        running_at_provider=running,
        message_zh="已取消" if at_once else "已请求取消，系统会在当前步骤结束后停止",
        message_en="cancelled" if at_once else "cancel requested: work stops after the current step",
    )


def _not_yet(connection: Connection, submission: Submission, house: House) -> Answer:  # noqa: ARG001  # a handler's signature
    raise Refused(ErrorCode.CONFLICT, f"{submission.kind} is not offered for this kind of project")


_HANDLERS = {
    SubmissionKind.PRODUCE: _produce,
    SubmissionKind.RETRY: _retry,
    SubmissionKind.REDO: _redo,
    SubmissionKind.CANCEL: _cancel,
    SubmissionKind.REVIEW: _not_yet,
    SubmissionKind.CONFIRM: _not_yet,
}


def _reopen(connection: Connection, project: Project, now: datetime, **values: object) -> None:
    moved = projects.move(
        connection,
        project.id,
        old=(ProjectState(project.status),),
        new=ProjectState.QUEUED,
        now=now,
        fail_stage=None,
        error_code=None,
        error_message=None,
        finished_at=None,
        cancel_requested=False,
        cancel_requested_at=None,
        cancel_reason=None,
        cancelled_at=None,
        **values,
    )
    if not moved:
        raise Refused(ErrorCode.CONFLICT, f"project {project.id} has just changed; look at its status and try again")


def _refuse_second_formal(connection: Connection, project: Project) -> None:
    if project.tier not in FORMAL_TIERS:
        return
    active = projects.find_active_formal(connection, project.user_id)
    if active not in (None, project.id):
        raise Refused(ErrorCode.CONFLICT, f"project {active} of the same user is active; one formal project a user at a time")


def _target(connection: Connection, submission: Submission) -> Project:
    if not submission.project_id:
        raise Refused(ErrorCode.INPUT_INVALID, f"{submission.kind} names no project")
    return projects.get(connection, submission.project_id)


def _parse(kind: type[_Payload], submission: Submission) -> _Payload:
    try:
        return kind.model_validate(json.loads(submission.payload))
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "payload"
        raise Refused(ErrorCode.INPUT_INVALID, f"{where}: {first['msg']} (got {str(first.get('input'))[:80]!r})") from None
    except (json.JSONDecodeError, RecursionError) as broken:
        raise Refused(ErrorCode.INPUT_INVALID, f"payload is not JSON: {broken}") from None
