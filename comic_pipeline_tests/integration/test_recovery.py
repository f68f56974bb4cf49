"""SIGKILL of the code server, the daemon, the runs, of everything at once, while paid jobs are under way: nothing is paid twice.

One deployment for the module; each test uses a project of its own, and nothing may be left running, leased or held at its end.
"""

import time
from collections.abc import Iterator
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import MAX_ROUNDS, ProjectState, Stage, StageStatus
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store import stages
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit
from comic_pipeline_tests.reckoning import leftovers, reckon
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.timeout(1_200), pytest.mark.endurance]

# Long enough that no job ends while processes are killed and started again; `advance` ends them all.
_JOB_SECONDS = 900.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Sandbox]]:
    """One deployment for all tests of this module. Small pictures: they are not what is tested."""
    with start_sandbox(latency={"video": _JOB_SECONDS}) as sandbox:
        environment = sandbox_environment(sandbox, ARK_IMAGE_MODEL="doubao-seedream-4-0-250828", COMIC_LEASE_SECONDS="4")
        with Deployment(home=tmp_path_factory.mktemp("home"), environment=environment) as deployment:
            yield deployment, sandbox


class Filming:
    """A project whose three clips are under way at the provider."""

    def __init__(self, deployment: Deployment, sandbox: Sandbox, *, user: str) -> None:
        self.deployment, self.sandbox = deployment, sandbox
        # A test that failed half-way must not take the next ones with it.
        deployment.start_missing()
        self._before = sandbox.admin.books()
        self.project_id = submit(deployment, "一只小猫在月球上种花", user=user)
        wait_for("three ids in the ledger", lambda: len(self.job_ids()) == 3, seconds=120)
        # Only the clips' run is left then.
        wait_for(
            "the voices",
            lambda: self.rounds(Stage.VOICES) == [StageStatus.PASSED] and len(self.deployment.run_processes()) == 1,
            seconds=60,
        )

    def job_ids(self) -> set[str]:
        """Ids that the ledger knows of the clips' jobs."""
        clips = (task for task in self.deployment.status(self.project_id).tasks if task.task_type == "clip")
        return {task.provider_request_id for task in clips if task.provider_request_id}

    def deliver(self) -> ProjectStatus:
        """Let the jobs end at the provider; the project's status when it has ended too."""
        self.sandbox.admin.advance(_JOB_SECONDS)
        return finished(self.deployment, self.project_id)

    def rounds(self, stage: Stage) -> list[StageStatus]:
        """How the rounds of a stage ended, in order."""
        with self.deployment.workshop.database.read() as connection:
            return [row.status for row in stages.history(connection, self.project_id) if row.stage is stage]

    def check_paid_once(self, end: ProjectStatus) -> None:
        """The film is there; each task was created and charged exactly once; nothing is left over."""
        assert end.status == ProjectState.PENDING_REVIEW, (end.error_code, end.error_message)
        books = self.sandbox.admin.books()
        made = {name: getattr(books, name) - getattr(self._before, name) for name in ("chats", "images", "voices", "video_jobs")}
        assert made == {"chats": 1, "images": 3, "voices": 3, "video_jobs": 3}
        assert end.cost == books.spend - self._before.spend > Decimal(15)
        assert all(task.status is TaskStatus.SUCCESS for task in end.tasks)
        wait_for("nothing left over", lambda: not leftovers(self.deployment.workshop.database), seconds=30)
        assert reckon(self.deployment.workshop.database, self.sandbox.admin).problems == ()


def test_the_code_server_dies_and_its_runs_go_on(running: tuple[Deployment, Sandbox]) -> None:
    """Run workers are processes of their own: they poll on while there is no code server, and the next stage waits for it."""
    filming = Filming(*running, user="ann")
    filming.deployment.kill("code")
    time.sleep(3)
    filming.deployment.start("code")
    filming.check_paid_once(filming.deliver())
    assert filming.rounds(Stage.CLIPS) == [StageStatus.PASSED]


