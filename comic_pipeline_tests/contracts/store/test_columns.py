"""Money and times mean the same on SQLite and Postgres."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import StatementError

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.ledger import SpendLimits
from comic_pipeline.model.workflow import Stage, StageStatus
from comic_pipeline.store import attempts, projects, stages
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import leases
from comic_pipeline_tests.builders import NOW, a_frame, a_project, begin_project
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.reckoning import spent_by


@pytest.mark.parametrize("amount", ["0", "0.000001", "0.1", "1234.567891", "999999999.999999"])
def test_money_comes_back_to_the_last_place(database: Database, amount: str) -> None:
    """Token prices are millionths of a yuan, budgets are large: neither loses a place in either database."""
    with database.write() as connection:
        projects.insert(connection, a_project(budget=Decimal(amount)))
    with database.read() as connection:
        assert projects.get(connection, "p1").budget == Decimal(amount)


def test_money_is_rounded_half_up_when_it_is_written(database: Database) -> None:
    """A seventh place is rounded once, in the same way in both databases, not by whatever the driver does."""
    with database.write() as connection:
        projects.insert(connection, a_project(budget=Decimal("0.0000005")))
    with database.read() as connection:
        assert projects.get(connection, "p1").budget == Decimal("0.000001")


def test_sums_of_many_small_amounts_are_exact(database: Database) -> None:
    """Sixty attempts of ¥0.000007 and one of ¥123456.1 cost exactly their sum, although SQLite adds doubles."""
    with database.write() as connection:
        worker = begin_project(connection, a_project(budget=Decimal(10**6)))
        task = claimed(connection, a_frame(), worker)
        limits = SpendLimits(day=Decimal(10**6), attempts_per_planned=0, attempts=1_000)
        costs = [Decimal("0.000007")] * 60 + [Decimal("123456.1")]
        for cost in costs:
            attempt = begin(connection, task, worker=worker, estimate="0", limits=limits)
            attempts.mark_failed(connection, attempt, http_status=500, provider_code="x", now=NOW, cost=cost)
        assert attempts.cost_of(connection, task.task_id) == sum(costs)
        assert spent_by(connection, "p1") == sum(costs)


def test_a_negative_amount_is_refused_by_the_books(database: Database) -> None:
    """A negative estimate would make room in a budget; no attempt may carry one."""
    with database.write() as connection:
        worker = begin_project(connection, a_project())
        task = claimed(connection, a_frame(), worker)
    statement = text(
        "INSERT INTO attempts (task_id, number, kind, provider_id, provider_base_url, request_hash, state, estimate, started_at)"
        " VALUES (:task, 1, 'create', 'ark', 'u', 'h', 'intent', -1, '2026-01-01 00:00:00')"
    )
    with pytest.raises(Exception, match="money_not_negative"), database.write() as connection:
        connection.execute(statement, {"task": task.task_id})


def test_times_come_back_aware_in_utc_to_the_microsecond(database: Database) -> None:
    """A time given in Shanghai's zone is the same moment, in UTC, when it is read."""
    shanghai = NOW.astimezone(timezone(timedelta(hours=8)))
    with database.write() as connection:
        projects.insert(connection, a_project(created_at=shanghai))
    with database.read() as connection:
        read = projects.get(connection, "p1").created_at
    assert read == NOW
    assert read.tzinfo is UTC


def test_naive_times_are_refused(database: Database) -> None:
    """A naive time would mean something else on another machine, so it never reaches a row."""
    with pytest.raises(StatementError, match="naive time"), database.write() as connection:
        connection.execute(leases.insert().values(name="n", holder="h", expires_at=datetime(2026, 1, 1)))  # noqa: DTZ001


def test_times_of_other_zones_compare_as_moments(database: Database) -> None:
    """SQLite compares text: a time written in another zone must still sort by the moment that it means."""
    tokyo = timezone(timedelta(hours=9))
    with database.write() as connection:
        for name, at in (("early", NOW), ("late", (NOW + timedelta(seconds=1)).astimezone(tokyo))):
            connection.execute(leases.insert().values(name=name, holder="h", expires_at=at))
        found = connection.execute(select(leases.c.name).where(leases.c.expires_at <= NOW)).scalars().all()
    assert found == ["early"]


def test_a_default_time_inside_an_expression_is_stored_like_any_other(database: Database) -> None:
    """`started_at` is written by COALESCE: the time inside it must be converted too, or another zone would be off by hours."""
    shanghai = NOW.astimezone(timezone(timedelta(hours=8)))
    with database.write() as connection:
        begin_project(connection, a_project())
        stages.end(connection, "stage-p1", status=StageStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=NOW)
        stages.request(connection, "p1", Stage.FRAMES, stage_id="s2", priority=0, now=NOW)
        assert stages.claim(connection, "s2", run_id="r", now=shanghai)
        row = stages.get(connection, "s2")
    assert row is not None
    assert row.started_at == NOW
