"""Trying again: calls inside a round, rounds by the ledger's count, and what the other shots do meanwhile."""

import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault, RoundIncomplete, ShotsFailed
from comic_pipeline.model.ledger import SpendLimits
from comic_pipeline.model.task import Task, TaskStatus
from comic_pipeline.work.orders import PostponedError, Verified
from comic_pipeline.work.runner import make_all
from comic_pipeline_tests.builders import later
from comic_pipeline_tests.contracts.work.bench import RULES, Bench, an_order, limited, then
from comic_pipeline_tests.fakes import ScriptedProvider

# Nothing here depends on the kind of database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

# The breaker is wide open: these tests are about the other bounds.
FREE_HAND = replace(RULES, spend=SpendLimits(day=RULES.spend.day, attempts_per_planned=10, attempts=1_000))


def _busy(*, retry_after: float | None = None, code: ErrorCode = ErrorCode.PROVIDER_RATE_LIMIT) -> ProviderFault:
    return ProviderFault(code, "busy", http_status=429, provider_code="RateLimit", retry_after=retry_after)


def test_a_full_error_answer_is_tried_again_as_a_new_attempt(bench: Bench, images: ScriptedProvider) -> None:
    """429, 503, then a file: three attempts, two of them failed at no cost; the waits grow."""
    images.plan("submit", _busy(), ProviderFault(ErrorCode.PROVIDER_ERROR, "broken", http_status=503))
    made = bench.make(an_order(images)).made
    assert [(one.state, one.cost, one.http_status, one.provider_code) for one in bench.attempts()] == [
        ("failed", 0, 429, "RateLimit"),
        ("failed", 0, 503, "PROVIDER_ERROR"),
        ("succeeded", images.price, None, None),
    ]
    assert [sent.at for sent in images.sent] == [later(0), later(0.75), later(2.25)]
    assert (made.cost, bench.task().retry_count) == (images.price, 0)


def test_retry_after_of_a_call_is_honoured(bench: Bench, images: ScriptedProvider) -> None:
    """The provider says when; we are not earlier."""
    images.plan("submit", _busy(retry_after=7))
    bench.make(an_order(images))
    assert [sent.at for sent in images.sent] == [later(0), later(7)]


def test_a_long_retry_after_is_left_to_the_round(bench: Bench, images: ScriptedProvider) -> None:
    """Ten minutes are not waited for inside a call, where they would hold a slot: the ledger keeps the time, longer than 30 s."""
    images.plan("submit", _busy(retry_after=600))
    refused = bench.refused(an_order(images), desk=bench.desk(rules=limited(images, jobs=1)))
    assert isinstance(refused, PostponedError)
    assert (len(images.sent), refused.postponed.not_before, bench.slots()) == (1, later(600), 0)
    assert bench.make(an_order(images)).media.size
    assert images.sent[1].at >= later(600)


def test_rounds_wait_longer_each_time_and_end_with_a_person(bench: Bench, images: ScriptedProvider) -> None:
    """Four calls a round, 30 s, 2 min and 5 min between rounds, each round a new process; then manual_required with the code.

    The count is the ledger's: a new run goes on counting where the last one died.
    """
    images.always("submit", _busy())
    waits = []
    for name in ("w1", "w2", "w3"):
        refused = bench.refused(an_order(images), desk=bench.desk(name, rules=FREE_HAND))
        assert isinstance(refused, PostponedError)
        assert bench.task().status is TaskStatus.RETRYING
        waits.append((refused.postponed.not_before - bench.clock.now()).total_seconds())
    assert waits == [30, 120, 300]
    refused = bench.refused(an_order(images), desk=bench.desk("w4", rules=FREE_HAND))
    assert (refused.code, isinstance(refused, PostponedError)) == (ErrorCode.PROVIDER_RATE_LIMIT, False)
    task = bench.task()
    assert (task.status, task.retry_count, task.error_code) == (TaskStatus.MANUAL_REQUIRED, 3, ErrorCode.PROVIDER_RATE_LIMIT)
    assert (len(images.sent), bench.spent()) == (16, Decimal(0))
    assert bench.refused(an_order(images), desk=bench.desk("w5")).code is ErrorCode.PROVIDER_RATE_LIMIT
    assert len(images.sent) == 16


