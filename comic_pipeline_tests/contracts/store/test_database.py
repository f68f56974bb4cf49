"""The two kinds of transaction."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import migrate
from comic_pipeline_tests.builders import NOW, a_project
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


def test_a_missing_folder_is_named_before_anything_is_made(tmp_path: Path) -> None:
    """SQLite would say `unable to open database file` without saying which."""
    with pytest.raises(StorageFault, match="absent does not exist; run `comic init`"):
        Database(f"sqlite:///{tmp_path / 'absent' / 'comic.db'}")


def test_faults_of_the_connection_never_show_the_password() -> None:
    """The URL holds a secret; what is logged about a failed connection must not."""
    database = Database("postgresql://comic:hunter2@127.0.0.1:1/comic")
    with pytest.raises(StorageFault) as fault, database.read():
        pass
    assert "hunter2" not in str(fault.value)
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
