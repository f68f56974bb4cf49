"""What may be spent: a project's budget, the day's, and the number of creates at which a project is broken off.

Belongs here: sums over attempts against limits, checked inside the transaction that promises a create (`attempts.py`). Does not:
writing attempts; quotas of films a day (`submissions.py`).
"""

from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, case, func, select

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.ledger import SpendLimits
from comic_pipeline.model.money import cny, show
from comic_pipeline.model.project import Project
from comic_pipeline.model.task import OPEN_ATTEMPT_STATES
from comic_pipeline.store.schema import attempts, tasks

# Budgets and quotas are counted by the calendar day of the users.
BOOK_ZONE = ZoneInfo("Asia/Shanghai")
# Any number that nothing else in the database locks.
_DAY_LOCK = 7_262_001


def check_spend(connection: Connection, project: Project, *, estimate: Decimal, limits: SpendLimits, now: datetime) -> None:
    """Raise WorkStopped(BUDGET_EXCEEDED) when one more create of this estimate (CNY) is one too many or too dear."""
    of_project = tasks.c.project_id == project.id
    booked, made = connection.execute(
        select(func.coalesce(_booked(), 0), func.count()).select_from(attempts).join(tasks).where(of_project)
    ).one()
    planned = connection.execute(select(func.count()).select_from(tasks).where(of_project)).scalar_one()
    allowed = limits.attempts or limits.attempts_per_planned * planned
    if made >= allowed:
        raise WorkStopped(
            ErrorCode.BUDGET_EXCEEDED, f"project {project.id} has made {made} creates, at most {allowed} are allowed"
        )
    total = cny(str(booked)) + estimate
    if total > project.budget:
        raise WorkStopped(
            ErrorCode.BUDGET_EXCEEDED, f"project {project.id} would cost {show(total)}, its budget is {show(project.budget)}"
        )
    if estimate > 0:
        _check_day(connection, estimate=estimate, limits=limits, now=now)


def _check_day(connection: Connection, *, estimate: Decimal, limits: SpendLimits, now: datetime) -> None:
    if connection.dialect.name == "postgresql":
        # The day is shared by all projects: without this, two creates that do not see each other both fit under the cap.
        connection.execute(select(func.pg_advisory_xact_lock(_DAY_LOCK)))
    total = booked_on_day(connection, now=now) + estimate
    if total > limits.day:
        raise WorkStopped(ErrorCode.BUDGET_EXCEEDED, f"today would cost {show(total)}, COMIC_DAY_BUDGET is {show(limits.day)}")


def booked_on_day(connection: Connection, *, now: datetime) -> Decimal:
    """What all projects have spent or reserved on the day of `now`."""
    local = now.astimezone(BOOK_ZONE)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    booked = select(func.coalesce(_booked(), 0)).where(
        attempts.c.started_at >= start, attempts.c.started_at < start + timedelta(days=1)
    )
    return cny(str(connection.execute(booked).scalar_one()))


def _booked() -> ColumnElement[Decimal]:
    """What an attempt counts against a budget: its cost, or its reservation while it is open."""
    return func.sum(
        case((attempts.c.state.in_(OPEN_ATTEMPT_STATES), attempts.c.estimate), else_=func.coalesce(attempts.c.cost, 0))
    )
