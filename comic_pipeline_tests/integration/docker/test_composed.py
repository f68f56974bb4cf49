"""docker/compose.yaml without an engine: every service's own command as a process, its own health check, one project through all.

SeaweedFS and Caddy are the real ones, from wheels; Postgres is the embedded one with the password of the secret file.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import psutil
import pytest

from comic_pipeline_tests.compose import DOCKER, Composed, running
from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.endurance, pytest.mark.timeout(900)]

OPERATOR, BACKEND, READER = ("olga", "operator-password"), ("backend", "backend-password"), ("rita", "reader-password")
TERMINATE = """mutation { terminateRun(runId: "x") { __typename } }"""
RUNS = """{ runsOrError { __typename ... on Runs { results { jobName status } } } }"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """The providers."""
    with start_sandbox(latency={"video": 0.5}) as provider:
        yield provider


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Iterator[Composed]:
    """The running deployment; keys of providers in secret files, choices in what stands for comic.env."""
    choices = sandbox_environment(sandbox, ARK_IMAGE_MODEL="doubao-seedream-4-0-250828")
    keys = {"ark_api_key": choices.pop("ARK_API_KEY"), "openspeech_token": choices.pop("OPENSPEECH_TOKEN")}
    with running(tmp_path_factory.mktemp("composed") / "home", choices, keys=keys) as deployment:
        yield deployment


def ask(composed: Composed, person: tuple[str, str], query: str, *, at: str = "/graphql") -> Any:
    """One GraphQL request through the proxy."""
    answer = httpx.post(composed.site + at, json={"query": query}, auth=person, trust_env=False, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def submit(composed: Composed, idea: str, *, user: str) -> str:
    """Ask for a film; its id once it is a project."""
    composed.comic("submit", idea, "--user", user, "--tier", "paid")
    found = wait_for("admission", lambda: composed.comic("projects", "--user", user), seconds=120)
    return str(found[0]["id"])


def finished(composed: Composed, project_id: str) -> Any:
    """The status at the end of production."""

    def ended() -> Any:
        seen = composed.comic("status", project_id)
        return seen if seen["finished_at"] else None

    return wait_for("the film", ended, seconds=400)


def test_a_project_runs_through_every_service(composed: Composed, sandbox: Sandbox) -> None:
    """Submitted, made, paid once, seen by the operator, the backend and the data team, and watched through its stable link."""
    project_id = submit(composed, "一只小猫在月球上种花", user="ann")
    end = finished(composed, project_id)

    assert end["status"] == "PENDING_REVIEW", (end["error_code"], end["error_message"])
    books = sandbox.admin.books()
    assert (books.chats, books.images, books.voices, books.video_jobs) == (1, 3, 3, 3)
    for person, at in ((OPERATOR, "/graphql"), (BACKEND, "/graphql"), (READER, "/data/graphql")):
        runs = ask(composed, person, RUNS, at=at)["runsOrError"]["results"]
        assert {"make_storyboard", "make_film"} <= {run["jobName"] for run in runs if run["status"] == "SUCCESS"}
    assert ask(composed, READER, TERMINATE, at="/data/graphql")["terminateRun"]["__typename"] == "UnauthorizedError"
    assert ask(composed, OPERATOR, TERMINATE)["terminateRun"]["__typename"] == "RunNotFoundError"

    link = f"{composed.site}/media/{end['film']}"
    redirect = httpx.get(link, auth=READER, trust_env=False)
    film = httpx.get(redirect.headers["Location"], trust_env=False)

    assert (redirect.status_code, film.status_code, film.headers["Content-Type"]) == (302, 200, "video/mp4")
    assert redirect.headers["Location"].startswith(composed.media_site)
    assert film.content[4:8] == b"ftyp"
    unsigned = redirect.headers["Location"].partition("?")[0]
    assert httpx.get(unsigned, trust_env=False).status_code == 404
    assert httpx.get(f"{unsigned}?X-Amz-Signature=0", trust_env=False).status_code in {400, 403}


def test_services_write_nothing_into_the_image(composed: Composed) -> None:
    """Their file systems are read-only: Dagster's home holds the image's files, and two empty folders of Dagster's own."""
    found = list((composed.home / "dagster").rglob("*"))
    assert sorted(path.name for path in found if path.is_file()) == ["dagster.yaml", "workspace.yaml"]
    dockerfile = (DOCKER / "Dockerfile").read_text()
    assert all(f"/opt/dagster/{path.name}" in dockerfile for path in found if path.is_dir())
    assert all(composed.healthy(name) for name in composed.processes)


def _command_lines(pid: int) -> Iterator[str]:
    """What a process list shows of a service and of all that it has started."""
    service = psutil.Process(pid)
    for process in (service, *service.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            yield from process.cmdline()


def test_no_secret_shows_in_command_lines_or_logs(composed: Composed) -> None:
    """A password in a process list is everybody's."""
    for name, process in composed.processes.items():
        shown = " ".join(_command_lines(process.pid)) + (composed.home / f"{name}.log").read_text(errors="replace")
        for secret in ("database_password", "ark_api_key", "openspeech_token", "hash_salt"):
            assert composed.secret(secret) not in shown, (name, secret)


def test_an_upgrade_drains_and_goes_on(composed: Composed, sandbox: Sandbox) -> None:
    """The README's order: daemon, code server (which waits for its run), init, then up again; the film ends, paid once."""
    before = sandbox.admin.books()
    sandbox.admin.latency(video=10)
    project_id = submit(composed, "A robot paints the sea", user="ben")
    wait_for("three jobs at the provider", lambda: sandbox.admin.books().video_jobs - before.video_jobs == 3, seconds=240)

    composed.stop("daemon")
    composed.stop("code", seconds=180)

    tasks = [task for task in composed.comic("status", project_id)["tasks"] if task["task_type"] == "clip"]
    assert [task["status"] for task in tasks] == ["success"] * 3
    composed.run("init")
    composed.start("code", "daemon")
    end = finished(composed, project_id)
    assert end["status"] == "PENDING_REVIEW", (end["error_code"], end["error_message"])
    after = sandbox.admin.books()
    assert (after.images - before.images, after.voices - before.voices, after.video_jobs - before.video_jobs) == (3, 3, 3)
