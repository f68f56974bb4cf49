"""What Dagster's webserver needs in this process: real GraphQL, instance and jobs, without daemon, queue and code server.

A run is executed when it is launched: half a second each, where a deployment takes three.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dagster import DagsterInstance
from dagster._core.launcher import LaunchRunContext
from dagster._core.launcher.sync_in_memory_run_launcher import SyncInMemoryRunLauncher
from dagster._core.remote_origin import CodeLocationOrigin, InProcessCodeLocationOrigin
from dagster._core.test_utils import instance_for_test
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceLoadTarget


class AtOnce(SyncInMemoryRunLauncher):
    """Executes a run before its launch returns; in a thread of its own, as the webserver's has an event loop at work."""

    def launch_run(self, context: LaunchRunContext) -> None:
        run = threading.Thread(target=super().launch_run, args=(context,))
        run.start()
        run.join()


class _ThisProcess(WorkspaceLoadTarget):
    def create_origins(self) -> Sequence[CodeLocationOrigin]:
        loadable = LoadableTargetOrigin(executable_path=sys.executable, module_name="comic_pipeline.definitions")
        return [InProcessCodeLocationOrigin(loadable, location_name="comic")]


@contextmanager
def workspace(folder: Path) -> Iterator[tuple[WorkspaceProcessContext, DagsterInstance]]:
    """The code location `comic` over an instance in `folder`. Jobs read this process's environment."""
    folder.mkdir(exist_ok=True)
    overrides = {
        "run_launcher": {"module": __name__, "class": "AtOnce"},
        "run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"},
    }
    with (
        instance_for_test(overrides=overrides, temp_dir=str(folder)) as instance,
        WorkspaceProcessContext(instance, _ThisProcess()) as context,
    ):
        yield context, instance
