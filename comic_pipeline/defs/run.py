"""How every asset and check body runs: its stage row claimed, its heart beating, stop signals obeyed, failures reported.

Why not plain `asyncio.run`: Dagster's interrupt lands inside whatever frame happens to run, is swallowed by libraries, and a
stopped op is retried by its policy, which would pay again. Here a signal cancels the main coroutine, and nothing that was stopped
is ever retried.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import uuid4

import dagster as dg
from pydantic import BaseModel

from comic_pipeline.defs.failing import failure_of
from comic_pipeline.defs.gate import check_gates
from comic_pipeline.model.errors import ComicError, ErrorCode, Refused, RoundIncomplete, StorageFault, WorkStopped
from comic_pipeline.model.ledger import Worker
from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Project
from comic_pipeline.model.workflow import STAGE_ID_TAG, STAGE_OF_ASSET, STAGE_RULES, Stage
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import limits, stages
from comic_pipeline.store.database import Taken

T = TypeVar("T")
R = TypeVar("R")
OpContext = dg.AssetExecutionContext | dg.AssetCheckExecutionContext

# Shown in the UI as the asset's policy. The ledger decides how often a task goes again: this is only Dagster's outer bound.
ROUND_POLICY = dg.RetryPolicy(max_retries=20)
_LOOK_AGAIN = 0.5
_STOPPED = "stopped by a signal; what was paid is kept and a retry goes on from there"
# Mostly somebody has pressed Re-execute on an old run.
_ENDED = (
    "round {tagged} of {stage} has ended or belongs to another run; nothing was done. "
    "Its project goes on by the job retry_project, or has shots made anew by redo_shots"
)


def run_stage(
    context: OpContext,
    stage: Stage,
    work: Callable[[Studio], Awaitable[T]],
    *,
    show: Callable[[T], R],
    given: Mapping[str, BaseModel] = MappingProxyType({}),
) -> R:
    """Run one asset's or check's coroutine as its stage; `show` turns its result into Dagster's value.

    `given`: the documents that an asset works from, by name; their gates must be open. A check judges them and gives none.

    Nothing of a body stands outside: what went wrong there would be retried by the policy and reported to nobody.

    Raises RetryRequested when shots are to be tried again (the next try waits inside its own loop, where it can be stopped), else
    Failure without retries for everything that goes wrong.
    """
    workshop: Workshop = context.resources.workshop
    try:
        project = workshop.project(_partition(context))
        worker = _claim(context, workshop, project, stage)
    except ComicError as refused:
        raise failure_of(context, refused) from refused
    try:
        check_gates(workshop.database, project.id, given)
        return show(_run_until_stopped(_work(workshop, project, worker, stage, work)))
    except RoundIncomplete as round_:
        context.log.warning("some shots go again in %.0f s: %s", round_.delay, round_.detail)
        raise dg.RetryRequested(max_retries=ROUND_POLICY.max_retries, seconds_to_wait=0) from round_
    except ComicError as error:
        _report(workshop, worker, error)
        raise failure_of(context, error) from error
    except (asyncio.CancelledError, dg.DagsterExecutionInterruptedError) as stop:
        raise dg.Failure(description=_STOPPED, allow_retries=False) from stop
    except Exception as bug:
        unknown = ComicError(ErrorCode.UNKNOWN_ERROR, f"{type(bug).__name__}: {bug}")
        _report(workshop, worker, unknown)
        raise failure_of(context, unknown) from bug


def was_stopped(event: dg.DagsterEvent) -> bool:
    """Whether `event` says that a body of `run_stage` ended by a stop signal."""
    if not event.is_step_failure:
        return False
    failure = event.step_failure_data.user_failure_data
    return failure is not None and failure.description == _STOPPED


def _partition(context: OpContext) -> str:
    """The run's project. Dagster launches a partitioned job without one too, and would try its own error again and again."""
    if not context.has_partition_key:
        raise Refused(ErrorCode.INPUT_INVALID, "this run has no partition: launch it for a project, its partition key")
    key: str = context.partition_key
    return key


async def _work(workshop: Workshop, project: Project, worker: Worker, stage: Stage, work: Callable[[Studio], Awaitable[T]]) -> T:
    providers = workshop.build_providers()
    beating = asyncio.create_task(_beat(workshop, worker, _current_task()))
    try:
        async with _alone(workshop, project, worker, stage):
            return await work(workshop.studio(project, worker, providers))
    finally:
        beating.cancel()
        await asyncio.wait({beating})
        await providers.close()


@asynccontextmanager
async def _alone(workshop: Workshop, project: Project, worker: Worker, stage: Stage) -> AsyncIterator[None]:
    """Hold the project's lock during a serial stage, over all machines: the run tag limits only what Dagster's queue starts."""
    if not STAGE_RULES[stage].serial:
        yield
        return
    name = f"project/{project.id}/serial"
    asked = workshop.clock.now()
    while not _take_lock(workshop, name, worker):
        await workshop.clock.sleep(_LOOK_AGAIN)
        asked = _note_waiting(workshop, worker, since=asked)
    try:
        yield
    finally:
        with workshop.database.write() as connection:
            limits.drop_lease(connection, name, holder=worker.run_id)


