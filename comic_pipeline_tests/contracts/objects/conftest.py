"""The stores under test. S3 is a real server process that checks signatures, on a free port, with keys made for the run."""

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import ObjectStore

MEDIA_URL = "/logs/objects"


@dataclass(frozen=True)
class S3Server:
    """A running server; every folder of `data` is a bucket."""

    endpoint: str
    access_key: str
    secret_key: str
    data: Path

    def make_bucket(self) -> str:
        """The name of a new, empty bucket."""
        name = f"bucket-{secrets.token_hex(4)}"
        (self.data / name).mkdir()
        return name


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_listening(process: subprocess.Popen, port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the S3 server ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the S3 server did not listen within 30 s")


@pytest.fixture(scope="package")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server for the whole suite; each test makes its own bucket."""
    data, port = tmp_path_factory.mktemp("s3"), free_port()
    server = S3Server(f"http://127.0.0.1:{port}", secrets.token_hex(8), secrets.token_hex(16), data)
    command = [sys.executable, "-m", "nanio", "serve", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--data-dir", str(data), "--no-access-log", "--log-level", "error"],
        env={"NANIO_ACCESS_KEY": server.access_key, "NANIO_SECRET_KEY": server.secret_key},
    )
    try:
        _wait_until_listening(process, port)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def s3_variables(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, with its keys in the AWS variables and nothing else of AWS in reach."""
    for name in (
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(s3_server.data / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
    return s3_server


@pytest.fixture(params=["folder", "s3", "s3_prefix"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """An empty store of each kind."""
    if request.param == "folder":
        return FolderStore(tmp_path / "files" / "objects", media_url=MEDIA_URL)
    server: S3Server = request.getfixturevalue("s3_variables")
    prefix = "/some/prefix" if request.param == "s3_prefix" else ""
    return S3Store(f"s3://{server.make_bucket()}{prefix}", endpoint=server.endpoint, media_url=MEDIA_URL)