def test_rounds_of_different_shots_do_not_fall_together(bench: Bench, images: ScriptedProvider) -> None:
    """Up to a tenth more than the delay, so that a crowd that was refused together does not come back together."""
    images.always("submit", _busy())
    desk = replace(bench.desk(), jitter=iter([0.0, 0.0, 0.0, 0.5]).__next__)
    refused = bench.refused(an_order(images), desk=desk)
    assert isinstance(refused, PostponedError)
    assert refused.postponed.not_before == bench.task().not_before
    assert (refused.postponed.not_before - bench.clock.now()).total_seconds() == 30 * 1.05


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.INPUT_INVALID, TaskStatus.FAILED),
        (ErrorCode.PROVIDER_AUTH, TaskStatus.MANUAL_REQUIRED),
        (ErrorCode.PROVIDER_QUOTA, TaskStatus.MANUAL_REQUIRED),
        (ErrorCode.MODERATION_REJECTED, TaskStatus.MANUAL_REQUIRED),
    ],
)
def test_a_permanent_error_is_sent_once(bench: Bench, images: ScriptedProvider, code: ErrorCode, status: TaskStatus) -> None:
    """One create, no second round; it ends where the code says, and only a person's retry opens it again."""
    images.plan("submit", ProviderFault(code, "no", http_status=400, provider_code="No"))
    assert bench.refused(an_order(images)).code is code
    assert (bench.task().status, bench.task().error_code, bench.spent()) == (status, code, Decimal(0))
    assert bench.refused(an_order(images), desk=bench.desk("w2")).code is code
    assert len(images.sent) == 1
    bench.retry()
    assert bench.make(an_order(images), desk=bench.desk("w2")).made.cost == images.price


def test_a_failure_is_a_line_in_the_log_too(bench: Bench, images: ScriptedProvider, caplog: pytest.LogCaptureFixture) -> None:
    """Only successes were: a run's log did not say which shot went again, or why. The vendor's words stay in the ledger."""
    images.plan("submit", _busy(retry_after=3_600), ProviderFault(ErrorCode.PROVIDER_AUTH, "key k-4711 is bad", http_status=401))
    bench.refused(an_order(images, seq=2))
    bench.clock.run(bench.clock.sleep(4_000))
    bench.refused(an_order(images, seq=2))
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.getMessage().startswith("{")]
    assert [(line["event"], line["shot"], line["error"], line["http_status"]) for line in lines] == [
        ("task_retrying", 2, "PROVIDER_RATE_LIMIT", 429),
        ("task_manual_required", 2, "PROVIDER_AUTH", 401),
    ]
    assert {line["project_id"] for line in lines} == {bench.task().project_id}
    assert "4711" not in caplog.text


def test_an_empty_answer_is_tried_again_within_bounds(bench: Bench, images: ScriptedProvider) -> None:
    """EMPTY_RESPONSE (waooAI #113, huobao #45): a bounded retry, the code in the ledger."""
    images.plan("submit", *[ProviderFault(ErrorCode.EMPTY_RESPONSE, "nothing came", http_status=200)] * 4)
    assert bench.refused(an_order(images)).code is ErrorCode.EMPTY_RESPONSE
    assert (len(images.sent), bench.task().error_code) == (4, ErrorCode.EMPTY_RESPONSE)


def test_a_failed_call_is_booked_at_what_it_was_billed(bench: Bench, images: ScriptedProvider) -> None:
    """An answer that was cut at its limit has used its tokens: that is in the books beside the call that succeeded."""
    images.plan("submit", ProviderFault(ErrorCode.PROVIDER_ERROR, "cut at the limit", cost=Decimal("0.1")))
    made = bench.make(an_order(images)).made
    assert [(one.state, one.cost) for one in bench.attempts()] == [("failed", Decimal("0.1")), ("succeeded", images.price)]
    assert made.cost == bench.spent() == images.price + Decimal("0.1")


def test_an_answer_that_is_billed_and_useless_is_bought_twice_a_round_at_most(bench: Bench, images: ScriptedProvider) -> None:
    """A storyboard that is cut at its limit each time cost sixteen calls (4 tries, 4 rounds) before a person was asked."""
    images.plan("submit", *[ProviderFault(ErrorCode.PROVIDER_ERROR, "cut at the limit", cost=Decimal("0.1"))] * 4)
    assert bench.refused(an_order(images)).code is ErrorCode.PROVIDER_ERROR
    assert (len(images.sent), bench.spent()) == (2, Decimal("0.2"))


def test_finished_shots_come_back_free_while_one_goes_again(bench: Bench, images: ScriptedProvider) -> None:
    """TheoremExplainAgent #8, Pixelle #54: scene 3 of 5 fails once; the others are kept, only that one is made again."""
    orders = [an_order(images, f"scene {seq}", seq=seq) for seq in range(5)]

    def third() -> ProviderFault | None:
        return _busy() if images.sent[-1].wish.words == "scene 2" else None

    images.always("submit", third)
    first = bench.clock.run(make_all(bench.desk(), orders, at_once=1))
    assert [one.seq for one in first.delivered] == [0, 1, 3, 4]
    with pytest.raises(RoundIncomplete) as incomplete:
        first.settle(now=bench.clock.now())
    assert incomplete.value.code is ErrorCode.PROVIDER_RATE_LIMIT
    assert "shot 2" in incomplete.value.detail
    assert 0 < incomplete.value.delay <= 30
    images.always("submit", None)
    second = bench.clock.run(make_all(bench.desk("w2"), orders)).settle(now=bench.clock.now())
    assert [one.made.reused for one in second] == [True, True, False, True, True]
    words = [sent.wish.words for sent in images.sent]
    assert [words.count(f"scene {seq}") for seq in range(5)] == [1, 1, 5, 1, 1]
    assert bench.spent() == 5 * images.price


