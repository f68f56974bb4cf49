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

from pydantic import BaseModel, ValidationError

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.limits import DAILY_QUOTA, FORMAL_TIERS, PRIORITY
from comic_pipeline.model.project import (
    ProduceRequest,
    Project,
    RawProduceRequest,
    Tier,
    check_project_id,
    clean_text,
)
from comic_pipeline.model.stage import StageRow, check_redoable, needs_made
from comic_pipeline.model.submission import Answer, CancelRequest, RedoRequest, Submission
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import (
    ALLOWED_FROM,
    STAGE_RULES,
    ProjectState,
    Stage,
    StageStatus,
    SubmissionKind,
    SubmissionStatus,
    check_allowed,
    downstream,
)
from comic_pipeline.store import attempts, ledger, overrides, projects, stages, submissions
from comic_pipeline.store.database import Connection, Taken
from comic_pipeline.store.submissions import NewSubmission

_Payload = TypeVar("_Payload", bound=BaseModel)

_NOT_PASSED = (StageStatus.FAILED, StageStatus.MANUAL_REQUIRED, StageStatus.CANCELLED)
# What the table of submissions takes.
_PAYLOAD_MAX_CHARS = 200_000
_NAME_MAX_CHARS = 128


class Waits(Exception):
    """Not an error: the submission keeps its place in line, for `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _DecidedElsewhere(Exception):
    """Somebody else has answered the submission meanwhile: nothing of ours may stay."""


@dataclass(frozen=True)
class House:
    """What the door needs to know: budgets by tier, and the time."""

    budgets: dict[Tier, Decimal]
    now: datetime


def submit(connection: Connection, new: NewSubmission, *, now: datetime) -> Submission:
    """Write a request down, once: a repeated key finds the first one. The reconciler admits it.

    Raises Refused(INPUT_INVALID) for what no row can hold; what the payload means is judged when it is decided.
    """
    _check_name("user id", new.user_id)
    if new.key is not None:
        _check_name("idempotency key", new.key)
    if new.project_id is not None:
        check_project_id(new.project_id)
    elif new.kind is not SubmissionKind.PRODUCE:
        raise Refused(ErrorCode.INPUT_INVALID, f"{new.kind} names no project")
    clean_text("payload", new.payload, limit=_PAYLOAD_MAX_CHARS, required=False)
    submission, _ = submissions.insert(connection, new, now=now)
    return submission


def decide(connection: Connection, submission: Submission, house: House) -> Answer | None:
    """Carry out one submission and answer it in its row, all or nothing. Never raises for a bad request.

    None when it keeps waiting, was rejected, or has been decided by somebody else meanwhile.
    """
    try:
        with connection.begin_nested():
            answer = _HANDLERS[submission.kind](connection, submission, house)
            _accept(connection, submission, answer, now=house.now)
    except _DecidedElsewhere:
        return None
    except Waits as waits:
        submissions.wait(connection, submission.id, message=waits.reason)
        return None
    except Refused as refused:
        submissions.reject(connection, submission.id, code=refused.code, message=refused.detail, now=house.now)
        return None
    except Taken:
        # Another process (a run by hand, the command line) took the same stage or the user's one place a moment earlier.
        message = f"{submission.kind}: the project or its user has just begun something else; look at the status and try again"
        submissions.reject(connection, submission.id, code=ErrorCode.CONFLICT, message=message, now=house.now)
        return None
    return answer


def _accept(connection: Connection, submission: Submission, answer: Answer, *, now: datetime) -> None:
    if not submissions.accept(connection, submission.id, answer, now=now):
        raise _DecidedElsewhere


def keeps_waiting(connection: Connection, submission: Submission, house: House) -> bool:
    """Whether deciding a waiting submission now would change nothing: read only, so that a long line costs no writes."""
    if submission.status is not SubmissionStatus.WAITING or submission.kind is not SubmissionKind.PRODUCE:
        return False
    project = _new_project(_parse(RawProduceRequest, submission).checked(), submission, house)
    return _same(connection, project) is None and _formal_in_the_way(connection, project) is not None


def stop(connection: Connection, project_id: str, *, reason: str, now: datetime) -> bool:
    """Raise the flags of a project and end the rounds that no run has begun. True while a run is still at it.

    The first reason stays. The reconciler moves the project to CANCELLED when its last round has ended.
    """
    projects.request_cancel(connection, project_id, reason=reason, now=now)
    ledger.cancel_project(connection, project_id, reason=reason, now=now)
    busy = False
    for row in stages.latest(connection, project_id).values():
        if row.status is StageStatus.REQUESTED:
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=ErrorCode.CANCELLED, message=reason, now=now)
        busy = busy or row.status in (StageStatus.QUEUED, StageStatus.RUNNING)
    return busy


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
    if same := _same(connection, project):
        return Answer(project_id=same.id, status=same.status, reused=True)
    _wait_in_line(connection, project)
    _check_quota(connection, submission, house.now)
    try:
        with connection.begin_nested():
            projects.insert(connection, project)
    except Taken:
        # A retry of the user's other formal project may have come first: only then it is not the id that is taken.
        _wait_in_line(connection, project)
        raise Refused(ErrorCode.CONFLICT, f"project id {project.id} is taken") from None
    return Answer(project_id=project.id, status=project.status)


def _same(connection: Connection, project: Project) -> Project | None:
    """The project that is on its way to the same film; one that is being cancelled is not."""
    same = projects.find_same(connection, project)
    return None if same is None or same.cancel_requested else same


def _wait_in_line(connection: Connection, project: Project) -> None:
    if active := _formal_in_the_way(connection, project):
        raise Waits(f"waiting for project {active}: one formal project a user at a time / 等待用户的上一个项目完成")


def _formal_in_the_way(connection: Connection, project: Project) -> str | None:
    """The user's active formal project, when `project` is another one."""
    active = projects.find_active_formal(connection, project.user_id) if project.tier in FORMAL_TIERS else None
    return None if active == project.id else active