def test_the_daemon_dies_and_is_started_again(running: tuple[Deployment, Sandbox]) -> None:
    """Without the daemon nothing new starts; what ended meanwhile is collected when it is back."""
    filming = Filming(*running, user="ben")
    filming.deployment.kill("daemon")
    # The evaluation that it had begun goes on in the code server to its end, at most 4.5 s; it would still collect the clips.
    time.sleep(6)
    filming.sandbox.admin.advance(_JOB_SECONDS)
    wait_for(
        "the clips' end without a daemon",
        lambda: not filming.deployment.run_processes(),
        seconds=60,
    )
    assert filming.rounds(Stage.CLIPS) == [StageStatus.RUNNING]
    filming.deployment.start("daemon")
    filming.check_paid_once(finished(filming.deployment, filming.project_id))
    assert filming.rounds(Stage.CLIPS) == [StageStatus.PASSED]


def test_a_run_that_died_with_the_code_server_is_freed_by_its_heartbeat(running: tuple[Deployment, Sandbox]) -> None:
    """Dagster's launcher never notices that a run is gone with its server: STARTED for ever. The heartbeat tells."""
    filming = Filming(*running, user="cem")
    ids = filming.job_ids()
    filming.deployment.kill("code")
    assert filming.deployment.kill_runs() == 1
    filming.deployment.start("code")
    wait_for("a second round", lambda: filming.rounds(Stage.CLIPS)[1:] == [StageStatus.RUNNING], seconds=90)
    filming.check_paid_once(filming.deliver())
    assert filming.rounds(Stage.CLIPS) == [StageStatus.FAILED, StageStatus.PASSED]
    assert filming.job_ids() == ids
    with filming.deployment.instance() as instance:
        runs = [run for run in instance.get_runs() if run.tags["comic/project"] == filming.project_id]
    assert all(run.is_finished for run in runs)


def test_everything_dies_at_once_and_is_started_again(running: tuple[Deployment, Sandbox]) -> None:
    """As when the machine loses power: code server, daemon, webserver, runs."""
    filming = Filming(*running, user="dan")
    ids = filming.job_ids()
    filming.deployment.crash()
    filming.deployment.start()
    filming.check_paid_once(filming.deliver())
    assert filming.job_ids() == ids


def _die_in_round(number: int, filming: Filming) -> None:
    wait_for(f"round {number} at work", lambda: len(filming.rounds(Stage.CLIPS)) == number and _at_work(filming), seconds=120)
    assert filming.deployment.kill_runs() == 1
    wait_for(f"the end of round {number}", lambda: filming.rounds(Stage.CLIPS)[number - 1] is not StageStatus.RUNNING, seconds=60)


def test_a_stage_that_dies_each_time_stops_for_an_operator_and_a_retry_finishes(running: tuple[Deployment, Sandbox]) -> None:
    """Field case Windup 391: five deaths, then MANUAL_REQUIRED; the jobs that were paid are still resumed by a retry."""
    filming = Filming(*running, user="eva")
    deployment = filming.deployment
    for number in range(1, MAX_ROUNDS + 1):
        _die_in_round(number, filming)
    end = finished(deployment, filming.project_id)
    assert (end.status, end.error_code, end.fail_stage) == (ProjectState.MANUAL_REQUIRED, ErrorCode.UNKNOWN_ERROR, Stage.CLIPS)
    assert "5 rounds" in (end.error_message or "")
    assert filming.rounds(Stage.CLIPS) == [StageStatus.FAILED] * (MAX_ROUNDS - 1) + [StageStatus.MANUAL_REQUIRED]
    deployment.comic("retry", filming.project_id, "--user", "eva")
    wait_for("the retry at work", lambda: len(filming.rounds(Stage.CLIPS)) == MAX_ROUNDS + 1 and _at_work(filming), seconds=120)
    filming.check_paid_once(filming.deliver())


def _at_work(filming: Filming) -> bool:
    """Whether the newest round of the clips has taken up its jobs."""
    return filming.rounds(Stage.CLIPS)[-1] is StageStatus.RUNNING and bool(filming.deployment.run_processes())
