"""Taking a request down and deciding it, each in one transaction: whatever its kind, it is answered in its row."""

from collections.abc import Callable
from datetime import datetime

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import PERSON_MAX_CHARS, check_project_id, clean_text
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.workflow import SubmissionKind
from comic_pipeline.service import produce, remaking, reviewing, stopping
from comic_pipeline.service.house import House, Waits
from comic_pipeline.store import submissions
from comic_pipeline.store.database import Connection, Taken
from comic_pipeline.store.submissions import NewSubmission

# What the table of submissions takes.
_PAYLOAD_MAX_CHARS = 200_000
_MESSAGE_MAX_CHARS = 2_000


class _DecidedElsewhere(Exception):
    """Somebody else has answered the submission meanwhile: nothing of ours may stay."""


def submit(connection: Connection, new: NewSubmission, *, now: datetime) -> Submission:
    """Write a request down, once: a repeated key finds the first one. The reconciler admits it.

    Raises Refused(INPUT_INVALID) for what no row can hold; what the payload means is judged when it is decided.
    """
    _check_named(new)
    if new.key is not None:
        _check_name("idempotency key", new.key)
    if new.project_id is None and new.kind is not SubmissionKind.PRODUCE:
        raise Refused(ErrorCode.INPUT_INVALID, f"{new.kind} names no project")
    clean_text("payload", new.payload, limit=_PAYLOAD_MAX_CHARS, required=False)
    submission, _ = submissions.insert(connection, new, now=now)
    return submission


def decide(connection: Connection, submission: Submission, house: House) -> Answer | None:
    """Carry out one submission and answer it in its row, all or nothing. Never raises for a bad request.

    None when it keeps waiting, was rejected, or has been decided by somebody else meanwhile.
    """
    try:
        _check_named(submission)
        with connection.begin_nested():
            answer = _HANDLERS[submission.kind](connection, submission, house)
            _accept(connection, submission, answer, now=house.now)
    except _DecidedElsewhere:
        return None
    except Waits as waits:
        submissions.wait(connection, submission.id, message=waits.reason)
        return None
    except Refused as refused:
        submissions.reject(
            connection, submission.id, code=refused.code, message=refused.detail[:_MESSAGE_MAX_CHARS], now=house.now
        )
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


def _not_yet(connection: Connection, submission: Submission, house: House) -> Answer:  # noqa: ARG001  # a handler's signature
    raise Refused(ErrorCode.CONFLICT, f"{submission.kind} is not offered for this kind of project")


_HANDLERS: dict[SubmissionKind, Callable[[Connection, Submission, House], Answer]] = {
    SubmissionKind.PRODUCE: produce.produce,
    SubmissionKind.RETRY: remaking.retry,
    SubmissionKind.REDO: remaking.redo,
    SubmissionKind.CANCEL: stopping.cancel,
    SubmissionKind.REVIEW: reviewing.review,
    SubmissionKind.CONFIRM: _not_yet,
}


def _check_named(asked: NewSubmission | Submission) -> None:
    """Also of rows that a backend inserted past `submit`: names go into paths, partition keys and terminals."""
    _check_name("user id", asked.user_id)
    if asked.project_id is not None:
        check_project_id(asked.project_id)


def _check_name(what: str, name: str) -> None:
    if not 1 <= len(name) <= PERSON_MAX_CHARS or not name.isprintable():
        raise Refused(ErrorCode.INPUT_INVALID, f"{what} {name[:40]!r} must have 1 to {PERSON_MAX_CHARS} printable characters")
