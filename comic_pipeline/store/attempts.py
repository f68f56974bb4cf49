"""Attempts: the one gate before any paid call, and the books of what each call cost.

`begin` is that gate: ownership, cancel flags, budget and breaker are checked in the very transaction that writes the intent, so
nothing can slip between the check and the promise to pay.
"""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection, and_, func, literal, select, update

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, WorkStopped
from comic_pipeline.model.ledger import SpendLimits, Worker
from comic_pipeline.model.money import ZERO, cny
from comic_pipeline.model.task import OPEN_ATTEMPT_STATES, Attempt, AttemptKind, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import StageStatus
from comic_pipeline.store import projects
from comic_pipeline.store.columns import Money
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import attempts, stages, tasks
from comic_pipeline.store.schema import projects as project_rows
from comic_pipeline.store.spending import check_spend

# Any number that nothing else in the database locks; `spending.py` has the neighbouring one.
_JOB_LOCK = 7_262_003


def begin(  # noqa: PLR0913  # the gate: each argument is one fact that it checks or writes
    connection: Connection,
    task: Task,
    worker: Worker,
    *,
    kind: AttemptKind,
    base_url: str,
    request_hash: str,
    estimate: Decimal,
    limits: SpendLimits,
    now: datetime,
) -> Attempt:
    """Promise one create: checks everything that forbids it, then writes the intent and its reservation.

    Raises WorkStopped: CONFLICT when this run no longer owns the task or the stage, CANCELLED, or BUDGET_EXCEEDED.
    """
    # The locks make what is checked here true until the intent is committed: on Postgres a plain SELECT promises nothing.
    projects.lock(connection, task.project_id)
    _check_owned(connection, task, worker)
    _check_none_open(connection, task)
    check_cancel(connection, task)
    project = projects.get(connection, task.project_id)
    check_spend(connection, project, estimate=estimate, limits=limits, now=now)
    last_number = connection.execute(
        select(func.coalesce(func.max(attempts.c.number), 0)).where(attempts.c.task_id == task.task_id)
    ).scalar_one()
    intent = attempts.insert().values(
        task_id=task.task_id,
        number=last_number + 1,
        kind=kind,
        provider_id=task.provider_id,
        provider_base_url=base_url,
        request_hash=request_hash,
        state=AttemptState.INTENT,
        estimate=estimate,
        started_at=now,
    )
    return read_row(Attempt, connection.execute(intent.returning(attempts)).mappings().one())


def mark_submitted(connection: Connection, attempt: Attempt, *, request_id: str) -> Attempt:
    """The provider gave an id: from now on the job can always be found again.

    Raises OutcomeUnknown when the job is another attempt's: two that lost their answers at once found the same one in the list.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_JOB_LOCK)))
    if owner_of(connection, attempt.provider_id, request_id) is not None:
        raise OutcomeUnknown(ErrorCode.OUTCOME_UNKNOWN, f"job {request_id} belongs to another attempt already")
    connection.execute(update(tasks).where(tasks.c.task_id == attempt.task_id).values(provider_request_id=request_id))
    return _change(connection, attempt, old=(AttemptState.INTENT,), state=AttemptState.SUBMITTED, provider_request_id=request_id)


def mark_succeeded(
    connection: Connection, attempt: Attempt, *, cost: Decimal, result: str, now: datetime, request_id: str | None = None
) -> Attempt:
    """The result is ready and paid; `result` says where it lies."""
    return _change(
        connection,
        attempt,
        old=OPEN_ATTEMPT_STATES,
        state=AttemptState.SUCCEEDED,
        cost=cost,
        result=result,
        finished_at=now,
        # What the row has wins: `attempt` may be older than its id.
        provider_request_id=func.coalesce(attempts.c.provider_request_id, request_id),
    )


def mark_failed(  # what the provider answered, column by column
    connection: Connection,
    attempt: Attempt,
    *,
    http_status: int | None,
    provider_code: str,
    now: datetime,
    cost: Decimal | None = None,
) -> Attempt:
    """The provider said no, or what it delivered is not usable. The reservation is released, a real cost is kept.

    Without `cost`, what was booked before stays booked.
    """
    return _change(
        connection,
        attempt,
        old=(*OPEN_ATTEMPT_STATES, AttemptState.SUCCEEDED),
        state=AttemptState.FAILED,
        http_status=http_status,
        provider_code=provider_code[:128],
        cost=func.coalesce(attempts.c.cost, literal(ZERO, Money)) if cost is None else cost,
        finished_at=now,
        result=None,
    )


def mark_unknown(connection: Connection, attempt: Attempt, *, now: datetime) -> Attempt:
    """The answer of a synchronous call is lost for good: book it at its estimate."""
    return _change(
        connection, attempt, old=OPEN_ATTEMPT_STATES, state=AttemptState.UNKNOWN, cost=attempt.estimate, finished_at=now
    )


def mark_released(connection: Connection, attempt: Attempt, *, now: datetime) -> Attempt:
    """The provider surely never got it: nothing was spent."""
    return _change(connection, attempt, old=OPEN_ATTEMPT_STATES, state=AttemptState.RELEASED, cost=ZERO, finished_at=now)


def book_late(connection: Connection, attempt: Attempt, *, request_id: str) -> bool:
    """The create that was taken for surely absent has made a job after all: it is paid, and its id is kept for a person."""
    settled = (AttemptState.RELEASED, AttemptState.UNKNOWN)
    done = connection.execute(
        update(attempts)
        .where(attempts.c.task_id == attempt.task_id, attempts.c.number == attempt.number, attempts.c.state.in_(settled))
        .values(state=AttemptState.UNKNOWN, cost=attempt.estimate, provider_request_id=request_id)
    )
    return done.rowcount == 1


def get(connection: Connection, task_id: str, number: int) -> Attempt:
    """One attempt as it stands. Raises LookupError."""
    statement = select(attempts).where(attempts.c.task_id == task_id, attempts.c.number == number)
    row = connection.execute(statement).mappings().one_or_none()
    if row is None:
        raise LookupError(f"no attempt {number} of task {task_id}")
    return read_row(Attempt, row)


def unfinished(connection: Connection, task_id: str) -> Attempt | None:
    """The attempt to go on from: the latest one that is open or whose result is ready. None when the next step is a create."""
    going_on = [one for one in of_task(connection, task_id) if one.state in (*OPEN_ATTEMPT_STATES, AttemptState.SUCCEEDED)]
    return going_on[-1] if going_on else None


def of_task(connection: Connection, task_id: str) -> list[Attempt]:
    """All attempts of a task, oldest first."""
    statement = select(attempts).where(attempts.c.task_id == task_id).order_by(attempts.c.number)
    return [read_row(Attempt, row) for row in connection.execute(statement).mappings()]


def of_project(connection: Connection, project_id: str) -> list[Attempt]:
    """All attempts of all tasks of a project, by task, oldest first."""
    statement = select(attempts).join_from(attempts, tasks).where(tasks.c.project_id == project_id)
    rows = connection.execute(statement.order_by(attempts.c.task_id, attempts.c.number)).mappings()
    return [read_row(Attempt, row) for row in rows]


def owned(connection: Connection, provider_id: str, request_ids: Collection[str]) -> set[str]:
    """Which of these ids some attempt has already: such a job in the provider's list is not a lost one."""
    statement = select(attempts.c.provider_request_id).where(
        attempts.c.provider_id == provider_id, attempts.c.provider_request_id.in_(request_ids)
    )
    return set(connection.execute(statement).scalars())


