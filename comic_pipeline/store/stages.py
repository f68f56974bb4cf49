"""Rounds of stages: requesting, claiming, reporting, ending. One active row per project and stage, held by an index."""

from collections.abc import Collection
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, func, literal, select, update

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.stage import SETTLE, StageRow
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, OPEN_STAGE_STATUSES, Stage, StageStatus, downstream
from comic_pipeline.store import projects
from comic_pipeline.store.columns import UtcTime
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import projects as project_rows
from comic_pipeline.store.schema import stages


def request(  # one argument a column that the caller decides
    connection: Connection,
    project_id: str,
    stage: Stage,
    *,
    stage_id: str,
    priority: int,
    now: datetime,
    run_id: str | None = None,
    scope: str | None = None,
) -> StageRow:
    """Insert the next round. With `run_id` it is running already: a run that was started by hand registers itself.

    `scope` says what a round is for when it is not the whole stage.

    Raises IntegrityError when a round of this stage is active.
    """
    last = connection.execute(
        select(func.coalesce(func.max(stages.c.round), 0)).where(stages.c.project_id == project_id, stages.c.stage == stage)
    ).scalar_one()
    by_hand = run_id is not None
    row = (
        connection.execute(
            stages.insert()
            .values(
                id=stage_id,
                project_id=project_id,
                stage=stage,
                round=last + 1,
                scope=scope,
                priority=priority,
                requested_at=now,
                status=StageStatus.RUNNING if by_hand else StageStatus.REQUESTED,
                run_id=run_id,
                started_at=now if by_hand else None,
                heartbeat_at=now if by_hand else None,
            )
            .returning(stages)
        )
        .mappings()
        .one()
    )
    return read_row(StageRow, row)


def register(
    connection: Connection, project_id: str, chosen: Collection[Stage], *, run_id: str, priority: int, now: datetime
) -> None:
    """A running round for each chosen stage, all of a run that was started by hand.

    Raises WorkStopped(CONFLICT) while another run is at work on one of them or on a stage that needs one, IntegrityError when the
    reconciler asks for a round at this very moment.
    """
    # Of two such runs the second sees what the first has chosen: the index knows only rounds of one and the same stage.
    projects.lock(connection, project_id)
    standing = latest(connection, project_id)
    for stage in (later for one in chosen for later in downstream(one)):
        row = standing.get(stage)
        if row is not None and row.status in OPEN_STAGE_STATUSES and row.run_id != run_id:
            raise WorkStopped(
                ErrorCode.CONFLICT,
                f"stage {stage} of project {project_id} is {row.status} in run {row.run_id}; wait for it or cancel it first",
            )
    for stage in chosen:
        request(connection, project_id, stage, stage_id=str(uuid4()), priority=priority, now=now, run_id=run_id)


def get(connection: Connection, stage_id: str) -> StageRow | None:
    """The row with this id."""
    row = connection.execute(select(stages).where(stages.c.id == stage_id)).mappings().one_or_none()
    return None if row is None else read_row(StageRow, row)


def owner_of(connection: Connection, stage_id: str) -> str | None:
    """The project of a row, also of one that cannot be read whole."""
    return connection.execute(select(stages.c.project_id).where(stages.c.id == stage_id)).scalar_one_or_none()


def latest(connection: Connection, project_id: str) -> dict[Stage, StageRow]:
    """The latest round of each stage that ever ran."""
    statement = select(stages).where(stages.c.project_id == project_id).order_by(stages.c.round)
    rows = (read_row(StageRow, row) for row in connection.execute(statement).mappings())
    return {row.stage: row for row in rows}


def seconds_by_project(connection: Connection, *, now: datetime) -> dict[str, float]:
    """How long the stages of each producing project have run since it was (re)opened; rounds side by side count each.

    Waiting does not count: in the queue, in line at providers, for a lock. Nor do rounds that only settle what was left.
    """
    statement = (
        select(stages.c.project_id, stages.c.started_at, stages.c.ended_at, stages.c.waited_seconds)
        .join_from(stages, project_rows, project_rows.c.id == stages.c.project_id)
        .where(
            project_rows.c.status.in_(ACTIVE_PROJECT_STATES),
            stages.c.requested_at >= project_rows.c.opened_at,
            stages.c.started_at.is_not(None),
            (stages.c.scope.is_(None)) | (stages.c.scope != SETTLE),
        )
    )
    spent: dict[str, float] = {}
    for project_id, started, ended, waited in connection.execute(statement):
        spent[project_id] = spent.get(project_id, 0.0) + max(0.0, ((ended or now) - started).total_seconds() - waited)
    return spent


def add_waited(connection: Connection, stage_id: str, *, seconds: float) -> None:
    """Its run did nothing but wait in line for so long."""
    connection.execute(update(stages).where(stages.c.id == stage_id).values(waited_seconds=stages.c.waited_seconds + seconds))


