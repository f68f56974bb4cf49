"""The files of docker/ against the programs that read them: compose, hadolint, Dagster's own config schema, git."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._config import process_config, resolve_to_config_type
from dagster._core.instance.config import dagster_instance_config
from dagster._serdes import ConfigurableClassData
from pydantic import SecretStr

from comic_pipeline.settings import Settings, container_environment, load_settings
from comic_pipeline_tests.compose import BIN, DOCKER, ROOT, image_entry_point, resolved
from comic_pipeline_tests.postgres import PostgresServer
from comic_pipeline_tests.s3 import S3Server

VARIANTS = ("dagster.yaml", "dagster.docker.yaml", "dagster.k8s.yaml")
OURS = ("init", "code", "webserver", "reader", "daemon", "media")
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())


def dagster_yaml(path: Path) -> dict[str, Any]:
    """One of Dagster's own settings files."""
    written: dict[str, Any] = yaml.safe_load(path.read_text())
    return written


@pytest.mark.parametrize("files", [["compose.yaml"], ["compose.yaml", "compose.tls.yaml"]])
def test_compose_reads_its_files(files: list[str]) -> None:
    """`docker compose config` resolves them, and only the proxy is reachable from outside."""
    services = resolved(*files)["services"]
    assert set(services) == {*OURS, "postgres", "s3", "proxy"}
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]


def test_without_tls_only_this_machine_is_served() -> None:
    """Basic authentication sends passwords: in the open only over TLS."""
    assert {port["host_ip"] for port in resolved()["services"]["proxy"]["ports"]} == {"127.0.0.1"}
    published = {port["published"] for port in resolved("compose.yaml", "compose.tls.yaml")["services"]["proxy"]["ports"]}
    assert published == {"80", "443"}


def test_every_service_is_watched_restarted_and_confined() -> None:
    """A service without a health check is one whose death nobody sees; ours need no rights, no root and no writable image."""
    services = resolved()["services"]
    for name, service in services.items():
        assert service["restart"] == ("on-failure:3" if name == "init" else "unless-stopped"), name
        assert name == "init" or service["healthcheck"]["test"][0] == "CMD", name
        assert service["logging"]["options"] == {"max-size": "20m", "max-file": "5"}, name
    for name in OURS:
        assert (services[name]["read_only"], services[name]["cap_drop"]) == (True, ["ALL"]), name
        assert services[name]["security_opt"] == ["no-new-privileges:true"], name


def test_a_stop_of_the_code_server_waits_for_the_longest_task() -> None:
    """Runs are its children: an engine that kills it after ten seconds kills a clip that was waited for half an hour."""
    assert resolved()["services"]["code"]["stop_grace_period"] == "2h0m0s"


def test_postgres_is_reached_by_what_needs_it_alone() -> None:
    """The proxy, which strangers speak to, has no way to the database."""
    networks = {name: set(service["networks"]) for name, service in resolved()["services"].items()}
    assert networks["postgres"] == {"data"}
    assert "data" not in networks["proxy"]
    assert {name for name, of in networks.items() if "outside" in of} == {"proxy", "code"}


def test_no_secret_is_in_a_file_of_the_project() -> None:
    """Secrets go by file; what is written in compose.yaml is a path, and the folder of the files is not kept in git."""
    for name, service in resolved()["services"].items():
        for variable, value in service.get("environment", {}).items():
            if re.search("KEY|TOKEN|PASSWORD|SALT|CREDENTIALS", variable):
                assert value.startswith("/run/secrets/"), f"{name}: {variable}"
    ignored = subprocess.run(
        ["git", "check-ignore", "docker/secrets/x", "docker/comic.env"], cwd=ROOT, capture_output=True, check=False
    )
    assert len(ignored.stdout.splitlines()) == 2 or not (ROOT / ".git").exists()


def test_every_secret_of_ours_may_come_by_file() -> None:
    """Each `X_FILE` of the compose file stands for a secret of the settings, else it would be read by nobody."""
    secrets = {field.alias for field in Settings.model_fields.values() if field.annotation is SecretStr}
    named = {variable.removesuffix("_FILE") for variable in COMPOSE["x-comic"]["environment"] if variable.endswith("_FILE")}
    assert named - {"AWS_SHARED_CREDENTIALS"} <= secrets


def test_secret_files_are_made_once_and_closed_to_others(tmp_path: Path) -> None:
    """A second call keeps what is there: a new password would lock the deployment out of its own database."""
    made = []
    for _ in range(2):
        subprocess.run(["sh", str(DOCKER / "secrets.sh"), str(tmp_path / "secrets")], check=True)
        made.append({path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()})
    assert made[0] == made[1]
    assert set(made[0]) == set(COMPOSE["secrets"])
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert len(made[0]["database_password"]) == 48
    assert json.loads(made[0]["s3_identities"])["identities"][0]["credentials"][0]["secretKey"] in made[0]["s3_credentials"]


