"""One open database of each kind for a whole session, emptied after every test.

A fresh engine compiles every statement anew: with some forty statements a test that is most of its time (measured: 90 ms against
35 ms of CPU a test).
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import metadata
from comic_pipeline_tests.contracts.conftest import rows_backwards


@pytest.fixture(scope="session")
def sqlite_database(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """An SQLite file of this session."""
    path = shutil.copyfile(migrated_sqlite, tmp_path_factory.mktemp("shared") / "comic.db")
    database = Database(f"sqlite:///{path}")
    # Nobody cuts the power here: waiting for the disk took a fifth of the tests' time.
    event.listen(database.engine, "connect", lambda connection, _entry: connection.execute("PRAGMA synchronous=OFF"))
    event.listen(database.engine, "connect", rows_backwards)
    yield database
    database.close()


@pytest.fixture(scope="session")
def postgres_database(migrated_postgres: str) -> Iterator[Database]:
    """The migrated database on the session's server."""
    database = Database(migrated_postgres)
    yield database
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """The comic database, open, migrated and empty."""
    name = "sqlite_database" if request.param == "sqlite" else "postgres_database"
    opened: Database = request.getfixturevalue(name)
    yield opened
    empty(opened)


def empty(database: Database) -> None:
    """Delete all rows."""
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.exec_driver_sql("SET LOCAL lock_timeout = '10s'")
        for table in reversed(metadata.sorted_tables):
            connection.exec_driver_sql(f"DELETE FROM {table.name}")  # noqa: S608  # our own tables