def _new_project(asked: ProduceRequest, submission: Submission, house: House) -> Project:
    chosen = (
        f"p-{house.now:%Y%m%d}-{uuid4().hex[:10]}" if submission.project_id is None else check_project_id(submission.project_id)
    )
    return project_of(asked, house, project_id=chosen, user_id=submission.user_id, tier=submission.tier)


def project_of(asked: ProduceRequest, house: House, *, project_id: str, user_id: str, tier: Tier) -> Project:
    """The project that a request would become; not stored."""
    return Project(
        id=project_id,
        user_id=user_id,
        tier=tier,
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
        budget=house.budgets[tier],
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
    _go_on(connection, project, stages.latest(connection, project.id), now=house.now)
    _reopen(connection, project, house.now, retry_count=project.retry_count + 1)
    return Answer(project_id=project.id, status=ProjectState.QUEUED)


def _go_on(connection: Connection, project: Project, latest: dict[Stage, StageRow], *, now: datetime) -> None:
    """A new round, with a fresh allowance, for each of these stages that ended without passing."""
    for stage, row in latest.items():
        if row.status not in _NOT_PASSED:
            continue
        ledger.renew(connection, project.id, STAGE_RULES[stage].crafts)
        # Stages whose needs are not made become due by themselves when those are.
        if needs_made(stage, latest):
            _request(connection, project, stage, now=now)


def _redo(connection: Connection, submission: Submission, house: House) -> Answer:
    project, asked = _target(connection, submission), _parse(RedoRequest, submission)
    check_allowed(SubmissionKind.REDO, ProjectState(project.status), project_id=project.id)
    _refuse_second_formal(connection, project)
    latest = stages.latest(connection, project.id)
    affected = downstream(asked.stage)
    check_redoable(asked.stage, latest, project_id=project.id)
    before = overrides.load(connection, project.id)
    for seq in _shots_to_redo(connection, project, asked):
        for wish in asked.overrides(seq, before):
            overrides.add(
                connection, project.id, seq=seq, field=wish.field, value=wish.value, by=submission.user_id, now=house.now
            )
    for stage in affected:
        ledger.renew(connection, project.id, STAGE_RULES[stage].crafts)
    _request(connection, project, asked.stage, now=house.now)
    # What failed beside it would otherwise keep the project from ever being finished.
    _go_on(connection, project, {stage: row for stage, row in latest.items() if stage not in affected}, now=house.now)
    _reopen(connection, project, house.now)
    return Answer(project_id=project.id, status=ProjectState.QUEUED)


def _shots_to_redo(connection: Connection, project: Project, asked: RedoRequest) -> tuple[int, ...]:
    if asked.stage is Stage.FILM:
        return (0,)
    known = sorted({task.shot_seq for task in ledger.of_project(connection, project.id) if task.shot_seq is not None})
    unknown = sorted(set(asked.shots).difference(known))
    if unknown:
        raise Refused(ErrorCode.INPUT_INVALID, f"shots {unknown[:10]} do not exist in project {project.id}; it has {known}")
    return tuple(sorted(set(asked.shots)) or known)


def _cancel(connection: Connection, submission: Submission, house: House) -> Answer:
    project, asked = _target(connection, submission), _parse(CancelRequest, submission)
    if project.status == ProjectState.CANCELLED:
        return _cancelled(project.id, ProjectState.CANCELLED, running=())
    check_allowed(SubmissionKind.CANCEL, ProjectState(project.status), project_id=project.id)
    reason = project.cancel_reason or asked.reason or f"cancelled by {submission.user_id}"
    busy = stop(connection, project.id, reason=reason, now=house.now)
    if asked.force:
        projects.force_cancel(connection, project.id)
    running = tuple(
        task.task_id
        for task in ledger.of_project(connection, project.id)
        if task.status is TaskStatus.RUNNING and task.provider_request_id
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
        cancel_force=False,
        opened_at=now,
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
    # Whatever is decided from the project's state and rounds must still be true when it is written.
    projects.lock(connection, submission.project_id)
    return projects.get(connection, submission.project_id)


def _request(connection: Connection, project: Project, stage: Stage, *, now: datetime) -> None:
    stages.request(connection, project.id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=now)


def _check_name(what: str, name: str) -> None:
    if not 1 <= len(name) <= _NAME_MAX_CHARS or not name.isprintable():
        raise Refused(ErrorCode.INPUT_INVALID, f"{what} {name[:40]!r} must have 1 to {_NAME_MAX_CHARS} printable characters")


def _parse(kind: type[_Payload], submission: Submission) -> _Payload:
    try:
        return kind.model_validate(json.loads(submission.payload))
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))[:80] or "payload"
        # A key may be anything, also what no row can hold.
        where = where if where.isprintable() else ascii(where)
        raise Refused(ErrorCode.INPUT_INVALID, f"{where}: {first['msg']} (got {str(first.get('input'))[:80]!r})") from None
    except (ValueError, RecursionError) as broken:
        # Not only JSONDecodeError: Python refuses numbers of over 4,300 digits with a plain ValueError.
        raise Refused(ErrorCode.INPUT_INVALID, f"payload is not JSON that can be read: {str(broken)[:200]}") from None
