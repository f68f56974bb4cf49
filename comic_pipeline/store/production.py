"""What the tables hold of one day of production, for the daily report. Read only; each query goes by time.

Belongs here: picking the rows of a day. Does not: what is counted of them (`model/production.py`).
"""

import json
from datetime import date, datetime, time, timedelta

from sqlalchemy import Column, ColumnElement, Connection, func, select

from comic_pipeline.model.production import AttemptFact, DayFacts, TaskFact, VerdictFact
from comic_pipeline.model.task import AttemptKind, AttemptState, TaskStatus, TaskType
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.store.schema import attempts, projects, tasks, verdicts
from comic_pipeline.store.spending import BOOK_ZONE


def facts_of_day(connection: Connection, day: date) -> DayFacts:
    """What happened on the calendar day of Asia/Shanghai, the day by which budgets are counted.

    Attempts belong to the day on which they were sent (as in `provider_health`), tasks and projects to that of their end.
    """
    return DayFacts(
        day=day,
        started=connection.execute(select(func.count()).where(_on(projects.c.created_at, day))).scalar_one(),
        ended=_ended(connection, day),
        verdicts=_verdicts(connection, day),
        attempts=_attempts(connection, day),
        tasks=_tasks(connection, day),
    )


def _on(column: Column[datetime], day: date) -> ColumnElement[bool]:
    start = datetime.combine(day, time(), tzinfo=BOOK_ZONE)
    return (column >= start) & (column < start + timedelta(days=1))


def _ended(connection: Connection, day: date) -> dict[ProjectState, int]:
    statement = select(projects.c.status, func.count()).where(_on(projects.c.finished_at, day)).group_by(projects.c.status)
    return {ProjectState(state): count for state, count in connection.execute(statement)}


def _verdicts(connection: Connection, day: date) -> tuple[VerdictFact, ...]:
    wanted = (verdicts.c["check"], verdicts.c.passed, verdicts.c.override_by.is_not(None))
    rows = connection.execute(select(*wanted).where(_on(verdicts.c.at, day)).order_by(verdicts.c.id))
    return tuple(VerdictFact(check=check, passed=passed, overridden=bool(overridden)) for check, passed, overridden in rows)


def _attempts(connection: Connection, day: date) -> tuple[AttemptFact, ...]:
    made = attempts.c
    statement = (
        select(tasks.c.task_type, made.provider_id, tasks.c.input_json, made.kind, made.number, made.state, made.cost)
        .join_from(attempts, tasks)
        .where(_on(made.started_at, day))
        .order_by(made.started_at, made.task_id, made.number)
    )
    return tuple(
        AttemptFact(
            task_type=TaskType(task_type),
            provider=provider,
            # What was sent is what the task's key is the hash of; the model is part of it.
            model=json.loads(sent)["model"],
            kind=AttemptKind(kind),
            number=number,
            state=AttemptState(state),
            cost=cost,
        )
        for task_type, provider, sent, kind, number, state, cost in connection.execute(statement)
    )


def _tasks(connection: Connection, day: date) -> tuple[TaskFact, ...]:
    statement = (
        select(tasks.c.task_type, tasks.c.status, tasks.c.started_at, tasks.c.finished_at, tasks.c.retry_count)
        .where(_on(tasks.c.finished_at, day))
        .order_by(tasks.c.finished_at, tasks.c.task_id)
    )
    return tuple(
        TaskFact(
            task_type=TaskType(task_type),
            status=TaskStatus(status),
            seconds=None if started is None else (finished - started).total_seconds(),
            retries=retries,
        )
        for task_type, status, started, finished, retries in connection.execute(statement)
    )
