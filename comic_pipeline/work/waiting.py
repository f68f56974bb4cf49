"""How long a run did nothing but wait in line at providers: such time is not the project's.

Belongs here: counting, in memory. Does not: who waits for what (`desk.py`, `departure.py`), writing it down (`Desk.keeping`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime


@dataclass
class Waiting:
    """Orders of one run that work and orders that wait in line. Only while all wait is it waiting: one that works is progress."""

    now: Callable[[], datetime]
    _working: int = 0
    _waiting: int = 0
    _since: datetime | None = None
    _seconds: float = 0.0

    @contextmanager
    def working(self) -> Iterator[None]:
        """An order is at work."""
        self._change(working=1)
        try:
            yield
        finally:
            self._change(working=-1)

    @contextmanager
    def in_line(self) -> Iterator[None]:
        """An order that was at work waits for a place or a moment at its provider."""
        self._change(working=-1, waiting=1)
        try:
            yield
        finally:
            self._change(working=1, waiting=-1)

    def seconds(self) -> float:
        """Waited so far, and not yet forgotten."""
        self._change()
        return self._seconds

    def forget(self, seconds: float) -> None:
        """These were written down."""
        self._seconds -= seconds

    def _change(self, *, working: int = 0, waiting: int = 0) -> None:
        now = self.now()
        if self._since is not None:
            self._seconds += (now - self._since).total_seconds()
        self._working, self._waiting = self._working + working, self._waiting + waiting
        self._since = now if self._waiting and not self._working else None
