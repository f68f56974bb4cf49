"""What a pass, a create and a look at the status cost beside many finished films: the same.

Counted in steps of SQLite's machine, which no other load changes; Postgres has the same indexes, and counts its rows besides.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, text

from comic_pipeline.model.task import TaskStatus, TaskType
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline.status import status_of
from comic_pipeline.store import attempts, ledger, views
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import metadata
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.workflow.test_upkeep import at_frames, under_way
from comic_pipeline_tests.contracts.workflow.world import World

_MANY = 500
_STEP = 20


def steps(database: Database, act: Callable[[], object]) -> int:
    """How many steps of SQLite's machine `act` takes."""
    taken = 0

    def count() -> None:
        nonlocal taken
        taken += _STEP

    def listen(connection: object, *_: object) -> None:
        connection.connection.driver_connection.set_progress_handler(count, _STEP)  # type: ignore[attr-defined]  # sqlite3's

    event.listen(database.engine, "before_cursor_execute", listen)
    try:
        act()
    finally:
        event.remove(database.engine, "before_cursor_execute", listen)
    return taken


def multiply(database: Database, project_id: str, mark: str) -> None:
    """Many more films like this one, with their rounds, tasks and attempts; `mark` makes their names differ."""
    with database.write() as connection:
        for table, keys in (
            ("projects", ("id",)),
            ("stages", ("id", "project_id", "run_id")),
            ("tasks", ("task_id", "project_id", "run_id")),
            ("attempts", ("task_id", "provider_request_id")),
        ):
            found = connection.execute(metadata.tables[table].select().limit(0))
            wanted = [f"{name} || '-{mark}-' || n" if name in keys else f'"{name}"' for name in found.keys()]  # noqa: SIM118  # a Result
            owner = {"projects": "id = :id", "attempts": "task_id IN (SELECT task_id FROM tasks WHERE project_id = :id)"}
            connection.execute(
                text(
                    f"WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {_MANY}) "  # noqa: S608
                    f"INSERT INTO {table} SELECT {', '.join(wanted)} FROM {table}, counted "
                    f"WHERE {owner.get(table, 'project_id = :id')}"
                ),
                {"id": project_id},
            )


@pytest.fixture
def busy(migrated_sqlite: Path, tmp_path: Path) -> Iterator[World]:
    """A film at its frames with a job at the provider, a finished one, and one that was cancelled at its frames."""
    world = World(Database(f"sqlite:///{shutil.copyfile(migrated_sqlite, tmp_path / 'comic.db')}"))
    under_way(world, at_frames(world), submitted=True)
    for number, (state, status) in enumerate(
        [(ProjectState.APPROVED, TaskStatus.SUCCESS), (ProjectState.CANCELLED, TaskStatus.CANCELLED)]
    ):
        project = f"done-{number}"
        world.put(a_project(project, user_id=project, status=state), {})
        task = world.add_task(project, Stage.FRAMES, status, seq=1)
        with world.database.write() as connection:
            connection.execute(
                text(
                    "INSERT INTO attempts (task_id, number, kind, provider_id, provider_base_url, provider_request_id, "
                    "request_hash, state, estimate, cost, started_at) "
                    "VALUES (:task, 1, 'create', 'ark_image', 'b', :job, 'h', 'failed', 0.2, 0, '2026-03-10 04:00:00.000000')"
                ),
                {"task": task.task_id, "job": f"job-{project}"},
            )
    yield world
    world.database.close()


def test_finished_films_cost_a_pass_nothing(busy: World) -> None:
    """Measured with 50,000 of them: looking for leftovers among their tasks took 2.5 of the 3 seconds of a pass."""
    for project in ("done-0", "done-1"):
        multiply(busy.database, project, "a")
    busy.tick()
    before = steps(busy.database, busy.tick)
    for project in ("done-0", "done-1"):
        multiply(busy.database, project, "b")
    assert 0 < before < 50_000
    assert steps(busy.database, busy.tick) < 1.1 * before


def test_a_create_and_a_look_at_the_status_do_not_grow_with_the_books(busy: World) -> None:
    """Whose a job is, is asked in the commit of every job's id: in a million attempts it took half a second.

    A look at all films at work, which the status sensor takes again and again, took five minutes beside 50,000 finished ones.
    """

    def ask() -> None:
        with busy.database.read() as connection:
            attempts.owner_of(connection, "ark_image", "job-9")
            attempts.owned(connection, "ark_image", ["job-8", "job-9"])
            ledger.median_seconds(connection, TaskType.CLIP, "nobody")
            status_of(connection, "p1", busy.settings)
            views.moving(connection, since=busy.now)

    multiply(busy.database, "done-0", "a")
    before = steps(busy.database, ask)
    multiply(busy.database, "done-0", "b")
    assert 0 < before < 50_000
    assert steps(busy.database, ask) < 1.1 * before
