"""The only way to do paid work: find it in the ledger, or make it exactly once (design section 6).

Belongs here: the order of the steps and what a failure does to the task. The steps themselves are in their own modules.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from comic_pipeline.model.errors import (
    ComicError,
    ErrorCode,
    InvalidAnswer,
    MediaFault,
    OutcomeUnknown,
    ProviderFault,
    ShotFailure,
    StorageFault,
    WorkStopped,
)
from comic_pipeline.model.ledger import Claimed, Ended, Finished, Held, NotYet
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.retry import decide_round
from comic_pipeline.model.task import Attempt, AttemptKind, AttemptState, Task, TaskStatus, sha256_hex
from comic_pipeline.model.workflow import STAGE_OF_TASK, ProjectState, landing
from comic_pipeline.store import attempts, ledger
from comic_pipeline.work import fetching, lost, polling
from comic_pipeline.work.creating import create
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Delivered, Order, Postponed, PostponedError, Round, Verified, delivered

R = TypeVar("R")

_LOOK_AGAIN = 1.0
_log = logging.getLogger("comic_pipeline.work")


async def make_all(desk: Desk, orders: Sequence[Order[Any]], *, at_once: int | None = None) -> Round:
    """Make many orders side by side, at most `at_once` at a time. One order's failure never stops the others."""
    with desk.write() as (connection, now):
        for order in orders:
            ledger.want(connection, order.new_task(max_retry=desk.rules.max_retry), now=now)
    places = asyncio.Semaphore(at_once or len(orders) or 1)

    async def one(order: Order[Any]) -> Delivered | ComicError:
        async with places:
            try:
                return await make(desk, order)
            except ComicError as error:
                return error

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(one(order)) for order in orders]
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
        async with _lease_kept(desk, task):
            verified = await _obtain(desk, task, claim.last, order=order)
            media = await _store(desk, order, verified)
            done = _finish(desk, task, media)
    except asyncio.CancelledError:
        with desk.write() as (connection, _):
            ledger.put_back(connection, task.task_id, desk.worker)
        raise
    except ComicError as error:
        raise _failed(desk, task, error) from error
    seconds = (desk.clock.now() - started).total_seconds()
    _log_line(order, done, seconds=seconds)
    return delivered(
        done, model=order.provider.model, template_hash=order.template_hash, cost=done.cost_actual, seconds=seconds, reused=False
    )


async def _claim(desk: Desk, order: Order[R]) -> Claimed | Finished:
    new = order.new_task(max_retry=desk.rules.max_retry)
    while True:
        with desk.write() as (connection, now):
            claim = ledger.claim(connection, new, desk.worker, now=now)
        match claim:
            case Claimed() | Finished():
                return claim
            case Ended(task=task):
                raise _as_error(task)
            case Held(until=until):
                await desk.clock.sleep(_short_wait(until, now))
            case NotYet(not_before=until):
                await desk.clock.sleep(_short_wait(until, now))


async def _obtain(desk: Desk, task: Task, last: Attempt | None, *, order: Order[R]) -> Verified:
    """Verified bytes, with at most one repair round for an answer of the wrong shape."""
    request, kind, attempt = order.request, AttemptKind.CREATE, last
    while True:
        attempt = await _ready(desk, task, attempt, order=order, request=request, kind=kind)
        try:
            return await fetching.fetch_verified(desk, task, attempt, order=order)
        except InvalidAnswer as invalid:
            data = await fetching.raw(desk, attempt, order=order)
            _unusable(desk, attempt, code=invalid.code)
            if order.repair is None or attempt.kind is AttemptKind.REPAIR:
                raise
            request, kind = order.repair(order.request, data, invalid), AttemptKind.REPAIR
        except MediaFault as fault:
            _unusable(desk, attempt, code=fault.code)
            raise
        attempt = None


async def _ready(desk: Desk, task: Task, attempt: Attempt | None, *, order: Order[R], request: R, kind: AttemptKind) -> Attempt:
    """Move the attempt on, state by state, until its result is ready. Holds the provider's slot while a job is under way."""
    async with desk.slot(order.provider.name, task):
        while attempt is None or attempt.state is not AttemptState.SUCCEEDED:
            attempt = await _advance(desk, task, attempt, order=order, request=request, kind=kind)
    return attempt


