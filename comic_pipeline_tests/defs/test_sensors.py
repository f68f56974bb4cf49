"""`workflow_sensor` as the daemon calls it: how long it looks, what it asks for; and that all sensors run by themselves."""

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from comic_pipeline.definitions import defs
from comic_pipeline.defs import sensors
from comic_pipeline.defs.runs import DagsterRuns
from comic_pipeline.defs.sensors import EVALUATION, workflow_sensor
from comic_pipeline.launching import Launch
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.workflow import Pass, Reconciler
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.homes import opened_home

NOTHING = Pass(launches=(), changed=1, refused=())


@pytest.fixture
def workshop(tmp_path: Any) -> Iterator[Workshop]:
    """A prepared home."""
    with opened_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """An instance for one evaluation."""
    with dg.DagsterInstance.ephemeral() as made:
        yield made


class Looking:
    """A reconciler whose look takes `seconds`, on a clock of its own, and that finds a launch at look number `finds`."""

    def __init__(self, seconds: float, finds: int | None = None) -> None:
        self.now, self.seconds, self.finds, self.looks = 1_000.0, seconds, finds, 0
        self.time = SimpleNamespace(monotonic=lambda: self.now, sleep=self._pass)

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def tick(self) -> Pass:
        """One look."""
        self._pass(self.seconds)
        self.looks += 1
        if self.looks == self.finds:
            return Pass(
                launches=(Launch(stage_id="s", stage=Stage.FILM, job="make_film", project_id="p1", tags={}),),
                changed=2,
                refused=("row 7",),
            )
        return NOTHING


def look(monkeypatch: pytest.MonkeyPatch, looking: Looking) -> Pass:
    """One evaluation's looking."""
    monkeypatch.setattr(sensors, "time", looking.time)
    return sensors._look_until_something(cast("Reconciler", looking))


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.2, 0.6, 1.5, 4.0])
def test_an_evaluation_ends_before_the_loop_of_the_daemon_flips(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Longer than 4.9 s, and the daemon evaluates every 10 s instead of every 5. What was moved is counted over all looks."""
    looking = Looking(seconds)
    seen = look(monkeypatch, looking)
    assert looking.now - 1_000 <= EVALUATION
    assert (seen.launches, seen.changed) == ((), looking.looks)


def test_a_launch_ends_the_looking_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that is due is not kept waiting for the rest of the evaluation."""
    looking = Looking(0.001, finds=3)
    seen = look(monkeypatch, looking)
    assert (looking.looks, len(seen.launches), seen.changed, seen.refused) == (3, 1, 4, ("row 7",))
    assert looking.now - 1_000 < 1


def evaluated(workshop: Workshop, instance: dg.DagsterInstance) -> Any:
    """What one evaluation of the sensor gives."""
    with (
        partition_loading_context(dynamic_partitions_store=instance),
        dg.build_sensor_context(
            instance=instance,
            resources={"workshop": workshop},
            repository_def=defs.get_repository_def(),
            sensor_name=workflow_sensor.name,
        ) as context,
    ):
        return workflow_sensor.evaluate_tick(context)


def test_a_submission_becomes_a_run_request_with_its_partition(workshop: Workshop, instance: dg.DagsterInstance) -> None:
    """Admitted, advanced and asked for in one evaluation; the run key is the round, so that no tick starts it twice."""
    door = Door(workshop.database)
    door.now = datetime.now(UTC)
    door.submit(payload={"idea": "a fox"}, user="ann", project="p1")
    # The daemon adds the partitions that an evaluation asks for before it looks at the keys of the runs; here nobody does.
    instance.add_dynamic_partitions("projects", ["p1"])
    result = evaluated(workshop, instance)
    (row,) = door.rounds("p1").values()
    (request,) = result.run_requests
    assert (request.run_key, request.job_name, request.partition_key) == (row.id, "make_storyboard", "p1")
    assert request.tags["comic/stage_id"] == row.id
    assert [add.partition_keys for add in result.dynamic_partitions_requests] == [["p1"]]


def test_a_second_evaluation_goes_away(workshop: Workshop, instance: dg.DagsterInstance) -> None:
    """A time-out does not stop an evaluation, and the UI's test of a sensor is one too: two would decide the same rows."""
    first = Reconciler(
        database=workshop.database, settings=workshop.settings, runs=DagsterRuns(instance), now=lambda: datetime.now(UTC)
    )
    assert first.take()
    assert evaluated(workshop, instance).skip_message == "another evaluation is looking"


def test_everything_that_moves_films_runs_by_itself() -> None:
    """Nobody switches on a sensor in the UI of a new deployment."""
    repository = defs.get_repository_def()
    assert {sensor.name: sensor.default_status for sensor in repository.sensor_defs} == dict.fromkeys(
        ("workflow_sensor", "status_sensor", "notification_sensor", "alerts_sensor"), dg.DefaultSensorStatus.RUNNING
    )
    assert {schedule.name: schedule.default_status for schedule in repository.schedule_defs} == dict.fromkeys(
        ("clean_up_daily", "make_reports_daily"), dg.DefaultScheduleStatus.RUNNING
    )
