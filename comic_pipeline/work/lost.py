"""An attempt whose answer was lost: the request may have been accepted, and may be charged. Never a blind second create.

Belongs here: looking for a job in the provider's list, booking a synchronous call as lost. Does not: creating again.
"""

import logging
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.retry import CALL_TRIES, JOB_LIFE
from comic_pipeline.model.task import Attempt, AttemptState, Task
from comic_pipeline.providers.interface import FoundJob, Provider
from comic_pipeline.store import attempts
from comic_pipeline.store.database import Connection
from comic_pipeline.work.creating import note_job, staged_result, staging_key
from comic_pipeline.work.desk import Desk

R = TypeVar("R")

_LOOK_EVERY = 5.0
_LIST_TRIES = 5
_WAY_OUT = "Decide with `comic task resolve TASK --adopt ID` or `--release`"
_log = logging.getLogger("comic_pipeline.work")


async def resolve(desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R], request: R) -> None:
    """Find out what became of an `intent` and write it down.

    Submitted (found), succeeded (its answer is staged), released (surely absent) or unknown (booked). Raises OutcomeUnknown
    when only a person can decide: several candidates, or no list to look in, or too many lost calls;
    ProviderFault(PROVIDER_TIMEOUT) when creates keep getting lost on their way; WorkStopped.
    """
    if provider.asynchronous:
        await _look_for(desk, task, attempt, provider=provider, request=request)
    elif await desk.has(staging_key(attempt)):
        await _take_staged(desk, attempt)
    elif provider.offline:
        await _release(desk, task, attempt)
    else:
        await _book(desk, task, attempt)


async def _look_for(desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R], request: R) -> None:
    if desk.clock.now() - attempt.started_at >= JOB_LIFE:
        raise OutcomeUnknown(
            ErrorCode.OUTCOME_UNKNOWN,
            f"the create's answer was lost at {attempt.started_at:%Y-%m-%d %H:%M} UTC, longer ago than the provider's list "
            f"reaches back. {_WAY_OUT}",
        )
    # Counted from now: the create may have been on the wire, and may have been accepted, until a moment ago.
    give_up_at = desk.clock.now() + timedelta(seconds=desk.rules.lost_grace)
    while True:
        found = await _candidates(desk, attempt, provider=provider, request=request)
        if len(found) == 1:
            with suppress(OutcomeUnknown):
                await note_job(desk, attempt, found[0].job_id)
                _log.info("adopted job %s for task %s: %s", found[0].job_id, task.task_id, found[0].matches)
                return
            # Another attempt was a moment faster: the next look leaves the job out.
            continue
        if found:
            listed = ", ".join(f"{job.job_id} ({job.matches})" for job in found)
            raise OutcomeUnknown(
                ErrorCode.OUTCOME_UNKNOWN, f"the create's answer was lost and {len(found)} jobs may be it: {listed}. {_WAY_OUT}"
            )
        if desk.clock.now() >= give_up_at:
            await _release(desk, task, attempt)
            return
        await desk.checkpoint(task)
        await desk.clock.sleep(min(_LOOK_EVERY, desk.rules.lost_grace))


async def _take_staged(desk: Desk, attempt: Attempt) -> None:
    """The run died between keeping the answer and booking it. What it cost went with the run: the estimate stands for it."""
    await desk.move(
        attempt,
        lambda connection, now: attempts.mark_succeeded(
            connection, attempt, cost=attempt.estimate, result=staged_result(attempt), now=now
        ),
        there=lambda one: one.state is AttemptState.SUCCEEDED,
    )


async def _release(desk: Desk, task: Task, attempt: Attempt) -> None:
    await desk.move(
        attempt,
        lambda connection, now: attempts.mark_released(connection, attempt, now=now),
        there=lambda one: one.state is AttemptState.RELEASED,
    )
    released = await desk.look(lambda connection: _count(connection, task, AttemptState.RELEASED))
    if released > CALL_TRIES:
        raise ProviderFault(ErrorCode.PROVIDER_TIMEOUT, f"{released} creates never arrived at {task.provider_id}")


async def _book(desk: Desk, task: Task, attempt: Attempt) -> None:
    await desk.move(
        attempt,
        lambda connection, now: attempts.mark_unknown(connection, attempt, now=now),
        there=lambda one: one.state is AttemptState.UNKNOWN,
    )
    lost = await desk.look(lambda connection: _count(connection, task, AttemptState.UNKNOWN))
    if lost > desk.rules.lost_recreates:
        raise OutcomeUnknown(
            ErrorCode.OUTCOME_UNKNOWN,
            f"{lost} calls to {task.provider_id} were sent and their answers lost; each is booked as paid",
        )


def _count(connection: Connection, task: Task, state: AttemptState) -> int:
    return sum(one.state is state for one in attempts.of_task(connection, task.task_id))


async def _candidates(desk: Desk, attempt: Attempt, *, provider: Provider[R], request: R) -> tuple[FoundJob, ...]:
    """Jobs of the list that no attempt of ours owns. A list that cannot be read is not an empty list."""
    for tries in range(1, _LIST_TRIES + 1):
        try:
            listed = await provider.find(request, since=attempt.started_at)
        except ProviderFault as fault:
            if not fault.retryable or tries == _LIST_TRIES:
                raise OutcomeUnknown(
                    ErrorCode.OUTCOME_UNKNOWN,
                    f"the create's answer was lost and the provider's list cannot be read ({fault}). {_WAY_OUT}",
                ) from fault
            await desk.clock.sleep(_LOOK_EVERY)
        else:
            break
    ids = [job.job_id for job in listed]
    owned = await desk.look(lambda connection: attempts.owned(connection, provider.name, ids))
    return tuple(job for job in listed if job.job_id not in owned)
