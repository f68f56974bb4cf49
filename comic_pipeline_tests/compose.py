"""The services of `docker/compose.yaml` as plain processes of this machine: for machines without a container engine.

What the engine would read is read here: the resolved compose file, the image's entry point, the secret files. Only places are
translated: names of services and their ports to ports of 127.0.0.1, folders of the image to folders of the test. Postgres is the
one program that is started in its own way (`postgres.py`).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.ports import free_port, listens
from comic_pipeline_tests.postgres import PostgresServer

ROOT = Path(__file__).resolve().parents[1]
DOCKER = ROOT / "docker"
BIN = Path(sys.executable).parent
# Names by which services call each other, with the port that each listens on inside its container.
_LISTENS = {"postgres": 5432, "s3": 8333, "code": 4000, "webserver": 3000, "reader": 3000, "media": 3100}
_PROXY = (8080, 8081, 8082)
_IMAGE_FOLDERS = {"/run/secrets": "secrets", "/opt/dagster": "dagster", "/tmp": "tmp"}
_IN_IMAGE = re.compile(rf"(?<![\w./])({'|'.join(_IMAGE_FOLDERS)})(?=/|$)", re.MULTILINE)


def resolved(*files: str, **variables: str) -> dict[str, Any]:
    """What an engine would be told: `docker compose config`. Raises CalledProcessError for files that are not valid."""
    named = [part for file in files or ("compose.yaml",) for part in ("-f", str(DOCKER / file))]
    done = subprocess.run(
        [str(BIN / "docker-compose"), *named, "config", "--format", "json"],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def image_entry_point() -> list[str]:
    """What the image puts before each command."""
    found = re.search(r"^ENTRYPOINT (\[.*\])$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


@dataclass
class Composed:
    """The deployment below `home`. `choices` are what an operator writes into comic.env."""

    home: Path
    choices: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ports = {name: free_port() for name in _LISTENS} | {str(port): free_port() for port in _PROXY}
        self.site, self.media_site = f"http://localhost:{self.ports['8080']}", f"http://localhost:{self.ports['8081']}"
        self.services = resolved(COMIC_SITE=self.site, COMIC_MEDIA_SITE=self.media_site)["services"]
        for folder in (*_IMAGE_FOLDERS.values(), "objects"):
            (self.home / folder).mkdir(parents=True)
        subprocess.run(["sh", str(DOCKER / "secrets.sh"), str(self.home / "secrets")], check=True)
        for name in ("dagster.yaml", "workspace.yaml"):
            (self.home / "dagster" / name).write_text(self._located("daemon", self._linked((DOCKER / name).read_text())))

    def secret(self, name: str) -> str:
        """What stands in a secret file."""
        return (self.home / "secrets" / name).read_text()

    def admit(self, file: str, name: str, password: str) -> None:
        """Let a person in, as the README tells it: a line with the hash that caddy makes."""
        hashed = subprocess.run(
            [str(BIN / "caddy"), "hash-password", "--algorithm", "argon2id", "--plaintext", password],
            capture_output=True,
            text=True,
            check=True,
        )
        self.write_secret(file, f"{self.secret(file)}{name} {hashed.stdout.strip()}\n")

    def write_secret(self, name: str, text: str) -> None:
        """Put something into a secret file."""
        (self.home / "secrets" / name).write_text(text)

    def postgres(self) -> PostgresServer:
        """The server, with the password of the secret file and what its container would run at its first start."""
        server = PostgresServer(password=self.secret("database_password"), port=self.ports["postgres"])
        server.start()
        server.create_database(self.services["postgres"]["environment"]["POSTGRES_DB"])
        server.execute((DOCKER / "postgres.sql").read_text())
        return server

    def run(self, name: str) -> None:
        """Run a job to its end. Raises AssertionError with its output when it fails."""
        done = subprocess.run(
            self.command(name),
            env=self.environment(name),
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def comic(self, *arguments: str) -> Any:
        """What `docker compose run --rm init comic … --json` prints, parsed. Raises AssertionError with what it said instead."""
        command = [*image_entry_point(), "comic", *arguments, "--json"]
        done = subprocess.run(
            command, env=self.environment("init"), cwd=self.home, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *names: str) -> None:
        """Start services, one after another, each healthy by its own check before the next."""
        for name in names:
            with (self.home / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    self.command(name), env=self.environment(name), cwd=self.home, stdout=log, stderr=log, start_new_session=True
                )
            wait_for(f"{name} being healthy", partial(self.healthy, name), seconds=90)

    def healthy(self, name: str) -> bool:
        """Whether the service's own health check passes. Raises AssertionError when the service has ended."""
        process = self.processes[name]
        assert process.poll() is None, f"{name} ended with {process.returncode}:\n{self.log(name)}"
        port = self.ports.get(name)
        if port is not None and not listens(port):
            return False
        test = self.services[name]["healthcheck"]["test"]
        assert test[0] == "CMD"
        check = [self._located(name, part) for part in test[1:]]
        done = subprocess.run(check, env=self.environment(name), cwd=self.home, capture_output=True, check=False, timeout=60)
        return done.returncode == 0

    def stop(self, name: str, *, seconds: float = 60) -> None:
        """Stop one service as an engine does, and wait for its end."""
        process = self.processes[name]
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=seconds)
        # Only now: `close` ends what did not.
        del self.processes[name]

    def close(self) -> None:
        """End everything that was started here."""
        for process in self.processes.values():
            if process.poll() is None:
                # The whole session: a code server's runs too.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes.clear()

    def log(self, name: str) -> str:
        """The end of what a service said."""
        return (self.home / f"{name}.log").read_text(errors="replace")[-4000:]

    def command(self, name: str) -> list[str]:
        """The service's command line on this machine."""
        service = self.services[name]
        entry = service.get("entrypoint") or (image_entry_point() if self._ours(name) else [])
        return [self._located(name, part) for part in [*entry, *service["command"], *_HOST_ONLY.get(name, list)()]]

    def environment(self, name: str) -> dict[str, str]:
        """The service's variables on this machine."""
        kept = {key: os.environ[key] for key in ("LANG", "PYTHONPATH") if key in os.environ}
        base = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(self.home / "tmp"), "TMPDIR": str(self.home / "tmp"), **kept}
        own = {key: self._located(name, str(value)) for key, value in self.services[name].get("environment", {}).items()}
        if self._ours(name):
            places = {"DAGSTER_HOME": str(self.home / "dagster"), "COMIC_HOME": str(self.home / "tmp" / "comic")}
            return {**base, **places, **self.choices, **own}
        upstream = {f"COMIC_{of.upper()}": f"127.0.0.1:{self.ports[of]}" for of in ("webserver", "reader", "media", "s3")}
        return {**base, "COMIC_SECRETS": str(self.home / "secrets"), **upstream, **own}

    def _ours(self, name: str) -> bool:
        return str(self.services[name]["image"]).startswith("comic-pipeline")

    def _linked(self, text: str) -> str:
        """Block form of the workspace's flow mapping `{host: code, port: 4000, …}`."""
        return re.sub(r"host: (\w+), port: \d+", lambda found: f"host: 127.0.0.1, port: {self.ports[found[1]]}", text)

    def _located(self, name: str, text: str) -> str:
        """`text` with the places of the service `name` translated to those of this machine."""
        others = "|".join(_LISTENS)
        text = re.sub(rf"\b({others}):\d+", lambda found: f"127.0.0.1:{self.ports[found[1]]}", text)
        text = text.replace("0.0.0.0", "127.0.0.1")
        own = self.ports.get(name)
        if own is not None:
            text = re.sub(rf"(port=|127\.0\.0\.1:){_LISTENS[name]}\b", rf"\g<1>{own}", text)
        for port in _PROXY if name == "proxy" else ():
            text = text.replace(f":{port}/", f":{self.ports[str(port)]}/")
        text = _IN_IMAGE.sub(lambda found: str(self.home / _IMAGE_FOLDERS[found[0]]), text)
        if name == "s3":
            text = text.replace("=/data", f"={self.home / 'objects'}")
        return text.replace("/etc/caddy/Caddyfile", str(self._caddyfile()))

    def _caddyfile(self) -> Path:
        """The proxy's settings, with its third port, which no variable names, translated."""
        path = self.home / "Caddyfile"
        if not path.exists():
            path.write_text((DOCKER / "Caddyfile").read_text().replace(":8082 {", f":{self.ports['8082']} {{"))
        return path


