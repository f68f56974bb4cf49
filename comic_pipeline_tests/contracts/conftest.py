"""Databases for contract tests: every test that asks for `database` runs on SQLite and on Postgres, each time a fresh, migrated one."""

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import migrate
from comic_pipeline_tests.postgres import PostgresServer

_TEMPLATE = "migrated"
_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server with nothing of ours in it."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> PostgresServer:
    """The server with a migrated database to copy from."""
    migrate(postgres.create_database(_TEMPLATE))
    return postgres


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("template") / "comic.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh, migrated database."""
    if request.param == "sqlite":
        path = shutil.copyfile(request.getfixturevalue("migrated_sqlite"), tmp_path / "comic.db")
        yield f"sqlite:///{path}"
        return
    server: PostgresServer = request.getfixturevalue("migrated_postgres")
    name = f"test_{next(_numbers)}"
    yield server.create_database(name, template=_TEMPLATE)
    server.drop_database(name)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The comic database, open, fresh and migrated."""
    opened = Database(database_url)
    yield opened
    opened.close()
