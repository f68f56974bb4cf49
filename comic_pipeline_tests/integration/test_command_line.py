"""The command line as a user meets it: bad input gets one clear line, exit code 2, and leaves nothing half-written."""

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from comic_pipeline.home import hold_home, prepare_home
from comic_pipeline.model.errors import Refused
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline_tests.disks import small_disk

_COMIC = str(Path(sys.executable).parent / "comic")


def comic(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `comic` with a home of its own."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR")}
    return subprocess.run(
        [_COMIC, *arguments],
        env={**kept, "COMIC_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that `comic init` has prepared."""
    home = tmp_path_factory.mktemp("initialised") / "home"
    done = comic(home, "init")
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def home(tmp_path: Path, initialised: Path) -> Path:
    """A prepared home of the test's own."""
    return Path(shutil.copytree(initialised, tmp_path / "home"))


BAD_INPUT = {
    "empty idea": (["", "--user", "u"], "idea is empty"),
    "blank idea": (["  \n ", "--user", "u"], "idea is empty"),
    "5,000 characters": (["猫" * 5000, "--user", "u"], "idea has 5000 characters, at most 2000"),
    "control character": (["a\x07cat", "--user", "u"], "U+0007"),
    "unknown style": (["a cat", "--user", "u", "--style", "baroque"], "style 'baroque' is unknown; one of: healing"),
    "unknown bucket": (["a cat", "--user", "u", "--duration", "short_7"], "duration 'short_7' is unknown; one of: short_15"),
    "unknown aspect": (["a cat", "--user", "u", "--aspect", "4:3"], "aspect '4:3' is unknown; one of: 16:9"),
    "unknown resolution": (["a cat", "--user", "u", "--resolution", "8k"], "resolution '8k' is unknown"),
    "unknown tier": (["a cat", "--user", "u", "--tier", "gold"], "tier 'gold' is unknown; one of: free"),
    "nobody": (["a cat", "--user", ""], "user id '' must have"),
}


@pytest.mark.parametrize("case", sorted(BAD_INPUT))
def test_bad_input_is_refused_by_name_and_leaves_nothing(case: str, home: Path) -> None:
    """Acceptance (f): the message names field, value and way out; no submission, no project."""
    arguments, said = BAD_INPUT[case]
    done = comic(home, "submit", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    with sqlite3.connect(home / "comic.db") as database:
        counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("submissions", "projects")]  # noqa: S608
    database.close()
    assert counts == [0, 0]


@pytest.mark.parametrize("case", ["unknown style", "5,000 characters", "control character", "empty idea"])
def test_the_demo_refuses_bad_input_before_it_makes_anything(case: str, tmp_path: Path) -> None:
    """The demo checks before it prepares a home."""
    arguments, said = BAD_INPUT[case]
    done = comic(tmp_path / "home", "demo", *[part for part in arguments if part not in ("--user", "u")])
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "home").exists()


def test_an_emoji_idea_is_an_idea(home: Path) -> None:
    """Emoji are text that users write; they are kept."""
    done = comic(home, "submit", "🐱🚀", "--user", "u", "--json")
    assert done.returncode == 0, done.stderr
    assert '"status": "new"' in done.stdout


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"COMIC_TEXT_PROVIDER": "gpt"}, "COMIC_TEXT_PROVIDER 'gpt'"),
        ({"COMIC_VIDEO_PROVIDER": "ark"}, "ARK_API_KEY must be set"),
        ({"COMIC_VOICE_PROVIDER": "openspeech"}, "OPENSPEECH_APP_ID, OPENSPEECH_TOKEN must be set"),
        ({"COMIC_LIMITS": "ark_video=ten"}, "COMIC_LIMITS"),
        ({"COMIC_RETRY_DELAYS": "soon"}, "COMIC_RETRY_DELAYS"),
        ({"COMIC_BUDGETS": "free=2"}, "COMIC_BUDGETS"),
        ({"COMIC_DATABASE_URL": "nonsense"}, "COMIC_DATABASE_URL: write sqlite:///FILE or postgresql+psycopg2://"),
        ({"COMIC_ALERTS": "bogus=1/2"}, "'bogus=1/2': COMIC_ALERTS: cannot read 'bogus=1/2'; write rule=raise/clear"),
    ],
)
def test_bad_settings_are_refused_by_name(environment: dict[str, str], said: str, tmp_path: Path) -> None:
    """A provider without its key is refused at start; nothing falls back to offline."""
    done = comic(tmp_path / "home", "init", **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home").exists()


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where the folder should be: also root cannot write there."""
    (tmp_path / "home").write_text("in the way")
    done = comic(tmp_path / "home", "init")
    assert done.returncode == 2
    assert f"COMIC_HOME '{tmp_path / 'home'}' cannot be written" in done.stderr


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_demo_that_could_not_hand_its_film_over_is_not_begun(out: str, tmp_path: Path) -> None:
    """It once made the whole film and then ended with a traceback. Exit code 2, the folder's name, no project."""
    (tmp_path / "file").write_text("in the way")
    done = comic(tmp_path / "home", "demo", "猫", "--out", str(tmp_path / out))
    assert done.returncode == 2
    assert f"--out '{tmp_path / out}' cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    with sqlite3.connect(tmp_path / "home" / "comic.db") as database:
        assert database.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
    database.close()


def test_a_demo_that_has_no_room_is_not_begun(tmp_path: Path) -> None:
    """On a full disk it once stood at `frames 0/3` for ten minutes, trying again, without a word."""
    with small_disk(tmp_path / "disk", megabytes=40) as disk:
        done = comic(disk / "home", "demo", "猫")
        assert done.returncode == 2
        assert re.search(r"COMIC_HOME '.*/home' has \d+ MB left on its disk, this film takes about 60: free some", done.stderr)
        with sqlite3.connect(disk / "home" / "comic.db") as database:
            assert database.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
        database.close()


def test_other_commands_ask_for_init_first(tmp_path: Path) -> None:
    """Only init migrates; every other process says what to do."""
    done = comic(tmp_path / "home", "projects")
    assert done.returncode == 2
    assert f"{tmp_path}/home/comic.db does not exist; run `comic init` first" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home").exists()


def test_init_makes_the_folder_of_a_database_elsewhere(tmp_path: Path) -> None:
    """It said `run comic init first` while it was being run."""

    def settings(file: str) -> Settings:
        return load_settings(COMIC_HOME=str(tmp_path / "home"), COMIC_DATABASE_URL=f"sqlite:///{tmp_path}/{file}")

    prepare_home(settings("far/away/films.db"))
    assert (tmp_path / "far" / "away" / "films.db").stat().st_size > 0
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match=f"COMIC_DATABASE_URL: folder '{tmp_path}/file' cannot be made"):
        prepare_home(settings("file/films.db"))


