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
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from comic_pipeline import quality, service
from comic_pipeline.model.errors import ComicError, ErrorCode, StorageFault
from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Project, check_project_id
from comic_pipeline.model.stage import StageRow, due_stages, made, shown_state
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    PROJECT_TAG,
    STAGE_ID_TAG,
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
from comic_pipeline.store import ledger, limits, projects, stages, submissions, verdicts
from comic_pipeline.store.database import Database

_Key = TypeVar("_Key", int, str)

EMIT_AT_MOST = 50
ADMIT_AT_MOST = 200
_PASS_LEASE = 30.0
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
class Launch:
    """One run to start: one round of one stage."""

    stage_id: str
    project_id: str
    stage: Stage
    job: str
    tags: Mapping[str, str]


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
        changed, refused = self._collect()
        for step in (self._admit, self._advance):
            more, wrong = step()
            changed, refused = changed + more, [*refused, *wrong]
        launches, wrong = self._emit()
        return Pass(launches=tuple(launches), changed=changed, refused=(*refused, *wrong))

    # --- collect: what runs have become -----------------------------------------------------------------------------------

    def _collect(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            open_rows = stages.open_ids(connection)
        seen = self.runs.find(open_rows) if open_rows else {}
        return self._each(open_rows, lambda connection, row_id: self._collect_row(connection, row_id, seen.get(row_id)))

    def _collect_row(self, connection: Connection, row_id: str, seen: SeenRun | None) -> bool:
        row = stages.get(connection, row_id)
        if row is None:
            return False
        project = projects.get(connection, row.project_id)
        phase = self._phase(row, seen)
        if phase is None:
            return False
        if phase is RunPhase.WAITING or phase is RunPhase.RUNNING:
            run_id = seen.run_id if seen else ""
            if project.cancel_requested and row.status is not StageStatus.RUNNING:
                self.runs.terminate(run_id)
            return stages.mark_queued(connection, row.id, run_id=run_id, now=self.now())
        self._end_row(connection, project, row, phase=phase, run_id=seen.run_id if seen else row.run_id)
        return True

    def _phase(self, row: StageRow, seen: SeenRun | None) -> RunPhase | None:
        """What to make of the row's run; None when there is nothing to see yet."""
        if seen is None:
            return None if row.status is StageStatus.REQUESTED else RunPhase.GONE
        silent = row.heartbeat_at is not None and self.now() - row.heartbeat_at > timedelta(
            seconds=2 * self.settings.lease_seconds
        )
        if seen.phase is RunPhase.RUNNING and row.status is StageStatus.RUNNING and silent:
            self.runs.give_up(seen.run_id, reason=f"no heartbeat since {row.heartbeat_at:%H:%M:%S} UTC")
            return RunPhase.GONE
        return seen.phase

    def _end_row(self, connection: Connection, project: Project, row: StageRow, *, phase: RunPhase, run_id: str | None) -> None:
        given = verdicts.of_run(connection, project.id, run_id=run_id or "")
        required = [(asset, quality.GATES[asset]) for asset in STAGE_RULES[row.stage].assets if asset in quality.GATES]
        end = decide_end(
            phase,
            stage=row.stage,
            code=row.error_code,
            message=row.error_message or "",
            verdicts_missing=tuple(check for asset, check in required if (asset, check) not in given),
            verdicts_failed=tuple(check for (asset, check), verdict in given.items() if not verdict.passed),
            round_number=row.round,
            cancel_requested=project.cancel_requested,
        )
        if end.again and not all(made(need, stages.latest(connection, project.id)) for need in STAGE_RULES[row.stage].needs):
            # A run by hand selected this stage too but failed before it: it becomes due when its needs are made.
            stages.end(connection, row.id, status=StageStatus.CANCELLED, code=None, message="not reached", now=self.now())
            return
        now = self.now()
        stages.end(connection, row.id, status=end.status, code=end.code, message=end.message, now=now)
        if run_id:
            ledger.drop_leases(connection, run_id)
        if end.again:
            stages.request(connection, project.id, row.stage, stage_id=str(uuid4()), priority=row.priority, now=now)
        self._move_project(connection, project, row, end, now=now)

    def _move_project(self, connection: Connection, project: Project, row: StageRow, end: StageEnd, *, now: datetime) -> None:
        state = project_state_after(end)
        if state is None:
            return
        cancelled = {"cancelled_at": now} if state is ProjectState.CANCELLED else {}
        projects.move(
            connection,
            project.id,
            old=ACTIVE_PROJECT_STATES,
            new=state,
            now=now,
            fail_stage=row.stage,
            error_code=end.code,
            error_message=end.message[:4_000],
            finished_at=now,
            **cancelled,
        )

    # --- admit: requests from outside ----------------------------------------------------------------------------------------

    def _admit(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            waiting = submissions.open_ids(connection, limit=ADMIT_AT_MOST)
        return self._each(waiting, self._admit_one)

    def _admit_one(self, connection: Connection, submission_id: int) -> bool:
        submission = submissions.get(connection, submission_id)
        if submission is None:
            return False
        house = service.House(budgets=self.settings.budgets, now=self.now())
        return service.decide(connection, submission, house) is not None

    # --- advance: the next stages ---------------------------------------------------------------------------------------------

    def _advance(self) -> tuple[int, list[str]]:
        with self.database.read() as connection:
            producing = projects.in_production(connection)
        return self._each(producing, self._advance_project)

    def _advance_project(self, connection: Connection, project_id: str) -> bool:
        project, now = projects.get(connection, check_project_id(project_id)), self.now()
        latest = stages.latest(connection, project_id)
        if project.cancel_requested:
            return self._finish_cancel(connection, project, latest, now=now)
        due = due_stages(latest)
        for stage in due:
            latest[stage] = stages.request(
                connection, project_id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=now
            )
        state = shown_state(latest)
        if state != project.status:
            finished = {"finished_at": now} if state is ProjectState.PENDING_REVIEW else {}
            projects.move(connection, project_id, old=(ProjectState(project.status),), new=state, now=now, **finished)
        return bool(due) or state != project.status

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

    # --- emit: runs to start ------------------------------------------------------------------------------------------------

    def _emit(self) -> tuple[list[Launch], list[str]]:
        with self.database.read() as connection:
            unseen = stages.unseen_ids(connection, limit=EMIT_AT_MOST)
        launches: list[Launch] = []

        def build(connection: Connection, row_id: str) -> bool:
            row = stages.get(connection, row_id)
            if row is not None:
                launches.append(launch_of(row, projects.get(connection, check_project_id(row.project_id)), self.settings))
            return False

        _, refused = self._each(unseen, build)
        return launches, refused

    def _each(self, keys: Collection[_Key], act: Callable[[Connection, _Key], bool]) -> tuple[int, list[str]]:
        """Do `act` for each key in a transaction of its own: one bad row is ended with its own code and stops nobody else."""
        changed, refused = 0, []
        for key in keys:
            try:
                with self.database.write() as connection:
                    changed += act(connection, key)
            except StorageFault:
                raise
            except (ComicError, ValidationError, SQLAlchemyError, ValueError, LookupError) as fault:
                refused.append(f"{key}: {fault}")
                _log.exception("row %s cannot be handled", key)
                self._set_aside(key, fault)
        return changed, refused

    def _set_aside(self, key: object, fault: Exception) -> None:
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


def launch_of(row: StageRow, project: Project, settings: Settings) -> Launch:
    """The run of a stage row, with every tag of design section 5."""
    rule = STAGE_RULES[row.stage]
    return Launch(
        stage_id=row.id,
        project_id=project.id,
        stage=row.stage,
        job=rule.job,
        tags={STAGE_ID_TAG: row.id, **stage_tags(row.stage, project, settings), "dagster/priority": str(row.priority)},
    )


def stage_tags(stage: Stage, project: Project, settings: Settings) -> dict[str, str]:
    """Tags that any run of this stage carries, however it was started."""
    rule = STAGE_RULES[stage]
    tags = {
        "comic/kind": "stage",
        PROJECT_TAG: project.id,
        "comic/user": tag_value(project.user_id),
        "comic/stage": stage.value,
        "comic/queue": rule.queue,
        "dagster/max_runtime": str(max_runtime(stage, settings)),
        "dagster/priority": str(PRIORITY[project.tier]),
    }
    tags |= {f"comic.provider/{provider}": "1" for provider in settings.providers_of(stage)}
    return tags | ({"comic/lock": project.id} if rule.serial else {})


def max_runtime(stage: Stage, settings: Settings) -> int:
    """Seconds that a stage run may take: every round's deadline, the waits between rounds, and a minute to start and end."""
    rounds = settings.max_retry + 1
    waits = [settings.retry_delays[min(index, len(settings.retry_delays) - 1)] * 1.1 for index in range(settings.max_retry)]
    return int(STAGE_RULES[stage].deadline * rounds + sum(waits) + 60)


def tag_value(text: str) -> str:
    """User text as a tag value: printable, at most 63 characters."""
    return "".join(char if char.isalnum() or char in "-_.@" else "_" for char in text)[:63]