def test_one_rejected_shot_of_five_is_named_and_the_others_are_made(bench: Bench, images: ScriptedProvider) -> None:
    """As in openstory #881, workflow_templates #822: never "completed" with a hole in it; the shot and its own code are said."""
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(5)]

    def filtered() -> ProviderFault | None:
        rejected = ProviderFault(ErrorCode.MODERATION_REJECTED, "sensitive", http_status=400)
        return rejected if images.sent[-1].wish.words == "shot 3" else None

    images.always("submit", filtered)
    finished = bench.clock.run(make_all(bench.desk(), orders, at_once=1))
    assert [one.seq for one in finished.delivered] == [0, 1, 2, 4]
    with pytest.raises(ShotsFailed, match="shot 3: MODERATION_REJECTED sensitive") as failed:
        finished.settle(now=bench.clock.now())
    assert failed.value.code is ErrorCode.MODERATION_REJECTED
    assert (len(images.sent), bench.spent()) == (5, 4 * images.price)


def test_a_shot_that_its_provider_cannot_accept_is_named_and_the_others_are_made(bench: Bench, images: ScriptedProvider) -> None:
    """As in huobao #22: refused before spend, with its shot; it does not take the whole stage with it."""
    images.unacceptable.add("too small")
    orders = [an_order(images, "cat", seq=0), an_order(images, "too small", seq=1), an_order(images, "dog", seq=2)]
    finished = bench.clock.run(make_all(bench.desk(), orders))
    assert [one.seq for one in finished.delivered] == [0, 2]
    assert [(one.seq, one.code) for one in finished.failures] == [(1, ErrorCode.INPUT_INVALID)]
    assert sorted(sent.wish.words for sent in images.sent) == ["cat", "dog"]


def test_a_burst_against_a_rate_limit_is_made_in_the_end(bench: Bench, images: ScriptedProvider) -> None:
    """MoneyPrinterV2 #266, presenton #763: ten shots, two a second, one answer with Retry-After: 3; all ten in one round."""
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(10)]
    images.plan("submit", None, None, None, _busy(retry_after=3))
    finished = bench.clock.run(make_all(bench.desk(rules=limited(images, jobs=10, qps=2)), orders))
    assert (len(finished.delivered), len(images.sent)) == (10, 11)
    times = sorted(sent.at for sent in images.sent)
    assert all((after - before).total_seconds() >= 0.5 for before, after in pairwise(times))


def test_at_once_is_never_exceeded(bench: Bench, images: ScriptedProvider) -> None:
    """At most four image tasks of a project at a time."""
    images.always("submit", lambda: bench.clock.sleep(5))
    orders = [an_order(images, f"shot {seq}", seq=seq) for seq in range(10)]
    assert len(bench.clock.run(make_all(bench.desk(), orders, at_once=4)).delivered) == 10
    assert images.most_at_once == 4


def test_no_orders_are_no_work(bench: Bench) -> None:
    """A film without spoken words has no voices to make."""
    assert bench.clock.run(make_all(bench.desk(), [])).settle(now=bench.clock.now()) == ()


def test_a_defect_says_its_own_name_and_leaves_the_tasks_free(bench: Bench, videos: ScriptedProvider) -> None:
    """An error that is not ours stops the round; the jobs under way are kept for the next one, and no lease is left behind."""

    def broken(_: bytes) -> Verified:
        raise ZeroDivisionError("a defect")

    orders = [an_order(videos, "cat", seq=0, verify=broken), an_order(videos, "dog", seq=1)]
    videos.plan("poll", lambda: bench.clock.sleep(1), lambda: bench.clock.sleep(1_000))
    with pytest.raises(ZeroDivisionError, match="a defect"):
        bench.clock.run(make_all(bench.desk(), orders))
    assert [task.lease_owner for task in bench.tasks()] == [None, None]
    orders = [an_order(videos, "cat", seq=0), an_order(videos, "dog", seq=1)]
    assert len(bench.clock.run(make_all(bench.desk("w2"), orders)).delivered) == 2
    assert len(videos.sent) == 2


def test_all_orders_are_on_the_list_before_the_first_is_made(bench: Bench, images: ScriptedProvider) -> None:
    """Progress and the breaker count what is planned: a film of three shots is no film of one while its first is made."""
    seen: list[Task] = []
    images.plan("submit", then(lambda: seen.extend(bench.tasks()), _busy()))
    orders = [an_order(images, str(seq), seq=seq) for seq in range(3)]
    bench.clock.run(make_all(bench.desk(), orders, at_once=1)).settle(now=bench.clock.now())
    assert [(task.shot_seq, task.status) for task in seen] == [
        (0, TaskStatus.RUNNING),
        (1, TaskStatus.PENDING),
        (2, TaskStatus.PENDING),
    ]
