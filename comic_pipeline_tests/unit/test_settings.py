"""The environment: defaults, refusals that name the variable, secrets that stay secret."""

import logging
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.limits import ProviderLimit
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import Stage
from comic_pipeline.settings import Settings, container_environment, load_settings, process_environment

SECRET = "sk-very-secret-4711"
SECRETS = ("ARK_API_KEY", "OPENAI_API_KEY", "OPENSPEECH_TOKEN")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of ours is set, and the working folder is empty."""
    names = [str(field.alias) for field in Settings.model_fields.values()]
    for name in names:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_defaults_are_those_of_the_design(tmp_path: Path) -> None:
    """Nothing set: everything offline, in `.comic` of the working folder."""
    settings = load_settings()
    assert settings.home == tmp_path / ".comic"
    assert settings.effective_database_url == f"sqlite:///{tmp_path}/.comic/comic.db"
    assert settings.effective_objects == f"{tmp_path}/.comic/files/objects"
    assert settings.media_url == "/logs/objects"
    chosen = (settings.text_provider, settings.image_provider, settings.voice_provider, settings.video_provider)
    assert chosen == ("offline",) * 4
    assert settings.missing_keys() == []
    assert (settings.ark_text_model, settings.ark_image_model, settings.ark_video_model) == (
        "doubao-seed-2-1-pro-260628",
        "doubao-seedream-5-0-260128",
        "doubao-seedance-2-0-260128",
    )
    assert (settings.poll_seconds, settings.retry_delays, settings.max_retry) == (10, (30, 120, 300), 3)
    assert (settings.project_timeout, settings.lost_recreates, settings.max_attempts) == (3_600, 1, 0)
    assert settings.provider_limits["ark_video"] == ProviderLimit(jobs=10, qps=5)
    assert settings.budgets == {Tier.FREE: 2, Tier.PREVIEW: 10, Tier.PAID: 100, Tier.PREMIUM: 500}
    assert settings.day_budget == Decimal(2_000)
    assert (settings.on_voice_failure, settings.on_frame_failure) == ("silence", "fail")


def test_every_variable_has_a_name_of_our_own_or_of_its_vendor() -> None:
    """One table, no stray names: COMIC_*, or the vendor's well-known ones."""
    for name, field in Settings.model_fields.items():
        assert field.alias is not None, name
        assert field.alias.split("_")[0] in {"COMIC", "ARK", "OPENSPEECH", "OPENAI", "AWS"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COMIC_TEXT_PROVIDER", "doubao"),
        ("COMIC_IMAGE_PROVIDER", "openspeech"),
        ("COMIC_VOICE_PROVIDER", "ark"),
        ("COMIC_VIDEO_PROVIDER", "openai"),
        ("COMIC_POLL_SECONDS", "0"),
        ("COMIC_POLL_SECONDS", "inf"),
        ("COMIC_POLL_SECONDS", "nan"),
        ("COMIC_POLL_SECONDS", "soon"),
        ("COMIC_RETRY_DELAYS", "30,later"),
        ("COMIC_RETRY_DELAYS", "30,,300"),
        ("COMIC_RETRY_DELAYS", "-1"),
        ("COMIC_RETRY_DELAYS", "nan"),
        ("COMIC_RETRY_DELAYS", "30,inf"),
        ("COMIC_MAX_RETRY", "-1"),
        ("COMIC_MAX_RETRY", "2.5"),
        ("COMIC_LOST_RECREATES", "-1"),
        ("COMIC_LOST_GRACE", "inf"),
        ("COMIC_PROJECT_TIMEOUT", "0"),
        ("COMIC_LEASE_SECONDS", "inf"),
        ("COMIC_LIMITS", "ark_video=ten/5"),
        ("COMIC_BUDGETS", "free=2"),
        ("COMIC_BUDGETS", "free=-2,preview=10,paid=100,premium=500"),
        ("COMIC_DAY_BUDGET", "-1"),
        ("COMIC_DAY_BUDGET", "NaN"),
        ("COMIC_MAX_ATTEMPTS", "-1"),
        ("COMIC_ON_VOICE_FAILURE", "ignore"),
        ("COMIC_ON_FRAME_FAILURE", "silence"),
        ("OPENSPEECH_API", "v2"),
    ],
)
def test_a_bad_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Refused at start, with the variable and the value; no secret is in the message."""
    monkeypatch.setenv(name, value)
    for secret in SECRETS:
        monkeypatch.setenv(secret, SECRET)
    with pytest.raises(Refused) as refused:
        load_settings()
    assert refused.value.code is ErrorCode.INPUT_INVALID
    assert refused.value.detail.startswith(f"{name} {value!r}")
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose files pass `VAR=` for what nobody chose."""
    monkeypatch.setenv("COMIC_POLL_SECONDS", "")
    monkeypatch.setenv("COMIC_TEXT_PROVIDER", "")
    assert load_settings() == load_settings(poll_seconds=10.0)


