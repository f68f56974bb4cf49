"""A way to a service that breaks off in the middle: a TCP proxy for tests."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_BLOCK = 16_384


@dataclass
class Cutter:
    """Passes bytes on to `port`. Each of the next `cuts` connections that sends more than `after` bytes is cut right there."""

    port: int
    listening: socket.socket
    cuts: int = 0
    after: int = 100_000
    done: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        """Its address, for clients of the service."""
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def serve(self) -> None:
        """Accept connections until the listening socket is closed."""
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            answers = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
            answers.start()
            sent = 0
            with suppress(OSError):
                while block := client.recv(_BLOCK):
                    server.sendall(block)
                    sent += len(block)
                    if sent > self.after and self._cut():
                        break
            for end in (client, server):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            answers.join()

    def _cut(self) -> bool:
        with self._lock:
            if self.cuts <= 0:
                return False
            self.cuts -= 1
            self.done += 1
            return True


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(_BLOCK):
            target.sendall(block)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def cutting(port: int) -> Iterator[Cutter]:
    """A cutter before the service on `port` of 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        cutter = Cutter(port, listening)
        thread = threading.Thread(target=cutter.serve, daemon=True)
        thread.start()
        yield cutter
        # Closing alone does not wake a thread that waits in accept.
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=10)
