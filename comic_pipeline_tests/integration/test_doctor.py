"""`comic doctor`: every part is tried for real, and what is broken is named with its way out."""

import json
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._daemon.types import DaemonHeartbeat
from typer.testing import CliRunner

from comic_pipeline.cli import app
from comic_pipeline.defs.heartbeats import read_heartbeats
from comic_pipeline.doctor import Line, State, examine
from comic_pipeline.home import prepare_home
from comic_pipeline.model.notice import NewNotice, NoticeEvent
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline.store import notifications
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW
from comic_pipeline_tests.sandbox.process import Sandbox


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that `comic init` has prepared."""
    folder = tmp_path_factory.mktemp("doctor") / "home"
    prepare_home(load_settings(COMIC_HOME=str(folder)))
    return folder


def _by_part(lines: list[Line]) -> dict[str, Line]:
    return {line.part: line for line in lines}


def test_a_healthy_house_has_no_failure(home: Path) -> None:
    """Database, store, ffmpeg, font and voice were really used, and the probe is gone again."""
    found = _by_part(examine(load_settings(COMIC_HOME=str(home), COMIC_HASH_SALT="ours")))
    assert {part for part, line in found.items() if line.state is State.OK} >= {
        "database",
        "object store",
        "ffmpeg",
        "font",
        "voice",
        "music",
    }
    assert not [line for line in found.values() if line.state is State.FAIL and line.part != "space"]
    assert found["clock"].state is found["webhook"].state is State.UNCHECKED
    assert [path for path in (home / "files" / "objects").rglob("*") if path.is_file()] == []


def test_each_broken_part_is_named_with_its_way_out(tmp_path: Path) -> None:
    """Five things wrong at once: five failures, each with what to do, and the others are still looked at."""
    file = tmp_path / "file"
    file.touch()
    settings = load_settings(
        COMIC_HOME=str(tmp_path),
        COMIC_OBJECTS=str(file / "objects"),
        COMIC_FFMPEG="/bin/false",
        COMIC_WEBHOOK_URL="http://hook.example/token-4711",
        COMIC_TEXT_PROVIDER="openai",
        COMIC_VOICE_PROVIDER="openspeech",
        OPENSPEECH_APP_ID="app",
        OPENSPEECH_TOKEN="tok-4711",
    )
    found = _by_part(examine(settings))
    failed = {part for part, line in found.items() if line.state is State.FAIL}
    assert failed - {"space"} == {"keys", "database", "object store", "ffmpeg", "webhook"}
    assert all(found[part].way_out for part in failed)
    assert "OPENAI_API_KEY" in found["keys"].found
    assert found["voice"].state is found["key of openspeech"].state is State.UNCHECKED
    assert found["font"].state is State.OK
    assert "4711" not in str(found)


def test_a_variable_that_nothing_reads_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMIC_TEXT_PROVIDR=ark makes offline films without a word; names of the deployment's own compose file are no mistake."""
    for name in ("COMIC_TEXT_PROVIDR", "ARK_APIKEY", "COMIC_DAGSTER_YAML", "COMIC_SITE", "COMIC_FILES", "ARK_API_KEY_FILE"):
        monkeypatch.setenv(name, "")
    lines = examine(load_settings(COMIC_HOME=str(home), COMIC_HASH_SALT="ours"))
    assert [(line.state, line.found, line.way_out) for line in lines if line.part == "settings"] == [
        (State.WARN, "ARK_APIKEY is no setting: nothing reads it", "did you mean ARK_API_KEY?"),
        (State.WARN, "COMIC_TEXT_PROVIDR is no setting: nothing reads it", "did you mean COMIC_TEXT_PROVIDER?"),
    ]


