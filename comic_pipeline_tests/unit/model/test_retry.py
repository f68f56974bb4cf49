"""When to try again, as tables."""

import pytest

from comic_pipeline.model.retry import CALL_TRIES, CALL_WAIT_CAP, RoundDecision, call_wait, decide_round

DELAYS = (30.0, 120.0, 300.0)


@pytest.mark.parametrize(
    ("retry_count", "retry_after", "expected"),
    [
        (0, None, RoundDecision(again=True, delay=30.0)),
        (1, None, RoundDecision(again=True, delay=120.0)),
        (2, None, RoundDecision(again=True, delay=300.0)),
        (3, None, RoundDecision(again=False, delay=0.0)),
        (9, None, RoundDecision(again=False, delay=0.0)),
        (0, 10.0, RoundDecision(again=True, delay=30.0)),
        (0, 45.5, RoundDecision(again=True, delay=45.5)),
        (3, 45.5, RoundDecision(again=False, delay=0.0)),
    ],
)
def test_a_task_goes_again_three_times_with_growing_waits(
    retry_count: int, retry_after: float | None, expected: RoundDecision
) -> None:
    """30 s, 2 min, 5 min; a longer Retry-After wins, a shorter one does not; after max_retry it is over."""
    assert decide_round(retry_count=retry_count, max_retry=3, delays=DELAYS, retry_after=retry_after) == expected


def test_the_last_delay_holds_for_further_rounds() -> None:
    """COMIC_MAX_RETRY above the number of delays must not fall off the list."""
    assert decide_round(retry_count=7, max_retry=9, delays=(30.0, 120.0), retry_after=None).delay == 120.0


def test_without_an_allowance_nothing_is_retried() -> None:
    """COMIC_MAX_RETRY=0 means one try."""
    assert not decide_round(retry_count=0, max_retry=0, delays=DELAYS, retry_after=None).again


@pytest.mark.parametrize(("tries", "wait"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, CALL_WAIT_CAP), (30, CALL_WAIT_CAP)])
def test_waits_of_one_call_double_up_to_a_cap(tries: int, wait: float) -> None:
    """The middle of the jitter is the plain value; the ends are a quarter less and a quarter more."""
    assert call_wait(tries, retry_after=None, jitter=lambda: 0.5) == wait
    assert call_wait(tries, retry_after=None, jitter=lambda: 0.0) == pytest.approx(0.75 * wait)
    assert call_wait(tries, retry_after=None, jitter=lambda: 0.999) < 1.25 * wait


def test_the_provider_may_ask_for_a_longer_wait_than_the_cap() -> None:
    """Retry-After of a minute is obeyed: calling earlier would be refused again."""
    assert call_wait(1, retry_after=60.0, jitter=lambda: 0.5) == 60.0
    assert call_wait(3, retry_after=0.1, jitter=lambda: 0.5) == 4.0


def test_all_tries_of_a_call_fit_well_into_the_shortest_deadline() -> None:
    """The waits of one call must leave most of a text task's three minutes."""
    assert sum(call_wait(tries, retry_after=None, jitter=lambda: 0.999) for tries in range(1, CALL_TRIES)) < 30
