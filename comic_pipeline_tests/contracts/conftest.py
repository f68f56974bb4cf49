"""Databases for contract tests: every test that asks for `database` runs on SQLite and on Postgres, each time on an empty one.

SQLite gives rows backwards wherever a statement asks for no order: otherwise they come as they were inserted, and a forgotten
ORDER BY is seen by nobody until Postgres has moved a row.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import migrate
from comic_pipeline.store.schema import metadata
from comic_pipeline_tests.postgres import PostgresServer


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> str:
    """The URL of a migrated database on the server."""
    url = postgres.create_database("migrated")
    migrate(url)
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("template") / "comic.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated database without rows."""
    if request.param == "sqlite":
        path = shutil.copyfile(request.getfixturevalue("migrated_sqlite"), tmp_path / "comic.db")
        yield f"sqlite:///{path}"
        return
    url: str = request.getfixturevalue("migrated_postgres")
    yield url
    _empty(url)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The comic database, open, migrated and empty."""
    opened = Database(database_url)
    if opened.dialect == "sqlite":
        event.listen(opened.engine, "connect", rows_backwards)
    yield opened
    opened.close()


def rows_backwards(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """For an SQLite engine's `connect`: rows that are asked for in no order come in an unexpected one."""
    connection.cursor().execute("PRAGMA reverse_unordered_selects=ON")


def _empty(url: str) -> None:
    # Deleting takes a millisecond; CREATE DATABASE from a template 60 ms, and 400 on a busy machine.
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("SET LOCAL lock_timeout = '10s'"))
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    database.close()
