"""Every call of the client against Dagster's real webserver in this process, with runs that are executed when they are launched.

Webserver, instance, jobs and comic database are real; `test_backend_doors.py` has the daemon, its queue and processes.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import dagster as dg
import httpx
import pytest
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster_webserver.app import create_app_from_workspace_process_context

from comic_pipeline.client import Backend, Film, GraphQLFault, Refused, TimedOut, Unauthorised
from comic_pipeline.defs.reporting import status_event
from comic_pipeline.home import prepare_home
from comic_pipeline.model.workflow import PRODUCTION, ProjectState, Stage, StageStatus
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.databases import empty
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.webserver import workspace

pytestmark = pytest.mark.timeout(120)

MADE = dict.fromkeys(PRODUCTION, StageStatus.PASSED)
STUCK = {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.MANUAL_REQUIRED, Stage.VOICES: StageStatus.PASSED}


class House:
    """A webserver over a prepared home; `door` puts projects into the tables behind it."""

    def __init__(self, context: WorkspaceProcessContext, instance: dg.DagsterInstance, workshop: Workshop) -> None:
        self.context, self.instance, self.workshop = context, instance, workshop
        self.app = create_app_from_workspace_process_context(context)
        self.door = Door(workshop.database)
        # The project of a test: what was told of it stays with the instance.
        self.p = ""

    def call(self, act: Callable[[Backend], Any]) -> Any:
        """Do something as a backend."""

        async def main() -> Any:
            async with Backend("http://comic.test", transport=httpx.ASGITransport(self.app)) as backend:
                return await act(backend)

        return asyncio.run(main())

    def tell(self, project_id: str) -> None:
        """What the sensor does when a project has changed."""
        with self.workshop.database.read() as connection:
            self.instance.report_runless_asset_event(status_event(self.workshop, connection, project_id))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One webserver for all tests of this module."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COMIC_HOME", str(home))
        settings = load_settings()
        prepare_home(settings)
        workshop = open_workshop(settings)
        with workspace(home / "instance") as (context, instance):
            yield House(context, instance, workshop)
        workshop.database.close()


@pytest.fixture
def house(served: House) -> Iterator[House]:
    """The webserver over an empty comic database."""
    served.p = f"p-{uuid4().hex[:8]}"
    yield served
    empty(served.workshop.database)


def test_a_film_is_asked_for_once_with_one_key(house: House) -> None:
    """A backend that lost the answer asks again: the same project. Everything it asked for is in the project."""
    film = Film(idea="一只狐狸守着会发光的邮筒", style="ink", duration="SHORT_30", aspect="TALL", resolution="FULL_HD")

    async def twice(backend: Backend) -> Any:
        return [await backend.submit(film, user="alice", tier="PAID", key="order-17") for _ in range(2)]

    first, again = house.call(twice)
    assert (first.status, first.waits, first.key) == ("QUEUED", False, "order-17")
    assert (first.project_id, first.submission_id) == (again.project_id, again.submission_id)
    assert first.run_id != again.run_id
    project = house.door.project(first.project_id)
    assert (project.user_id, project.tier, project.style, project.aspect) == ("alice", "paid", "ink", "9:16")


def test_a_film_that_waits_in_line_says_so(house: House) -> None:
    """A second paid film of one user: no project yet, the reason in words, and its submission's number."""

    async def two(backend: Backend) -> Any:
        await backend.submit(Film(idea="猫"), user="alice", tier="PAID")
        return await backend.submit(Film(idea="狗"), user="alice", tier="PAID", key="k")

    waiting = house.call(two)
    assert (waiting.waits, waiting.project_id, waiting.status) == (True, None, "waiting")
    assert "等待" in waiting.message


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda backend: backend.submit(Film(idea="猫", style="cubism"), user="alice"), "INPUT_INVALID"),
        (lambda backend: backend.submit(Film(idea="猫"), user="alice", tier="GOLD"), "INPUT_INVALID"),
        (lambda backend: backend.retry("p-nobody", by="ann"), "NOT_FOUND"),
        (lambda backend: backend.status("p-nobody"), "NOT_FOUND"),
    ],
    ids=["style", "not in the schema", "no such project", "no such status"],
)
def test_a_refusal_has_a_code_and_words_in_both_languages(house: House, act: Callable[[Backend], Any], code: str) -> None:
    """Refused by the door, by Dagster's config schema, or for want of anything to tell: one type."""
    with pytest.raises(Refused) as refused:
        house.call(act)
    assert refused.value.code == code
    assert refused.value.detail
    assert not refused.value.zh.isascii()
    assert refused.value.en.isascii()


