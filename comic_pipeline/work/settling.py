"""How an order ends in the books: its bytes stored and paid, or what its failure means for the task.

Belongs here: storing, paying, and their counterparts for failures. Does not: getting at the bytes (`fetching.py`).
"""

import asyncio
import json
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from comic_pipeline.model.errors import ComicError, ErrorCode, ProviderFault, StorageFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.retry import decide_round
from comic_pipeline.model.stage_end import landing
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import STAGE_OF_TASK, ProjectState
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Connection
from comic_pipeline.work.creating import note_failure
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Order, Postponed, PostponedError, Verified

R = TypeVar("R")

_log = logging.getLogger("comic_pipeline.work")


async def store(desk: Desk, order: Order[R], verified: Verified) -> MediaRef:
    """Put the bytes under a name that is made of them and of their shot. Raises StorageFault."""
    name = "" if order.shot_seq is None else f"{order.shot_seq:03d}"
    return await desk.put_media(verified, project_id=order.project_id, folder=order.folder, name=name)


async def finish(desk: Desk, task: Task, media: MediaRef) -> Task:
    """Book the cost and end the task as a success. Raises WorkStopped(CONFLICT) when it was ended meanwhile, StorageFault."""
    made = await desk.look(lambda connection: attempts.of_task(connection, task.task_id))
    done = await desk.commit(lambda connection, now: ledger.succeed(connection, task.task_id, media, now=now))
    await _unstage(desk, made)
    return done


async def discard_results(desk: Desk, task: Task, fault: ComicError) -> None:
    """What was delivered cannot be used: its cost stays in the books, and no later round looks at it again."""
    made = await desk.look(lambda connection: attempts.of_task(connection, task.task_id))
    ready = [one for one in made if one.state is AttemptState.SUCCEEDED]
    for one in ready:
        await note_failure(desk, one, fault)
    await _unstage(desk, ready)


async def fail(desk: Desk, task: Task, error: ComicError) -> ComicError:
    """Write down what a failure means for the task: it goes again later, or it ends. Returns what the caller is told.

    A task that another run has taken over is left alone: it is that run's to end.
    """
    if error.code is ErrorCode.CONFLICT:
        desk.let_go(task)
        return error
    postponed = _plan_next_round(desk, task, error)
    status = _ended_as(task, error.code) if postponed is None else TaskStatus.RETRYING

    def act(connection: Connection, now: datetime) -> None:
        if not ledger.renew_lease(connection, task.task_id, desk.worker, now=now):
            return
        if postponed is not None:
            ledger.postpone(connection, task.task_id, code=error.code, message=error.detail, not_before=postponed.not_before)
        else:
            ledger.end(connection, task.task_id, status=status, code=error.code, message=error.detail, now=now)

    await desk.commit(act)
    _log_failure(task, error, status=status)
    return error if postponed is None else PostponedError(postponed)


def log_success(order: Order[R], task: Task, *, seconds: float) -> None:
    """One structured line a task: enough to follow money and time, nothing that a person wrote."""
    line = _about(task, TaskStatus.SUCCESS) | {
        "model": order.provider.model,
        "output": task.output_asset_id,
        "cost": str(task.cost_actual),
        "seconds": round(seconds, 3),
    }
    _log.info("%s", json.dumps(line, ensure_ascii=False))


def _log_failure(task: Task, error: ComicError, *, status: TaskStatus) -> None:
    """The same of a task that goes again (`task_retrying`) or has ended without a result; a vendor's words stay in the ledger."""
    line = _about(task, status) | {"error": error.code}
    if isinstance(error, ProviderFault):
        line |= {"provider_code": error.provider_code, "http_status": error.http_status}
    _log.warning("%s", json.dumps(line, ensure_ascii=False))


def _about(task: Task, status: TaskStatus) -> dict[str, str | int | float | None]:
    return {
        "event": f"task_{status}",
        "task_id": task.task_id,
        "project_id": task.project_id,
        "task_type": task.task_type,
        "shot": task.shot_seq,
        "provider": task.provider_id,
        "input": task.input_hash[:12],
        "retries": task.retry_count,
    }


def _plan_next_round(desk: Desk, task: Task, error: ComicError) -> Postponed | None:
    if not error.retryable:
        return None
    decision = decide_round(
        retry_count=task.retry_count,
        max_retry=task.max_retry,
        delays=desk.rules.retry_delays,
        retry_after=error.retry_after if isinstance(error, ProviderFault) else None,
    )
    if not decision.again:
        return None
    not_before = desk.clock.now() + timedelta(seconds=decision.delay * (1.0 + 0.1 * desk.jitter()))
    return Postponed(task.shot_seq, error.code, error.detail, not_before)


def _ended_as(task: Task, code: ErrorCode) -> TaskStatus:
    landed = landing(code, STAGE_OF_TASK[task.task_type])
    return {ProjectState.CANCELLED: TaskStatus.CANCELLED, ProjectState.MANUAL_REQUIRED: TaskStatus.MANUAL_REQUIRED}.get(
        landed, TaskStatus.FAILED
    )


async def _unstage(desk: Desk, made: Iterable[Attempt]) -> None:
    staged = [json.loads(one.result).get("staged") for one in made if one.result]
    for key in filter(None, staged):
        try:
            await asyncio.to_thread(desk.objects.delete, key)
        except StorageFault as fault:
            # The work is done and booked; left-over bytes are no reason to call it failed.
            _log.warning("staged bytes %s not deleted: %s", key, fault)