def _weed_ports() -> list[str]:
    """In a container these ports are its own; here they must be free ones."""
    names = (
        "master.port",
        "master.port.grpc",
        "volume.port",
        "volume.port.grpc",
        "filer.port",
        "filer.port.grpc",
        "s3.port.grpc",
    )
    return [f"-{name}={free_port()}" for name in names]


_HOST_ONLY = {"s3": _weed_ports}


@contextmanager
def running(home: Path, choices: Mapping[str, str], *, keys: Mapping[str, str]) -> Iterator[Composed]:
    """The whole deployment, in the order that compose would start it. Its logs are printed when the test fails.

    `keys` are the providers' keys by the names of their secret files.
    """
    composed = Composed(home, choices)
    for name, key in keys.items():
        composed.write_secret(name, key)
    composed.admit("operators", "olga", "operator-password")
    composed.admit("operators", "backend", "backend-password")
    composed.admit("readers", "rita", "reader-password")
    server = composed.postgres()
    try:
        composed.start("s3")
        composed.run("init")
        composed.start("code", "webserver", "reader", "daemon", "media", "proxy")
        yield composed
    finally:
        for name in composed.processes:
            print(f"--- {name}\n{composed.log(name)}")  # noqa: T201  # pytest shows it only when the test fails
        composed.close()
        server.close()
        shutil.rmtree(home / "objects")
