"""The reconciler: from what tables and runs say to what must happen next. Level-triggered: any pass can be skipped or repeated.

Belongs here: collect, admit, advance, emit (design section 5), each row in a short transaction of its own. Does not: Dagster
(`defs/runs.py` implements `Runs`), the decisions themselves (`model/workflow.py`, `model/stage.py`).
"""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from uuid import uuid4

from pydantic import ValidationError

from comic_pipeline import quality, service
from comic_pipeline.launching import Launch, launch_of, max_runtime
from comic_pipeline.model.errors import ComicError, ErrorCode, StorageFault
from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Project, check_project_id
from comic_pipeline.model.stage import StageRow, due_stages, needs_made, rounds_in_a_row, shown_state, stalled
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    STAGE_RULES,
    ProjectState,
    RunPhase,
    Stage,
    StageEnd,
    StageStatus,
    decide_end,
    project_state_after,
)
from comic_pipeline.settings import Settings
from comic_pipeline.store import ledger, leftovers, limits, projects, stages, submissions, verdicts
from comic_pipeline.store.database import Connection, Database, DatabaseFault, Taken
from comic_pipeline.upkeep import expire, settle_left_behind

_Key = TypeVar("_Key", int, str)

EMIT_AT_MOST = 50
ADMIT_AT_MOST = 200
# More than can be admitted: those that wait for another project of their user must not hide the ones behind them.
LOOK_AT_MOST = 2_000
_PASS_LEASE = 30.0
# Seconds before the round after a dead one: 3, 6, 12, 24.
_FIRST_BACK_OFF = 3.0
_ALIVE = (RunPhase.WAITING, RunPhase.RUNNING, RunPhase.STOPPING)
# What a single unreadable row can raise.
_ROW_FAULTS = (ComicError, ValidationError, ValueError, LookupError)
_log = logging.getLogger("comic_pipeline.workflow")


