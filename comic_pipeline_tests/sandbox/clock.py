"""Time as the sandbox sees it: real time plus whatever tests advanced, and how long each craft takes.

Belongs here: the virtual clock and the latencies. Does not: what happens to a job as time goes by (`jobs.py`).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

HOUR = 3_600.0
DAY = 24 * HOUR


class VirtualClock:
    """Unix seconds that run as fast as real time and can be moved forward."""

    def __init__(self, real: Callable[[], float] = time.time) -> None:
        self._real = real
        self._offset = 0.0

    def now(self) -> float:
        """Virtual unix time in seconds."""
        return self._real() + self._offset

    def real(self) -> float:
        """Real unix time in seconds, for measuring request rates."""
        return self._real()

    def advance(self, seconds: float) -> None:
        """Move forward. Raises ValueError for negative seconds."""
        if seconds < 0:
            raise ValueError(f"time only goes forward, not by {seconds} s")
        self._offset += seconds

    def reset(self) -> None:
        """Back to real time."""
        self._offset = 0.0


@dataclass(frozen=True)
class Latency:
    """Seconds from request to result: virtual for video jobs, real waiting for the synchronous crafts."""

    video: float = 0.5
    image: float = 0.0
    text: float = 0.0
    voice: float = 0.0

    @property
    def queued(self) -> float:
        """How long a video job stays queued: jobs leave the real queue within seconds."""
        return min(2.0, self.video * 0.2)

    def changed(self, values: Mapping[str, float]) -> "Latency":
        """These latencies with some replaced. Raises ValueError for unknown crafts and negative seconds."""
        unknown = set(values) - {"video", "image", "text", "voice"}
        if unknown or any(seconds < 0 for seconds in values.values()):
            raise ValueError(f"latency is video|image|text|voice = seconds >= 0, not {dict(values)}")
        return replace(self, **{craft: float(seconds) for craft, seconds in values.items()})


def parse_latency(text: str) -> Latency:
    """Read `video=60,image=3`. Raises ValueError."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    return Latency().changed({craft.strip(): float(seconds) for craft, _, seconds in pairs})