def test_cancel_retry_and_the_status_in_between(house: House) -> None:
    """Each answer is followed by the status that it led to, without waiting for a sensor."""
    house.door.put(a_project(house.p), {Stage.STORYBOARD: StageStatus.REQUESTED})

    async def act(backend: Backend) -> Any:
        gone = await backend.cancel(house.p, by="ann", reason="typo", force=True)
        after = await backend.status(house.p)
        back = await backend.retry(house.p, by="ann")
        return gone, after, back, await backend.status(house.p)

    gone, after, back, at_last = house.call(act)
    assert (gone.effective_immediately, gone.message_zh, after.status, after.at_work) == (True, "已取消", "CANCELLED", False)
    assert (back.status, at_last.status, at_last.retry_count, at_last.at_work) == ("QUEUED", "QUEUED", 1, True)


def test_redo_and_review_reach_the_tables(house: House) -> None:
    """Words and seed land as overrides; an approval asks for the release; a rejection with shots makes them anew."""
    for number in range(3):
        house.door.put(a_project(f"{house.p}-{number}", idea=f"猫{number}", status=ProjectState.PENDING_REVIEW), MADE)

    async def act(backend: Backend) -> Any:
        return [
            await backend.redo(f"{house.p}-0", by="ann", stage="FRAMES", shots=[0], prompt="a hat", seed=7),
            await backend.review(f"{house.p}-1", by="ann", decision="APPROVE", note="lovely"),
            await backend.review(f"{house.p}-2", by="ann", decision="REJECT", stage="CLIPS", shots=[0]),
        ]

    assert [answer.status for answer in house.call(act)] == ["QUEUED", "APPROVED", "QUEUED"]
    assert house.door.overrides(f"{house.p}-0") == {(0, "take_frames"): "1", (0, "image_prompt"): "a hat", (0, "seed"): "7"}
    assert house.door.rounds(f"{house.p}-1")[Stage.RELEASE].status is StageStatus.REQUESTED
    assert house.door.rounds(f"{house.p}-2")[Stage.CLIPS].round == 2


def test_status_progress_and_costs_of_a_stuck_project(house: House) -> None:
    """All from one report; money adds up exactly."""
    house.door.put(a_project(house.p, status=ProjectState.MANUAL_REQUIRED, fail_stage="frames", error_message="busy"), STUCK)
    house.tell(house.p)

    async def look(backend: Backend) -> Any:
        return await asyncio.gather(backend.status(house.p), backend.progress(house.p), backend.costs(house.p))

    status, progress, costs = house.call(look)
    assert (status.status, status.fail_stage, status.words_zh, status.at_work) == ("MANUAL_REQUIRED", "frames", "失败", False)
    assert (progress.percent, progress.total_frames) == (100, status.total_frames)
    assert costs.total == status.cost == sum(line.cost for line in costs.lines)
    assert {line.task_type for line in costs.lines} == {"storyboard", "frame_image", "voice_line"}


def test_of_two_reports_that_passed_each_other_the_newer_one_counts(house: House) -> None:
    """The sensor looked before a retry and stored its report after the retry's own: the failure is history."""
    house.door.put(a_project(house.p, status=ProjectState.MANUAL_REQUIRED, fail_stage="frames"), STUCK)
    with house.workshop.database.read() as connection:
        before = status_event(house.workshop, connection, house.p)
    house.call(lambda backend: backend.retry(house.p, by="ann"))
    house.instance.report_runless_asset_event(before)
    assert house.call(lambda backend: backend.status(house.p)).status == "QUEUED"


def test_waiting_ends_at_the_state_that_is_waited_for_or_in_time(house: House) -> None:
    """A stuck project never keeps its caller; a project that is changed meanwhile is seen."""
    house.door.put(a_project(house.p), {Stage.STORYBOARD: StageStatus.REQUESTED})
    house.tell(house.p)

    async def act(backend: Backend) -> Any:
        with pytest.raises(TimedOut, match="is IMAGE"):
            await backend.wait(house.p, seconds=0.3, look_every=0.05)
        waiting = asyncio.create_task(backend.wait(house.p, seconds=30, look_every=0.1))
        await backend.cancel(house.p, by="ann")
        return await waiting, await backend.wait(house.p, until={"CANCELLED"}, seconds=5)

    assert [status.status for status in house.call(act)] == ["CANCELLED", "CANCELLED"]


