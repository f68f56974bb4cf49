"""An orchestrator that only keeps books: runs by stage row, moved from phase to phase by the test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from comic_pipeline.model.workflow import RunPhase
from comic_pipeline.workflow import SeenRun


@dataclass
class FakeRun:
    """One run. `stage_id` is its tag; None for a run that was started by hand."""

    run_id: str
    stage_id: str | None
    phase: RunPhase = RunPhase.WAITING
    launched_at: datetime | None = None


@dataclass
class FakeRuns:
    """Implements `workflow.Runs` as Dagster does: a queued run is cancelled at once, a running one is told and ends later."""

    runs: dict[str, FakeRun] = field(default_factory=dict)
    terminated: list[str] = field(default_factory=list)
    given_up: dict[str, str] = field(default_factory=dict)
    finds: int = 0

    def start(self, run_id: str, *, stage_id: str | None) -> FakeRun:
        """A run enters the queue."""
        self.runs[run_id] = FakeRun(run_id, stage_id)
        return self.runs[run_id]

    def lose(self, run_id: str) -> None:
        """Somebody deletes the run and its history."""
        del self.runs[run_id]

    def find(self, rows: Mapping[str, str | None]) -> dict[str, SeenRun]:
        """By tag, the newest run of a row; by id for runs without a tag."""
        self.finds += 1
        by_tag = {run.stage_id: run for run in self.runs.values() if run.stage_id is not None and run.stage_id in rows}
        by_id = {row_id: self.runs[run_id] for row_id, run_id in rows.items() if run_id in self.runs}
        found = by_id | by_tag
        return {row_id: SeenRun(run.run_id, run.phase, run.launched_at) for row_id, run in found.items()}

    def terminate(self, run_id: str) -> None:
        """Stop a run."""
        self.terminated.append(run_id)
        if self.runs[run_id].phase is RunPhase.WAITING:
            self.runs[run_id].phase = RunPhase.CANCELED

    def give_up(self, run_id: str, *, reason: str) -> None:
        """Its process is gone."""
        self.given_up[run_id] = reason
        if run_id in self.runs:
            self.runs[run_id].phase = RunPhase.FAILED
