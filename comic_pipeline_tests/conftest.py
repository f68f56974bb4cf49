"""What all tests share: Postgres and S3, one of each for a test process, started when first asked for; logs as they were."""

import logging
from collections.abc import Iterator

import pytest

from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server, running_nanio

# What would lead boto3 to another service than the one under test.
_AWS = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION")


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Loading settings masks their secrets in the whole process: one test's secret is no word to hide in the next one's logs."""
    factory = logging.getLogRecordFactory()
    yield
    logging.setLogRecordFactory(factory)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server; each user makes databases of their own on it."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A running server; each test makes its own bucket."""
    with running_nanio(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3_variables(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, with its keys in the AWS variables and nothing else of AWS in reach."""
    for name in _AWS:
        monkeypatch.delenv(name, raising=False)
    for name, value in s3_server.variables().items():
        monkeypatch.setenv(name, value)
    return s3_server
