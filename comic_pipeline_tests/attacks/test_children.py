"""Secrets of this process and the programs that it starts: what they inherit, what their command lines show, what is stored."""

import asyncio
import json
import logging
import os
import shutil
from pathlib import Path

import pytest
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import serialize_value

from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.providers.offline.child import run_child
from comic_pipeline.settings import load_settings

_SECRET = "sk-do-not-show-0123456789"
_NAMES = (
    "ARK_API_KEY",
    "OPENAI_API_KEY",
    "OPENSPEECH_TOKEN",
    "COMIC_DATABASE_PASSWORD",
    "COMIC_WEBHOOK_URL",
    "AWS_SECRET_ACCESS_KEY",
    "DAGSTER_DATABASE_URL",
)


@pytest.fixture(autouse=True)
def _keys_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.setenv(name, _SECRET)


def test_ffmpeg_inherits_no_key(tmp_path: Path) -> None:
    """Whoever breaks a decoder with a picture, or reads /proc, finds nothing worth having."""
    spy = tmp_path / "ffmpeg"
    spy.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\n")
    spy.chmod(0o755)
    asyncio.run(run_ffmpeg([], ffmpeg=str(spy), timeout=30))
    seen = (tmp_path / "seen").read_text()
    assert f"PATH={os.environ['PATH']}" in seen
    assert _SECRET not in seen


def test_offline_children_inherit_no_key() -> None:
    """The voice is foreign code that is fed whatever a user wrote."""
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(asyncio.run(run_child(("-c", program), b"", what="spy", limit=60)))
    assert seen["PATH"] == os.environ["PATH"]
    assert _SECRET not in seen.values()


@pytest.mark.parametrize("name", ["dagster.yaml", "docker/dagster.yaml", "docker/dagster.docker.yaml", "docker/dagster.k8s.yaml"])
def test_a_runs_command_line_names_no_password(name: str, tmp_path: Path) -> None:
    """Dagster writes the instance's settings into the command line of each run, where `ps` shows them to everybody."""
    shutil.copyfile(Path(__file__).parents[2] / name, tmp_path / "dagster.yaml")
    written = serialize_value(InstanceRef.from_dir(str(tmp_path)))
    assert "comic_pipeline" in written
    assert _SECRET not in written


def test_a_password_inside_a_database_url_is_masked_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Drivers quote the address that they could not reach."""
    monkeypatch.setenv("COMIC_DATABASE_PASSWORD", "")
    monkeypatch.setenv("COMIC_DATABASE_URL", "postgresql+psycopg2://comic:hunter2%21-in-url@db/comic")
    load_settings()
    logging.getLogger("comic_pipeline.store").warning(
        "cannot reach %s as %s", "postgresql://comic:hunter2%21-in-url@db/comic", "hunter2!-in-url"
    )
    assert "***" in caplog.text
    assert "hunter2" not in caplog.text
