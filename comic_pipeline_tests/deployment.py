"""The real deployment as processes over one COMIC_HOME: code server, daemon, webserver; a test may kill and restart each."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import dagster as dg
import psutil

from comic_pipeline.settings import Settings, load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline_tests.deployed import prepare
from comic_pipeline_tests.ports import free_port, listens

_BIN = Path(sys.executable).parent
_LOOK = 0.25
T = TypeVar("T")


def wait_for(what: str, seen: Callable[[], T | None], *, seconds: float) -> T:
    """The first true answer of `seen`. Fails the test by name after `seconds`, on a busy machine after as much longer."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < seconds * _busy():
        answer = seen()
        if answer:
            return answer
        time.sleep(_LOOK)
    raise AssertionError(f"{what} did not happen within {waited:.0f} s")


def _busy() -> float:
    """How many processes want each core: a run that starts in 3 s takes 60 when there are ten."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass
class Deployment:
    """One running deployment. `environment` holds COMIC_* and provider settings; keys in it are test keys."""

    home: Path
    environment: Mapping[str, str]
    code_port: int = field(default_factory=free_port)
    web_port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # Children of processes that were killed: they live on, and must be found at the end.
    orphans: list[psutil.Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.settings: Settings = load_settings(COMIC_HOME=str(self.home), **self.environment)
        prepare(self.settings)
        self.workshop: Workshop = open_workshop(self.settings)
        (self.home / "workspace.yaml").write_text(
            f"load_from:\n  - grpc_server: {{host: 127.0.0.1, port: {self.code_port}, location_name: comic}}\n"
        )

    def __enter__(self) -> Self:
        """Start everything."""
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_fault: object) -> None:
        """Stop everything; pytest shows the logs when the test fails."""
        print(self.logs())  # noqa: T201  # for people
        self.stop()

    def start(self, *names: str) -> None:
        """Start the named processes (all when none is named) and wait until they answer."""
        for name in names or ("code", "daemon", "web"):
            # Own session: a test can kill one process without reaching the others. Started directly, so that SIGTERM works.
            with (self.home / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    self._command(name), env=self._env(), stdout=log, stderr=log, cwd=self.home, start_new_session=True
                )
            if name == "code":
                wait_for("the code server's port", self._code_answers, seconds=60)
            if name == "web":
                wait_for("the webserver's answer", self._web_answers, seconds=60)

    def start_missing(self) -> None:
        """Start whatever does not run."""
        missing = [name for name in ("code", "daemon", "web") if name not in self.processes]
        if missing:
            self.start(*missing)

    def kill(self, name: str, *, number: int = signal.SIGKILL) -> None:
        """Signal one process and wait for its end; its children live on, as they would after a crash."""
        process = self.processes.pop(name)
        self.orphans += _children(process.pid)
        process.send_signal(number)
        process.wait(timeout=60)

    def crash(self) -> None:
        """SIGKILL everything at once, run workers included, as when the machine dies."""
        leaders = list(self.processes.values())
        children = [*self.orphans, *(child for leader in leaders for child in _children(leader.pid))]
        # The leaders first: a code server that sees a child die would still report it.
        for leader in leaders:
            leader.kill()
            leader.wait()
        for child in children:
            kill_process(child)
        self.processes.clear()
        self.orphans.clear()

    def kill_runs(self) -> int:
        """SIGKILL all run workers; how many there were."""
        return sum(kill_process(process) for process in self.run_processes())

    def stop(self) -> None:
        """End everything that this deployment started, runs included."""
        self.crash()
        self.workshop.database.close()

    def run_processes(self) -> list[psutil.Process]:
        """Processes that execute a run: children of the code server, or of one that was killed."""
        server = self.processes.get("code")
        children = [] if server is None else _children(server.pid)
        return [child for child in [*children, *self.orphans] if _is_run(child)]

    @contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        """Dagster's own view."""
        with dg.DagsterInstance.from_config(str(self.settings.dagster_home)) as instance:
            yield instance

    def status(self, project_id: str) -> ProjectStatus:
        """Where a project stands."""
        with self.workshop.database.read() as connection:
            return status_of(connection, project_id, self.settings)

    def comic(self, *arguments: str, check: bool = True) -> Any:
        """Run the command line with `--json` and parse what it prints."""
        done = subprocess.run(
            [str(_BIN / "comic"), *arguments, "--json"], env=self._env(), capture_output=True, text=True, check=False, timeout=60
        )
        assert not check or done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else done

    def graphql(self, query: str, **variables: Any) -> Any:
        """Ask the webserver."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(  # our own server on loopback
            f"http://127.0.0.1:{self.web_port}/graphql", data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.loads(answer.read())["data"]

    def logs(self) -> str:
        """What the processes said, for failing tests."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-4000:]}" for path in sorted(self.home.glob("*.log"))
        )

    def _command(self, name: str) -> list[str]:
        workspace = str(self.home / "workspace.yaml")
        port = str(self.code_port)
        code = [str(_BIN / "dagster"), "api", "grpc", "-h", "127.0.0.1", "-p", port, "-m", "comic_pipeline.definitions"]
        return {
            "code": [*code, "--location-name", "comic"],
            "daemon": [str(_BIN / "dagster-daemon"), "run", "-w", workspace],
            "web": [str(_BIN / "dagster-webserver"), "-h", "127.0.0.1", "-p", str(self.web_port), "-w", workspace],
        }[name]

    def _env(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")}
        return {
            **kept,
            "COMIC_HOME": str(self.home),
            "DAGSTER_HOME": str(self.settings.dagster_home),
            **self.environment,
        }

    def _code_answers(self) -> bool:
        return listens(self.code_port)

    def _web_answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}/server_info", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def kill_process(process: psutil.Process) -> bool:
    """SIGKILL one process. False when it had ended by itself."""
    # `psutil` compares start times first, so that an id that was given to somebody else meanwhile is left alone.
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return False
    return True


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _is_run(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
