"""Terminating a run in the Dagster UI, whatever it is doing: it ends CANCELED, stays so, and no second create follows.

Dagster issue 15026: with a retry policy, plain Dagster restarts the stopped op and pays again. Times are
printed; they include the request, the signal's way through daemon and code server, and the run's own end.
"""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import dagster as dg
import pytest
from sqlalchemy import update

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import ProjectState, Stage, StageStatus
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store.schema import stages
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished
from comic_pipeline_tests.reckoning import leftovers, reckon
from comic_pipeline_tests.sandbox.faults import CREATES, Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.timeout(1_200), pytest.mark.endurance]

# Two seconds are promised for the run itself; a machine that runs other tests beside it gets more.
_AT_MOST = 15.0
# Twelve shots cost more than a paid project usually may; a run at its max_runtime must not be one of a project at its time-out.
_AMPLE = {"COMIC_BUDGETS": "free=2,preview=10,paid=200,premium=500", "COMIC_PROJECT_TIMEOUT": "1000000"}
_TERMINATE = "mutation ($i: String!) { terminateRun(runId: $i) { __typename ... on TerminateRunFailure { message } } }"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Sandbox]]:
    """One deployment for all tests of this module; its pictures are drawn in the run itself, which takes CPU time."""
    with start_sandbox(latency={"video": 0.5}) as sandbox:
        environment = sandbox_environment(sandbox, COMIC_IMAGE_PROVIDER="offline", COMIC_RETRY_DELAYS="60", **_AMPLE)
        with Deployment(home=tmp_path_factory.mktemp("home"), environment=environment) as deployment:
            yield deployment, sandbox


class Stopped:
    """A project of its own user, and what becomes of the run that is terminated under it."""

    def __init__(self, running: tuple[Deployment, Sandbox], *, user: str, duration: str = "short_15") -> None:
        self.deployment, self.sandbox = running
        self.deployment.comic("submit", "一只小猫在月球上种花", "--user", user, "--tier", "paid", "--duration", duration)
        self.project_id = str(
            wait_for("admission", lambda: self.deployment.comic("projects", "--user", user), seconds=60)[0]["id"]
        )

    @property
    def status(self) -> ProjectStatus:
        """Where the project stands."""
        return self.deployment.status(self.project_id)

    def count(self, kind: str, status: TaskStatus) -> int:
        """How many tasks of a type are in a status."""
        return sum(task.task_type == kind and task.status is status for task in self.status.tasks)

    def when(self, what: str, seen: Callable[[], object], *, seconds: float = 120) -> None:
        """Wait for the moment at which to stop."""
        wait_for(what, seen, seconds=seconds)

    def terminate(self, stage: Stage, *, what: str) -> ProjectStatus:
        """Terminate the run of `stage` as the UI does, check that it stays CANCELED and pays nothing more; the project's end."""
        with self.deployment.instance() as instance:
            run_id = next(
                run.run_id
                for run in instance.get_runs()
                if run.tags.get("comic/project") == self.project_id and run.tags["comic/stage"] == stage.value
            )
            asked = time.monotonic()
            answer = self.deployment.graphql(_TERMINATE, i=run_id)["terminateRun"]
            assert answer["__typename"] == "TerminateRunSuccess", answer
            wait_for("the run's end", lambda: _word(instance, run_id) not in ("STARTED", "CANCELING"), seconds=60)
            took = time.monotonic() - asked
            print(f"terminated while {what}: {_word(instance, run_id)} after {took:.1f} s")  # noqa: T201
            assert _word(instance, run_id) == "CANCELED"
            assert took < _AT_MOST
            creates = self._creates()
            end = finished(self.deployment, self.project_id)
            ended = self._creates()
            time.sleep(5)
            assert _word(instance, run_id) == "CANCELED"
        # The voices have a run of their own, which may be at work until the project has ended.
        assert {**creates, **_voices(ended)} == ended
        assert self._creates() == ended
        assert end.status == ProjectState.CANCELLED
        return end

    def check_settled(self) -> None:
        """Jobs that the provider still had are followed to their end and booked; nothing is held, nothing new was created."""
        creates = self._creates()
        self.sandbox.admin.advance(600)
        wait_for("nothing left over", lambda: not leftovers(self.deployment.workshop.database), seconds=90)
        wait_for("no process left", lambda: not self.deployment.run_processes(), seconds=30)
        assert self._creates() == creates
        assert self.status.status == ProjectState.CANCELLED
        assert reckon(self.deployment.workshop.database, self.sandbox.admin).problems == ()

    def _creates(self) -> dict[str, int]:
        requests = self.sandbox.admin.books().requests
        return {route: requests.get(route, 0) for route in CREATES}


def _voices(creates: dict[str, int]) -> dict[str, int]:
    return {route: count for route, count in creates.items() if route in (Route.TTS_V1, Route.TTS_V3)}


def _word(instance: dg.DagsterInstance, run_id: str) -> str:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status.value


def test_while_it_polls(running: tuple[Deployment, Sandbox]) -> None:
    """The run waits between two looks at its jobs."""
    stopped = Stopped(running, user="ann")
    stopped.sandbox.admin.latency(video=300)
    stopped.when(
        "three ids", lambda: sum(bool(t.provider_request_id) for t in stopped.status.tasks if t.task_type == "clip") == 3
    )
    stopped.terminate(Stage.CLIPS, what="polling")
    stopped.check_settled()


