"""Following a job at the provider until it ends, or until the task's deadline."""

import logging
from typing import TypeVar

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.task import Attempt, Task
from comic_pipeline.providers.interface import JobStatus, Phase, Provider
from comic_pipeline.store import attempts
from comic_pipeline.work.creating import keep_result
from comic_pipeline.work.desk import Desk

R = TypeVar("R")

_FIRST_WAIT = 1.0
_GROWTH = 1.5
_log = logging.getLogger("comic_pipeline.work")


async def follow(desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R], request: R) -> Attempt:
    """Poll a submitted attempt until it has succeeded. Poll errors are retried freely: looking costs nothing.

    Raises ProviderFault when the job ended otherwise; TASK_TIMEOUT at the deadline, with the attempt still `submitted`, so that a
    retry looks at the same job again.
    """
    wait = min(_FIRST_WAIT, desk.rules.poll_seconds)
    while True:
        status = await _look(attempt, provider=provider, request=request)
        if status is not None and status.done is not None:
            return await keep_result(desk, attempt, status.done)
        if status is not None:
            _raise_if_over(desk, attempt, status)
        if task.deadline_at is not None and desk.clock.now() >= task.deadline_at:
            raise ProviderFault(
                ErrorCode.TASK_TIMEOUT,
                f"job {attempt.provider_request_id} at {provider.name} did not end by {task.deadline_at:%H:%M:%S} UTC; "
                "it is kept, and a retry looks at it again",
            )
        desk.keep_slot(provider.name, task)
        await desk.clock.sleep(wait)
        wait = min(wait * _GROWTH, desk.rules.poll_seconds)


async def _look(attempt: Attempt, *, provider: Provider[R], request: R) -> JobStatus | None:
    try:
        return await provider.poll(_job_id(attempt), request)
    except ProviderFault as fault:
        if not fault.retryable:
            raise
        _log.warning("poll of %s failed (%s), looking again", attempt.provider_request_id, fault)
        return None


def _raise_if_over(desk: Desk, attempt: Attempt, status: JobStatus) -> None:
    fault = _end_of(attempt, status)
    if fault is None:
        return
    with desk.write() as (connection, now):
        attempts.mark_failed(connection, attempt, http_status=None, provider_code=fault.provider_code or fault.code, now=now)
    raise fault


def _end_of(attempt: Attempt, status: JobStatus) -> ProviderFault | None:
    job = attempt.provider_request_id
    match status.phase:
        case Phase.QUEUED | Phase.RUNNING | Phase.SUCCEEDED:
            return None
        case Phase.FAILED:
            return status.fault or ProviderFault(ErrorCode.PROVIDER_ERROR, f"job {job} failed without a reason")
        case Phase.EXPIRED:
            return ProviderFault(ErrorCode.PROVIDER_TIMEOUT, f"job {job} expired at the provider", provider_code="expired")
        case Phase.CANCELLED:
            return ProviderFault(ErrorCode.PROVIDER_ERROR, f"job {job} was cancelled at the provider", provider_code="cancelled")
        case Phase.LOST:
            return OutcomeUnknown(
                ErrorCode.OUTCOME_UNKNOWN,
                f"the provider no longer knows job {job}; it may have been charged",
                provider_code="lost",
            )


def _job_id(attempt: Attempt) -> str:
    if attempt.provider_request_id is None:
        raise LookupError(f"attempt {attempt.number} of task {attempt.task_id} is {attempt.state} without a request id")
    return attempt.provider_request_id
