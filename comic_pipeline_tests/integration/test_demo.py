"""`comic demo` as a stranger runs it: one process, no network, no key; a film, and the project in the Dagster home afterwards."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline import service
from comic_pipeline.demo.film import make_demo
from comic_pipeline.display import DemoProgress
from comic_pipeline.media.probe import measure_image, measure_video
from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.project import RawProduceRequest, Tier
from comic_pipeline.model.workflow import SubmissionKind
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.homes import opened_home

_COMIC = str(Path(sys.executable).parent / "comic")
_KEYS = {"project_id", "film", "cover", "duration_s", "width", "height", "shots", "cost", "seconds", "stages"}


def test_the_demo_makes_a_film_offline(tmp_path: Path) -> None:
    """Real panels, voice, camera and render; nothing is paid; `make dev` finds the runs of the same project.

    Another project that waits in the same home for `make dev` (a `comic submit`, a demo that was killed) stays as it is: the
    demo once finished its film and then looked for ever at the other's round.
    """
    home, out = tmp_path / "home", tmp_path / "out"
    _leave_a_round_that_nobody_runs(home)
    done = subprocess.run(
        [_COMIC, "demo", "A robot paints the sea", "--aspect", "1:1", "--out", str(out), "--json"],
        env={**_kept(), "COMIC_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert set(answer) == _KEYS
    assert (answer["width"], answer["height"], answer["shots"], float(answer["cost"])) == (720, 720, 3, 0.0)
    assert set(answer["stages"]) == {"storyboard", "frames", "voices", "clips", "film"}
    assert sum(answer["stages"].values()) <= answer["seconds"], "they run one after another; none has the time of another"
    film = measure_video(out / "film.mp4")
    assert (film.codec, film.pix_fmt, film.width, film.height, film.faststart) == ("h264", "yuv420p", 720, 720, True)
    assert abs(film.duration_ms / 1000 - answer["duration_s"]) < 0.1
    assert film.audio is not None
    assert film.audio.rms_dbfs > -40
    assert measure_image((out / "cover.png").read_bytes()).width == 720
    assert (out / "film.srt").read_text(encoding="utf-8").startswith("1\n00:00:00,")
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        assert {run.tags["comic/project"] for run in instance.get_runs()} == {answer["project_id"]}
        assert instance.get_dynamic_partitions("projects") == [answer["project_id"]]


def test_a_dagster_home_that_breaks_under_the_demo_is_named(tmp_path: Path) -> None:
    """A disk that filled up ended it with a hundred lines of traceback: now the place, the reason and the way out."""
    with opened_home(tmp_path / "home") as workshop:
        settings = workshop.settings

    class Breaking(DemoProgress):
        def enter(self, stage: str) -> None:
            super().enter(stage)
            (settings.dagster_home / "history/runs.db").write_bytes(b"no database" * 1_000)

    with pytest.raises(StorageFault, match=r"Dagster home .*dagster cannot be used: .*not a database.*comic dev"):
        make_demo(settings, RawProduceRequest(idea="A robot paints the sea"), out=None, progress=Breaking())


def test_ctrl_c_ends_the_demo_and_keeps_the_project(tmp_path: Path) -> None:
    """A stop once counted as a failed round: the demo began the next one. Nothing is half-written; `comic dev` can go on.

    The signal goes to the whole group, as a terminal sends it: Dagster's log watchers once answered with tracebacks of their own.
    """
    home, out = tmp_path / "home", tmp_path / "out"
    command = [_COMIC, "demo", "猫", "--out", str(out), "--json"]
    with subprocess.Popen(
        command,
        env={**_kept(), "COMIC_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as demo:
        wait_for("the pictures", lambda: _states(home).get("frames") == "running", seconds=60)
        os.killpg(demo.pid, signal.SIGINT)
        said, why = demo.communicate(timeout=60)
    assert (demo.returncode, said) == (130, ""), why
    assert "stopped; project p-" in why
    assert "项目" in why
    assert "Traceback" not in why
    assert list(out.iterdir()) == []
    assert _states(home).keys() <= {"storyboard", "frames", "voices"}, "no second round, no later stage"


def _kept() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")}


def _leave_a_round_that_nobody_runs(home: Path) -> None:
    with opened_home(home) as workshop, workshop.database.write() as connection:
        asked = RawProduceRequest(idea="一只小狗在海边").model_dump_json(exclude_defaults=True)
        new = NewSubmission(kind=SubmissionKind.PRODUCE, user_id="ann", tier=Tier.FREE, payload=asked)
        service.submit(connection, new, now=workshop.clock.now())


def _states(home: Path) -> dict[str, str]:
    """The state of each stage of the one project; empty while there is none, or a round more than once."""
    try:
        with closing(sqlite3.connect(f"file:{home / 'comic.db'}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT stage, status FROM stages").fetchall()
    except sqlite3.OperationalError:
        return {}
    assert len(dict(rows)) == len(rows)
    return dict(rows)
