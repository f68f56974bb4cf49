"""Migrations on real databases: they make what `schema.py` says, once, all or nothing, and say which version is there."""

import ast
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from comic_pipeline.model.errors import Refused, StorageFault
from comic_pipeline.store import migrate as migrating
from comic_pipeline.store import migrations
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import HEAD, check_version, migrate
from comic_pipeline.store.schema import metadata
from comic_pipeline_tests.postgres import PostgresServer

_FOLDER = Path(migrations.__file__).parent
_VIEWS = {"project_progress", "project_costs", "provider_health", "qc_results"}


@pytest.fixture(params=["sqlite", "postgresql"])
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The URLs of two empty databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    stem = f"t{abs(hash(tmp_path))}"
    return server.create_database(f"{stem}_a"), server.create_database(f"{stem}_b")


@pytest.fixture
def url(urls: tuple[str, str]) -> str:
    """The URL of an empty database."""
    return urls[0]


@pytest.fixture
def opened(url: str) -> Iterator[Database]:
    """The database, open."""
    database = Database(url)
    yield database
    database.close()


def _names(database: Database) -> set[str]:
    with database.read() as connection:
        found = inspect(connection)
        return set(found.get_table_names()) | set(found.get_view_names())


def test_the_migrated_tables_are_those_of_the_schema(url: str, opened: Database) -> None:
    """Alembic finds nothing to add, drop or alter between the migrations and `schema.py`; the views are there too."""
    migrate(url)
    with opened.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    assert _names(opened) == set(metadata.tables) | _VIEWS | {"alembic_version"}


def test_the_migrated_rules_are_those_of_the_schema(urls: tuple[str, str], opened: Database) -> None:
    """What Alembic does not compare: CHECK constraints, the rules of partial indexes, uniques, references, defaults."""
    migrate(urls[0])
    direct = Database(urls[1])
    with direct.write() as connection:
        metadata.create_all(connection)
    for table in metadata.tables:
        assert _rules(opened, table) == _rules(direct, table), table
    direct.close()


def _rules(database: Database, table: str) -> dict[str, Any]:
    with database.read() as connection:
        found = inspect(connection)
        checks = {rule["name"]: rule["sqltext"] for rule in found.get_check_constraints(table)}
        indexes = {
            index["name"]: (index["column_names"], index["unique"], {k: str(v) for k, v in index["dialect_options"].items()})
            for index in found.get_indexes(table)
        }
        return {
            "checks": checks,
            "indexes": indexes,
            "uniques": {rule["name"]: rule["column_names"] for rule in found.get_unique_constraints(table)},
            "references": sorted(
                (str(key["constrained_columns"]), key["referred_table"]) for key in found.get_foreign_keys(table)
            ),
            "key": found.get_pk_constraint(table)["constrained_columns"],
            "columns": [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in found.get_columns(table)],
        }


def test_the_comparison_of_rules_sees_rules(url: str, opened: Database) -> None:
    """The comparison above would pass on two empty answers: these are the rules that it must have seen."""
    migrate(url)
    seen = _rules(opened, "attempts")
    assert {"money_not_negative", "paid_states_have_cost", "legal_state"} <= set(seen["checks"])
    _, unique, options = seen["indexes"]["one_open_attempt_per_task"]
    assert unique
    assert "intent" in options[f"{opened.dialect}_where"]


def test_migrating_again_changes_nothing(url: str, opened: Database) -> None:
    """`comic init` may be run any number of times; rows stay."""
    assert migrate(url) == HEAD
    with opened.write() as connection:
        connection.execute(text("INSERT INTO submissions (kind, user_id) VALUES ('produce', 'u')"))
    assert migrate(url) == HEAD
    check_version(opened)
    with opened.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM submissions")).scalar_one() == 1


def test_two_processes_may_migrate_at_once(url: str, opened: Database, tmp_path: Path) -> None:
    """Two init jobs, started together from a foreign folder: both succeed, one migrates, the other finds it done."""
    program = "import sys; from comic_pipeline.store.migrate import migrate; sys.stdout.write(migrate(sys.argv[1]))"
    running = [
        subprocess.Popen([sys.executable, "-P", "-c", program, url], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=60) for process in running]
    assert [(out.decode(), err.decode()) for out, err in answers] == [(HEAD, "")] * 3
    check_version(opened)


def test_a_migration_that_fails_leaves_the_database_as_it_was(url: str, opened: Database) -> None:
    """A foreign table is in the way of the last but one step: nothing of the steps before it stays."""
    with opened.write() as connection:
        connection.execute(text("CREATE TABLE verdicts (mine INTEGER)"))
    with pytest.raises(StorageFault, match="verdicts"):
        migrate(url)
    assert _names(opened) == {"verdicts"}