def _note_waiting(workshop: Workshop, worker: Worker, *, since: datetime) -> datetime:
    """The time since then was not the project's; now it is."""
    with workshop.database.write() as connection:
        now = workshop.clock.now()
        stages.add_waited(connection, worker.stage_id, seconds=(now - since).total_seconds())
    return now


def _take_lock(workshop: Workshop, name: str, worker: Worker) -> bool:
    with workshop.database.write() as connection:
        now = workshop.clock.now()
        return limits.take_lease(connection, name, holder=worker.run_id, now=now, seconds=worker.lease_seconds)


async def _beat(workshop: Workshop, worker: Worker, main: asyncio.Task[Any]) -> None:
    """Say that the run lives; a run that has lost its rows to another one stops working."""
    while True:
        await workshop.clock.sleep(worker.lease_seconds / 4)
        try:
            with workshop.database.write() as connection:
                now = workshop.clock.now()
                alive = stages.heartbeat(connection, worker.run_id, now=now)
                limits.renew_leases(connection, holder=worker.run_id, now=now, seconds=worker.lease_seconds)
        except StorageFault:
            # The database is away: the work itself meets that and reports it; being silent for a while is what it is.
            continue
        if not alive:
            main.cancel("this run no longer owns its stage")
            return


def _run_until_stopped(main: Coroutine[Any, Any, T]) -> T:
    """Run `main`; SIGINT and SIGTERM cancel it. Old handlers come back afterwards."""
    with asyncio.Runner() as runner:
        if threading.current_thread() is not threading.main_thread():
            return runner.run(main)
        loop = runner.get_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        old = {number: signal.getsignal(number) for number in signals}

        async def cancellable() -> T:
            task = _current_task()
            for number in signals:
                loop.add_signal_handler(number, task.cancel)
            return await main

        try:
            return runner.run(cancellable())
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
                signal.signal(number, old[number])


def _claim(context: OpContext, workshop: Workshop, project: Project, stage: Stage) -> Worker:
    """Take the stage row of this run, or register one for a run that was started by hand.

    Raises WorkStopped(CONFLICT) when the row is not this run's (any more): a late or doubled run does no work.
    """
    run_id, tagged = context.run.run_id, context.run.tags.get(STAGE_ID_TAG)
    with workshop.database.write() as connection:
        now = workshop.clock.now()
        owned = stages.owned(connection, project.id, stage, run_id=run_id)
        if owned is None and tagged is not None and not stages.claim(connection, tagged, run_id=run_id, now=now):
            raise WorkStopped(ErrorCode.CONFLICT, _ENDED.format(tagged=tagged, stage=stage))
    if owned is None and tagged is None:
        _register(context, workshop, project)
    with workshop.database.read() as connection:
        row = stages.owned(connection, project.id, stage, run_id=run_id)
    if row is None:
        raise WorkStopped(ErrorCode.CONFLICT, f"run {run_id} owns no round of {stage} of project {project.id}")
    return Worker(
        owner=f"{run_id}:{uuid4().hex[:8]}", run_id=run_id, stage_id=row.id, lease_seconds=workshop.settings.lease_seconds
    )


def _register(context: OpContext, workshop: Workshop, project: Project) -> None:
    """A run by hand: one running round for each stage that it selects, unless one of them or a later one is active."""
    selected = context.job_def.asset_layer.selected_asset_keys
    chosen = [stage for stage in Stage if any(STAGE_OF_ASSET.get(key.path[-1]) is stage for key in selected)]
    try:
        with workshop.database.write() as connection:
            stages.register(
                connection,
                project.id,
                chosen,
                run_id=context.run.run_id,
                priority=PRIORITY[project.tier],
                now=workshop.clock.now(),
            )
    except Taken as taken:
        raise WorkStopped(ErrorCode.CONFLICT, f"a stage of project {project.id} has just begun elsewhere") from taken


def _report(workshop: Workshop, worker: Worker, error: ComicError) -> None:
    """Say why the run fails. A store or a database that is away outside the ledger's rounds is no word, only a message.

    The reconciler makes another round then, as of a run that died, and only after five of them asks an operator.
    """
    passes = isinstance(error, StorageFault) and not isinstance(error, MissingObject)
    code, message = (None, str(error)) if passes else (error.code, error.detail)
    # When even this cannot be written, the run still fails in Dagster, and the reconciler makes another round of it too.
    with suppress(StorageFault), workshop.database.write() as connection:
        stages.report(connection, worker.stage_id, run_id=worker.run_id, code=code, message=message)


def _current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("not inside an event loop")
    return task