def test_history_runs_and_events_come_in_pages(house: House) -> None:
    """Nothing twice, nothing left out, and the last page says that it is the last."""
    house.door.put(a_project(house.p), {Stage.STORYBOARD: StageStatus.REQUESTED})

    async def act(backend: Backend) -> Any:
        for _ in range(2):
            await backend.cancel(house.p, by="ann")
            await backend.retry(house.p, by="ann")
        return [
            await _all(lambda after: backend.history(house.p, after=after, limit=3)),
            await _all(lambda after: backend.runs(house.p, after=after, limit=3)),
        ]

    history, runs = house.call(act)
    assert [moment.status.status for moment in history] == ["QUEUED", "CANCELLED"] * 2
    assert [run.job for run in runs] == ["retry_project", "cancel_project"] * 2
    assert [moment.run_id for moment in history] == [run.run_id for run in runs]
    assert all(run.ended and run.started_at and run.project_id == house.p for run in runs)
    events = house.call(lambda backend: _all(lambda after: backend.events(runs[0].run_id, after=after, limit=5)))
    whole = house.call(lambda backend: backend.events(runs[0].run_id, limit=1000))
    assert tuple(events) == whole.items
    assert whole.next is None
    assert {event.kind for event in events} >= {"RUN_START", "STEP_START", "ASSET_MATERIALIZATION", "RUN_SUCCESS"}
    assert [event.at for event in events] == sorted(event.at for event in events)


async def _all(page: Callable[[str | None], Any]) -> list[Any]:
    found, after = [], None
    for _ in range(50):
        seen = await page(after)
        found += seen.items
        after = seen.next
        if after is None:
            return found
    raise AssertionError("the pages have no end")


def test_checks_tell_the_newest_verdict_with_its_findings(house: House) -> None:
    """Why a gate is closed, shot by shot; gates that never looked are left out."""
    finding: dict[str, str | int | float | bool | None] = {
        "rule": "frame.blank",
        "severity": "ERROR",
        "shot": 1,
        "measured": "0.1",
        "wanted": "2",
        "meaning": "blank",
    }
    evaluation = dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey("frame_images"),
        check_name="frame_images_qc",
        passed=False,
        metadata={"findings": dg.MetadataValue.table(records=[dg.TableRecord(finding)])},
        severity=dg.AssetCheckSeverity.ERROR,
        partition=house.p,
    )
    house.instance.report_runless_asset_event(evaluation)
    (check,) = house.call(lambda backend: backend.checks(house.p))
    assert (check.asset, check.name, check.passed, check.severity) == ("frame_images", "frame_images_qc", False, "ERROR")
    assert check.findings == (finding,)
    assert house.call(lambda backend: backend.checks("p-other")) == ()


def test_a_webserver_that_only_reads_lets_nobody_write(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data team's: reading works, a request is Unauthorised and starts nothing."""
    house.door.put(a_project(house.p), {Stage.STORYBOARD: StageStatus.REQUESTED})
    house.tell(house.p)
    # What `--read-only` sets.
    monkeypatch.setattr(house.context, "_read_only", True)
    assert house.call(lambda backend: backend.status(house.p)).status == "IMAGE"
    with pytest.raises(Unauthorised, match="only reads"):
        house.call(lambda backend: backend.cancel(house.p, by="ann"))
    assert house.door.project(house.p).cancel_requested is False


def test_a_run_that_does_not_exist_is_an_error_of_dagster(house: House) -> None:
    """Its type is in the error; it is no empty page."""
    with pytest.raises(GraphQLFault, match="RunNotFoundError"):
        house.call(lambda backend: backend.events("5f0f8f5e-0000-4000-8000-000000000000"))


def test_what_is_told_is_what_the_client_reads(house: House) -> None:
    """A field that the report loses would be missed by every backend: the client's status needs all of its own."""
    house.door.put(a_project(house.p), {Stage.STORYBOARD: StageStatus.REQUESTED})
    house.tell(house.p)
    seen = house.call(lambda backend: backend.status(house.p))
    with house.workshop.database.read() as connection:
        told = status_event(house.workshop, connection, house.p).metadata["report"].value
    assert json.loads(seen.model_dump_json(exclude={"at"})).keys() < dict(told).keys()  # type: ignore[arg-type]  # a JSON object
