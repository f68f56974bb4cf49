"""The running deployment end to end: daemon, code server and webserver as processes, every provider at the sandbox."""

import pytest
from psutil import NoSuchProcess

from comic_pipeline.model.workflow import PRODUCTION, STAGE_RULES, ProjectState
from comic_pipeline.status import ProjectStatus
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.sandbox.process import Sandbox

pytestmark = pytest.mark.timeout(280)


def submit(deployment: Deployment, idea: str, *, user: str) -> str:
    """Ask for a paid film by the command line and wait until it is a project."""
    deployment.comic("submit", idea, "--user", user, "--tier", "paid")

    def admitted() -> str | None:
        found = deployment.comic("projects", "--user", user)
        return found[0]["id"] if found else None

    return str(wait_for(f"admission of {user}'s film", admitted, seconds=60))


def finished(deployment: Deployment, project_id: str) -> ProjectStatus:
    """The status once the project is no longer in production."""

    def ended() -> ProjectStatus | None:
        seen = deployment.status(project_id)
        return seen if seen.finished_at is not None else None

    return wait_for(f"the end of {project_id}", ended, seconds=200)


def test_two_projects_become_films_with_exactly_the_planned_creates(deployment: Deployment, sandbox: Sandbox) -> None:
    """Acceptance (a): two users' films, each task created once, every stage run tagged, spend equal to the sandbox's books."""
    ids = [submit(deployment, "一只小狗学会了飞", user="ann"), submit(deployment, "A robot paints the sea", user="ben")]
    ends = [finished(deployment, project_id) for project_id in ids]

    assert [end.status for end in ends] == [ProjectState.PENDING_REVIEW] * 2
    books = sandbox.admin.books()
    assert (books.chats, books.images, books.voices, books.video_jobs) == (2, 6, 6, 6)
    assert sum(end.cost for end in ends) == books.spend
    assert all(deployment.workshop.objects.exists(end.film or "") for end in ends)
    with deployment.instance() as instance:
        runs = instance.get_runs()
    assert len(runs) == 2 * len(PRODUCTION)
    for run in runs:
        rule = next(rule for rule in STAGE_RULES.values() if rule.job == run.job_name)
        assert run.tags["comic/kind"] == "stage"
        assert run.tags["comic/project"] == run.tags["dagster/partition"]
        assert run.tags["comic/queue"] == rule.queue
        assert run.tags["comic/stage"] == rule.stage
        assert ("comic/lock" in run.tags) == rule.serial
        assert [key for key in run.tags if key.startswith("comic.provider/")]
        assert run.tags["dagster/priority"] == "40"
        assert int(run.tags["dagster/max_runtime"]) > rule.deadline


def test_a_killed_clips_run_resumes_its_jobs_without_a_second_create(deployment: Deployment, sandbox: Sandbox) -> None:
    """Acceptance (b), field case ArcReel 640: SIGKILL while video jobs run; the next round polls the stored ids."""
    sandbox.admin.latency(video=15)
    project_id = submit(deployment, "一只小猫在月球上种花", user="ann")
    wait_for("three video jobs", lambda: sandbox.admin.books().video_jobs == 3, seconds=120)
    wait_for(
        "three ids in the ledger",
        lambda: (
            sum(task.task_type == "clip" and bool(task.provider_request_id) for task in deployment.status(project_id).tasks) == 3
        ),
        seconds=30,
    )

    for process in deployment.run_processes():
        try:
            process.kill()
        except NoSuchProcess:
            continue
    end = finished(deployment, project_id)

    assert end.status == ProjectState.PENDING_REVIEW
    books = sandbox.admin.books()
    assert books.video_jobs == 3
    assert end.cost == books.spend
    with deployment.instance() as instance:
        clips_runs = [run for run in instance.get_runs() if run.job_name == "make_clips"]
    assert sorted(run.status.value for run in clips_runs) == ["FAILURE", "SUCCESS"]
