"""The project's lock in the store: what the run tag cannot see (a run by hand, another machine's queue) waits its turn too."""

import asyncio
from pathlib import Path

import pytest

from comic_pipeline.defs.run import _alone, _work
from comic_pipeline.model.ledger import Worker
from comic_pipeline.model.workflow import Stage, StageStatus
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import projects, stages
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import migrate
from comic_pipeline_tests.builders import a_project, a_worker
from comic_pipeline_tests.fakes import FakeClock


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """Two projects, with a clock that jumps."""
    url = f"sqlite:///{tmp_path / 'comic.db'}"
    migrate(url)
    database, clock = Database(url), FakeClock()
    with database.write() as connection:
        for name in ("p1", "p2"):
            projects.insert(connection, a_project(name, user_id=name))
    return Workshop(
        settings=load_settings(), database=database, objects=FolderStore(tmp_path / "objects", media_url="/m"), clock=clock
    )


def _worker(workshop: Workshop, name: str, project_id: str, stage: Stage) -> Worker:
    worker = a_worker(name, stage_id=f"stage-{name}")
    with workshop.database.write() as connection:
        stages.request(
            connection,
            project_id,
            stage,
            stage_id=worker.stage_id,
            priority=0,
            now=workshop.clock.now(),
            run_id=worker.run_id,
        )
    return worker


def test_serial_stages_of_a_project_take_turns_and_others_do_not_wait(workshop: Workshop) -> None:
    """Storyboard and film of one project never at once; another project and side-by-side stages are free. The wait is noted."""
    at_work: list[str] = []
    seen: dict[str, tuple[str, ...]] = {}

    async def work(name: str, project_id: str, stage: Stage) -> None:
        worker = _worker(workshop, name, project_id, stage)
        async with _alone(workshop, workshop.project(project_id), worker, stage):
            at_work.append(name)
            seen[name] = tuple(at_work)
            await workshop.clock.sleep(10)
            at_work.remove(name)

    async def all_at_once() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(work("first", "p1", Stage.STORYBOARD))
            group.create_task(work("second", "p1", Stage.FILM))
            group.create_task(work("frames", "p1", Stage.FRAMES))
            group.create_task(work("other", "p2", Stage.FILM))

    assert isinstance(workshop.clock, FakeClock)
    workshop.clock.run(all_at_once())
    assert seen == {
        "first": ("first",),
        "frames": ("first", "frames"),
        "other": ("first", "frames", "other"),
        "second": ("second",),
    }
    with workshop.database.read() as connection:
        rows = {name: stages.get(connection, f"stage-{name}") for name in seen}
    waited = {name: row.waited_seconds for name, row in rows.items() if row is not None}
    assert waited == {"first": 0, "frames": 0, "other": 0, "second": pytest.approx(10, abs=0.6)}
    workshop.database.close()


def test_the_lock_of_a_long_stage_is_kept(workshop: Workshop) -> None:
    """A film takes longer than a lease: unless its heart renews it, the lock runs out and a second run begins beside it."""
    at_work: list[str] = []
    seen: list[tuple[str, ...]] = []

    async def run(name: str, stage: Stage) -> None:
        worker = _worker(workshop, name, "p1", stage)

        async def body(_: Studio) -> None:
            at_work.append(name)
            seen.append(tuple(at_work))
            await workshop.clock.sleep(70)
            at_work.remove(name)

        await _work(workshop, workshop.project("p1"), worker, stage, body)

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(run("first", Stage.STORYBOARD))
            group.create_task(run("second", Stage.FILM))

    assert isinstance(workshop.clock, FakeClock)
    workshop.clock.run(both())
    assert seen == [("first",), ("second",)]
    workshop.database.close()


def test_a_run_that_lost_its_round_stops_working(workshop: Workshop) -> None:
    """It was given up while it slept: at its next heartbeat it stops, and does not work beside the round that follows."""
    worker = _worker(workshop, "first", "p1", Stage.FRAMES)

    async def body(_: Studio) -> None:
        with workshop.database.write() as connection:
            stages.end(
                connection, worker.stage_id, status=StageStatus.FAILED, code=None, message="given up", now=workshop.clock.now()
            )
        await workshop.clock.sleep(1_000)

    clock = workshop.clock
    assert isinstance(clock, FakeClock)
    with pytest.raises(asyncio.CancelledError):
        clock.run(_work(workshop, workshop.project("p1"), worker, Stage.FRAMES, body))
    assert clock.elapsed <= worker.lease_seconds / 4
    workshop.database.close()
