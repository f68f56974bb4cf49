"""The other door: rows that a backend writes with its own SQL through its own driver, and the reconciler's answer in them."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg2
import pytest

from comic_pipeline.model.workflow import StageStatus
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.workflow.world import World
from comic_pipeline_tests.readme import blocks

INSERT, SELECT = (statement.strip() for statement in blocks("From a backend", "sql")[0].split(";")[:2])
REFUSED = (sqlite3.DatabaseError, psycopg2.DatabaseError)


@contextmanager
def outside(database: Database) -> Iterator[Any]:
    """A backend's own connection: the bare driver, nothing of ours. Commits at the end."""
    url = database.engine.url
    if database.dialect == "sqlite":
        connection: Any = sqlite3.connect(str(url.database), timeout=30)
    else:
        connection = psycopg2.connect(
            host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database, **dict(url.query)
        )
    with closing(connection):
        yield connection.cursor()
        connection.commit()


def run(database: Database, statement: str) -> list[tuple[Any, ...]]:
    """One statement as it would be typed into psql or sqlite3; its rows."""
    with outside(database) as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def test_the_row_of_the_readme_becomes_a_project_and_is_answered(world: World) -> None:
    """Before the pass it is new; after it the row names the project, and says nothing else is wrong."""
    run(world.database, INSERT)
    assert run(world.database, SELECT) == [("new", None, None, None, None)]
    world.tick()
    ((status, project_id, answer, code, message),) = run(world.database, SELECT)
    assert (status, code, message) == ("accepted", None, None)
    assert json.loads(answer)["project_id"] == project_id
    assert json.loads(answer)["status"] == "QUEUED"
    project = world.project(project_id)
    assert (project.user_id, project.tier, project.idea) == ("alice", "free", "一只狐狸守着会发光的邮筒")


def test_the_row_of_the_readme_twice_is_one_project(world: World) -> None:
    """Before the answer and after it: the statement says DO NOTHING, and a plain INSERT is refused by the constraint."""
    run(world.database, INSERT)
    run(world.database, INSERT)
    world.tick()
    run(world.database, INSERT)
    world.tick()
    assert run(world.database, "SELECT count(*) FROM projects") == [(1,)]
    with pytest.raises(REFUSED):
        run(world.database, INSERT.split("ON CONFLICT")[0])


def test_the_smallest_row_there_is(world: World) -> None:
    """Kind, user and payload: tier, status and time are filled in."""
    run(world.database, "INSERT INTO submissions (kind, user_id, payload) VALUES ('produce', 'bob', '{\"idea\": \"猫\"}')")
    world.tick()
    assert run(world.database, "SELECT status, tier FROM submissions") == [("accepted", "free")]


def test_a_row_may_choose_the_id_of_its_project(world: World) -> None:
    """A backend that has an id of its own needs no second one; an id that is taken is a conflict."""
    for idea in ("猫", "狗"):
        run(
            world.database,
            "INSERT INTO submissions (kind, user_id, project_id, payload) "  # noqa: S608  # written here
            f"VALUES ('produce', 'bob', 'film-1', '{{\"idea\": \"{idea}\"}}')",
        )
    world.tick()
    assert run(world.database, "SELECT status, error_code FROM submissions ORDER BY id") == [
        ("accepted", None),
        ("rejected", "CONFLICT"),
    ]
    assert world.project("film-1").idea == "猫"


@pytest.mark.parametrize(
    "values",
    [
        "('destroy', 'bob', NULL, 'free', '{}')",
        "('produce', '', NULL, 'free', '{}')",
        "('produce', NULL, NULL, 'free', '{}')",
        "('produce', 'bob', NULL, 'gold', '{}')",
        "('cancel', 'bob', NULL, 'free', '{}')",
        f"('produce', 'bob', NULL, 'free', '{'x' * 200_001}')",
    ],
    ids=["kind", "nobody", "null", "tier", "cancel of nothing", "10 times too long"],
)
def test_what_breaks_a_constraint_never_becomes_a_row(world: World, values: str) -> None:
    """The backend's driver raises; there is nothing to puzzle over."""
    with pytest.raises(REFUSED):
        run(world.database, f"INSERT INTO submissions (kind, user_id, project_id, tier, payload) VALUES {values}")  # noqa: S608
    assert run(world.database, "SELECT count(*) FROM submissions") == [(0,)]


@pytest.mark.parametrize(
    ("project_id", "payload"),
    [
        ("NULL", "not json"),
        ("NULL", "[]"),
        ("NULL", "{}"),
        ("NULL", '{"idea": "x", "budget": 1}'),
        ("NULL", '{"idea": "x", "style": "cubism"}'),
        ("NULL", '{"idea": {"a": 1}}'),
        ("'../etc'", '{"idea": "x"}'),
        ("NULL", "[" * 50_000),
    ],
    ids=["no json", "no object", "nothing", "unknown field", "style", "wrong type", "path", "deep"],
)
def test_what_means_nothing_is_answered_as_rejected(world: World, project_id: str, payload: str) -> None:
    """The reason stands in the row, and the pass goes on with the next one."""
    run(
        world.database,
        f"INSERT INTO submissions (kind, user_id, project_id, payload) VALUES ('produce', 'bob', {project_id}, '{payload}')",  # noqa: S608
    )
    run(world.database, INSERT)
    world.tick()
    (bad, good) = run(world.database, "SELECT status, error_code, error_message FROM submissions ORDER BY id")
    assert bad[:2] == ("rejected", "INPUT_INVALID")
    assert bad[2]
    assert good[0] == "accepted"


def test_every_other_kind_by_row(world: World) -> None:
    """Cancel and retry of a project; a review and a redo too early are refused with the state."""
    world.put(a_project("p1"), {})
    kinds = [
        ("cancel", '{"reason": "typo"}'),
        ("retry", "{}"),
        ("redo", '{"stage": "frames", "shots": [0]}'),
        ("review", '{"decision": "approve", "by": "bob"}'),
    ]
    for kind, payload in kinds:
        run(
            world.database,
            "INSERT INTO submissions (kind, user_id, project_id, payload) "  # noqa: S608  # written here
            f"VALUES ('{kind}', 'bob', 'p1', '{payload}')",
        )
    world.tick()
    answered = run(world.database, "SELECT kind, status, error_code FROM submissions ORDER BY id")
    assert answered == [
        ("cancel", "accepted", None),
        ("retry", "accepted", None),
        ("redo", "rejected", "CONFLICT"),
        ("review", "rejected", "CONFLICT"),
    ]
    assert all(row.status is StageStatus.REQUESTED or row.status is StageStatus.QUEUED for row in world.rounds("p1").values())


def test_a_second_paid_film_waits_in_its_row(world: World) -> None:
    """`waiting` with the reason; it is admitted by itself when the first one has ended."""
    for idea in ("猫", "狗"):
        run(
            world.database,
            "INSERT INTO submissions (kind, user_id, tier, payload) "  # noqa: S608  # written here
            f"VALUES ('produce', 'bob', 'paid', '{{\"idea\": \"{idea}\"}}')",
        )
    world.tick(start=False)
    first, second = run(world.database, "SELECT status, project_id, error_message FROM submissions ORDER BY id")
    assert (first[0], second[0]) == ("accepted", "waiting")
    assert first[1] in second[2]
    run(
        world.database,
        f"INSERT INTO submissions (kind, user_id, project_id) VALUES ('cancel', 'bob', '{first[1]}')",  # noqa: S608
    )
    for _ in range(3):
        world.tick(start=False)
    assert run(world.database, "SELECT status FROM submissions ORDER BY id")[1] == ("accepted",)
