"""The sandbox as a child process: start it, know its addresses, stop or kill it.

Belongs here: the child's life. It ends with its parent: it watches its standard input, which closes when the parent dies.
"""

import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from comic_pipeline_tests.sandbox.client import SandboxAdmin
from comic_pipeline_tests.sandbox.world import API_KEY, APP_ID

_ROOT = Path(__file__).resolve().parents[2]
_FIRST_WORDS = "listening on "


class Sandbox:
    """A running sandbox. Use as a context manager, or call `stop`."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def ark_base_url(self) -> str:
        """Base of Ark: chat, images, video tasks."""
        return f"{self.url}/api/v3"

    @property
    def openspeech_base_url(self) -> str:
        """Base of OpenSpeech: /api/v1/tts and /api/v3/tts/… lie below it."""
        return self.url

    @property
    def openai_base_url(self) -> str:
        """Base of the OpenAI-compatible service."""
        return f"{self.url}/v1"

    @property
    def host(self) -> str:
        """`host:port`, as results are served from."""
        return urlsplit(self.url).netloc

    @property
    def port(self) -> int:
        """The port, for starting another one in the same place."""
        return int(self.url.rsplit(":", 1)[1])

    @property
    def api_key(self) -> str:
        """The one key that all services take (OpenSpeech's token, too)."""
        return API_KEY

    @property
    def app_id(self) -> str:
        """An app id for OpenSpeech."""
        return APP_ID

    @cached_property
    def admin(self) -> SandboxAdmin:
        """A client for faults, books and time."""
        return SandboxAdmin(self.url)

    def stop(self) -> None:
        """End it in peace."""
        self._end(kill=False)

    def kill(self) -> None:
        """End it without a chance to say goodbye."""
        self._end(kill=True)

    def _end(self, *, kill: bool) -> None:
        if "admin" in self.__dict__:
            self.admin.close()
        if self._process.poll() is None:
            self._process.kill() if kill else self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def start_sandbox(*, latency: Mapping[str, float] | None = None, books: Path | None = None, port: int = 0) -> Sandbox:
    """Start a sandbox and wait until it listens. Latency in seconds by craft. Raises RuntimeError when it does not start."""
    command = [sys.executable, "-m", "comic_pipeline_tests.sandbox", "--port", str(port), "--end-with-stdin"]
    command += ["--latency", ",".join(f"{craft}={seconds}" for craft, seconds in latency.items())] if latency else []
    command += ["--books", str(books.absolute())] if books else []
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line.startswith(_FIRST_WORDS):
        process.kill()
        process.communicate()
        raise RuntimeError(f"the sandbox did not start; it said {line!r}, its errors are above")
    return Sandbox(process, line.removeprefix(_FIRST_WORDS))
