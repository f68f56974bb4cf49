"""The only way to do paid work: find it in the ledger, or make it exactly once.

Belongs here: the order of the steps. The steps themselves are in `creating.py`, `polling.py`, `lost.py` and `fetching.py`, what
an end means for the books in `settling.py`.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from comic_pipeline.model.errors import (
    ComicError,
    ErrorCode,
    MediaFault,
    OutcomeUnknown,
    ProviderFault,
    ShotFailure,
    WorkStopped,
)
from comic_pipeline.model.ledger import Claimed, Ended, Finished, Held, NotYet
from comic_pipeline.model.task import Attempt, AttemptKind, AttemptState, Task
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Connection
from comic_pipeline.work import fetching, lost, polling, settling
from comic_pipeline.work.creating import create
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Delivered, Order, PostponedError, Round, Verified, delivered

R = TypeVar("R")

# A wait for another run, or for the next round, hears of a cancel within five seconds; many shots may wait for minutes.
_FIRST_LOOK, _LAST_LOOK, _LOOK_GROWTH = 1.0, 5.0, 1.5


async def make_all(desk: Desk, orders: Sequence[Order[Any]], *, at_once: int | None = None) -> Round:
    """Make many orders side by side, at most `at_once` at a time. One order's failure never stops the others.

    Raises StorageFault when the database stays away before anything has begun.
    """
    await desk.commit(lambda connection, now: _want_all(connection, desk, orders, now=now))
    places = asyncio.Semaphore(at_once or len(orders) or 1)

    async def one(order: Order[Any]) -> Delivered | ComicError:
        async with places:
            try:
                return await make(desk, order)
            except ComicError as error:
                return error

    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(one(order)) for order in orders]
    except ExceptionGroup as bugs:
        # Not ours, so a defect: it stops the round, and its own name says more than "unhandled errors in a TaskGroup".
        raise bugs.exceptions[0] from bugs
    return _gather(orders, [task.result() for task in running])


async def make(desk: Desk, order: Order[R]) -> Delivered:
    """Make one order, or find it made.

    Raises PostponedError (goes again later), WorkStopped (a checkpoint), or the ComicError that ended it for good.
    """
    claim = await _claim(desk, order)
    if isinstance(claim, Finished):
        return _found(order, claim.task)
    task, started = claim.task, desk.clock.now()
    try:
        async with desk.keeping(task):
            verified = await _obtain(desk, task, claim.last, order=order)
            media = await settling.store(desk, order, verified)
            done = await settling.finish(desk, task, media)
    except ComicError as error:
        raise await settling.fail(desk, task, error) from error
    except BaseException:
        # A stop or a defect: whoever goes on need not wait for the lease.
        desk.let_go(task)
        raise
    seconds = (desk.clock.now() - started).total_seconds()
    settling.log_success(order, done, seconds=seconds)
    # What was paid is kept although a cancel came meanwhile; nothing more is made of it.
    await desk.checkpoint(done)
    return delivered(
        done, model=order.provider.model, template_hash=order.template_hash, cost=done.cost_actual, seconds=seconds, reused=False
    )


def _want_all(connection: Connection, desk: Desk, orders: Sequence[Order[Any]], *, now: datetime) -> None:
    for order in orders:
        # An order that its provider cannot accept is refused again, and reported, when it is made.
        with suppress(ProviderFault):
            ledger.want(connection, order.new_task(max_retry=desk.rules.max_retry), now=now)


async def _claim(desk: Desk, order: Order[R]) -> Claimed | Finished:
    new, wait = order.new_task(max_retry=desk.rules.max_retry), _FIRST_LOOK
    while True:
        claim = await desk.commit(lambda connection, now: ledger.claim(connection, new, desk.worker, now=now))
        match claim:
            case Claimed() | Finished():
                return claim
            case Ended(task=task):
                raise _as_error(task)
            case Held(until=until) | NotYet(not_before=until):
                await desk.clock.sleep(min(wait, max(0.05, (until - desk.clock.now()).total_seconds())))
                wait = min(wait * _LOOK_GROWTH, _LAST_LOOK)


async def _obtain(desk: Desk, task: Task, last: Attempt | None, *, order: Order[R]) -> Verified:
    """Verified bytes, with at most one repair round for an answer of the wrong shape."""
    request, kind, attempt = order.request, AttemptKind.CREATE, last
    while True:
        attempt = await _ready(desk, task, attempt, order=order, request=request, kind=kind)
        try:
            got = await fetching.fetch_verified(desk, task, attempt, order=order)
        except MediaFault as fault:
            await settling.discard_results(desk, task, fault)
            raise
        if isinstance(got, Verified):
            return got
        if order.repair is None or attempt.kind is AttemptKind.REPAIR:
            await settling.discard_results(desk, task, got.problem)
            raise got.problem
        # The bad answer stays `succeeded` until then: a run that dies now goes on with its repair and not with a new create.
        request, kind, attempt = order.repair(order.request, got.data, got.problem), AttemptKind.REPAIR, None


async def _ready(desk: Desk, task: Task, attempt: Attempt | None, *, order: Order[R], request: R, kind: AttemptKind) -> Attempt:
    """Move the attempt on, state by state, until its result is ready. Holds the provider's slot while a job is under way."""
    if attempt is not None and attempt.state is AttemptState.SUCCEEDED:
        return attempt
    async with desk.slot(order.provider.name, task):
        while attempt is None or attempt.state is not AttemptState.SUCCEEDED:
            attempt = await _advance(desk, task, attempt, order=order, request=request, kind=kind)
    return attempt


