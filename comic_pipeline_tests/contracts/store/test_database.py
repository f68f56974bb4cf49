"""The two kinds of transaction."""

import time
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.store import database as store_database
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import HEAD, migrate
from comic_pipeline_tests.builders import NOW, a_project
from comic_pipeline_tests.contracts.store.racing import outcome, start_blocked
from comic_pipeline_tests.postgres import PostgresServer


def test_a_failed_write_leaves_nothing(database: Database) -> None:
    """All of a transaction or none of it: an error after an insert takes the insert back."""

    def insert_and_fail() -> None:
        with database.write() as connection:
            projects.insert(connection, a_project())
            projects.get(connection, "nobody")

    with pytest.raises(Refused):
        insert_and_fail()
    with database.read() as connection:
        assert projects.find(connection) == []


def test_writing_in_a_reading_transaction_is_refused(database: Database) -> None:
    """It would be rolled back without a word, so it fails at once; the next write on the same connection works."""
    with pytest.raises(StorageFault), database.read() as connection:
        projects.insert(connection, a_project())
    with database.write() as connection:
        projects.insert(connection, a_project())
    with database.read() as connection:
        assert projects.get(connection, "p1").id == "p1"


def test_a_reading_transaction_sees_one_moment(database: Database) -> None:
    """Two queries of one report agree, although somebody commits between them."""
    with database.write() as connection:
        projects.insert(connection, a_project())
    with database.read() as reading:
        before = projects.get(reading, "p1").title
        with database.write() as writing:
            projects.set_title(writing, "p1", "月下花", now=NOW)
        assert projects.get(reading, "p1").title == before == ""
    with database.read() as reading:
        assert projects.get(reading, "p1").title == "月下花"


def test_a_broken_rule_is_an_answer_and_a_broken_statement_a_fault(database: Database) -> None:
    """Callers decide by IntegrityError; everything else that the driver says is STORAGE_FAILED, which may be tried again."""
    with database.write() as connection:
        projects.insert(connection, a_project())
    with pytest.raises(IntegrityError), database.write() as connection:
        projects.insert(connection, a_project())
    with pytest.raises(StorageFault) as fault, database.read() as connection:
        connection.execute(text("SELECT * FROM no_such_table"))
    assert fault.value.code is ErrorCode.STORAGE_FAILED
    assert fault.value.retryable


def test_the_server_has_a_clock_of_its_own(database: Database) -> None:
    """`comic doctor` compares it with this machine's; SQLite runs in this process and has none."""
    moment = database.server_time()
    if database.dialect == "sqlite":
        assert moment is None
    else:
        assert moment is not None
        assert abs((moment - datetime.now(UTC)).total_seconds()) < 60


def test_faults_of_the_connection_never_show_the_password() -> None:
    """The URL holds a secret; what is logged about a failed connection must not."""
    database = Database("postgresql://comic:hunter2@127.0.0.1:1/comic")
    with pytest.raises(StorageFault) as fault, database.read():
        pass
    assert "hunter2" not in str(fault.value)
    database.close()


def test_a_frozen_process_does_not_hold_everybody_up(migrated_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is stopped in the middle of a transaction held its project, and with it every create, locked for hours.

    Whoever waits gets a fault that is tried again; the frozen one loses its transaction, and goes on with the next.
    """
    monkeypatch.setattr(store_database, "_BUSY_MS", 100)
    monkeypatch.setattr(store_database, "_IDLE_MS", 400)
    frozen, waiting = Database(migrated_postgres), Database(migrated_postgres)

    def lock(connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(1)"))

    def freeze() -> None:
        with frozen.write() as connection:
            lock(connection)
            with pytest.raises(StorageFault), waiting.write() as other:
                lock(other)
            time.sleep(0.5)
            with waiting.write() as other:
                lock(other)
            lock(connection)

    with pytest.raises(StorageFault):
        freeze()
    with frozen.write() as connection:
        lock(connection)
    for database in (frozen, waiting):
        database.close()


def test_a_second_migration_waits_as_long_as_the_first_takes(migrated_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Building an index over millions of rows takes longer than any other wait for a lock may."""
    monkeypatch.setattr(store_database, "_BUSY_MS", 50)
    database = Database(migrated_postgres)
    with database.write() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(7262002)"))
        second = start_blocked(lambda: migrate(migrated_postgres))
    assert outcome(second) == HEAD
    database.close()


def test_what_was_committed_survives_a_killed_server(postgres: PostgresServer) -> None:
    """After SIGKILL of Postgres the same Database object goes on, with every committed row."""
    url = postgres.create_database("kept")
    migrate(url)
    database = Database(url)
    with database.write() as connection:
        projects.insert(connection, a_project())
    postgres.restart(kill=True)
    with database.read() as connection:
        assert projects.get(connection, "p1").id == "p1"
    database.close()