@pytest.mark.parametrize(
    ("chosen", "given", "missing"),
    [
        ({"COMIC_TEXT_PROVIDER": "ark"}, {}, ["ARK_API_KEY"]),
        ({"COMIC_VIDEO_PROVIDER": "ark", "COMIC_IMAGE_PROVIDER": "ark"}, {}, ["ARK_API_KEY"]),
        ({"COMIC_VIDEO_PROVIDER": "ark"}, {"ARK_API_KEY": SECRET}, []),
        ({"COMIC_VIDEO_PROVIDER": "ark"}, {"OPENAI_API_KEY": SECRET}, ["ARK_API_KEY"]),
        ({"COMIC_VOICE_PROVIDER": "openai"}, {}, ["OPENAI_API_KEY"]),
        ({"COMIC_VOICE_PROVIDER": "openspeech"}, {}, ["OPENSPEECH_APP_ID", "OPENSPEECH_TOKEN"]),
        ({"COMIC_VOICE_PROVIDER": "openspeech"}, {"OPENSPEECH_APP_ID": "1"}, ["OPENSPEECH_TOKEN"]),
        ({"COMIC_VOICE_PROVIDER": "openspeech"}, {"OPENSPEECH_TOKEN": SECRET}, []),
        ({"COMIC_VOICE_PROVIDER": "openspeech", "OPENSPEECH_API": "v1"}, {"OPENSPEECH_TOKEN": SECRET}, ["OPENSPEECH_APP_ID"]),
        ({}, {}, []),
        (
            {"COMIC_TEXT_PROVIDER": "openai", "COMIC_IMAGE_PROVIDER": "ark", "COMIC_VOICE_PROVIDER": "openspeech"},
            {},
            ["ARK_API_KEY", "OPENAI_API_KEY", "OPENSPEECH_APP_ID", "OPENSPEECH_TOKEN"],
        ),
    ],
)
def test_a_chosen_provider_says_which_keys_it_lacks(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], given: dict[str, str], missing: list[str]
) -> None:
    """By the name of the variable; a key of another vendor does not help, and nothing falls back to offline."""
    for name, value in {**chosen, **given}.items():
        monkeypatch.setenv(name, value)
    assert load_settings().missing_keys() == missing


def test_secrets_show_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in repr, str, dump or the address of the database."""
    for secret in SECRETS:
        monkeypatch.setenv(secret, SECRET)
    monkeypatch.setenv("COMIC_DATABASE_URL", f"postgresql://comic:{SECRET}@db/comic")
    settings = load_settings()
    assert SECRET not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert set(settings.secrets()) == {SECRET}
    assert SECRET in settings.effective_database_url


@pytest.mark.parametrize("name", [*SECRETS, "COMIC_DATABASE_PASSWORD", "COMIC_HASH_SALT"])
def test_a_secret_may_come_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    """Variables show in process lists and in what a container engine tells; the line end of an editor is no part of a key."""
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    settings = load_settings()
    given = {
        field.alias: getattr(settings, of).get_secret_value() for of, field in Settings.model_fields.items() if _secret(field)
    }
    assert given[name] == SECRET


def test_an_empty_secret_file_is_not_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compose wants every secret's file to exist; a key that nobody has is an empty one."""
    (tmp_path / "none").touch()
    monkeypatch.setenv("ARK_API_KEY_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("COMIC_TEXT_PROVIDER", "ark")
    assert load_settings().missing_keys() == ["ARK_API_KEY"]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_secret_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    """A wrong path must not pass for a key that was not given."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("ARK_API_KEY_FILE", str(path))
    with pytest.raises(Refused, match=f"ARK_API_KEY_FILE .*{path}"):
        load_settings()


def test_a_secret_given_twice_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which of the two is meant, nobody can know; neither is shown."""
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.setenv("ARK_API_KEY_FILE", str(tmp_path / "secret"))
    monkeypatch.setenv("ARK_API_KEY", "another")
    with pytest.raises(Refused, match="ARK_API_KEY and ARK_API_KEY_FILE") as refused:
        load_settings()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "password", "effective"),
    [
        ("postgresql+psycopg2://comic@db:5432/comic", "a/b:c@d", "postgresql+psycopg2://comic:a%2Fb%3Ac%40d@db:5432/comic"),
        ("postgresql+psycopg2://comic:own@db/comic", "other", "postgresql+psycopg2://comic:own@db/comic"),
        ("postgresql+psycopg2://comic@db/comic", "", "postgresql+psycopg2://comic@db/comic"),
    ],
)
def test_the_password_of_the_database_may_come_apart(url: str, password: str, effective: str) -> None:
    """One secret serves both databases and the server itself; what it is made of must not break the URL."""
    settings = load_settings(COMIC_DATABASE_URL=url, COMIC_DAGSTER_DATABASE_URL=url, COMIC_DATABASE_PASSWORD=password)
    assert settings.effective_database_url == effective
    assert settings.effective_dagster_database_url == effective
    assert settings.database_file is None


