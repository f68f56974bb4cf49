"""The real processes with both databases on Postgres and everything else on S3; Postgres restarts and dies while they work."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from comic_pipeline.model.workflow import STAGE_RULES, ProjectState, Stage
from comic_pipeline_tests.deployed import deployed_variables
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit
from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.timeout(900), pytest.mark.endurance]

IDEAS = {"ann": "一只小猫在月球上种花", "ben": "A robot paints the sea", "cleo": "一条鱼学会了骑自行车"}


@pytest.fixture
def busy_sandbox() -> Iterator[Sandbox]:
    """Providers that take a while, so that a restart always meets work."""
    with start_sandbox(latency={"image": 3.0, "voice": 1.0, "video": 8.0}) as running:
        yield running


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that may be killed without harm to other tests."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def deployment(
    tmp_path: Path, busy_sandbox: Sandbox, own_postgres: PostgresServer, s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    """The real processes on Postgres and S3."""
    variables = deployed_variables(own_postgres, s3_variables)
    for name in ("DAGSTER_DATABASE_URL", "COMIC_LOGS_BUCKET", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, variables[name])
    environment = sandbox_environment(busy_sandbox, ARK_IMAGE_MODEL="doubao-seedream-4-0-250828", **variables)
    with Deployment(home=tmp_path / "home", environment=environment) as running:
        yield running


def test_postgres_restarts_under_load_and_no_film_is_lost_or_paid_twice(
    deployment: Deployment, busy_sandbox: Sandbox, own_postgres: PostgresServer, s3_server: S3Server
) -> None:
    """Three films at once; an orderly restart while pictures are bought, SIGKILL while clips are followed."""
    ids = [submit(deployment, idea, user=user) for user, idea in IDEAS.items()]
    wait_for("pictures on the way", lambda: busy_sandbox.admin.books().requests.get("image", 0) >= 2, seconds=120)
    own_postgres.restart(kill=False)
    _go_on_as_an_engine_does(deployment)
    wait_for("clips on the way", lambda: busy_sandbox.admin.books().video_jobs >= 2, seconds=200)
    own_postgres.restart(kill=True)
    _go_on_as_an_engine_does(deployment)

    ends = [finished(deployment, project_id) for project_id in ids]

    assert [end.status for end in ends] == [ProjectState.PENDING_REVIEW] * 3, [end.error_message for end in ends]
    books = busy_sandbox.admin.books()
    assert (books.chats, books.images, books.voices, books.video_jobs) == (3, 9, 9, 9)
    assert sum(end.cost for end in ends) == books.spend
    assert all(deployment.workshop.objects.exists(end.film or "") for end in ends)
    with deployment.instance() as instance:
        runs = instance.get_runs()
    made = {(run.tags["comic/project"], run.tags["comic/stage"]) for run in runs if run.status.value == "SUCCESS"}
    assert len(made) == 3 * len([stage for stage in STAGE_RULES if stage is not Stage.RELEASE])
    logs = s3_server.data / deployment.environment["COMIC_LOGS_BUCKET"] / "compute-logs"
    assert list(logs.rglob("*.err"))


def _go_on_as_an_engine_does(deployment: Deployment) -> None:
    """Start again what a lost database has ended, as `restart: unless-stopped` does."""
    time.sleep(3)
    for name, process in list(deployment.processes.items()):
        if process.poll() is not None:
            del deployment.processes[name]
            deployment.start(name)
