"""One pass of the reconciler: its steps in order, and the steps that are short enough to stand here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

from comic_pipeline import service
from comic_pipeline.launching import Launch, launch_of
from comic_pipeline.model.project import check_project_id
from comic_pipeline.model.stage import StageRow, remakes_in_a_row, rounds_in_a_row
from comic_pipeline.settings import Settings
from comic_pipeline.store import leftovers, limits, projects, stages, submissions
from comic_pipeline.store.database import Connection, Database
from comic_pipeline.upkeep import expire, settle_left_behind
from comic_pipeline.workflow.advancing import Advancer
from comic_pipeline.workflow.collecting import Collector
from comic_pipeline.workflow.rows import Rows
from comic_pipeline.workflow.runs import Runs

EMIT_AT_MOST = 50
ADMIT_AT_MOST = 200
# More than can be admitted: those that wait for another project of their user must not hide the ones behind them.
LOOK_AT_MOST = 2_000
_PASS_LEASE = 30.0
# Seconds before the round after a dead one: 3, 6, 12, 24.
_FIRST_BACK_OFF = 3.0


@dataclass(frozen=True)
class Pass:
    """What one pass did."""

    launches: tuple[Launch, ...] = ()
    changed: int = 0
    refused: tuple[str, ...] = ()


@dataclass
class Reconciler:
    """One pass at a time over all processes, by a leased row."""

    database: Database
    settings: Settings
    runs: Runs
    now: Callable[[], datetime]
    holder: str = field(default_factory=lambda: str(uuid4()))

    @property
    def _rows(self) -> Rows:
        return Rows(database=self.database, now=self.now)

    def take(self) -> bool:
        """Become the one that looks. False while another evaluation is at it."""
        with self.database.write() as connection:
            return limits.take_lease(connection, "workflow", holder=self.holder, now=self.now(), seconds=_PASS_LEASE)

    def leave(self) -> None:
        """Let others look."""
        with self.database.write() as connection:
            limits.drop_lease(connection, "workflow", holder=self.holder)

    def tick(self) -> Pass:
        """One pass; call it between `take` and `leave`."""
        changed = 0
        refused: list[str] = []
        collector = Collector(rows=self._rows, settings=self.settings, runs=self.runs, now=self.now)
        advancer = Advancer(rows=self._rows, settings=self.settings, now=self.now)
        for step in (collector.collect, self._admit, self._expire, advancer.advance, self._settle):
            more, wrong = step()
            changed, refused = changed + more, [*refused, *wrong]
        launches, wrong = self._emit()
        return Pass(launches=tuple(launches), changed=changed, refused=(*refused, *wrong))

    # --- admit: requests from outside ----------------------------------------------------------------------------------------

    def _admit(self) -> tuple[int, list[str]]:
        def decidable(connection: Connection, submission_id: int) -> bool:
            submission = submissions.get(connection, submission_id)
            return submission is not None and not service.keeps_waiting(connection, submission, self._house())

        def decide(connection: Connection, submission_id: int) -> bool:
            submission = submissions.get(connection, submission_id)
            return submission is not None and service.decide(connection, submission, self._house()) is not None

        with self.database.read() as connection:
            undecided = submissions.open_ids(connection, limit=LOOK_AT_MOST)
        return self._rows.each(self._rows.needing(undecided, decidable)[:ADMIT_AT_MOST], decide)

    def _house(self) -> service.House:
        # The time is taken for each one: the projects of one pass keep the order in which they were admitted.
        return service.house_of(self.settings, now=self.now())

    # --- upkeep: what takes too long, what was left behind ---------------------------------------------------------------

    def _expire(self) -> tuple[int, list[str]]:
        limit, now = self.settings.project_timeout, self.now()

        def end(connection: Connection, project_id: str) -> bool:
            return expire(connection, project_id, limit=limit, now=now)

        with self.database.read() as connection:
            spent = stages.seconds_by_project(connection, now=now)
            late = [project_id for project_id, seconds in spent.items() if seconds > limit]
            at_work = [run_id for project_id in late for run_id in stages.runs_at_work(connection, project_id)]
        for run_id in at_work:
            self.runs.terminate(run_id)
        return self._rows.each(late, end)

    def _settle(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            stopped = leftovers.stopped_projects(connection, now=self.now())
        return self._rows.each(stopped, lambda connection, project_id: settle_left_behind(connection, project_id, now=self.now()))

    # --- emit: runs to start ------------------------------------------------------------------------------------------------

    def _emit(self) -> tuple[list[Launch], list[str]]:
        launches: list[Launch] = []

        def build(connection: Connection, row_id: str) -> bool:
            row = stages.get(connection, row_id)
            if row is not None and self._may_start(connection, row):
                launches.append(launch_of(row, projects.get(connection, check_project_id(row.project_id)), self.settings))
            return False

        with self.database.read() as connection:
            unseen = stages.unseen_ids(connection, limit=EMIT_AT_MOST)
        _, refused = self._rows.each(self._rows.needing(unseen, build), build)
        return launches, refused

    def _may_start(self, connection: Connection, row: StageRow) -> bool:
        """A round after a dead one waits a little, longer each time: a restart of the code server must not use all of them up."""
        history = stages.history(connection, row.project_id)
        dead = rounds_in_a_row(row, history) - remakes_in_a_row(row, history) - 1
        return dead <= 0 or self.now() >= row.requested_at + timedelta(seconds=_FIRST_BACK_OFF * 2 ** (dead - 1))