def forget_results(connection: Connection, task_id: str) -> None:
    """The output is in our own store: signed links to the provider's copy are no longer needed."""
    connection.execute(update(attempts).where(attempts.c.task_id == task_id).values(result=None))


def cost_of(connection: Connection, task_id: str) -> Decimal:
    """What a task has cost so far, over all its attempts."""
    statement = select(func.coalesce(func.sum(attempts.c.cost), 0)).where(attempts.c.task_id == task_id)
    return cny(str(connection.execute(statement).scalar_one()))


def _check_owned(connection: Connection, task: Task, worker: Worker) -> None:
    held = connection.execute(
        select(tasks.c.task_id)
        .join_from(tasks, stages, stages.c.project_id == tasks.c.project_id)
        .where(
            and_(tasks.c.task_id == task.task_id, tasks.c.lease_owner == worker.owner, tasks.c.status == TaskStatus.RUNNING),
            and_(stages.c.id == worker.stage_id, stages.c.run_id == worker.run_id, stages.c.status == StageStatus.RUNNING),
        )
        .with_for_update(of=tasks, key_share=True)
    ).scalar_one_or_none()
    if held is None:
        raise WorkStopped(ErrorCode.CONFLICT, f"run {worker.run_id} no longer owns task {task.task_id}; nothing was sent")


def _check_none_open(connection: Connection, task: Task) -> None:
    open_one = connection.execute(
        select(attempts.c.number).where(attempts.c.task_id == task.task_id, attempts.c.state.in_(OPEN_ATTEMPT_STATES))
    ).scalar_one_or_none()
    if open_one is not None:
        raise WorkStopped(
            ErrorCode.CONFLICT, f"attempt {open_one} of task {task.task_id} is still open: a second create would be a blind one"
        )


def check_cancel(connection: Connection, task: Task) -> None:
    """A checkpoint: raise WorkStopped(CANCELLED) when the task's or its project's flag is up."""
    flags = connection.execute(
        select(tasks.c.cancel_requested, project_rows.c.cancel_requested)
        .join_from(tasks, project_rows, project_rows.c.id == tasks.c.project_id)
        .where(tasks.c.task_id == task.task_id)
    ).one()
    if any(flags):
        raise WorkStopped(ErrorCode.CANCELLED, "cancel was requested / 已请求取消")


def check_promised(connection: Connection, attempt: Attempt) -> None:
    """Before the request leaves: raise WorkStopped(CONFLICT) unless the promise still stands.

    A process that was frozen between promise and request finds that another run has settled its attempt meanwhile.
    """
    standing = get(connection, attempt.task_id, attempt.number)
    if standing.state is not AttemptState.INTENT:
        raise WorkStopped(
            ErrorCode.CONFLICT, f"attempt {attempt.number} of task {attempt.task_id} is {standing.state}; nothing was sent"
        )


def _change(connection: Connection, attempt: Attempt, *, old: tuple[AttemptState, ...], **values: object) -> Attempt:
    row = (
        connection.execute(
            update(attempts)
            .where(attempts.c.task_id == attempt.task_id, attempts.c.number == attempt.number, attempts.c.state.in_(old))
            .values(**values)
            .returning(attempts)
        )
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise WorkStopped(ErrorCode.CONFLICT, f"attempt {attempt.number} of task {attempt.task_id} has moved on meanwhile")
    return read_row(Attempt, row)


def owner_of(connection: Connection, provider_id: str, request_id: str) -> str | None:
    """The task whose attempt has this id at the provider."""
    statement = select(attempts.c.task_id).where(
        attempts.c.provider_id == provider_id, attempts.c.provider_request_id == request_id
    )
    return connection.execute(statement.limit(1)).scalar_one_or_none()
