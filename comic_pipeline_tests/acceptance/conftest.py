"""Houses for acceptance tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A fresh provider sandbox."""
    with start_sandbox(latency={"video": 0.2}) as running:
        yield running


@pytest.fixture
def house(tmp_path: Path, sandbox: Sandbox) -> Iterator[House]:
    """A COMIC_HOME whose every provider is the sandbox."""
    made = House(tmp_path / "home", sandbox_environment(sandbox, COMIC_RETRY_DELAYS="0.1,0.1,0.1", COMIC_POLL_SECONDS="0.2"))
    yield made
    made.close()
