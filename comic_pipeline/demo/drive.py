"""One project in one process: the deployment's reconciler and jobs, driven by a loop instead of a daemon.

The same instance as `make dev` uses, so the project, its runs and its pictures are in the UI afterwards.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef  # needed to build an instance from parts; not exported

from comic_pipeline.definitions import build_definitions
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import was_stopped
from comic_pipeline.defs.runs import DagsterRuns
from comic_pipeline.launching import Launch
from comic_pipeline.model.errors import ComicError, ErrorCode, StorageFault
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, STAGE_RULES
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store.database import DatabaseFault
from comic_pipeline.workflow import Reconciler

_LOOK_EVERY = 0.2
# Another process (a running `make dev`) may hold the pass or have taken the project's stage; then the demo just looks on.
_PATIENCE = 3_600.0
# The progress line and the final error say what a person needs; the event log of the run keeps everything.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

# A demo prints nothing. Capturing it takes four processes a stage, and Ctrl-C would have each of them show a traceback.
_NO_CAPTURE = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}


@dataclass(frozen=True)
class StageTook:
    """One round of a stage and its wall time in seconds."""

    stage: str
    seconds: float


def drive(
    workshop: Workshop, project_of: Callable[[], str | None], on_stage: Callable[[Launch], None], *, captured: bool
) -> list[StageTook]:
    """Run passes and the jobs they launch until the project is no longer in production; what each round took.

    `project_of` gives the project's id once its submission was admitted. Rounds of other projects (a demo that was killed, a
    `comic submit`) are left for `make dev`. `captured`: what steps print goes to the log storage, as in a deployment.

    Raises StorageFault for a Dagster home that cannot be used (any more), ComicError(TASK_TIMEOUT) after an hour,
    KeyboardInterrupt when a stop signal ended a round.
    """
    instance = _open_instance(workshop, captured=captured)
    definitions = build_definitions(lambda: workshop)
    reconciler = Reconciler(
        database=workshop.database, settings=workshop.settings, runs=DagsterRuns(instance), now=lambda: datetime.now(UTC)
    )
    deadline, took = time.monotonic() + _PATIENCE, list[StageTook]()
    try:
        while time.monotonic() < deadline:
            with _usable(workshop.settings.dagster_home):
                launches = _look(reconciler)
            project_id = project_of()
            ours = [launch for launch in launches if launch.project_id == project_id]
            if project_id is not None and not ours and workshop.project(project_id).status not in ACTIVE_PROJECT_STATES:
                return took
            # All of a look before the next one: in a deployment they run side by side, also when one of them stops the project.
            for launch in ours:
                on_stage(launch)
                with _usable(workshop.settings.dagster_home):
                    took.append(_execute(instance, definitions, launch))
            if not ours:
                time.sleep(_LOOK_EVERY)
    finally:
        instance.dispose()
    raise ComicError(ErrorCode.TASK_TIMEOUT, f"the demo gave up after {_PATIENCE:.0f} s; `comic status` shows where it stands")


def _look(reconciler: Reconciler) -> tuple[Launch, ...]:
    if not reconciler.take():
        return ()
    try:
        return reconciler.tick().launches
    finally:
        reconciler.leave()


def _execute(instance: dg.DagsterInstance, definitions: dg.Definitions, launch: Launch) -> StageTook:
    if not instance.has_dynamic_partition(PROJECTS.name or "", launch.project_id):
        instance.add_dynamic_partitions(PROJECTS.name or "", [launch.project_id])
    job, began = definitions.resolve_job_def(STAGE_RULES[launch.stage].job), time.monotonic()
    # A failed stage is the reconciler's to judge, from what the run reported; it would answer a stop signal with another round.
    try:
        ended = job.execute_in_process(
            instance=instance, partition_key=launch.project_id, tags=dict(launch.tags), raise_on_error=False, run_config=_QUIET
        )
    except dg.DagsterExecutionInterruptedError as stop:
        raise KeyboardInterrupt from stop
    if any(was_stopped(event) for event in ended.all_events):
        raise KeyboardInterrupt
    return StageTook(launch.stage.value, round(time.monotonic() - began, 2))


def _open_instance(workshop: Workshop, *, captured: bool) -> dg.DagsterInstance:
    home = workshop.settings.dagster_home
    changed = {} if captured else {"compute_logs": _NO_CAPTURE}
    with _usable(home):
        return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=changed))


@contextmanager
def _usable(home: Path) -> Iterator[None]:
    """What Dagster's storage raises has no name of its own: SQLite's and the file system's words go through it."""
    try:
        yield
    except (DatabaseFault, OSError, dg.DagsterInvariantViolationError) as fault:
        said = str(fault).partition("\n")[0]
        raise StorageFault(
            f"Dagster home {home} cannot be used: {said}. Is its disk full, or the home not made by `comic init`? "
            "What is made so far is kept; `comic dev` goes on from there"
        ) from fault
