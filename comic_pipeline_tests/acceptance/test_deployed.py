"""One film on Postgres and S3, with everything kept where a deployment keeps it. `make endurance` runs all projects there."""

from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from comic_pipeline.model.workflow import STAGE_RULES, ProjectState
from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = pytest.mark.parametrize("profile", ["deployed"], indirect=True)


@pytest.fixture
def small_house(tmp_path: Path, sandbox: Sandbox, profile: dict[str, str]) -> Iterator[House]:
    """A house whose pictures are of 1280x720 instead of 2560x1440: drawn and decoded in a quarter of the time."""
    short = {"COMIC_RETRY_DELAYS": "0.1", "COMIC_POLL_SECONDS": "0.1", "ARK_IMAGE_MODEL": "doubao-seedream-4-0-250828"}
    made = House(tmp_path / "home", sandbox_environment(sandbox, **short, **profile), captured=True)
    yield made
    made.close()


def test_a_film_is_made_on_postgres_and_s3(
    small_house: House, sandbox: Sandbox, profile: dict[str, str], s3_server: S3Server, postgres: PostgresServer
) -> None:
    """State in one database, runs in the other, media and logs in the bucket; nothing is left behind in files of this machine."""
    end = small_house.produce("一只小猫在月球上种花")

    assert end.status == ProjectState.PENDING_REVIEW, (end.error_code, end.error_message)
    books = sandbox.admin.books()
    assert (books.chats, books.images, books.voices, books.video_jobs, end.cost) == (1, 3, 3, 3, books.spend)
    assert _count(profile["COMIC_DATABASE_URL"], "tasks WHERE status = 'success'") == len(end.tasks)
    assert _count(profile["DAGSTER_DATABASE_URL"], "runs WHERE status = 'SUCCESS'") == len(STAGE_RULES) - 1
    bucket = s3_server.data / profile["COMIC_LOGS_BUCKET"]
    assert (bucket / "objects" / small_house.film(end.project_id).media.key).is_file()
    assert not list((bucket / "objects" / "staging").glob("*"))
    assert list((bucket / "compute-logs" / "storage").rglob("*.err"))
    home = small_house.settings.home
    assert not (small_house.settings.files / "objects").exists()
    assert not list(home.rglob("*.db"))


def _count(url: str, what: str) -> int:
    connection = psycopg2.connect(url.replace("+psycopg2", ""))
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {what}")  # noqa: S608 - written above
            return int(cursor.fetchone()[0])
    finally:
        connection.close()