@dataclass(frozen=True)
class SeenRun:
    """A Dagster run as far as the reconciler cares."""

    run_id: str
    phase: RunPhase


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
        for step in (self._collect, self._admit, self._expire, self._advance, self._settle):
            more, wrong = step()
            changed, refused = changed + more, [*refused, *wrong]
        launches, wrong = self._emit()
        return Pass(launches=tuple(launches), changed=changed, refused=(*refused, *wrong))

    # --- collect: what runs have become -----------------------------------------------------------------------------------

    def _collect(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            open_rows, cancelling = stages.open_ids(connection), projects.cancelling(connection)
        seen = self.runs.find(open_rows) if open_rows else {}

        def stirs(connection: Connection, row_id: str) -> bool:
            return self._stirs(connection, row_id, run_id=open_rows[row_id], seen=seen.get(row_id), cancelling=cancelling)

        return self._each(
            self._needing(open_rows, stirs), lambda connection, row_id: self._collect_row(connection, row_id, seen.get(row_id))
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
        if run_id is None or (seen.phase not in _ALIVE and seen.run_id == run_id):
            return True
        row = stages.get(connection, row_id)
        if row is None:
            return False
        if _unwanted(row, seen, cancelling):
            self.runs.terminate(seen.run_id)
        if row.status is not StageStatus.RUNNING:
            return seen.phase not in _ALIVE
        if not self._silent(row):
            return False
        self.runs.give_up(row.run_id or seen.run_id, reason=f"no heartbeat since {row.heartbeat_at:%H:%M:%S} UTC")
        return True

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
            return row.status is not StageStatus.REQUESTED and self._end_row(connection, project, row, RunPhase.GONE)
        # A run that was re-executed by hand carries the same tag; while the row runs, only the run that claimed it speaks for it.
        foreign = row.status is StageStatus.RUNNING and seen.run_id != row.run_id
        if seen.phase in _ALIVE or foreign:
            if row.status is StageStatus.RUNNING and self._silent(row):
                return self._end_row(connection, project, row, RunPhase.GONE)
            return stages.mark_queued(connection, row.id, run_id=seen.run_id, now=self.now())
        return self._end_row(connection, project, row.model_copy(update={"run_id": seen.run_id}), seen.phase)

    def _end_row(self, connection: Connection, project: Project, row: StageRow, phase: RunPhase) -> bool:
        now, assets = self.now(), STAGE_RULES[row.stage].assets
        code = row.error_code
        if phase in (RunPhase.CANCELED, RunPhase.FAILED) and code is None and _ran_out(row, self.settings, now=now):
            # Dagster stopped it at its `dagster/max_runtime` and calls that a failure: nobody cancelled anything, nothing died.
            phase, code = RunPhase.FAILED, ErrorCode.TASK_TIMEOUT
        # Of this stage only: a run by hand over several stages gives verdicts about all of them.
        of_run = verdicts.of_run(connection, project.id, run_id=row.run_id or "")
        given = {check: verdict for (asset, check), verdict in of_run.items() if asset in assets}
        required = [quality.GATES[asset] for asset in assets if asset in quality.GATES]
        end = decide_end(
            phase,
            stage=row.stage,
            code=code,
            message=row.error_message or "",
            verdicts_missing=tuple(check for check in required if check not in given),
            verdicts_failed=tuple(check for check, verdict in given.items() if not verdict.passed),
            all_gated=len(required) == len(assets),
            round_number=rounds_in_a_row(row, stages.history(connection, project.id)),
            cancel_requested=project.cancel_requested,
        )
        if row.run_id:
            ledger.drop_leases(connection, row.run_id)
            limits.drop_leases(connection, holder=row.run_id)
        no_word = row.error_code is None and not given and phase in (RunPhase.FAILED, RunPhase.GONE)
        if no_word and not project.cancel_requested and not needs_made(row.stage, stages.latest(connection, project.id)):
            # A run by hand selected this stage too but failed before it: it becomes due when its needs are made.
            return stages.end(connection, row.id, status=StageStatus.CANCELLED, code=None, message="not reached", now=now)
        stages.end(connection, row.id, status=end.status, code=end.code, message=end.message, now=now)
        if project.status not in ACTIVE_PROJECT_STATES:
            # Nothing goes on by itself here: a retry or a redo takes up what did not pass.
            return True
        if end.again:
            stages.request(connection, project.id, row.stage, stage_id=str(uuid4()), priority=row.priority, now=now)
        self._move_project(connection, project, row.stage, end, now=now)
        return True

    def _move_project(self, connection: Connection, project: Project, stage: Stage, end: StageEnd, *, now: datetime) -> None:
        state = project_state_after(end)
        if state is None:
            return
        if state is ProjectState.CANCELLED:
            # Somebody terminated the run: the other stages of the project stop too, and the last one ends it.
            service.stop(connection, project.id, reason=end.message, now=now)
            return
        for row in stages.latest(connection, project.id).values():
            if row.status is StageStatus.REQUESTED:
                # No new paid work for a project that has stopped; a retry asks for it again.
                message = f"not started: {stage} ended {end.status}"
                stages.end(connection, row.id, status=StageStatus.CANCELLED, code=None, message=message, now=now)
        projects.move(
            connection,
            project.id,
            old=ACTIVE_PROJECT_STATES,
            new=state,
            now=now,
            fail_stage=stage,
            error_code=end.code,
            error_message=end.message[:4_000],
            finished_at=now,
        )

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
        return self._each(self._needing(undecided, decidable)[:ADMIT_AT_MOST], decide)

    def _house(self) -> service.House:
        # The time is taken for each one: the projects of one pass keep the order in which they were admitted.
        return service.House(budgets=self.settings.budgets, now=self.now())

    # --- advance: the next stages ---------------------------------------------------------------------------------------------

    def _advance(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            producing = projects.in_production(connection)
        return self._each(self._needing(producing, _can_advance), self._advance_project)

    def _advance_project(self, connection: Connection, project_id: str) -> bool:
        projects.lock(connection, check_project_id(project_id))
        project, now = projects.get(connection, project_id), self.now()
        if project.status not in ACTIVE_PROJECT_STATES:
            return False
        latest = stages.latest(connection, project_id)
        if project.cancel_requested:
            return self._finish_cancel(connection, project, latest, now=now)
        for stage in due_stages(latest):
            latest[stage] = stages.request(
                connection, project_id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=now
            )
        if (row := stalled(latest)) is not None:
            end = StageEnd(row.status, again=False, code=row.error_code, message=row.error_message or "")
            self._move_project(connection, project, row.stage, end, now=now)
            return True
        state = shown_state(latest)
        finished = {"finished_at": now} if state is ProjectState.PENDING_REVIEW else {}
        projects.move(connection, project_id, old=(ProjectState(project.status),), new=state, now=now, **finished)
        return True

    def _finish_cancel(
        self, connection: Connection, project: Project, latest: Mapping[Stage, StageRow], *, now: datetime
    ) -> bool:
        if any(row.ended_at is None for row in latest.values()):
            return False
        return projects.move(
            connection,
            project.id,
            old=ACTIVE_PROJECT_STATES,
            new=ProjectState.CANCELLED,
            now=now,
            cancelled_at=now,
            finished_at=now,
            error_code=ErrorCode.CANCELLED,
            error_message=project.cancel_reason,
        )

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
        return self._each(late, end)

    def _settle(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            stopped = leftovers.stopped_projects(connection, now=self.now())
        return self._each(stopped, lambda connection, project_id: settle_left_behind(connection, project_id, now=self.now()))

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
        _, refused = self._each(self._needing(unseen, build), build)
        return launches, refused

    def _may_start(self, connection: Connection, row: StageRow) -> bool:
        """A round after a dead one waits a little, longer each time: a restart of the code server must not use all of them up."""
        dead = rounds_in_a_row(row, stages.history(connection, row.project_id)) - 1
        return dead == 0 or self.now() >= row.requested_at + timedelta(seconds=_FIRST_BACK_OFF * 2 ** (dead - 1))

    # --- one row at a time --------------------------------------------------------------------------------------------------

    def _needing(self, keys: Collection[_Key], look: Callable[[Connection, _Key], bool]) -> list[_Key]:
        """The keys that `look` says there is something to do about, in one read-only transaction: most have nothing."""

        def wanted(connection: Connection, key: _Key) -> bool:
            try:
                return look(connection, key)
            except StorageFault:
                raise
            except _ROW_FAULTS:
                # `_each` meets the same fault in a transaction of its own and sets the row aside.
                return True

        if not keys:
            return []
        with self.database.read() as connection:
            return [key for key in keys if wanted(connection, key)]

    def _each(self, keys: Collection[_Key], act: Callable[[Connection, _Key], bool]) -> tuple[int, list[str]]:
        """Do `act` for each key in a transaction of its own: one bad row is ended with its own code and stops nobody else."""
        changed, refused = 0, []
        for key in keys:
            try:
                with self.database.write() as connection:
                    changed += act(connection, key)
            except StorageFault:
                raise
            except Taken as fault:
                # A run by hand or the command line was first. The next pass looks at what is there then.
                _log.warning("row %s was changed by somebody else: %s", key, fault.orig)
            except (*_ROW_FAULTS, DatabaseFault) as fault:
                refused.append(f"{key}: {fault}")
                _log.exception("row %s cannot be handled", key)
                self._set_aside(key, fault)
        return changed, refused

    def _set_aside(self, key: object, fault: Exception) -> None:
        try:
            self._end_with(key, fault)
        except Taken:
            # What is wrong in the row breaks a constraint, so it cannot even be ended: each pass says so again, the others go on.
            _log.exception("row %s cannot be set aside", key)

    def _end_with(self, key: object, fault: Exception) -> None:
        code = fault.code if isinstance(fault, ComicError) else ErrorCode.UNKNOWN_ERROR
        message, now = f"{type(fault).__name__}: {fault}"[:2_000], self.now()
        with self.database.write() as connection:
            if isinstance(key, int):
                submissions.reject(connection, key, code=code, message=message, now=now)
                return
            owner = stages.owner_of(connection, str(key)) or str(key)
            stages.end(connection, str(key), status=StageStatus.FAILED, code=code, message=message, now=now)
            projects.move(
                connection,
                owner,
                old=ACTIVE_PROJECT_STATES,
                new=ProjectState.MANUAL_REQUIRED,
                now=now,
                error_code=code,
                error_message=message,
                finished_at=now,
            )


def _unwanted(row: StageRow, seen: SeenRun, cancelling: Mapping[str, bool]) -> bool:
    """A run of a cancelled project that has not begun, or is to be stopped by force. Told once: it is STOPPING then."""
    if row.project_id not in cancelling or seen.phase not in (RunPhase.WAITING, RunPhase.RUNNING):
        return False
    return cancelling[row.project_id] or row.status is not StageStatus.RUNNING


def _ran_out(row: StageRow, settings: Settings, *, now: datetime) -> bool:
    return row.started_at is not None and now - row.started_at >= timedelta(seconds=max_runtime(row.stage, settings))


def _can_advance(connection: Connection, project_id: str) -> bool:
    project = projects.get(connection, check_project_id(project_id))
    latest = stages.latest(connection, project_id)
    if project.cancel_requested:
        return all(row.ended_at is not None for row in latest.values())
    return bool(due_stages(latest)) or shown_state(latest) != project.status or stalled(latest) is not None
