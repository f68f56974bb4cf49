"""What operators do in the UI, through the UI's own GraphQL: Materialize, terminate, run by hand; and rows that are broken."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

import pytest
from sqlalchemy import text

from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.status import ProjectStatus
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = pytest.mark.timeout(280)

# Seconds that a video job takes when nothing else is said.
_QUICK = 0.5

_COPY_UNDER_A_BAD_ID = """
INSERT INTO projects (id, user_id, tier, kind, idea, style, duration_bucket, aspect, resolution, language, content_hash, status,
                      budget, opened_at, created_at, updated_at)
SELECT 'bad...id|x', 'mallory', 'free', kind, idea, style, duration_bucket, aspect, resolution, language, 'x', 'QUEUED',
       budget, opened_at, created_at, updated_at
FROM projects WHERE id = :first
"""

LAUNCH = """mutation ($p: ExecutionParams!) { launchRun(executionParams: $p) { __typename
  ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } ... on InvalidSubsetError { message } } }"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Sandbox]]:
    """One deployment for all tests of this module: each uses projects of its own."""
    with (
        start_sandbox(latency={"video": _QUICK}) as sandbox,
        Deployment(home=tmp_path_factory.mktemp("home"), environment=sandbox_environment(sandbox)) as deployment,
    ):
        yield deployment, sandbox


@pytest.fixture(autouse=True)
def _quick_again(running: tuple[Deployment, Sandbox]) -> Iterator[None]:
    """A test that made the provider slow leaves it quick."""
    yield
    running[1].admin.latency(video=_QUICK)


@pytest.fixture(scope="module")
def made(running: tuple[Deployment, Sandbox]) -> tuple[ProjectStatus, ProjectStatus]:
    """Two projects as they ended; admitted between them was a third, whose row is broken."""
    deployment, _ = running
    first = submit(deployment, "一只狐狸开了面馆", user="cem")
    with deployment.workshop.database.engine.begin() as connection:
        connection.execute(text(_COPY_UNDER_A_BAD_ID), {"first": first})
    second = submit(deployment, "一只企鹅学游泳", user="dan")
    return finished(deployment, first), finished(deployment, second)


def launch(deployment: Deployment, *, job: str, project_id: str, assets: list[str]) -> str:
    """Start a run as the UI does: no tag but the partition."""
    params = {
        "selector": {
            "repositoryLocationName": "comic",
            "repositoryName": "__repository__",
            "jobName": job,
            "assetSelection": [{"path": [name]} for name in assets],
        },
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": project_id}]},
        "runConfigData": {},
    }
    answer = deployment.graphql(LAUNCH, p=params)["launchRun"]
    assert answer["__typename"] == "LaunchRunSuccess", answer
    return str(answer["run"]["runId"])


def run_status(deployment: Deployment, run_id: str) -> str:
    """The run's status word."""
    return str(
        deployment.graphql("query ($i: ID!) { runOrError(runId: $i) { ... on Run { status } } }", i=run_id)["runOrError"][
            "status"
        ]
    )


def ended(deployment: Deployment, run_id: str, *, seconds: float = 90) -> str:
    """The run's last status word."""
    return str(
        wait_for(
            f"the end of run {run_id}",
            lambda: (word := run_status(deployment, run_id)) in ("SUCCESS", "FAILURE", "CANCELED") and word,
            seconds=seconds,
        )
    )


def test_one_broken_project_among_three_does_not_stop_the_other_two(
    running: tuple[Deployment, Sandbox], made: tuple[ProjectStatus, ProjectStatus]
) -> None:
    """Acceptance (e): a row whose id can be no partition is set aside; plain Dagster would fail every tick."""
    deployment, _ = running
    assert [end.status for end in made] == [ProjectState.PENDING_REVIEW] * 2
    with deployment.workshop.database.engine.begin() as connection:
        row = connection.exec_driver_sql("SELECT status, error_code FROM projects WHERE user_id = 'mallory'").one()
    assert tuple(row) == ("MANUAL_REQUIRED", "INPUT_INVALID")


