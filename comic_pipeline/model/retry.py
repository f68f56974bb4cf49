"""When to try again, and when to stop: decisions only. The runner and the op carry them out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

# Waits inside a round for one call, after 429 or 5xx: the official client advice is 1-2 s, doubling, capped at 30 s
# (Ark's own command line tool, 2026-07). Four tries then span about half a minute, after which the round itself is retried.
CALL_TRIES = 4
# An answer that was billed and is of no use (cut at its limit, a picture that cannot be read) is likely to come again.
BILLED_TRIES = 2
CALL_FIRST_WAIT = 1.0
CALL_WAIT_CAP = 30.0
# Providers forget a job after seven days (Ark's page 1521675): before that, whatever is still open must be settled, because
# after it "not in the list" says nothing any more.
JOB_LIFE = timedelta(days=6)


@dataclass(frozen=True)
class RoundDecision:
    """What follows a round that left retryable failures: wait `delay` seconds and go again, or hand over to a person."""

    again: bool
    delay: float


def decide_round(*, retry_count: int, max_retry: int, delays: Sequence[float], retry_after: float | None) -> RoundDecision:
    """Decide after failure number `retry_count` + 1 of a task. `Retry-After` (seconds) wins when it is longer."""
    if retry_count >= max_retry:
        return RoundDecision(again=False, delay=0.0)
    delay = delays[min(retry_count, len(delays) - 1)]
    return RoundDecision(again=True, delay=max(delay, retry_after or 0.0))


def call_wait(tries: int, *, retry_after: float | None, jitter: Callable[[], float]) -> float:
    """Seconds to wait after failed try number `tries` (from 1) of one call; `jitter` gives a number in [0, 1)."""
    wait = min(CALL_FIRST_WAIT * 2.0 ** (tries - 1), CALL_WAIT_CAP)
    return max(wait * (0.75 + 0.5 * jitter()), retry_after or 0.0)
