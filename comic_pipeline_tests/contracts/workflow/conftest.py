"""A world with nothing in it, and a way to put rows into it that constraints forbid."""

import sqlite3
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event, text

from comic_pipeline.store.database import Database
from comic_pipeline_tests.contracts.service.databases import (  # noqa: F401  # fixtures of this folder
    database,
    empty,
    postgres_database,
    sqlite_database,
)
from comic_pipeline_tests.contracts.workflow.world import World


@pytest.fixture
def world(database: Database) -> World:  # noqa: F811  # the fixture above
    """The reconciler, its orchestrator, and time that passes only when told to."""
    return World(database)


@pytest.fixture
def unguarded(database: Database) -> Iterator[Callable[[str, str], None]]:  # noqa: F811  # the fixture above
    """Takes a CHECK constraint (table, name) away for the rest of the test, as a hand at the database's console would."""
    dropped: list[tuple[str, str, str]] = []

    def without_checks(connection: sqlite3.Connection, _record: object, _proxy: object) -> None:
        connection.execute("PRAGMA ignore_check_constraints=ON")

    def drop(table: str, name: str) -> None:
        if database.dialect == "sqlite":
            # SQLite cannot drop a constraint; it can be told to look away, connection by connection.
            event.listen(database.engine, "checkout", without_checks)
            return
        with database.write() as connection:
            query = text(
                "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name AND conrelid = to_regclass(:table)"
            )
            rule = connection.execute(query, {"name": name, "table": table}).scalar_one()
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            dropped.append((table, name, rule))

    yield drop
    empty(database)
    for table, name, rule in dropped:
        with database.write() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule}")
    if event.contains(database.engine, "checkout", without_checks):
        event.remove(database.engine, "checkout", without_checks)
        database.engine.dispose()
