"""The reconciler's view of runs, on a Dagster instance."""

import logging
from collections.abc import Mapping, Sequence

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError  # raised when the code server is away; not exported

from comic_pipeline.model.workflow import STAGE_ID_TAG, RunPhase
from comic_pipeline.workflow import SeenRun

_PHASES = {
    dg.DagsterRunStatus.QUEUED: RunPhase.WAITING,
    dg.DagsterRunStatus.NOT_STARTED: RunPhase.WAITING,
    dg.DagsterRunStatus.MANAGED: RunPhase.WAITING,
    dg.DagsterRunStatus.STARTING: RunPhase.WAITING,
    dg.DagsterRunStatus.STARTED: RunPhase.RUNNING,
    dg.DagsterRunStatus.CANCELING: RunPhase.STOPPING,
    dg.DagsterRunStatus.SUCCESS: RunPhase.SUCCEEDED,
    dg.DagsterRunStatus.FAILURE: RunPhase.FAILED,
    dg.DagsterRunStatus.CANCELED: RunPhase.CANCELED,
}

_LAUNCHED = (dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED)
_log = logging.getLogger("comic_pipeline.workflow")


class DagsterRuns:
    """Implements `workflow.Runs`."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def find(self, rows: Mapping[str, str | None]) -> dict[str, SeenRun]:
        """The run of each stage row: the one that the row names, else the newest one that carries its tag."""
        named = {run_id for run_id in rows.values() if run_id}
        by_id = {one.dagster_run.run_id: one for one in self._records(dg.RunsFilter(run_ids=sorted(named)))} if named else {}
        seen = {row: _seen(by_id[run_id]) for row, run_id in rows.items() if run_id in by_id}
        unseen = [row for row in rows if row not in seen]
        # Newest first, so the first one met of a row is the one that counts.
        for one in self._records(dg.RunsFilter(tags={STAGE_ID_TAG: unseen})) if unseen else ():
            seen.setdefault(one.dagster_run.tags[STAGE_ID_TAG], _seen(one))
        return seen

    def _records(self, wanted: dg.RunsFilter) -> Sequence[dg.RunRecord]:
        return self._instance.get_run_records(filters=wanted)

    def terminate(self, run_id: str) -> None:
        """Stop a run: a queued one leaves the queue at once, a running one gets its signal.

        When the code server is away the wish is told again in the next pass: the run is not STOPPING then.
        """
        try:
            self._instance.run_coordinator.cancel_run(run_id)
        except (DagsterUserCodeUnreachableError, dg.DagsterInvariantViolationError) as fault:
            _log.warning("run %s could not be told to stop: %s", run_id, fault)

    def give_up(self, run_id: str, *, reason: str) -> None:
        """Mark a run as failed whose process is gone: Dagster's own launcher never notices."""
        run = self._instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_failed(run, f"given up by the workflow sensor: {reason}")


def _seen(record: dg.RunRecord) -> SeenRun:
    run = record.dagster_run
    # The record's last change: to STARTING when the process was launched, to STARTED when it said its first word.
    launched = record.update_timestamp if run.status in _LAUNCHED else None
    return SeenRun(run_id=run.run_id, phase=_PHASES.get(run.status, RunPhase.RUNNING), launched_at=launched)