def test_a_database_that_was_never_migrated_is_refused_by_name(opened: Database) -> None:
    """The operator reads what is there, what is wanted, and what to do."""
    with opened.write():  # makes SQLite's file
        pass
    with pytest.raises(Refused, match=rf"found version none, wanted {HEAD}; run `comic init`"):
        check_version(opened)


@pytest.mark.parametrize("name", ["absent.db", "absent/comic.db"])
def test_looking_for_a_database_makes_none(tmp_path: Path, name: str) -> None:
    """SQLite would leave an empty file behind, or say `unable to open database file` without saying which."""
    database = Database(f"sqlite:///{tmp_path / name}")
    with pytest.raises(Refused, match=rf"{name} does not exist; run `comic init`"):
        check_version(database)
    database.close()
    assert list(tmp_path.iterdir()) == []


def test_an_older_database_is_refused_until_it_is_migrated(url: str, opened: Database) -> None:
    """New code on old tables would write nonsense: it stops at the check."""
    migrate(url)
    with opened.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0002'"))
    with pytest.raises(Refused, match=rf"found version 0002, wanted {HEAD}; run `comic init`"):
        check_version(opened)


def test_a_newer_database_is_neither_used_nor_touched(url: str, opened: Database) -> None:
    """Old code after a roll-back: `comic init` would not help, so it is not recommended, and migrating says so too."""
    migrate(url)
    with opened.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(
        Refused, match=rf"found version 9999, wanted {HEAD}; this code is older than the database: run the version"
    ):
        check_version(opened)
    with pytest.raises(Refused, match=rf"cannot go from version 9999 to {HEAD}; this code is older"):
        migrate(url)
    with opened.read() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"


def test_migrating_leaves_logging_alone(tmp_path: Path) -> None:
    """Alembic's usual env.py reads an ini file, which replaces handlers and silences loggers that exist already."""
    root, ours = logging.getLogger(), logging.getLogger("comic_pipeline.work")
    before = (list(root.handlers), root.level, ours.disabled, ours.level)
    migrate(f"sqlite:///{tmp_path / 'a.db'}")
    assert (list(root.handlers), root.level, ours.disabled, ours.level) == before


def test_the_version_that_the_code_wants_is_the_last_one() -> None:
    """HEAD is written down for speed: it must be the one end of an unbranched line of revisions."""
    scripts = ScriptDirectory(str(_FOLDER))
    assert scripts.get_heads() == [HEAD]
    assert [script.revision for script in scripts.walk_revisions()][::-1] == [
        f"{number:04}" for number in range(1, int(HEAD) + 1)
    ]


@pytest.mark.parametrize("path", sorted((_FOLDER / "versions").glob("*.py")), ids=lambda path: path.stem)
def test_history_does_not_move_with_the_code(path: Path) -> None:
    """A revision that imports the schema or an enum would change whenever they do."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert imported <= {"sqlalchemy", "alembic"}


def test_what_operators_changed_survives_the_new_rule(url: str, opened: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Revision 0007 moves the rows on SQLite: every one is there afterwards, numbers go on, and the new field is taken."""
    with monkeypatch.context() as before:
        before.setattr(migrating, "HEAD", "0006")
        migrate(url)
    with opened.write() as connection:
        connection.execute(text(_PROJECT))
        connection.execute(text(_OVERRIDE.format(field="seed")))
    assert migrate(url) == HEAD
    with opened.write() as connection:
        connection.execute(text(_OVERRIDE.format(field="spoken")))
        rows = connection.execute(text("SELECT id, field, value FROM shot_overrides ORDER BY id")).all()
    assert [tuple(row) for row in rows] == [(1, "seed", "7"), (2, "spoken", "7")]


_AT = "'2026-03-10 12:00:00.000000'"
_PROJECT = f"""INSERT INTO projects
    (id, user_id, tier, kind, idea, style, duration_bucket, aspect, resolution, language, content_hash, status, budget,
    created_at, updated_at, opened_at)
    VALUES ('p1', 'u', 'free', 'idea', 'cat', 'ink', 'short_15', '16:9', '720p', 'zh', 'h', 'QUEUED', 2, {_AT}, {_AT}, {_AT})
    """  # noqa: S608
_OVERRIDE = f"""INSERT INTO shot_overrides (project_id, seq, field, value, "by", at)
    VALUES ('p1', 0, '{{field}}', '7', 'op', {_AT})"""  # noqa: S608