def test_an_unknown_project_is_not_found(home: Path) -> None:
    """NOT_FOUND names the id and the way out."""
    done = comic(home, "status", "p-nope")
    assert done.returncode == 2
    assert "project 'p-nope' does not exist" in done.stderr


def test_init_can_be_repeated(tmp_path: Path) -> None:
    """A second init changes nothing and says the same version."""
    first, second = comic(tmp_path / "home", "init"), comic(tmp_path / "home", "init")
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout


def test_an_estimate_is_said_before_anything_is_asked(home: Path) -> None:
    """The very requests that would be sent, priced; a film over the tier's budget says so; nothing is submitted."""
    ark = {"COMIC_TEXT_PROVIDER": "ark", "COMIC_IMAGE_PROVIDER": "ark", "COMIC_VIDEO_PROVIDER": "ark", "ARK_API_KEY": "test-key"}
    done = comic(home, "submit", "一只猫", "--user", "u", "--estimate", "--json", **ark)
    found = json.loads(done.stdout)
    # 3 clips of 5 s at 720p: 108,900 tokens each at 46 CNY per million; 3 pictures at 0.22.
    assert (found["clips"], found["frames"], found["budget"]) == ("15.028200", "0.660000", "2")
    shown = comic(home, "submit", "一只猫", "--user", "u", "--estimate", **ark)
    assert "over the budget of ¥2.00" in shown.stdout
    assert json.loads(comic(home, "projects", "--json").stdout) == []
    with sqlite3.connect(home / "comic.db") as database:
        assert database.execute("SELECT count(*) FROM submissions").fetchone() == (0,)
    database.close()


def test_costs_of_nothing_are_nothing(home: Path) -> None:
    """An empty book is not an error; an unknown project is."""
    assert json.loads(comic(home, "costs", "--json").stdout) == {"total": "0", "lines": []}
    assert comic(home, "costs", "p-nope").returncode == 2


