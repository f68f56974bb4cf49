"""Deployments for integration tests, against the sandbox that speaks the vendors' protocols."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from comic_pipeline_tests.deployment import Deployment
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A fresh provider sandbox."""
    with start_sandbox(latency={"video": 1.0}) as running:
        yield running


@pytest.fixture
def deployment(tmp_path: Path, sandbox: Sandbox) -> Iterator[Deployment]:
    """The real processes, working at the sandbox. On a failing test their logs are printed."""
    with Deployment(home=tmp_path / "home", environment=sandbox_environment(sandbox)) as running:
        yield running