async def _advance(desk: Desk, task: Task, attempt: Attempt | None, *, order: Order[R], request: R, kind: AttemptKind) -> Attempt:
    if attempt is not None and attempt.state is AttemptState.SUBMITTED:
        return await polling.follow(desk, task, attempt, provider=order.provider, request=request)
    if attempt is not None and attempt.state is AttemptState.INTENT:
        return await lost.resolve(desk, task, attempt, provider=order.provider, request=request)
    try:
        return await create(desk, task, provider=order.provider, request=request, kind=kind)
    except OutcomeUnknown:
        with desk.database.read() as connection:
            last = attempts.last(connection, task.task_id)
        if last is None or last.state is not AttemptState.INTENT:
            raise
        return last


async def _store(desk: Desk, order: Order[R], verified: Verified) -> MediaRef:
    digest = sha256_hex(verified.data)
    name = digest[:12] if order.shot_seq is None else f"{order.shot_seq:03d}-{digest[:12]}"
    key = f"projects/{order.project_id}/{order.folder}/{name}.{verified.ending}"
    await desk.put(key, verified.data, mime=verified.mime)
    return MediaRef(
        key=key,
        sha256=digest,
        size=len(verified.data),
        mime=verified.mime,
        width=verified.width,
        height=verified.height,
        duration_ms=verified.duration_ms,
    )


def _finish(desk: Desk, task: Task, media: MediaRef) -> Task:
    with desk.write() as (connection, now):
        staged = [one.result for one in attempts.of_task(connection, task.task_id) if one.result]
        done = ledger.succeed(connection, task.task_id, media, now=now)
    for place in staged:
        key = json.loads(place).get("staged")
        if key is not None:
            desk.objects.delete(key)
    return done


def _failed(desk: Desk, task: Task, error: ComicError) -> ComicError:
    """Write down what a failure means for the task; returns what the caller is told."""
    if isinstance(error, WorkStopped) and error.code is ErrorCode.CONFLICT:
        return error
    with desk.write() as (connection, now):
        if error.code is ErrorCode.CANCELLED:
            ledger.end(connection, task.task_id, status=TaskStatus.CANCELLED, code=error.code, message=error.detail, now=now)
            return error
        if isinstance(error, (ProviderFault, MediaFault, StorageFault)) and error.retryable:
            decision = decide_round(
                retry_count=task.retry_count,
                max_retry=task.max_retry,
                delays=desk.rules.retry_delays,
                retry_after=getattr(error, "retry_after", None),
            )
            if decision.again:
                not_before = now + timedelta(seconds=decision.delay * (1.0 + 0.1 * desk.jitter()))
                ledger.postpone(connection, task.task_id, code=error.code, message=error.detail, not_before=not_before)
                return PostponedError(Postponed(task.shot_seq, error.code, error.detail, not_before))
        ledger.end(connection, task.task_id, status=_ended_as(task, error.code), code=error.code, message=error.detail, now=now)
        return error


def _ended_as(task: Task, code: ErrorCode) -> TaskStatus:
    manual = landing(code, STAGE_OF_TASK[task.task_type]) is ProjectState.MANUAL_REQUIRED
    return TaskStatus.MANUAL_REQUIRED if manual else TaskStatus.FAILED


def _unusable(desk: Desk, attempt: Attempt, *, code: ErrorCode) -> None:
    """It was paid and delivered, and cannot be used: the cost stays in the books, the result is not looked at again."""
    with desk.write() as (connection, now):
        attempts.mark_failed(
            connection, attempt, http_status=None, provider_code=code, now=now, cost=attempt.cost or attempt.estimate
        )


@asynccontextmanager
async def _lease_kept(desk: Desk, task: Task) -> AsyncIterator[None]:
    async def renew() -> None:
        while True:
            await desk.clock.sleep(desk.worker.lease_seconds / 3)
            try:
                with desk.write() as (connection, now):
                    ledger.renew_lease(connection, task.task_id, desk.worker, now=now)
            except StorageFault as fault:
                # The work itself meets the same fault and decides; a missed renewal alone is made up by the next.
                _log.warning("lease of task %s not renewed: %s", task.task_id, fault)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})


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


def _short_wait(until: datetime, now: datetime) -> float:
    return min(_LOOK_AGAIN, max(0.05, (until - now).total_seconds()))


def _log_line(order: Order[R], task: Task, *, seconds: float) -> None:
    """One structured line a task: enough to follow money and time, nothing that a person wrote."""
    line = {
        "event": "task_success",
        "task_id": task.task_id,
        "project_id": task.project_id,
        "task_type": task.task_type,
        "shot": task.shot_seq,
        "provider": task.provider_id,
        "model": order.provider.model,
        "input": task.input_hash[:12],
        "output": task.output_asset_id,
        "cost": str(task.cost_actual),
        "seconds": round(seconds, 3),
        "retries": task.retry_count,
    }
    _log.info("%s", json.dumps(line, ensure_ascii=False))
