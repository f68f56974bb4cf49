"""S3 services for tests as processes on 127.0.0.1, with keys made for the run: nanio, and rclone as a second opinion.

Belongs here: starting, stopping, buckets. Does not: our store. Both check signatures and their expiry; a folder is a bucket.
"""

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from comic_pipeline_tests.ports import free_port, listens

_BIN = Path(sys.executable).parent


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

    def variables(self) -> dict[str, str]:
        """The environment in which boto3 finds this service and nothing else of AWS."""
        nowhere = str(self.data / "none")
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_CONFIG_FILE": nowhere,
            "AWS_SHARED_CREDENTIALS_FILE": nowhere,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def running_nanio(data: Path) -> Iterator[S3Server]:
    """A nanio over `data`."""
    port = free_port()
    server = S3Server(f"http://127.0.0.1:{port}", secrets.token_hex(8), secrets.token_hex(16), data)
    command = [sys.executable, "-m", "nanio", "serve", "--host", "127.0.0.1", "--port", str(port), "--data-dir", str(data)]
    environment = {"NANIO_ACCESS_KEY": server.access_key, "NANIO_SECRET_KEY": server.secret_key}
    with _running([*command, "--no-access-log", "--log-level", "error"], port, environment):
        yield server


@contextmanager
def running_rclone(data: Path) -> Iterator[S3Server]:
    """An `rclone serve s3` over `data`."""
    port = free_port()
    server = S3Server(f"http://127.0.0.1:{port}", secrets.token_hex(8), secrets.token_hex(16), data)
    keys = f"{server.access_key},{server.secret_key}"
    command = [str(_BIN / "rclone"), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", keys, str(data)]
    with _running([*command, "--config", "", "--log-level", "ERROR"], port, {"HOME": str(data.parent)}):
        yield server


@contextmanager
def _running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(command, env=environment)
    try:
        deadline = time.monotonic() + 30
        while not listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"{command[0]} did not listen within 30 s; it ended with {process.poll()}")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)
