"""Storage that really fails: a full disk, an S3 connection cut in mid upload, a Postgres that is killed under load."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from comic_pipeline.model.errors import ErrorCode, StorageFault
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline.status import ProjectStatus
from comic_pipeline_tests.acceptance.faults.trial import Trial, check_stopped
from comic_pipeline_tests.cutting import Cutter, cutting
from comic_pipeline_tests.deployed import deployed_variables
from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.disks import fill, small_disk
from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server
from comic_pipeline_tests.sandbox.process import Sandbox

BeginTrial = Callable[..., Trial]
ALL = {"chat": 1, "image": 3, "tts_v3": 3, "video_create": 3}
EMBEDDED = pytest.mark.parametrize("profile", ["embedded"], indirect=True)


@pytest.mark.endurance
@EMBEDDED
def test_a_full_disk_stops_buying_and_loses_nothing(trial: BeginTrial, tmp_path: Path) -> None:
    """Voices come once, inline: none is bought that could not be kept. Clips wait at the provider until there is room."""
    with small_disk(tmp_path / "disk", megabytes=256) as disk:
        one = trial(COMIC_OBJECTS=str(disk / "objects"))
        one.make(before=Stage.FRAMES)
        ballast = fill(disk)

        end = one.go_on(before=Stage.CLIPS)

        assert end.status == ProjectState.MANUAL_REQUIRED
        assert end.error_code == ErrorCode.STORAGE_FAILED
        assert "No space left on device" in (end.error_message or "")
        assert "free some space" in (end.error_message or "")
        assert one.creates == {"chat": 1}

        ballast.unlink()
        one.retry(before=Stage.CLIPS)
        ballast = fill(disk)
        end = one.go_on(before=Stage.FILM)

        check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.STORAGE_FAILED, stage=Stage.CLIPS)
        assert one.creates == ALL
        assert {task.status for task in one.tasks("clip")} == {TaskStatus.MANUAL_REQUIRED}

        ballast.unlink()
        end = one.retry(before=Stage.FILM)

        assert end.status == ProjectState.COMPOSE, end.error_message
        one.check_books(end, ALL)
        # What a write that failed had begun is gone.
        assert not list(disk.rglob("*.part"))
        shutil.rmtree(disk / "objects")


@pytest.fixture
def cutter(s3_server: S3Server) -> Iterator[Cutter]:
    """The way to S3, which can be cut."""
    port = urlsplit(s3_server.endpoint).port
    assert port is not None
    with cutting(port) as way:
        yield way


@pytest.mark.endurance
@EMBEDDED
def test_an_s3_connection_that_breaks_in_mid_upload_costs_nothing(
    trial: BeginTrial, cutter: Cutter, postgres: PostgresServer, s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cuts that nobody outlasts: STORAGE_FAILED, nothing half stored; a retry, cut three times, pays nothing twice."""
    variables = deployed_variables(postgres, s3_variables, endpoint=cutter.endpoint)
    for name in ("DAGSTER_DATABASE_URL", "COMIC_LOGS_BUCKET", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, variables[name])
    one = trial(**variables)
    one.make(before=Stage.CLIPS)
    # Clips are the large ones: each is more than the bytes after which a connection is cut.
    cutter.after = 10_000
    cutter.cuts = 1_000
    end = one.go_on(before=Stage.FILM)

    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.STORAGE_FAILED, stage=Stage.CLIPS)
    assert cutter.done > 20
    assert one.creates == ALL
    bucket = s3_variables.data / variables["COMIC_LOGS_BUCKET"]
    assert not list(bucket.rglob("clips/*.mp4"))

    cutter.cuts = 3
    end = one.retry(before=Stage.FILM)

    assert end.status == ProjectState.COMPOSE, end.error_message
    assert cutter.cuts == 0
    one.check_books(end, ALL)


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that may be killed without harm to other tests."""
    with PostgresServer() as server:
        yield server


@EMBEDDED
def test_postgres_killed_while_pictures_are_bought_loses_none(
    trial: BeginTrial, shared_sandbox: Sandbox, own_postgres: PostgresServer
) -> None:
    """SIGKILL of the server and all its connections, twice, with requests on the wire: every picture and line is paid once."""
    one = trial(COMIC_DATABASE_URL=own_postgres.create_database("comic"))
    one.make(before=Stage.FRAMES)
    # Waits as in production: a server that starts again must be outlasted.
    one.hurry(really=False)
    shared_sandbox.admin.latency(image=1.5, voice=1.5)

    def arrived() -> int:
        return sum(shared_sandbox.admin.books().requests.values())

    def kill_after_a_request() -> None:
        seen = arrived()
        wait_for("a request", lambda: arrived() > seen, seconds=60)
        own_postgres.restart(kill=True)

    def kill_twice() -> None:
        for _ in range(2):
            kill_after_a_request()

    killing = threading.Thread(target=kill_twice)
    killing.start()
    end = _persevere(one, killing, before=Stage.CLIPS)
    shared_sandbox.admin.latency(image=0, voice=0)

    assert end.status == ProjectState.VIDEO, (end.error_code, end.error_message)
    one.check_books(end, {"chat": 1, "image": 3, "tts_v3": 3})


def _persevere(one: Trial, killing: threading.Thread, *, before: Stage) -> ProjectStatus:
    """Drive as the sensor does: a pass that finds no database fails, and the next one goes on."""

    def tried() -> ProjectStatus | None:
        try:
            return one.go_on(before=before)
        except StorageFault:
            return None

    end: ProjectStatus = wait_for("the stage's end", tried, seconds=120)
    killing.join(timeout=60)
    assert not killing.is_alive()
    return end
