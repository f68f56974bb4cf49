"""The deployed profile for tests: both databases on Postgres, objects and Dagster's logs on S3, as in `docker/`."""

import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from comic_pipeline.home import prepare_home
from comic_pipeline.settings import Settings
from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server

DAGSTER_YAML = Path(__file__).resolve().parents[1] / "docker" / "dagster.yaml"
# The profiles that whole projects are tested on. Two runs of everything do not fit into CI: there one film is made on the second.
PROFILES = ("embedded", pytest.param("deployed", marks=pytest.mark.endurance))


def deployed_variables(postgres: PostgresServer, s3: S3Server, *, endpoint: str = "") -> dict[str, str]:
    """Settings of a deployment with databases and a bucket of its own; `endpoint`: another way to the service."""
    name = f"t{uuid4().hex[:12]}"
    dagster_url = postgres.create_database(f"{name}_dagster")
    bucket = s3.make_bucket()
    return {
        "COMIC_DATABASE_URL": postgres.create_database(f"{name}_comic"),
        "COMIC_DAGSTER_DATABASE_URL": dagster_url,
        # What `comic exec` makes of it.
        "DAGSTER_DATABASE_URL": dagster_url,
        "COMIC_OBJECTS": f"s3://{bucket}/objects",
        "COMIC_LOGS_BUCKET": bucket,
        "COMIC_MEDIA_URL": "https://comic.example/media",
        "AWS_ENDPOINT_URL_S3": endpoint or s3.endpoint,
        **s3.variables(),
    }


def prepare(settings: Settings) -> None:
    """What `comic init` does, and Dagster's settings of the profile that the settings are of."""
    prepare_home(settings)
    if settings.effective_dagster_database_url:
        shutil.copyfile(DAGSTER_YAML, settings.dagster_home / "dagster.yaml")
