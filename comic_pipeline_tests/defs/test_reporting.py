"""The asset `project_status`: told when something changes, not otherwise, and nothing is lost on the way."""

import json
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import text

from comic_pipeline.defs import reporting
from comic_pipeline.defs.reporting import Told, status_sensor
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import PRODUCTION, ProjectState, Stage, StageStatus
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.databases import empty
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.homes import opened_home

MADE = dict.fromkeys(PRODUCTION, StageStatus.PASSED)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The workshop of a prepared home."""
    with opened_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture
def door(workshop: Workshop) -> Iterator[Door]:
    """An empty database."""
    yield Door(workshop.database)
    empty(workshop.database)


class Teller:
    """The sensor, tick after tick, with the cursor that Dagster would keep."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.cursor: str | None = None

    def tick(self) -> dict[str, dict[str, Any]]:
        """The reports of one evaluation by project."""
        with dg.build_sensor_context(
            resources={"workshop": self.workshop}, sensor_name=status_sensor.name, cursor=self.cursor
        ) as context:
            seen = status_sensor.evaluate_tick(context)
        self.cursor = seen.cursor
        return {event.partition or "": json.loads(json.dumps(event.metadata["report"].value)) for event in seen.asset_events}


@pytest.fixture
def teller(workshop: Workshop) -> Teller:
    """The sensor before its first evaluation."""
    return Teller(workshop)


def test_a_project_is_told_once_and_again_when_it_changes(door: Door, teller: Teller) -> None:
    """A picture more, a cancel, another state are news; a quiet tick stores nothing in Dagster."""
    door.put(a_project("p1"), {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.RUNNING})
    door.put(a_project("p2", idea="狗", status=ProjectState.APPROVED), MADE)
    first = teller.tick()
    assert {name: report["status"] for name, report in first.items()} == {"p1": "IMAGE", "p2": "APPROVED"}
    assert teller.tick() == {}
    door.add_task("p1", Stage.FRAMES, TaskStatus.SUCCESS, seq=1)
    (more,) = teller.tick().values()
    assert (more["project_id"], more["frames_ready"]) == ("p1", first["p1"]["frames_ready"] + 1)
    assert more["progress"] > first["p1"]["progress"]
    assert teller.tick() == {}


def test_the_report_says_cost_and_film(door: Door, workshop: Workshop, teller: Teller) -> None:
    """A reader outside needs no second source: costs by type of work, and where the film lies."""
    door.put(a_project("p1", status=ProjectState.PENDING_REVIEW), MADE)
    (report,) = teller.tick().values()
    assert report["film_url"] == workshop.objects.url(report["film"])
    assert (report["progress"], report["words_zh"], report["error_code"]) == (100, "完成", None)
    assert {line["task_type"] for line in report["costs"]} >= {"storyboard", "frame_image", "voice_line", "clip", "film_render"}
    assert "tasks" not in report


def test_more_news_than_one_evaluation_takes_is_told_by_the_next_ones(
    door: Door, teller: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade every project there is is news: in portions, none twice, none never."""
    monkeypatch.setattr(reporting, "TELL_AT_MOST", 2)
    for number in range(5):
        door.put(a_project(f"p{number}", idea=f"猫{number}", status=ProjectState.APPROVED, updated_at=door.now), MADE)
        door.wait(3_600)
    told = [sorted(teller.tick()) for _ in range(4)]
    assert told == [["p0", "p1"], ["p2", "p3"], ["p4"], []]


@pytest.mark.parametrize("cursor", [None, "", "{", "[]", '{"since": 1.5e99}'])
def test_a_cursor_that_cannot_be_read_begins_anew(cursor: str | None) -> None:
    """The cursor is a text that anybody may set in the UI: telling all again does no harm."""
    assert Told.read(cursor) == Told()


def test_a_row_under_an_impossible_id_is_told_like_any_other(door: Door, teller: Teller) -> None:
    """A backend that wrote into `projects` itself: its row must not silence the others."""
    door.put(a_project("p1"), {Stage.STORYBOARD: StageStatus.RUNNING})
    with door.database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO projects (id, user_id, tier, kind, idea, style, duration_bucket, aspect, resolution, language,"
                " content_hash, status, budget, opened_at, created_at, updated_at)"
                " SELECT 'bad...id|x', 'mallory', tier, kind, idea, style, duration_bucket, aspect, resolution, language, 'x',"
                " status, budget, opened_at, created_at, updated_at FROM projects"
            )
        )
    assert sorted(teller.tick()) == ["bad...id|x", "p1"]