def test_while_it_computes(running: tuple[Deployment, Sandbox]) -> None:
    """The run draws twelve pictures in child processes; nothing was paid, and nothing goes on drawing."""
    stopped = Stopped(running, user="ben", duration="long_120")
    stopped.when("drawing", lambda: stopped.count("frame_image", TaskStatus.RUNNING) > 0)
    stopped.terminate(Stage.FRAMES, what="drawing")
    assert stopped.count("frame_image", TaskStatus.SUCCESS) < 12
    stopped.check_settled()


def test_while_a_child_process_works(running: tuple[Deployment, Sandbox]) -> None:
    """The run waits for ffmpeg, which must not live on by itself."""
    stopped = Stopped(running, user="cem")
    stopped.sandbox.admin.latency(video=0.5)

    def encoders() -> list[int]:
        children = [child for run in stopped.deployment.run_processes() for child in run.children(recursive=True)]
        return [child.pid for child in children if "ffmpeg" in child.name()]

    stopped.when("ffmpeg", lambda: stopped.count("film_render", TaskStatus.RUNNING) and encoders())
    stopped.terminate(Stage.FILM, what="rendering")
    assert not encoders()
    assert stopped.count("clip", TaskStatus.SUCCESS) == 3
    stopped.check_settled()


def test_while_it_waits_for_the_next_round(running: tuple[Deployment, Sandbox]) -> None:
    """One clip goes again in a minute: Dagster's own wait would hear nothing until then."""
    stopped = Stopped(running, user="dan")
    stopped.sandbox.admin.latency(video=0.5)
    stopped.sandbox.admin.faults.add(Route.VIDEO_CREATE, api_error("InternalServiceError"), times=4, match="shot 1.")
    stopped.when("a clip that goes again", lambda: stopped.count("clip", TaskStatus.RETRYING) == 1)
    stopped.when("the other clips", lambda: stopped.count("clip", TaskStatus.SUCCESS) == 2)
    # The round ends and the next one begins to wait.
    time.sleep(3)
    stopped.terminate(Stage.CLIPS, what="waiting for the next round")
    assert stopped.count("clip", TaskStatus.RETRYING) == 0
    stopped.check_settled()


def test_while_creates_are_on_the_wire(running: tuple[Deployment, Sandbox]) -> None:
    """The provider has taken three jobs but not answered yet: the stop waits for the answers, and the ledger knows the ids."""
    stopped = Stopped(running, user="eva")
    stopped.sandbox.admin.latency(video=300)
    before = stopped.sandbox.admin.books()
    stopped.sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.SLOW, seconds=6), times=3)
    stopped.when("three creates on the wire", lambda: stopped.sandbox.admin.books().video_jobs - before.video_jobs == 3)
    stopped.terminate(Stage.CLIPS, what="creating")
    made = {job.id for job in stopped.sandbox.admin.jobs()[before.video_jobs :]}
    known = {task.provider_request_id for task in stopped.status.tasks if task.task_type == "clip"}
    assert known == made
    assert len(made) == 3
    stopped.check_settled()


def test_at_max_runtime(running: tuple[Deployment, Sandbox]) -> None:
    """Dagster stops a run that takes too long by the same signal, and calls it a failure: TASK_TIMEOUT, no other round."""
    stopped = Stopped(running, user="fay")
    stopped.sandbox.admin.latency(video=300)
    stopped.when(
        "three ids", lambda: sum(bool(t.provider_request_id) for t in stopped.status.tasks if t.task_type == "clip") == 3
    )
    before = stopped.sandbox.admin.books().requests["video_create"]
    long_ago = stopped.deployment.workshop.clock.now() - timedelta(days=1)
    with stopped.deployment.workshop.database.write() as connection:
        connection.execute(update(stages).where(stages.c.status == StageStatus.RUNNING).values(started_at=long_ago))
    with stopped.deployment.instance() as instance:
        run_id = next(run.run_id for run in instance.get_runs() if run.tags["comic/stage"] == "clips" and not run.is_finished)
        instance.add_run_tags(run_id, {"dagster/max_runtime": "1"})
        wait_for("the run's end", lambda: _word(instance, run_id) not in ("STARTED", "CANCELING"), seconds=90)
        word = _word(instance, run_id)
        end = finished(stopped.deployment, stopped.project_id)
        time.sleep(5)
        assert _word(instance, run_id) == word
    print(f"at max_runtime: run {word}, project {end.status} {end.error_code}: {end.error_message}")  # noqa: T201
    assert (end.status, end.error_code, end.fail_stage) == (ProjectState.FAILED, ErrorCode.TASK_TIMEOUT, Stage.CLIPS)
    assert stopped.sandbox.admin.books().requests["video_create"] == before
    wait_for("nothing left over", lambda: not leftovers(stopped.deployment.workshop.database), seconds=90)
    stopped.sandbox.admin.advance(600)
    stopped.deployment.comic("retry", stopped.project_id, "--user", "fay")
    assert finished(stopped.deployment, stopped.project_id).status == ProjectState.PENDING_REVIEW
    assert stopped.sandbox.admin.books().requests["video_create"] == before
