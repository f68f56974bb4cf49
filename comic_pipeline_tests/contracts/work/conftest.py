"""The bench, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from comic_pipeline.store.database import Database
from comic_pipeline_tests.contracts.work.bench import Bench, Flickering, a_bench
from comic_pipeline_tests.fakes import ScriptedProvider


@pytest.fixture
def bench(database: Database, database_url: str, tmp_path: Path) -> Bench:
    """Project p1 and everything that its work needs."""
    return a_bench(database, url=database_url, folder=tmp_path / "objects")


@pytest.fixture
def images(bench: Bench) -> ScriptedProvider:
    """A provider that answers at once, with bytes."""
    return ScriptedProvider(bench.clock, name="images")


@pytest.fixture
def videos(bench: Bench) -> ScriptedProvider:
    """A provider that makes jobs."""
    return ScriptedProvider(bench.clock, name="videos", asynchronous=True)


@pytest.fixture
def local(bench: Bench) -> ScriptedProvider:
    """A provider that works on this machine, for nothing."""
    return ScriptedProvider(bench.clock, name="local", offline=True)


@pytest.fixture
def flickering(database_url: str) -> Iterator[Flickering]:
    """The same database over connections that can fail."""
    database = Flickering(database_url)
    yield database
    database.close()
