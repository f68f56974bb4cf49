"""Acts at the same time, for tests of races: all from one start signal, or one that must wait for an open transaction."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 30.0


def race(acts: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Run all acts in threads of their own, started together. Returns what each returned or raised, in order."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], T]) -> T:
        start.wait(PATIENCE)
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        futures = [pool.submit(run, act) for act in acts]
        return list(map(outcome, futures))


def raced(acts: Sequence[Callable[[], T]]) -> list[T]:
    """As `race`, for acts of which none may fail: the first exception of one is raised."""
    outcomes = race(acts)
    for error in outcomes:
        if isinstance(error, Exception):
            raise error
    return [result for result in outcomes if not isinstance(result, Exception)]


def start_blocked(act: Callable[[], T]) -> "Future[T]":
    """Start `act` while the caller's transaction is open; ask for its outcome after the commit. Fails unless `act` waits."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(act())
        except Exception as error:  # noqa: BLE001  # handed over to the waiting test
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    # Long enough for a whole transaction on a busy machine; a loser that is only slow makes the test weaker, never red.
    if wait([answer], timeout=0.15).done:
        early = outcome(answer)
        raise AssertionError(f"it did not wait for the open transaction: {early!r}")
    return answer


def outcome(future: "Future[T]") -> T | Exception:
    """What the act returned or raised."""
    error = future.exception(timeout=PATIENCE)
    if isinstance(error, Exception):
        return error
    return future.result()
