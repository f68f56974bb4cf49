"""`comic dev` as a process: it serves, and one signal ends all of it, however it was started."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.ports import free_port, listens

_COMIC = str(Path(sys.executable).parent / "comic")

# Half a minute of starting and stopping; what makes it pass is tested by `comic exec` in a second.
pytestmark = pytest.mark.endurance


def test_dev_that_a_script_started_in_the_background_ends_by_sigterm(tmp_path: Path) -> None:
    """Shells have it ignore Ctrl-C, Dagster does with SIGTERM the same: only SIGKILL ended it, and left its children."""
    port, log = free_port(), tmp_path / "dev.log"
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR")}
    with log.open("wb") as said:
        dev = psutil.Popen(
            ["/bin/sh", "-c", f'trap "" INT; exec "$0" dev --port {port}', _COMIC],
            env={**kept, "COMIC_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            stdout=said,
            stderr=said,
        )
    try:
        wait_for("the UI of comic dev", lambda: listens(port), seconds=60)
        children = dev.children(recursive=True)
        dev.terminate()
        ended, alive = psutil.wait_procs([dev, *children], timeout=60)
    finally:
        for process in [dev, *dev.children(recursive=True)] if dev.is_running() else []:
            process.kill()
    assert alive == [], log.read_text()
    assert len(ended) > 3, "daemon, webserver and code server are processes of their own"