async def _advance(
    desk: Desk, task: Task, attempt: Attempt | None, *, order: Order[R], request: R, kind: AttemptKind
) -> Attempt | None:
    """One step. None: there is nothing to go on from, and the next step creates."""
    if attempt is None:
        # A lost answer leaves the attempt at `intent`, from which the next step goes on.
        with suppress(OutcomeUnknown):
            return await create(desk, task, provider=order.provider, request=request, kind=kind)
    elif attempt.state is AttemptState.SUBMITTED:
        deadline_at = attempt.started_at + timedelta(seconds=order.deadline)
        if task.deadline_at is not None:
            # The later of the two: a wait for a slot is not the job's, and a person's retry gives it more time.
            deadline_at = max(deadline_at, task.deadline_at)
        return await polling.follow(desk, task, attempt, provider=order.provider, request=request, deadline_at=deadline_at)
    else:
        await lost.resolve(desk, task, attempt, provider=order.provider, request=request)
    return await desk.look(lambda connection: attempts.unfinished(connection, task.task_id))


def _gather(orders: Sequence[Order[Any]], results: Sequence[Delivered | ComicError]) -> Round:
    done, postponed, failures, stopped = [], [], [], None
    for order, result in zip(orders, results, strict=True):
        match result:
            case Delivered():
                done.append(result)
            case PostponedError():
                postponed.append(result.postponed)
            case WorkStopped(code=ErrorCode.CANCELLED | ErrorCode.CONFLICT):
                stopped = result
            case _:
                failures.append(ShotFailure(order.shot_seq, result.code, result.detail))
    return Round(tuple(done), tuple(postponed), tuple(failures), stopped)


def _found(order: Order[R], task: Task) -> Delivered:
    seconds = (task.finished_at - task.started_at).total_seconds() if task.finished_at and task.started_at else 0.0
    return delivered(
        task, model=order.provider.model, template_hash=order.template_hash, cost=task.cost_actual, seconds=seconds, reused=True
    )


def _as_error(task: Task) -> ComicError:
    code = task.error_code or ErrorCode.UNKNOWN_ERROR
    if code is ErrorCode.CANCELLED:
        return WorkStopped(code, task.error_message or "cancelled")
    return ComicError(code, task.error_message or f"task {task.task_id} is {task.status}")