def test_a_notice_that_nobody_took_is_shown_with_the_receivers_word(tmp_path: Path) -> None:
    """A number alone sent an operator to SQL to learn that the address answers 404."""
    settings = load_settings(COMIC_HOME=str(tmp_path))
    prepare_home(settings)
    database = Database(settings.effective_database_url)
    with database.write() as connection:
        notice = NewNotice(event_id="e", event=NoticeEvent.FILM_READY, stream="s", project_id=None, body="{}")
        notifications.add(connection, notice, now=NOW)
        (due,) = notifications.due_ids(connection, now=NOW, limit=1)
        assert notifications.take(connection, due, holder="a", now=NOW, seconds=1)
        assert notifications.bury(connection, due, holder="a", error="HTTP 404")
    database.close()
    line = _by_part(examine(settings))["notices"]
    assert (line.state, line.found) == (State.WARN, "1 were never taken by the receiver; the last one: HTTP 404")


def test_music_that_is_none_is_found_before_a_film_stops_at_it(home: Path, tmp_path: Path) -> None:
    """The bed is looked at after the clips are paid; here it is looked at before."""
    (tmp_path / "bed.mp3").write_bytes(b"no music")
    for place, said in (
        (str(tmp_path / "bed.mp3"), "is no music"),
        ("/nope.mp3", "No such file"),
        ("beds/nope.mp3", "names no object"),
    ):
        line = _by_part(examine(load_settings(COMIC_HOME=str(home), COMIC_MUSIC=place)))["music"]
        assert (line.state, said in line.found, "COMIC_MUSIC" in line.way_out) == (State.FAIL, True, True), line


def test_keys_are_asked_for_free(sandbox: Sandbox, home: Path) -> None:
    """Ark's list of tasks says whether a key is good, and what time it is; nothing is created or booked."""

    def ark(key: str) -> dict[str, Line]:
        variables = {"COMIC_VIDEO_PROVIDER": "ark", "ARK_BASE_URL": sandbox.ark_base_url, "ARK_API_KEY": key}
        return _by_part(examine(load_settings(COMIC_HOME=str(home), **variables)))

    good, bad = ark(sandbox.api_key), ark("wrong")
    assert (good["key of ark"].state, good["clock"].state) == (State.OK, State.OK)
    assert bad["key of ark"].state is State.FAIL
    assert "HTTP 401" in bad["key of ark"].found
    assert set(sandbox.admin.books().creates.values()) <= {0}


def test_the_command_says_it_to_people_and_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0 without a failure, 1 with one; one line of JSON for programs; bad settings are a line, not a traceback."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("COMIC_HOME", str(home))
    seen = CliRunner().invoke(app, ["doctor"])
    assert "warn      daemon" in seen.stdout
    assert "→ run `comic dev`" in seen.stdout
    monkeypatch.setenv("COMIC_POLL_SECONDS", "never")
    wrong = CliRunner().invoke(app, ["doctor", "--json"])
    answer = json.loads(wrong.stdout)
    assert (wrong.exit_code, answer["ok"], answer["lines"][0]["part"]) == (1, False, "settings")
    assert "COMIC_POLL_SECONDS" in answer["lines"][0]["found"]


def _beat(settings: Settings, *, ago: float) -> None:
    with dg.DagsterInstance.from_config(str(settings.dagster_home)) as instance:
        for name in instance.get_required_daemon_types():
            instance.add_daemon_heartbeat(DaemonHeartbeat(time.time() - ago, name, "id", []))


def test_a_daemon_that_fell_silent_is_noticed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No home, never run, alive, silent: Dagster itself would wait half an hour before it says so."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert "no Dagster home" in read_heartbeats(tmp_path).unreadable
    (tmp_path / "dagster.yaml").write_text("storage: {postgres: {postgres_url: {env: NOBODY_SETS_THIS}}}")
    assert "cannot be opened" in read_heartbeats(tmp_path).unreadable
    settings = load_settings(COMIC_HOME=str(home))
    never = read_heartbeats(settings.dagster_home)
    assert {"SENSOR", "SCHEDULER", "QUEUED_RUN_COORDINATOR"} <= set(never.silent)
    assert all(age is None for age in never.ages.values())
    _beat(settings, ago=5)
    assert read_heartbeats(settings.dagster_home).silent == ()
    _beat(settings, ago=180)
    assert read_heartbeats(settings.dagster_home).silent == never.silent
