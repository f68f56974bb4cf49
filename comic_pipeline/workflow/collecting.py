"""What runs have become: each open round is matched with its run, and what must be said to the run is said."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.workflow import RunPhase, StageStatus
from comic_pipeline.settings import Settings
from comic_pipeline.store import projects, stages
from comic_pipeline.store.database import Connection
from comic_pipeline.workflow.ending import end_round
from comic_pipeline.workflow.rows import Rows
from comic_pipeline.workflow.runs import ALIVE, Runs, SeenRun

# Seconds from the start of a run's process until it claims its row: 3 on an idle machine, up to 60 seen at a load of 20 on two
# cores. Dagster's own time-out is 120, looked at every 15. A run that was only slow finds its row ended and does nothing.
_START_PATIENCE = 90.0


@dataclass(frozen=True)
class Collector:
    """Matches rounds with runs."""

    rows: Rows
    settings: Settings
    runs: Runs
    now: Callable[[], datetime]

    def collect(self) -> tuple[int, list[str]]:
        """One look at all open rounds: how many rows were written, and which could not be handled."""
        with self.rows.database.read() as connection:
            open_rows, cancelling = stages.open_ids(connection), projects.cancelling(connection)
        seen = self.runs.find(open_rows) if open_rows else {}

        def stirs(connection: Connection, row_id: str) -> bool:
            return self._stirs(connection, row_id, run_id=open_rows[row_id], seen=seen.get(row_id), cancelling=cancelling)

        return self.rows.each(
            self.rows.needing(open_rows, stirs),
            lambda connection, row_id: self._collect_row(connection, row_id, seen.get(row_id)),
        )

    def _stirs(
        self,
        connection: Connection,
        row_id: str,
        *,
        run_id: str | None,
        seen: SeenRun | None,
        cancelling: Mapping[str, bool],
    ) -> bool:
        """Whether the row must be written. What must be said to its run is said here, where no lock waits for the answer."""
        if seen is None:
            return run_id is not None
        if run_id is None or (seen.phase not in ALIVE and seen.run_id == run_id):
            return True
        row = stages.get(connection, row_id)
        if row is None:
            return False
        if _unwanted(row, seen, cancelling):
            self.runs.terminate(seen.run_id)
        if row.status is not StageStatus.RUNNING:
            if self._never_came(seen):
                self.runs.give_up(
                    seen.run_id, reason=f"its process was started at {seen.launched_at:%H:%M:%S} UTC and did no work"
                )
            return seen.phase not in ALIVE
        if not self._silent(row):
            return False
        self.runs.give_up(row.run_id or seen.run_id, reason=f"no heartbeat since {row.heartbeat_at:%H:%M:%S} UTC")
        return True

    def _never_came(self, seen: SeenRun) -> bool:
        """Whether a run that has claimed nothing has had time enough to do so: a process that was killed while it started."""
        alive = seen.phase in (RunPhase.WAITING, RunPhase.RUNNING)
        return alive and seen.launched_at is not None and self.now() - seen.launched_at > timedelta(seconds=_START_PATIENCE)

    def _silent(self, row: StageRow) -> bool:
        allowed = timedelta(seconds=2 * self.settings.lease_seconds)
        return row.heartbeat_at is not None and self.now() - row.heartbeat_at > allowed

    def _collect_row(self, connection: Connection, row_id: str, seen: SeenRun | None) -> bool:
        owner = stages.owner_of(connection, row_id)
        if owner is None:
            return False
        # A cancel, a retry or a run by hand must not slip in between what is read here and what is written.
        projects.lock(connection, owner)
        row, project = stages.get(connection, row_id), projects.get(connection, owner)
        if row is None or row.ended_at is not None:
            return False
        if seen is None:
            return row.status is not StageStatus.REQUESTED and end_round(
                connection, project, row, RunPhase.GONE, settings=self.settings, now=self.now()
            )
        # A run that was re-executed by hand carries the same tag; while the row runs, only the run that claimed it speaks for it.
        foreign = row.status is StageStatus.RUNNING and seen.run_id != row.run_id
        if seen.phase in ALIVE or foreign:
            if row.status is StageStatus.RUNNING and self._silent(row):
                return end_round(connection, project, row, RunPhase.GONE, settings=self.settings, now=self.now())
            return stages.mark_queued(connection, row.id, run_id=seen.run_id, now=self.now())
        ended = row.model_copy(update={"run_id": seen.run_id})
        return end_round(connection, project, ended, seen.phase, settings=self.settings, now=self.now())


def _unwanted(row: StageRow, seen: SeenRun, cancelling: Mapping[str, bool]) -> bool:
    """A run of a cancelled project that has not begun, or is to be stopped by force. Told once: it is STOPPING then."""
    if row.project_id not in cancelling or seen.phase not in (RunPhase.WAITING, RunPhase.RUNNING):
        return False
    return cancelling[row.project_id] or row.status is not StageStatus.RUNNING
