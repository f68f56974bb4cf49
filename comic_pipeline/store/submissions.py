"""Requests from outside: inserting them once, reading the open ones in order, answering them once."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, case, func, select, update
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Tier
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.workflow import SubmissionKind, SubmissionStatus
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import submissions


@dataclass(frozen=True)
class NewSubmission:
    """What a caller says; `key` makes a repeated call find the first one."""

    kind: SubmissionKind
    user_id: str
    tier: Tier
    payload: str
    project_id: str | None = None
    key: str | None = None


def insert(connection: Connection, new: NewSubmission, *, now: datetime) -> tuple[Submission, bool]:
    """Store `new`, or find the one with the same user and key. Returns it and whether it is new."""
    if new.key is not None and (found := _by_key(connection, new.user_id, new.key)):
        return found, False
    statement = (
        submissions.insert()
        .values(
            kind=new.kind,
            project_id=new.project_id,
            user_id=new.user_id,
            tier=new.tier,
            payload=new.payload,
            idempotency_key=new.key,
            priority=PRIORITY[new.tier],
            status=SubmissionStatus.NEW,
            created_at=now,
        )
        .returning(submissions)
    )
    try:
        with connection.begin_nested():
            row = connection.execute(statement).mappings().one()
    except IntegrityError:
        found = _by_key(connection, new.user_id, new.key) if new.key is not None else None
        if found is None:
            raise
        return found, False
    return read_row(Submission, row), True


def get(connection: Connection, submission_id: int) -> Submission | None:
    """The submission with this id."""
    row = connection.execute(select(submissions).where(submissions.c.id == submission_id)).mappings().one_or_none()
    return None if row is None else read_row(Submission, row)


def find(
    connection: Connection, *, user_id: str | None = None, status: SubmissionStatus | None = None, limit: int = 500
) -> list[Submission]:
    """At most `limit` submissions, newest first, of one user and in one state when given."""
    statement = select(submissions).order_by(submissions.c.id.desc()).limit(limit)
    if user_id is not None:
        statement = statement.where(submissions.c.user_id == user_id)
    if status is not None:
        statement = statement.where(submissions.c.status == status)
    return [read_row(Submission, row) for row in connection.execute(statement).mappings()]


def open_ids(connection: Connection, *, limit: int) -> list[int]:
    """Ids of undecided submissions, highest priority first, then oldest. Rows without a priority take their tier's."""
    by_tier = func.coalesce(submissions.c.priority, _tier_priority())
    statement = (
        select(submissions.c.id)
        .where(submissions.c.status.in_((SubmissionStatus.NEW, SubmissionStatus.WAITING)))
        .order_by(by_tier.desc(), submissions.c.id)
        .limit(limit)
    )
    return list(connection.execute(statement).scalars())


def accept(connection: Connection, submission_id: int, answer: Answer, *, now: datetime) -> bool:
    """Answer an undecided submission. False when somebody else was first."""
    return _decide(
        connection,
        submission_id,
        status=SubmissionStatus.ACCEPTED,
        project_id=answer.project_id,
        answer=answer.model_dump_json(),
        decided_at=now,
        error_code=None,
        error_message=None,
    )


def reject(connection: Connection, submission_id: int, *, code: ErrorCode, message: str, now: datetime) -> bool:
    """Refuse an undecided submission with its reason. False when somebody else was first."""
    return _decide(
        connection, submission_id, status=SubmissionStatus.REJECTED, error_code=code, error_message=message, decided_at=now
    )


def wait(connection: Connection, submission_id: int, *, message: str) -> bool:
    """Let a new submission wait for its turn. False when it was waiting already, so that nothing is written every tick."""
    done = connection.execute(
        update(submissions)
        .where(submissions.c.id == submission_id, submissions.c.status == SubmissionStatus.NEW)
        .values(status=SubmissionStatus.WAITING, error_message=message)
    )
    return done.rowcount == 1


def count_produced(connection: Connection, user_id: str, *, tier: Tier, since: datetime, until: datetime) -> int:
    """How many new projects of this user and tier were accepted in [since, until)."""
    statement = select(func.count()).where(
        submissions.c.user_id == user_id,
        submissions.c.tier == tier,
        submissions.c.kind == SubmissionKind.PRODUCE,
        submissions.c.status == SubmissionStatus.ACCEPTED,
        submissions.c.answer.not_like('%"reused":true%'),
        submissions.c.decided_at >= since,
        submissions.c.decided_at < until,
    )
    return connection.execute(statement).scalar_one()


def _by_key(connection: Connection, user_id: str, key: str) -> Submission | None:
    statement = select(submissions).where(submissions.c.user_id == user_id, submissions.c.idempotency_key == key)
    row = connection.execute(statement).mappings().one_or_none()
    return None if row is None else read_row(Submission, row)


def _decide(connection: Connection, submission_id: int, **values: object) -> bool:
    done = connection.execute(
        update(submissions)
        .where(
            submissions.c.id == submission_id,
            submissions.c.status.in_((SubmissionStatus.NEW, SubmissionStatus.WAITING)),
        )
        .values(**values)
    )
    return done.rowcount == 1


def _tier_priority() -> ColumnElement[int]:
    return case({tier.value: number for tier, number in PRIORITY.items()}, value=submissions.c.tier, else_=0)
