"""A real little HTTP server that receives notices: it checks signatures, and fails, hangs or sends away as it is told."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "whsec-4711"


@dataclass(frozen=True)
class Answer:
    """What to answer: a status with headers, after `hang` seconds."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang: float = 0.0


@dataclass
class Receiver:
    """What came in, in order: event ids with their parsed bodies. `answers` are used up one a request; then all is well.

    `meeting`: each request is answered when as many are there as it waits for; with 503 when they do not come.
    """

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    got: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    forged: int = 0
    meeting: threading.Barrier | None = None
    arrived: threading.Event = field(default_factory=threading.Event)

    def ids(self) -> list[str]:
        """Event ids, doubles included."""
        return [event_id for event_id, _ in self.got]


def _handler(receiver: Receiver, stop: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stamp = self.headers["X-Comic-Timestamp"]
            right = "v1=" + hmac.new(SECRET.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
            fresh = abs(time.time() - int(stamp)) < 300
            if not hmac.compare_digest(right, self.headers.get("X-Comic-Signature", "")) or not fresh:
                receiver.forged += 1
            receiver.got.append((self.headers["X-Comic-Event-Id"], json.loads(body)))
            receiver.arrived.set()
            answer = receiver.answers.pop(0) if receiver.answers else Answer()
            if receiver.meeting is not None:
                try:
                    receiver.meeting.wait()
                except threading.BrokenBarrierError:
                    answer = Answer(status=503)
            if stop.wait(answer.hang) or answer.hang:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A server on a free port of 127.0.0.1."""
    receiver, stop = Receiver(), threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(receiver, stop))
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


def until(seen: Callable[[], object], *, seconds: float = 20) -> None:
    """Wait for something to become true; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
