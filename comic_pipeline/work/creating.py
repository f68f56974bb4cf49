"""One create: through the gate, sent once, its answer committed before anything else happens.

Belongs here: slot, token, intent, the call, the id. A full error answer may be tried again as a new attempt; a lost answer never
is. Does not: what comes after (`polling.py`, `fetching.py`).
"""

import asyncio
import logging
from itertools import count
from typing import TypeVar

from comic_pipeline.model.errors import ComicError, OutcomeUnknown, ProviderFault, StorageFault, WorkStopped
from comic_pipeline.model.retry import BILLED_TRIES, CALL_TRIES, CALL_WAIT_CAP, call_wait
from comic_pipeline.model.task import Attempt, AttemptKind, AttemptState, Task, canonical_json, hash_of
from comic_pipeline.providers.interface import Done, Inline, Provider, Remote, Submitted
from comic_pipeline.store import attempts
from comic_pipeline.work.departure import Departure
from comic_pipeline.work.desk import Desk

R = TypeVar("R")

# How long a stop waits for a create that is on the wire, so that its id or its result is not lost.
STOP_PATIENCE = 10.0
_log = logging.getLogger("comic_pipeline.work")


async def create(desk: Desk, task: Task, *, provider: Provider[R], request: R, kind: AttemptKind) -> Attempt:
    """Create until the provider takes it: an attempt that is submitted or succeeded.

    Raises ProviderFault when it says no for good, too often, or for longer than a call may wait; OutcomeUnknown and StorageFault
    (the attempt stays `intent`), WorkStopped.
    """
    for tries in count(1):
        if not (provider.offline or provider.asynchronous):
            # Its answer comes once: no place to keep it, no purchase.
            await desk.check_room()
        await desk.turn(provider.name)
        departure = Departure(desk, task, await _begin(desk, task, provider=provider, request=request, kind=kind))
        try:
            return await _send(departure, provider=provider, request=request)
        except OutcomeUnknown:
            raise
        except ProviderFault as fault:
            # A longer wait is the round's: it holds no slot meanwhile and hears of a cancel.
            most = BILLED_TRIES if fault.cost else CALL_TRIES
            if not fault.retryable or tries >= most or (fault.retry_after or 0.0) > CALL_WAIT_CAP:
                raise
            await desk.clock.sleep(call_wait(tries, retry_after=fault.retry_after, jitter=desk.jitter))
    raise AssertionError("the loop returns or raises")


async def _begin(desk: Desk, task: Task, *, provider: Provider[R], request: R, kind: AttemptKind) -> Attempt:
    began = desk.clock.now()
    try:
        with desk.write() as (connection, _):
            return attempts.begin(
                connection,
                task,
                desk.worker,
                kind=kind,
                base_url=provider.base_url,
                request_hash=hash_of(provider.describe(request)),
                estimate=provider.estimate(request),
                limits=desk.rules.spend,
                now=began,
            )
    except StorageFault:
        # Not tried again: a second promise beside one that went through unseen would be refused. If this one did, it is ours, and
        # nothing was sent; left behind it would be booked as paid.
        promised = await desk.look(lambda connection: attempts.unfinished(connection, task.task_id))
        if promised is None or promised.state is not AttemptState.INTENT or promised.started_at != began:
            raise
        return promised


async def _send(departure: Departure, *, provider: Provider[R], request: R) -> Attempt:
    """Send and commit as one unit that a stop waits for. Before it has left, and for local work, a stop ends it at once."""
    sending = asyncio.ensure_future(_send_and_commit(departure, provider=provider, request=request))
    try:
        return await (sending if provider.offline else asyncio.shield(sending))
    except asyncio.CancelledError:
        if not departure.passed:
            sending.cancel()
        await asyncio.wait({sending}, timeout=STOP_PATIENCE)
        if not sending.done():
            sending.cancel()
            await asyncio.wait({sending})
        if not sending.cancelled():
            # Retrieved, so that the loop does not complain; the attempt's row tells the next run what happened.
            sending.exception()
        raise


async def _send_and_commit(departure: Departure, *, provider: Provider[R], request: R) -> Attempt:
    desk, attempt = departure.desk, departure.attempt
    try:
        answer = await provider.submit(request, go=departure.go)
    except OutcomeUnknown:
        raise
    except (asyncio.CancelledError, WorkStopped):
        if not departure.passed:
            await _take_back(desk, attempt)
        raise
    except ComicError as fault:
        await note_failure(desk, attempt, fault)
        raise
    if isinstance(answer, Submitted):
        return await note_job(desk, attempt, answer.job_id)
    return await keep_result(desk, attempt, answer)


async def _take_back(desk: Desk, attempt: Attempt) -> None:
    """The promise of a request that was stopped before it left: nothing was sent, nothing is reserved any more."""
    await desk.move(
        attempt,
        lambda connection, now: attempts.mark_released(connection, attempt, now=now),
        # Also when another run has settled it: its word stands.
        there=lambda one: one.state is not AttemptState.INTENT,
    )


async def note_job(desk: Desk, attempt: Attempt, job_id: str) -> Attempt:
    """Write down the provider's id of the job: from now on it can be found again.

    Raises OutcomeUnknown when the job is another attempt's; WorkStopped(CONFLICT) when the attempt was settled meanwhile.
    """
    try:
        return await desk.move(
            attempt,
            lambda connection, _: attempts.mark_submitted(connection, attempt, request_id=job_id),
            there=lambda one: one.state is AttemptState.SUBMITTED and one.provider_request_id == job_id,
        )
    except WorkStopped:
        # This process was frozen for longer than its lease and the grace time, between the last look and the request.
        if await desk.commit(lambda connection, _: attempts.book_late(connection, attempt, request_id=job_id)):
            _log.error("job %s of task %s came after its create was given up; it is booked", job_id, attempt.task_id)
        raise


async def note_failure(desk: Desk, attempt: Attempt, fault: ComicError) -> Attempt:
    """Write down that the provider said no, and what it billed all the same, or that its delivery is unusable.

    What was booked before stays booked.
    """
    told = fault if isinstance(fault, ProviderFault) else ProviderFault(fault.code, fault.detail)
    return await desk.move(
        attempt,
        lambda connection, now: attempts.mark_failed(
            connection,
            attempt,
            http_status=told.http_status,
            provider_code=told.provider_code or told.code,
            now=now,
            cost=told.cost or None,
        ),
        there=lambda one: one.state is AttemptState.FAILED,
    )


async def keep_result(desk: Desk, attempt: Attempt, done: Done) -> Attempt:
    """Write down where a ready result lies, so that a run that dies now fetches it later instead of paying again."""
    result = await _locate(desk, attempt, done)
    return await desk.move(
        attempt,
        lambda connection, now: attempts.mark_succeeded(
            connection, attempt, cost=done.cost, result=result, now=now, request_id=done.request_id or None
        ),
        there=lambda one: one.state is AttemptState.SUCCEEDED,
    )


async def _locate(desk: Desk, attempt: Attempt, done: Done) -> str:
    match done.output:
        case Remote(url=url):
            return canonical_json({"url": url})
        case Inline(data=data):
            await desk.put_dear(staging_key(attempt), data, mime="application/octet-stream")
            return staged_result(attempt)


def staging_key(attempt: Attempt) -> str:
    """Where the bytes of an answer wait until they are verified."""
    return f"staging/{attempt.task_id}-{attempt.number}"


def staged_result(attempt: Attempt) -> str:
    """`Attempt.result` of an answer that is staged."""
    return canonical_json({"staged": staging_key(attempt)})