def test_a_file_has_no_password() -> None:
    """One environment may hold the password of Dagster's server and the path of an SQLite file."""
    settings = load_settings(COMIC_DATABASE_URL="sqlite:////srv/comic.db", COMIC_DATABASE_PASSWORD="unused")
    assert settings.effective_database_url == "sqlite:////srv/comic.db"
    assert settings.database_file == Path("/srv/comic.db")


UNREADABLE_URLS = [
    f"mysql://comic:{SECRET}@db/comic",
    f"comic:{SECRET}@db/comic",
    f"postgres://comic:{SECRET}@db/comic",
    f"postgresql://comic:a/{SECRET}@db:5432/comic",
    f"postgresql://comic:{SECRET}@db",
    f"postgresql://comic:{SECRET}@[db/comic",
    "sqlite://",
    "comic.db",
]


@pytest.mark.parametrize("variable", ["COMIC_DATABASE_URL", "COMIC_DAGSTER_DATABASE_URL"])
@pytest.mark.parametrize("url", UNREADABLE_URLS)
def test_an_address_of_no_database_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, variable: str, url: str) -> None:
    """It was a traceback of the SQL library in every process. Nothing of the address is shown: it may hold a password."""
    monkeypatch.setenv(variable, url)
    with pytest.raises(
        Refused, match=rf"^INPUT_INVALID: {variable}: write .*postgresql\+psycopg2://USER@HOST:PORT/NAME"
    ) as refused:
        load_settings()
    assert SECRET not in str(refused.value)


def test_an_address_may_come_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With its password in it, as hosting companies hand it out."""
    url = f"postgresql://comic:{SECRET}@db:5432/comic?sslmode=require"
    (tmp_path / "url").write_text(f"{url}\n")
    monkeypatch.setenv("COMIC_DATABASE_URL_FILE", str(tmp_path / "url"))
    assert load_settings().effective_database_url == url


def test_dagster_is_told_its_url_and_no_other_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Dagster's own settings read variables alone; provider keys stay in their files."""
    for name in ("COMIC_DATABASE_PASSWORD", "ARK_API_KEY"):
        (tmp_path / name).write_text(f"{name}-{SECRET}")
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    monkeypatch.setenv("COMIC_DAGSTER_DATABASE_URL", "postgresql+psycopg2://comic@db/dagster")
    environment = container_environment(load_settings())
    told = f"postgresql+psycopg2://comic:COMIC_DATABASE_PASSWORD-{SECRET}@db/dagster"
    assert {name for name, value in environment.items() if SECRET in value} == {"DAGSTER_DATABASE_URL"}
    assert environment["DAGSTER_DATABASE_URL"] == told


def _secret(field: FieldInfo) -> bool:
    return field.annotation is SecretStr