@pytest.mark.parametrize(
    "arguments", [["show", "t-nope"], ["cancel", "t-nope"], ["resolve", "t-nope", "--release", "--by", "wang"]]
)
def test_an_unknown_task_is_not_found(arguments: list[str], home: Path) -> None:
    """NOT_FOUND with the way out."""
    done = comic(home, "task", *arguments)
    assert done.returncode == 2
    assert "task 't-nope' does not exist" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--adopt", "j", "--release", "--by", "w"], "exclude each other"),
        (["--adopt", "j"], "--by is needed"),
        (["--release", "--by", " "], "--by is needed"),
    ],
)
def test_a_decision_must_be_one_and_signed(arguments: list[str], said: str, home: Path) -> None:
    """Nothing is settled by half a command."""
    done = comic(home, "task", "resolve", "t-1", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


_TELL = "import os, sys; print(sys.argv[1:], os.environ['DAGSTER_DATABASE_URL'])"


def test_exec_becomes_the_program_with_its_own_options(tmp_path: Path) -> None:
    """The image's entry point: options behind the program's name are the program's, and Dagster gets its URL whole."""
    (tmp_path / "password").write_text("pass\n")
    told = {
        "COMIC_DATABASE_PASSWORD_FILE": str(tmp_path / "password"),
        "COMIC_DAGSTER_DATABASE_URL": "postgresql://comic@db/dagster",
    }
    done = comic(tmp_path / "home", "exec", "python", "-c", _TELL, "--help", "-h", "0.0.0.0", **told)
    assert done.stdout == "['--help', '-h', '0.0.0.0'] postgresql://comic:pass@db/dagster\n", done.stderr


def test_exec_gives_the_program_signals_that_stop_it(home: Path) -> None:
    """A program that a script starts with `&` ignores Ctrl-C, and Dagster does with SIGTERM the same: nothing would stop it."""
    tell = "import signal; print([signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)])"
    done = subprocess.run(
        ["/bin/sh", "-c", 'trap "" INT TERM; exec "$0" "$@"', _COMIC, "exec", "python", "-c", tell],
        env={**os.environ, "COMIC_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "SIG_IGN" not in done.stdout, done.stderr
    assert "SIG_DFL" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "environment", "said"),
    [
        (["python", "-c", "print('started')"], {"COMIC_TEXT_PROVIDER": "ark"}, "ARK_API_KEY must be set"),
        (["dagstar", "api"], {}, "there is no program 'dagstar'"),
    ],
)
def test_exec_starts_nothing_that_cannot_work(command: list[str], environment: dict[str, str], said: str, tmp_path: Path) -> None:
    """A container without its key ends at once and says why, instead of failing at the first film."""
    done = comic(tmp_path / "home", "exec", *command, **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_port_that_is_taken_is_named_before_anything_runs(home: Path) -> None:
    """Dagster asks at the terminal for another one, its daemon running already; without a terminal there is no UI."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = comic(home, "dev", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be listened on (Address already in use)" in done.stderr
    assert "comic dev --port 3001" in done.stderr


# Takes the home and becomes another program, as `comic dev` does.
_DRIVER = """
import os
from comic_pipeline.home import hold_home, prepare_home
from comic_pipeline.model.errors import Refused
from comic_pipeline.settings import Settings, load_settings
hold_home(load_settings())
os.execv("/bin/sh", ["sh", "-c", "echo held; read end"])
"""


@pytest.mark.parametrize("command", ["dev", "demo"])
def test_a_home_has_one_driver(tmp_path: Path, command: str) -> None:
    """A second daemon would clash with the first, which keeps the home until its process ends, whatever program it has become.

    The one that is refused changes nothing: it once migrated the database, and set up Dagster anew, under the one at work.
    """
    home = tmp_path / "home"
    assert comic(home, "init").returncode == 0
    settings_of_dagster = home / "dagster" / "dagster.yaml"
    settings_of_dagster.write_text("# as the driver's version has it\n")
    with subprocess.Popen(
        [sys.executable, "-c", _DRIVER],
        env={**os.environ, "COMIC_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        refused = comic(home, command)
        first.communicate(b"end\n")
    assert refused.returncode == 2, refused.stderr
    assert "CONFLICT" in refused.stderr
    assert "another `comic dev` or `comic demo`" in refused.stderr
    assert settings_of_dagster.read_text() == "# as the driver's version has it\n"
    os.close(hold_home(load_settings(COMIC_HOME=str(home))))
