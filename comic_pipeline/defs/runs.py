"""The reconciler's view of runs, on a Dagster instance."""

from collections.abc import Mapping

import dagster as dg

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


class DagsterRuns:
    """Implements `workflow.Runs`."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def find(self, rows: Mapping[str, str | None]) -> dict[str, SeenRun]:
        """The newest run of each stage row: by tag for runs of the reconciler, by id for runs that were started by hand."""
        seen: dict[str, SeenRun] = {}
        by_run = {run_id: stage_id for stage_id, run_id in rows.items() if run_id}
        tagged = dg.RunsFilter(tags={STAGE_ID_TAG: list(rows)})
        # Newest first, so the first one seen of a row is the one that counts.
        for run in self._instance.get_runs(filters=tagged):
            seen.setdefault(run.tags[STAGE_ID_TAG], _seen(run))
        missing = [run_id for run_id, stage_id in by_run.items() if stage_id not in seen]
        if missing:
            by_id = {run.run_id: run for run in self._instance.get_runs(filters=dg.RunsFilter(run_ids=missing))}
            for stage_id, run_id in rows.items():
                if stage_id not in seen and run_id in by_id:
                    seen[stage_id] = _seen(by_id[run_id])
        return seen

    def terminate(self, run_id: str) -> None:
        """Stop a run: a queued one leaves the queue at once, a running one gets its signal."""
        self._instance.run_coordinator.cancel_run(run_id)

    def give_up(self, run_id: str, *, reason: str) -> None:
        """Mark a run as failed whose process is gone: Dagster's own launcher never notices (dagster.md section 0, fact 5)."""
        run = self._instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_failed(run, f"given up by the workflow sensor: {reason}")


def _seen(run: dg.DagsterRun) -> SeenRun:
    return SeenRun(run_id=run.run_id, phase=_PHASES.get(run.status, RunPhase.RUNNING))
