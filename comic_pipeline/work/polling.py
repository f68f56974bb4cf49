"""Following a job at the provider until it ends, or until its deadline."""

import logging
from datetime import datetime, timedelta
from typing import TypeVar

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault, WorkStopped
from comic_pipeline.model.task import Attempt, AttemptState, Task
from comic_pipeline.providers.interface import CancelOutcome, JobStatus, Phase, Provider
from comic_pipeline.store import attempts
from comic_pipeline.work.creating import keep_result, note_failure
from comic_pipeline.work.desk import Desk

R = TypeVar("R")

_FIRST_WAIT = 1.0
_GROWTH = 1.5
_log = logging.getLogger("comic_pipeline.work")


async def follow(
    desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R], request: R, deadline_at: datetime
) -> Attempt:
    """Poll a submitted attempt until it has succeeded. Poll errors are retried freely: looking costs nothing.

    Raises ProviderFault when the job ended otherwise; TASK_TIMEOUT at the deadline, with the attempt still `submitted`, so that a
    retry looks at the same job again; WorkStopped(CANCELLED) when a cancelled job was dropped before the provider began it.
    """
    wait = min(_FIRST_WAIT, desk.rules.poll_seconds)
    while True:
        asked_to_wait = 0.0
        try:
            status = await provider.poll(_job_id(attempt), request)
        except ProviderFault as fault:
            if not fault.retryable:
                raise
            _log.warning("poll of %s failed (%s), looking again", attempt.provider_request_id, fault)
            asked_to_wait = fault.retry_after or 0.0
        else:
            if status.done is not None:
                return await keep_result(desk, attempt, status.done)
            await _raise_if_over(desk, attempt, status)
            if status.phase is Phase.QUEUED:
                await _drop_if_cancelled(desk, task, attempt, provider=provider)
        if desk.clock.now() >= deadline_at:
            raise ProviderFault(
                ErrorCode.TASK_TIMEOUT,
                f"job {attempt.provider_request_id} at {provider.name} did not end by {deadline_at:%H:%M:%S} UTC; "
                "it is kept, and a retry looks at it again",
            )
        # A provider that asks for an hour is not waited for longer than its job is.
        await desk.clock.sleep(min(max(wait, asked_to_wait), max(wait, (deadline_at - desk.clock.now()).total_seconds())))
        wait = min(wait * _GROWTH, desk.rules.poll_seconds)


async def _drop_if_cancelled(desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R]) -> None:
    """A job that has not begun is dropped; one that runs is paid anyway, so it is followed to its end and its result kept."""
    try:
        await desk.checkpoint(task)
    except WorkStopped as stopped:
        try:
            outcome = await provider.cancel(_job_id(attempt))
        except ProviderFault as fault:
            _log.warning("job %s could not be cancelled (%s), looking again", attempt.provider_request_id, fault)
            return
        if outcome is CancelOutcome.CANCELLED:
            await note_failure(desk, attempt, stopped)
            raise


async def _raise_if_over(desk: Desk, attempt: Attempt, status: JobStatus) -> None:
    job = attempt.provider_request_id
    if status.phase is Phase.LOST:
        # A job that was only just made may not be seen everywhere yet.
        if desk.clock.now() < attempt.started_at + timedelta(seconds=desk.rules.lost_grace):
            return
        await desk.move(
            attempt,
            lambda connection, now: attempts.mark_unknown(connection, attempt, now=now),
            there=lambda one: one.state is AttemptState.UNKNOWN,
        )
        raise OutcomeUnknown(
            ErrorCode.OUTCOME_UNKNOWN,
            f"the provider no longer knows job {job}; it may have been charged and is booked at its estimate",
            provider_code="lost",
        )
    fault = _end_of(job, status)
    if fault is not None:
        await note_failure(desk, attempt, fault)
        raise fault


def _end_of(job: str | None, status: JobStatus) -> ProviderFault | None:
    match status.phase:
        case Phase.FAILED:
            return status.fault or ProviderFault(ErrorCode.PROVIDER_ERROR, f"job {job} failed without a reason")
        case Phase.EXPIRED:
            return ProviderFault(ErrorCode.PROVIDER_TIMEOUT, f"job {job} expired at the provider", provider_code="expired")
        case Phase.CANCELLED:
            return ProviderFault(ErrorCode.PROVIDER_ERROR, f"job {job} was cancelled at the provider", provider_code="cancelled")
        case _:
            return None


def _job_id(attempt: Attempt) -> str:
    if attempt.provider_request_id is None:
        raise LookupError(f"attempt {attempt.number} of task {attempt.task_id} is {attempt.state} without a request id")
    return attempt.provider_request_id