def test_materialize_from_an_asset_page_carries_the_tags_of_its_stage(
    running: tuple[Deployment, Sandbox], made: tuple[ProjectStatus, ProjectStatus]
) -> None:
    """Acceptance (e): runs from an asset page carry no tags of their own; the coordinator adds them. It costs nothing anew."""
    deployment, sandbox = running
    project_id = made[0].project_id
    before = sandbox.admin.books()

    run_id = launch(deployment, job="__ASSET_JOB", project_id=project_id, assets=["clips"])

    assert ended(deployment, run_id) == "SUCCESS"
    assert sandbox.admin.books().creates == before.creates
    with deployment.instance() as instance:
        run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.tags["comic/stage"] == "clips"
    assert run.tags["comic/queue"] == "video_queue"
    assert run.tags["comic/project"] == project_id
    assert run.tags["comic.provider/ark_video"] == "1"
    assert run.tags["comic/kind"] == "stage"
    rounds = [task for task in deployment.status(project_id).tasks if task.task_type == "clip"]
    assert len(rounds) == 3


def test_a_run_by_hand_is_refused_while_its_stage_is_active(running: tuple[Deployment, Sandbox]) -> None:
    """Two runs on one stage would fight: the one by hand fails with CONFLICT and no create is made for it."""
    deployment, sandbox = running
    sandbox.admin.latency(video=20)
    project_id = submit(deployment, "一只小猫在月球上种花", user="bea")
    wait_for("the clips stage", lambda: deployment.status(project_id).status == ProjectState.VIDEO, seconds=120)
    wait_for(
        "running clips",
        lambda: sum(t.task_type == "clip" and t.status == "running" for t in deployment.status(project_id).tasks) == 3,
        seconds=60,
    )

    run_id = launch(deployment, job="__ASSET_JOB", project_id=project_id, assets=["clips"])

    assert ended(deployment, run_id) == "FAILURE"
    with deployment.instance() as instance:
        run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.tags["comic/error_code"] == "CONFLICT"
    sandbox.admin.latency(video=_QUICK)
    sandbox.admin.advance(30)
    assert finished(deployment, project_id).status == ProjectState.PENDING_REVIEW


def test_terminating_a_run_while_it_polls_ends_it_cancelled_and_creates_nothing_more(running: tuple[Deployment, Sandbox]) -> None:
    """Dagster 15026: Terminate with a retry policy leads to a retry that pays again. Here: CANCELED, no second create."""
    deployment, sandbox = running
    sandbox.admin.latency(video=60)
    project_id = submit(deployment, "一只猫头鹰写信", user="eva")
    wait_for(
        "running clips",
        lambda: sum(t.task_type == "clip" and bool(t.provider_request_id) for t in deployment.status(project_id).tasks) == 3,
        seconds=120,
    )
    before = sandbox.admin.books().video_jobs
    with deployment.instance() as instance:
        run_id = next(run.run_id for run in instance.get_runs() if run.tags["dagster/partition"] == project_id)

    deployment.graphql("mutation ($i: String!) { terminateRun(runId: $i) { __typename } }", i=run_id)

    assert ended(deployment, run_id, seconds=15) == "CANCELED"
    end = finished(deployment, project_id)
    assert end.status == ProjectState.CANCELLED
    assert sandbox.admin.books().video_jobs == before
    assert run_status(deployment, run_id) == "CANCELED"


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_running(running: tuple[Deployment, Sandbox]) -> Iterator[None]:
    """After all: no run worker lives on."""
    yield
    deployment, _ = running
    wait_for("the end of all run workers", lambda: not deployment.run_processes(), seconds=60)


@pytest.mark.usefixtures("made")
def test_the_home_holds_no_secret(running: tuple[Deployment, Sandbox]) -> None:
    """Keys never reach a row, an event, a log or a document: two films have written all four, and none has a key."""
    deployment, sandbox = running
    texts = _read(deployment.home)
    for kind in ("comic.db", "dagster/history/runs.db", "files/*/compute_logs/*.err", "files/objects/projects/*/documents/*"):
        assert any(PurePosixPath(name).match(kind) and text for name, text in texts.items()), (kind, sorted(texts)[:200])
    assert [name for name, text in texts.items() if sandbox.api_key.encode() in text] == []


def _read(home: Path) -> dict[str, bytes]:
    """Every file by its name. SQLite takes its -wal and -shm away while this looks: what is gone holds nothing."""
    texts: dict[str, bytes] = {}
    for path in home.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                texts[path.relative_to(home).as_posix()] = path.read_bytes()
    return texts