@pytest.mark.parametrize("name", ["comic_pipeline", "comic_pipeline.work", "comic_pipeline.providers.chat"])
def test_secrets_are_masked_in_every_log_of_ours(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """In the message, in its arguments and in the traceback; a filter on the parent logger would miss the children."""
    monkeypatch.setenv("ARK_API_KEY", SECRET)
    load_settings()
    log = logging.getLogger(name)
    with caplog.at_level(logging.INFO):
        log.info("the key is %s, the cost %d", SECRET, 5)
        try:
            int(f"401 for {SECRET}")
        except ValueError:
            log.exception("refused")
    assert "the key is ***, the cost 5" in caplog.text
    assert "ValueError: invalid literal for int() with base 10: '401 for ***'" in caplog.text
    assert SECRET not in caplog.text


def test_logs_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Records of other libraries keep their arguments: their handlers may need them."""
    monkeypatch.setenv("ARK_API_KEY", SECRET)
    load_settings()
    with caplog.at_level(logging.INFO):
        logging.getLogger("comic_pipelines").info("%s", "x")
    assert caplog.records[-1].args == ("x",)


def test_loading_settings_again_and_again_piles_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The webserver loads them at every submission: each log line must not get slower with each one."""
    # Settings without a secret take away what an earlier test has left.
    load_settings()
    before = logging.getLogRecordFactory()
    monkeypatch.setenv("ARK_API_KEY", SECRET)
    for _ in range(50):
        load_settings()
    assert logging.getLogRecordFactory().make is before  # type: ignore[attr-defined]
    assert logging.getLogger("comic_pipeline").filters == []
    monkeypatch.delenv("ARK_API_KEY")
    load_settings()
    assert logging.getLogRecordFactory() is before


def test_relative_places_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run processes have other working folders; `~` is the user's home."""
    monkeypatch.setenv("COMIC_HOME", "here/it is")
    monkeypatch.setenv("COMIC_OBJECTS", "media")
    settings = load_settings()
    assert settings.home == tmp_path / "here" / "it is"
    assert settings.dagster_home == settings.home / "dagster"
    assert settings.effective_objects == str(tmp_path / "media")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMIC_HOME", "~/comic")
    assert load_settings().home == tmp_path / "comic"


@pytest.mark.parametrize("variable", ["COMIC_HOME", "COMIC_OBJECTS", "COMIC_MUSIC"])
def test_a_home_of_nobody_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """It ended in a traceback, of COMIC_MUSIC only once everything else of a film was paid."""
    monkeypatch.setenv(variable, "~no-such-user/x")
    with pytest.raises(Refused, match=rf"{variable} '~no-such-user/x': ~no-such-user is nobody's home") as refused:
        load_settings()
    assert refused.value.code is ErrorCode.INPUT_INVALID


def test_a_home_with_a_question_mark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's address ended there: the database lay beside the home, one for all homes whose names began alike."""
    monkeypatch.setenv("COMIC_HOME", "films?/alice")
    with pytest.raises(Refused, match=r"COMIC_HOME 'films\?/alice': .*question mark"):
        load_settings()


def test_the_folder_of_a_database_may_have_a_hash_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`comic init` made the folder before the hash, and SQLite did not find the whole one."""
    monkeypatch.setenv("COMIC_DATABASE_URL", "sqlite:////srv/film#1/comic.db")
    assert load_settings().database_file == Path("/srv/film#1/comic.db")


@pytest.mark.parametrize("address", ["s3://bucket/prefix", "gs://bucket", "/srv/media"])
def test_addresses_of_objects_stay_as_they_are(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """What is not a relative folder is for the object store to judge."""
    monkeypatch.setenv("COMIC_OBJECTS", address)
    assert load_settings().effective_objects == address


def test_child_processes_get_absolute_places_and_the_rest_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Dagster starts them in folders of its own."""
    monkeypatch.setenv("COMIC_HOME", "here")
    monkeypatch.setenv("COMIC_OBJECTS", "media")
    monkeypatch.setenv("SOMETHING_ELSE", "kept")
    environment = process_environment(load_settings())
    assert environment["COMIC_HOME"] == str(tmp_path / "here")
    assert environment["DAGSTER_HOME"] == str(tmp_path / "here" / "dagster")
    assert environment["COMIC_OBJECTS"] == str(tmp_path / "media")
    assert environment["SOMETHING_ELSE"] == "kept"


@pytest.mark.parametrize(
    ("stage", "providers"),
    [
        (Stage.STORYBOARD, ("ark_text",)),
        (Stage.FRAMES, ("ark_image",)),
        (Stage.VOICES, ("openspeech_voice",)),
        (Stage.CLIPS, ("ark_video",)),
        (Stage.FILM, ("ffmpeg", "offline_music")),
    ],
)
def test_each_stage_knows_the_providers_it_calls(
    monkeypatch: pytest.MonkeyPatch, stage: Stage, providers: tuple[str, ...]
) -> None:
    """These names are tags, limits and columns: one spelling."""
    for name in ("TEXT", "IMAGE", "VIDEO"):
        monkeypatch.setenv(f"COMIC_{name}_PROVIDER", "ark")
    monkeypatch.setenv("COMIC_VOICE_PROVIDER", "openspeech")
    assert load_settings().providers_of(stage) == providers


def test_extra_hosts_are_read_as_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces and empty parts do no harm."""
    monkeypatch.setenv("COMIC_PROVIDER_HOSTS", " 127.0.0.1:9 , media.example,, ")
    assert load_settings().allowed_hosts == {"127.0.0.1:9", "media.example"}


def test_records_that_name_nobody_can_still_be_made() -> None:
    """Dagster's log manager copies records with `logging.makeLogRecord`: every run failed at its first event when that raised."""
    load_settings(ARK_API_KEY="sk-test-1234567890")
    assert logging.makeLogRecord({"msg": "hello"}).getMessage() == "hello"
