"""An attempt whose answer was lost: the request may have been accepted, and may be charged. Never a blind second create.

Design section 6, "Unknown outcome": jobs are looked for in the provider's list, synchronous calls are booked as lost.
"""

import logging
from datetime import timedelta
from typing import TypeVar

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.task import Attempt, AttemptState, Task
from comic_pipeline.providers.interface import FoundJob, Provider
from comic_pipeline.store import attempts
from comic_pipeline.work.desk import Desk

R = TypeVar("R")

_LOOK_EVERY = 5.0
_LIST_TRIES = 5
_log = logging.getLogger("comic_pipeline.work")


async def resolve(desk: Desk, task: Task, attempt: Attempt, *, provider: Provider[R], request: R) -> Attempt:
    """Find out what became of an `intent`: returned as submitted (found), released (surely absent) or unknown (booked).

    Raises OutcomeUnknown when only a person can decide: several candidates, or no list to look in, or too many lost calls.
    """
    if provider.offline:
        with desk.write() as (connection, now):
            return attempts.mark_released(connection, attempt, now=now)
    if not provider.asynchronous:
        return _book(desk, task, attempt)
    while True:
        found = await _candidates(desk, attempt, provider=provider, request=request)
        if len(found) == 1:
            _log.info("adopting job %s for task %s: %s", found[0].job_id, task.task_id, found[0].matches)
            with desk.write() as (connection, _):
                return attempts.mark_submitted(connection, attempt, request_id=found[0].job_id)
        if found:
            listed = ", ".join(f"{job.job_id} ({job.matches})" for job in found)
            raise OutcomeUnknown(
                ErrorCode.OUTCOME_UNKNOWN, f"the create's answer was lost and {len(found)} jobs may be it: {listed}. {_WAY_OUT}"
            )
        if desk.clock.now() >= attempt.started_at + timedelta(seconds=desk.rules.lost_grace):
            with desk.write() as (connection, now):
                return attempts.mark_released(connection, attempt, now=now)
        desk.checkpoint(task)
        await desk.clock.sleep(min(_LOOK_EVERY, desk.rules.lost_grace))


_WAY_OUT = "Decide with `comic task resolve TASK --adopt ID` or `--release`"


def _book(desk: Desk, task: Task, attempt: Attempt) -> Attempt:
    with desk.write() as (connection, now):
        booked = attempts.mark_unknown(connection, attempt, now=now)
        lost = sum(one.state is AttemptState.UNKNOWN for one in attempts.of_task(connection, task.task_id))
    if lost > desk.rules.lost_recreates:
        raise OutcomeUnknown(
            ErrorCode.OUTCOME_UNKNOWN,
            f"{lost} calls to {task.provider_id} were sent and their answers lost; each is booked as paid",
        )
    return booked


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
    with desk.database.read() as connection:
        # A day back: an id may belong to an attempt that began before this one.
        known = attempts.known_request_ids(connection, provider.name, since=attempt.started_at - timedelta(days=1))
    return tuple(job for job in listed if job.job_id not in known)
