"""An answer of the wrong shape: one repair round that quotes it, both calls in the books, and then no more."""

import pytest

from comic_pipeline.model.errors import ErrorCode, InvalidAnswer, ProviderFault
from comic_pipeline.model.task import AttemptKind, TaskStatus
from comic_pipeline.work.orders import Order, PostponedError
from comic_pipeline_tests.contracts.work.bench import Bench, an_order, repaired
from comic_pipeline_tests.fakes import Dropped, ScriptedProvider, Wish, delivery

# Nothing here depends on the kind of database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

BUSY = ProviderFault(ErrorCode.PROVIDER_RATE_LIMIT, "busy", http_status=429)


@pytest.fixture
def question(images: ScriptedProvider) -> Order[Wish]:
    """An order whose first answer holds a question; the repair's does not."""
    return an_order(images, "what?", repair=repaired)


def test_a_bad_answer_is_repaired_once(bench: Bench, images: ScriptedProvider, question: Order[Wish]) -> None:
    """As in waooAI #136: the second request quotes answer and problem; two creates, both paid, the second one's file kept."""
    made = bench.make(question)
    assert [sent.wish.words for sent in images.sent] == ["what?", "do not ask not what"]
    assert [(one.kind, one.state, one.cost) for one in bench.attempts()] == [
        (AttemptKind.CREATE, "succeeded", images.price),
        (AttemptKind.REPAIR, "succeeded", images.price),
    ]
    assert made.made.cost == bench.spent() == images.charged == 2 * images.price
    assert bench.objects.get(made.media.key) == delivery("do not ask not what")
    assert images.served == []


def test_a_second_bad_answer_ends_it(bench: Bench, images: ScriptedProvider) -> None:
    """SCRIPT_INVALID after exactly one repair; both costs stay, and a person's retry begins anew."""
    order = an_order(images, "what?", repair=lambda *_: Wish("who?"))
    refused = bench.refused(order)
    assert (type(refused), refused.code) == (InvalidAnswer, ErrorCode.SCRIPT_INVALID)
    assert (bench.task().status, bench.states(), len(images.sent)) == (TaskStatus.FAILED, ["failed", "failed"], 2)
    assert bench.spent() == bench.task().cost_actual == 2 * images.price
    bench.retry()
    bench.refused(order)
    assert [sent.wish.words for sent in images.sent] == ["what?", "who?"] * 2


def test_an_answer_that_nobody_can_repair_ends_it(bench: Bench, images: ScriptedProvider) -> None:
    """An order without a repair: one create."""
    assert bench.refused(an_order(images, "what?")).code is ErrorCode.SCRIPT_INVALID
    assert (len(images.sent), bench.states(), bench.spent()) == (1, ["failed"], images.price)


def test_a_repair_that_has_to_wait_goes_on_as_a_repair(bench: Bench, images: ScriptedProvider, question: Order[Wish]) -> None:
    """The bad answer was paid and is kept: the next round repairs it and does not ask the first question again."""
    images.plan("submit", None, *[BUSY] * 4)
    assert isinstance(bench.refused(question), PostponedError)
    made = bench.make(question, desk=bench.desk("w2"))
    assert [sent.wish.words for sent in images.sent] == ["what?"] + ["do not ask not what"] * 5
    assert made.made.cost == bench.spent() == images.charged == 2 * images.price


def test_a_repair_whose_answer_was_lost_is_booked_and_repeated(
    bench: Bench, images: ScriptedProvider, question: Order[Wish]
) -> None:
    """Three calls were sent and three are in the books; the first question was asked once."""
    images.plan("submit", None, Dropped(accepted=True))
    bench.make(question)
    assert [one.kind for one in bench.attempts()] == [AttemptKind.CREATE, AttemptKind.REPAIR, AttemptKind.REPAIR]
    assert bench.states() == ["succeeded", "unknown", "succeeded"]
    assert bench.spent() == 2 * images.price + images.estimated


def test_a_run_that_died_in_its_repair_goes_on_with_it(bench: Bench, images: ScriptedProvider, question: Order[Wish]) -> None:
    """Killed with the repair on the wire: booked as lost, repaired again; the first answer is still there."""
    images.plan("submit", None, RuntimeError("killed"))
    with pytest.raises(RuntimeError):
        bench.make(question)
    assert bench.states() == ["succeeded", "intent"]
    bench.make(question, desk=bench.desk("w2"))
    assert [sent.wish.words for sent in images.sent] == ["what?", "do not ask not what", "do not ask not what"]
    assert bench.states() == ["succeeded", "unknown", "succeeded"]