def test_the_dockerfile_keeps_hadolints_rules() -> None:
    """What the trade has learned about images."""
    done = subprocess.run([str(BIN / "hadolint"), str(DOCKER / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_slim_locked_and_not_root() -> None:
    """Hashes for every package, a user with no rights, and a context that can carry nothing else into a layer."""
    dockerfile = (DOCKER / "Dockerfile").read_text()
    assert "--require-hashes -r" in dockerfile
    assert re.findall(r"^USER (.*)$", dockerfile, re.MULTILINE) == ["10001:10001"]
    assert image_entry_point() == ["comic", "exec"]
    context = (ROOT / ".dockerignore").read_text().splitlines()
    assert context[1] == "*"
    copied = {part for line in re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE) for part in line.split()}
    allowed = {line.removeprefix("!") for line in context if line.startswith("!")}
    assert copied - {"${LOCK}"} <= allowed
    assert all((ROOT / path).exists() for path in allowed)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_profile_has_the_same_limits(name: str) -> None:
    """What differs between profiles is where things are kept and where runs start; a limit that differs is an oversight."""
    ours, embedded = dagster_yaml(DOCKER / name), dagster_yaml(ROOT / "dagster.yaml")
    own = {"storage", "compute_logs", "run_launcher"}
    assert {key: value for key, value in ours.items() if key not in own} == {
        key: value for key, value in embedded.items() if key not in own
    }
    assert {key: ours[key] for key in ("storage", "compute_logs")} == {
        key: dagster_yaml(DOCKER / "dagster.yaml")[key] for key in ("storage", "compute_logs")
    }


@pytest.mark.parametrize("name", VARIANTS)
def test_dagster_accepts_the_file(name: str, tmp_path: Path) -> None:
    """Against the schema of the instance and those of the classes that it names, as Dagster itself checks at start."""
    (tmp_path / "dagster.yaml").write_text((DOCKER / name).read_text())
    config, custom = dagster_instance_config(str(tmp_path))
    assert custom is None
    for key in ("run_launcher", "run_coordinator", "compute_logs"):
        if key in config:
            part = config[key]
            of = ConfigurableClassData(part["module"], part["class"], yaml.dump(part["config"]))
            kind = getattr(__import__(of.module_name, fromlist=[of.class_name]), of.class_name)
            checked = process_config(resolve_to_config_type(kind.config_type()), without_variables(part["config"]))
            assert checked.success, checked.errors


def without_variables(config: Any) -> Any:
    """`{env: X}` filled in: the schema is looked at here, not the environment."""
    if isinstance(config, dict):
        return "filled-in" if set(config) == {"env"} else {key: without_variables(value) for key, value in config.items()}
    return [without_variables(one) for one in config] if isinstance(config, list) else config


def test_containers_of_runs_get_what_the_services_get() -> None:
    """A run in a container of its own knows the same places and keys; nothing secret is in its variables."""
    told = set(dagster_yaml(DOCKER / "dagster.docker.yaml")["run_launcher"]["config"]["env_vars"])
    services = set(COMPOSE["x-comic"]["environment"])
    chosen = {str(field.alias) for field in Settings.model_fields.values()}
    assert told <= services | chosen
    assert {name for name in services if not name.startswith("DAGSTER_") and name != "COMIC_MEDIA_ENDPOINT"} <= told
    assert not [name for name in told if re.search("KEY$|TOKEN$|PASSWORD$|SALT$", name)]


def test_an_instance_on_postgres_and_s3_opens(
    tmp_path: Path, postgres: PostgresServer, s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of compose.yaml, opened as every service opens it: storage on Postgres, logs on S3, our queue."""
    bucket = s3_variables.make_bucket()
    settings = load_settings(COMIC_DAGSTER_DATABASE_URL=postgres.create_database(f"dagster_{bucket[-8:]}"))
    told = container_environment(settings) | {"COMIC_LOGS_BUCKET": bucket, "AWS_ENDPOINT_URL_S3": s3_variables.endpoint}
    for name in ("DAGSTER_DATABASE_URL", "COMIC_LOGS_BUCKET", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, told[name])
    (tmp_path / "dagster.yaml").write_text((DOCKER / "dagster.yaml").read_text())

    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.get_runs_count() == 0
        assert type(instance.run_storage).__name__ == "PostgresRunStorage"
        assert type(instance.event_log_storage).__name__ == "PostgresEventLogStorage"
        assert type(instance.schedule_storage).__name__ == "PostgresScheduleStorage"
        assert type(instance.compute_log_manager).__name__ == "S3ComputeLogManager"
        assert type(instance.run_coordinator).__name__ == "StageTagCoordinator"
    # The image's file system is read-only.
    assert [path.name for path in tmp_path.iterdir()] == ["dagster.yaml"]
