"""`comic demo` as a stranger runs it: one process, no network, no key; a film, and the project in the Dagster home afterwards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg

from comic_pipeline.media.probe import measure_image, measure_video

_COMIC = str(Path(sys.executable).parent / "comic")
_KEYS = {"project_id", "film", "cover", "duration_s", "width", "height", "shots", "cost", "seconds", "stages"}


def test_the_demo_makes_a_film_offline(tmp_path: Path) -> None:
    """Real panels, voice, camera and render; nothing is paid; `make dev` finds the runs of the same project."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")}
    home, out = tmp_path / "home", tmp_path / "out"
    done = subprocess.run(
        [_COMIC, "demo", "A robot paints the sea", "--aspect", "1:1", "--out", str(out), "--json"],
        env={**kept, "COMIC_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert set(answer) == _KEYS
    assert (answer["width"], answer["height"], answer["shots"], float(answer["cost"])) == (720, 720, 3, 0.0)
    assert set(answer["stages"]) == {"storyboard", "frames", "voices", "clips", "film"}
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
