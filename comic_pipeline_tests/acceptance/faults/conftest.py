"""Trials for tests of faults."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline.home import prepare_home
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.acceptance.faults.trial import Trial
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox


@pytest.fixture(scope="module")
def shared_sandbox() -> Iterator[Sandbox]:
    """One sandbox for the tests of a module, which tell their own calls apart by differences."""
    with start_sandbox(latency={"video": 0.2}) as running:
        yield running


@pytest.fixture(scope="session")
def blank_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with all tables made: to copy it takes a tenth of the time that making one takes."""
    home = tmp_path_factory.mktemp("blank") / "home"
    settings = load_settings(COMIC_HOME=str(home))
    prepare_home(settings)
    with dg.DagsterInstance.from_config(str(settings.dagster_home)) as instance:
        assert instance.get_runs_count() == 0
    return home


@pytest.fixture
def trial(
    tmp_path: Path, blank_home: Path, shared_sandbox: Sandbox, profile: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Trial]]:
    """Begins trials: each a project of a user of its own, in a fresh house of the profile. No planned fault may be left over."""
    begun: list[Trial] = []

    def begin(**changes: str) -> Trial:
        home = tmp_path / f"home-{len(begun)}"
        shutil.copytree(blank_home, home)
        begun.append(Trial(home, shared_sandbox, user=f"{request.node.name}-{len(begun)}", profile=profile, **changes))
        return begun[-1]

    yield begin
    for one in begun:
        one.house.close()
    assert shared_sandbox.admin.books().faults_waiting == 0