def runs_at_work(connection: Connection, project_id: str) -> list[str]:
    """Ids of the runs that have claimed a round of this project."""
    statement = select(stages.c.run_id).where(stages.c.project_id == project_id, stages.c.status == StageStatus.RUNNING)
    return [run_id for run_id in connection.execute(statement).scalars() if run_id]


def history(connection: Connection, project_id: str) -> list[StageRow]:
    """All rounds of a project, oldest first."""
    statement = select(stages).where(stages.c.project_id == project_id).order_by(stages.c.requested_at, stages.c.round)
    return [read_row(StageRow, row) for row in connection.execute(statement).mappings()]


def open_ids(connection: Connection) -> dict[str, str | None]:
    """Ids of rows that have not ended, most urgent first, with the run that each names.

    Only ids: a row that cannot be read must not keep the others from being read.
    """
    statement = (
        select(stages.c.id, stages.c.run_id)
        .where(stages.c.status.in_(OPEN_STAGE_STATUSES))
        .order_by(stages.c.priority.desc(), stages.c.requested_at, stages.c.id)
    )
    return dict(connection.execute(statement).tuples().all())


def unseen_ids(connection: Connection, *, limit: int) -> list[str]:
    """Ids of requested rows whose run has not been seen yet, most urgent first."""
    statement = (
        select(stages.c.id)
        .where(stages.c.status == StageStatus.REQUESTED, stages.c.run_id.is_(None))
        .order_by(stages.c.priority.desc(), stages.c.requested_at, stages.c.id)
        .limit(limit)
    )
    return list(connection.execute(statement).scalars())


def mark_queued(connection: Connection, stage_id: str, *, run_id: str, now: datetime) -> bool:
    """Its run was seen in Dagster."""
    done = connection.execute(
        update(stages)
        .where(stages.c.id == stage_id, stages.c.status == StageStatus.REQUESTED)
        .values(status=StageStatus.QUEUED, run_id=run_id, queued_at=now)
    )
    return done.rowcount == 1


def claim(connection: Connection, stage_id: str, *, run_id: str, now: datetime) -> bool:
    """The run takes its row. False when the row has ended, is another run's, or does not exist: then no work may be done.

    Claiming again by the same run (an op retry) succeeds.
    """
    done = connection.execute(
        update(stages)
        .where(
            stages.c.id == stage_id,
            (stages.c.status.in_((StageStatus.REQUESTED, StageStatus.QUEUED)))
            | ((stages.c.status == StageStatus.RUNNING) & (stages.c.run_id == run_id)),
        )
        .values(
            status=StageStatus.RUNNING,
            run_id=run_id,
            heartbeat_at=now,
            started_at=func.coalesce(stages.c.started_at, literal(now, UtcTime)),
        )
    )
    return done.rowcount == 1


def owned(connection: Connection, project_id: str, stage: Stage, *, run_id: str) -> StageRow | None:
    """The active row of this run for this stage."""
    statement = select(stages).where(
        stages.c.project_id == project_id,
        stages.c.stage == stage,
        stages.c.run_id == run_id,
        stages.c.status == StageStatus.RUNNING,
    )
    row = connection.execute(statement).mappings().one_or_none()
    return None if row is None else read_row(StageRow, row)


def heartbeat(connection: Connection, run_id: str, *, now: datetime) -> bool:
    """Say that the run lives, for every stage that it works on. False when no row is this run's any more."""
    done = connection.execute(
        update(stages).where(stages.c.run_id == run_id, stages.c.status == StageStatus.RUNNING).values(heartbeat_at=now)
    )
    return done.rowcount > 0


def report(connection: Connection, stage_id: str, *, run_id: str, code: ErrorCode | None, message: str | None) -> None:
    """The run says why it is about to fail, or (None) that an earlier report no longer holds. The reconciler decides."""
    connection.execute(
        update(stages)
        .where(stages.c.id == stage_id, stages.c.run_id == run_id, stages.c.status == StageStatus.RUNNING)
        .values(error_code=code, error_message=None if message is None else message[:4_000])
    )


def end(  # one argument a column that the caller decides
    connection: Connection,
    stage_id: str,
    *,
    status: StageStatus,
    code: ErrorCode | None,
    message: str,
    now: datetime,
) -> bool:
    """End an active row. False when it had ended. Waits for a create of the project that is passing the gate."""
    project_id = connection.execute(select(stages.c.project_id).where(stages.c.id == stage_id)).scalar_one_or_none()
    if project_id is not None:
        projects.lock(connection, project_id)
    done = connection.execute(
        update(stages)
        .where(stages.c.id == stage_id, stages.c.status.in_(OPEN_STAGE_STATUSES))
        .values(status=status, error_code=code, error_message=message[:4_000] or None, ended_at=now)
    )
    return done.rowcount == 1
