"""What the reconciler asks of the orchestrator, and what it is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from comic_pipeline.model.workflow import RunPhase

ALIVE = (RunPhase.WAITING, RunPhase.RUNNING, RunPhase.STOPPING)


@dataclass(frozen=True)
class SeenRun:
    """A Dagster run as far as the reconciler cares. `launched_at`: when its process was started, while it has not ended."""

    run_id: str
    phase: RunPhase
    launched_at: datetime | None = None


class Runs(Protocol):
    """What the reconciler asks of the orchestrator."""

    def find(self, rows: Mapping[str, str | None]) -> dict[str, SeenRun]:
        """The newest run of each stage row, by stage id; `rows` maps stage ids to the run that the row names, if any."""
        ...

    def terminate(self, run_id: str) -> None:
        """Stop a run: at once when it is queued, by signal when it runs."""
        ...

    def give_up(self, run_id: str, *, reason: str) -> None:
        """Mark a run as failed whose process is surely gone, so that it stops counting against limits."""
        ...
