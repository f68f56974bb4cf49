"""Dagster's event rows that nobody reads any more, in Dagster's own database.

Belongs here: the deletes that its documentation describes ("Cleaning older data from your Dagster database"), on a connection of
its storage. Kept for ever: everything about assets, partitions and checks (lineage), the states of runs, failures of steps. Runs
are never deleted: their materializations would go with them.
"""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Text, column, delete, func, or_, select, table
from sqlalchemy.types import TIMESTAMP

# Steps and what the engine says of itself; log lines have no type at all. Without them an old run cannot be re-executed from
# failure, which rounds never do.
_PASSING = (
    "ENGINE_EVENT",
    "STEP_WORKER_STARTING",
    "STEP_WORKER_STARTED",
    "STEP_START",
    "STEP_INPUT",
    "STEP_OUTPUT",
    "STEP_SUCCESS",
    "STEP_SKIPPED",
    "STEP_UP_FOR_RETRY",
    "STEP_RESTARTED",
    "RESOURCE_INIT_STARTED",
    "RESOURCE_INIT_SUCCESS",
    "LOADED_INPUT",
    "HANDLED_OUTPUT",
    "OBJECT_STORE_OPERATION",
    "ASSET_STORE_OPERATION",
    "LOGS_CAPTURED",
    "HOOK_COMPLETED",
    "HOOK_SKIPPED",
)
_AT_ONCE = 10_000

_events = table(
    "event_logs",
    column("id"),
    column("event", Text()),
    column("dagster_event_type", Text()),
    column("timestamp", TIMESTAMP()),
    column("asset_key", Text()),
)


def count_old(connection: Connection, before: datetime) -> tuple[int, int]:
    """How many such rows are older than `before`, and the bytes of their events."""
    size = func.coalesce(func.sum(func.length(_events.c.event)), 0)
    number, characters = connection.execute(select(func.count(), size).where(_passing(before))).one()
    return int(number), int(characters)


def drop_old(connection: Connection, before: datetime) -> int:
    """Delete at most 10,000 of them, oldest first; returns how many."""
    oldest = select(_events.c.id).where(_passing(before)).order_by(_events.c.id).limit(_AT_ONCE)
    return connection.execute(delete(_events).where(_events.c.id.in_(oldest))).rowcount


def compact(path: Path) -> None:
    """Give back to the disk what an SQLite file has free inside. Nobody may be writing to it."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("VACUUM")


def _passing(before: datetime) -> ColumnElement[bool]:
    kind = _events.c.dagster_event_type
    # Dagster writes UTC without saying so.
    moment = before.astimezone(UTC).replace(tzinfo=None)
    return (_events.c.timestamp < moment) & _events.c.asset_key.is_(None) & or_(kind.is_(None), kind.in_(_PASSING))
