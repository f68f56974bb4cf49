"""Houses for acceptance tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.deployed import PROFILES, deployed_variables
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A fresh provider sandbox."""
    with start_sandbox(latency={"video": 0.2}) as running:
        yield running


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of the profile: none for SQLite and a folder; for Postgres and S3 also set for what Dagster itself reads."""
    if request.param == "embedded":
        return {}
    variables = deployed_variables(request.getfixturevalue("postgres"), request.getfixturevalue("s3_variables"))
    for name in ("DAGSTER_DATABASE_URL", "COMIC_LOGS_BUCKET", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, variables[name])
    return variables


@pytest.fixture
def house(tmp_path: Path, sandbox: Sandbox, profile: dict[str, str]) -> Iterator[House]:
    """A COMIC_HOME whose every provider is the sandbox."""
    short = {"COMIC_RETRY_DELAYS": "0.1,0.1,0.1", "COMIC_POLL_SECONDS": "0.2"}
    made = House(tmp_path / "home", sandbox_environment(sandbox, **short, **profile))
    yield made
    made.close()
