"""Attempts: how one create moves from intent to its end, what it costs, and that nothing is sent twice."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.ledger import Claimed
from comic_pipeline.model.money import cny
from comic_pipeline.model.task import Attempt, AttemptKind, AttemptState, Task
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import attempts as attempt_rows
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_project, a_worker, begin_project, later
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.reckoning import spent_by

ESTIMATE = a_frame().estimate


@pytest.fixture
def task(database: Database) -> Task:
    """A task that worker w1 has claimed."""
    with database.write() as connection:
        worker = begin_project(connection, a_project())
        return claimed(connection, a_frame(), worker)


def test_an_intent_is_written_with_its_reservation(database: Database, task: Task) -> None:
    """All that is needed to find a lost create again is there before the call: where, what, when, for how much."""
    with database.write() as connection:
        attempt = begin(connection, task)
    with database.read() as connection:
        assert attempts.of_task(connection, task.task_id)[-1] == attempt
    assert attempt == Attempt(
        task_id=task.task_id,
        number=1,
        kind=AttemptKind.CREATE,
        provider_id="ark_image",
        provider_base_url="https://ark.example/api/v3",
        provider_request_id=None,
        request_hash="0" * 64,
        state=AttemptState.INTENT,
        http_status=None,
        provider_code=None,
        estimate=ESTIMATE,
        cost=None,
        result=None,
        started_at=NOW,
        finished_at=None,
    )


def test_an_attempt_moves_from_intent_to_submitted_to_succeeded(database: Database, task: Task) -> None:
    """The provider's id is on the attempt and on the task; the result's place and the real cost are written at the end."""
    with database.write() as connection:
        submitted = attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
        assert (submitted.state, submitted.provider_request_id) == (AttemptState.SUBMITTED, "job-1")
        assert ledger.get(connection, task.task_id).provider_request_id == "job-1"
        done = attempts.mark_succeeded(connection, submitted, cost=ESTIMATE * 2, result='{"url":"u"}', now=later(9))
    assert (done.state, done.cost, done.result, done.finished_at) == (
        AttemptState.SUCCEEDED,
        ESTIMATE * 2,
        '{"url":"u"}',
        later(9),
    )
    assert done.provider_request_id == "job-1"


def test_each_task_counts_its_own_creates_and_has_its_own_job(database: Database, task: Task) -> None:
    """The second shot's first create is number one, and the first shot's job id is not on the second shot."""
    with database.write() as connection:
        other = claimed(connection, a_frame(seq=1), a_worker())
        first = attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
        assert ledger.get(connection, other.task_id).provider_request_id is None
        second = attempts.mark_submitted(connection, begin(connection, other), request_id="job-2")
        assert (first.number, second.number) == (1, 1)
        assert ledger.get(connection, task.task_id).provider_request_id == "job-1"
        assert attempts.of_task(connection, task.task_id) == [first]


def test_a_finished_task_books_and_forgets_its_own_creates(database: Database, task: Task) -> None:
    """What the second shot has paid is not the first one's, and where its result lies is still known."""
    with database.write() as connection:
        other = claimed(connection, a_frame(seq=1), a_worker())
        attempts.mark_succeeded(connection, begin(connection, task), cost=cny("0.2"), result="{}", now=NOW)
        waiting = attempts.mark_succeeded(connection, begin(connection, other), cost=cny("0.5"), result="{}", now=NOW)
        assert ledger.succeed(connection, task.task_id, a_picture(), now=NOW).cost_actual == cny("0.2")
        assert attempts.of_task(connection, other.task_id) == [waiting]


def test_a_request_id_of_any_length_is_kept(database: Database, task: Task) -> None:
    """Gateways wrap ids into long tokens; an id that does not fit its column would be a paid job that nobody finds again."""
    with database.write() as connection:
        attempts.mark_submitted(connection, begin(connection, task), request_id="video_" + "x" * 500)
    with database.read() as connection:
        last = attempts.of_task(connection, task.task_id)[-1]
    assert len(last.provider_request_id or "") == 506


def test_an_older_view_of_an_attempt_does_not_erase_its_id(database: Database, task: Task) -> None:
    """The id that the row has wins over the None of a value that was read before the id was written."""
    with database.write() as connection:
        intent = begin(connection, task)
        attempts.mark_submitted(connection, intent, request_id="job-1")
        done = attempts.mark_succeeded(connection, intent, cost=ESTIMATE, result="{}", now=NOW)
    assert done.provider_request_id == "job-1"


def test_a_failed_attempt_costs_nothing_and_an_unusable_delivery_keeps_its_cost(database: Database, task: Task) -> None:
    """No means no charge; what was delivered and paid stays in the books although it cannot be used."""
    with database.write() as connection:
        refused = attempts.mark_failed(
            connection, begin(connection, task), http_status=429, provider_code="x" * 300, now=later(1)
        )
        paid = attempts.mark_succeeded(connection, begin(connection, task), cost=ESTIMATE, result="{}", now=later(2))
        unusable = attempts.mark_failed(connection, paid, http_status=None, provider_code="EMPTY", now=later(3))
        corrected = attempts.mark_succeeded(connection, begin(connection, task), cost=ESTIMATE, result="{}", now=later(4))
        corrected = attempts.mark_failed(
            connection, corrected, http_status=None, provider_code="E", now=later(5), cost=ESTIMATE * 3
        )
        assert (refused.state, refused.cost) == (AttemptState.FAILED, Decimal(0))
        assert (refused.http_status, len(refused.provider_code or "")) == (429, 128)
        assert (unusable.state, unusable.cost, unusable.result) == (AttemptState.FAILED, ESTIMATE, None)
        assert corrected.cost == ESTIMATE * 3
        assert attempts.cost_of(connection, task.task_id) == ESTIMATE * 4
        assert [one.number for one in attempts.of_task(connection, task.task_id)] == [1, 2, 3]


def test_a_lost_attempt_is_booked_at_its_estimate_and_a_released_one_at_nothing(database: Database, task: Task) -> None:
    """Unknown: assume that it was charged. Released: it surely never happened."""
    with database.write() as connection:
        unknown = attempts.mark_unknown(connection, begin(connection, task), now=later(1))
        released = attempts.mark_released(connection, begin(connection, task), now=later(2))
        assert (unknown.state, unknown.cost, unknown.finished_at) == (AttemptState.UNKNOWN, ESTIMATE, later(1))
        assert (released.state, released.cost, released.finished_at) == (AttemptState.RELEASED, Decimal(0), later(2))
        assert spent_by(connection, "p1") == ESTIMATE


@pytest.mark.parametrize("ending", ["failed", "unknown", "released"])
def test_an_ended_attempt_moves_no_more(database: Database, task: Task, ending: str) -> None:
    """A late word about an attempt that was decided is refused by name, and nothing changes."""
    with database.write() as connection:
        attempt = begin(connection, task)
        if ending == "failed":
            attempts.mark_failed(connection, attempt, http_status=500, provider_code="x", now=NOW)
        else:
            {"unknown": attempts.mark_unknown, "released": attempts.mark_released}[ending](connection, attempt, now=NOW)
        before = attempts.of_task(connection, task.task_id)[-1]
    late: list[Callable[[Connection], object]] = [
        lambda c: attempts.mark_submitted(c, attempt, request_id="late"),
        lambda c: attempts.mark_succeeded(c, attempt, cost=ESTIMATE, result="{}", now=NOW),
        lambda c: attempts.mark_failed(c, attempt, http_status=None, provider_code="", now=NOW),
        lambda c: attempts.mark_unknown(c, attempt, now=NOW),
        lambda c: attempts.mark_released(c, attempt, now=NOW),
    ]
    for change in late:
        with pytest.raises(WorkStopped) as stopped, database.write() as connection:
            change(connection)
        assert stopped.value.code is ErrorCode.CONFLICT
    with database.read() as connection:
        assert attempts.of_task(connection, task.task_id)[-1] == before
        assert ledger.get(connection, task.task_id).provider_request_id is None


def test_a_second_create_is_refused_while_one_is_open(database: Database, task: Task) -> None:
    """Never a blind second create: as long as an attempt may still turn out to be paid, the gate is closed."""
    with database.write() as connection:
        first = begin(connection, task)
    steps: list[Callable[[Connection], object]] = [
        lambda _: first,
        lambda c: attempts.mark_submitted(c, first, request_id="job-1"),
    ]
    for step in steps:
        with database.write() as connection:
            step(connection)
        with pytest.raises(WorkStopped, match=r"attempt 1 of task .* is still open"), database.write() as connection:
            begin(connection, task)
    with database.write() as connection:
        attempts.mark_released(connection, first, now=NOW)
        assert begin(connection, task).number == 2


def test_the_database_itself_refuses_a_second_open_attempt(database: Database, task: Task) -> None:
    """The index holds the rule, whatever code writes."""
    with database.write() as connection:
        first = begin(connection, task)
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(attempt_rows.insert().values(**first.model_dump() | {"number": 2}))


def test_states_carry_what_they_promise(database: Database, task: Task) -> None:
    """No `submitted` without an id, no paid state without a cost, no state that is not in the table."""
    with database.write() as connection:
        first = begin(connection, task).model_dump()
    for wrong in ({"state": "submitted"}, {"state": "succeeded"}, {"state": "unknown"}, {"state": "happy"}, {"kind": "guess"}):
        with pytest.raises(IntegrityError), database.write() as connection:
            connection.execute(attempt_rows.update().values(**first | wrong))


def test_a_repair_is_an_attempt_of_its_own(database: Database, task: Task) -> None:
    """After a paid answer of the wrong shape: a second create of kind repair, counted and paid for itself."""
    with database.write() as connection:
        attempts.mark_succeeded(connection, begin(connection, task), cost=ESTIMATE, result="{}", now=NOW)
        repair = begin(connection, task, kind=AttemptKind.REPAIR)
    assert (repair.kind, repair.number) == (AttemptKind.REPAIR, 2)


def test_a_job_has_one_owner_at_its_provider(database: Database, task: Task) -> None:
    """A job in the provider's list that another attempt owns is not a lost one."""
    with database.write() as connection:
        old = attempts.mark_submitted(connection, begin(connection, task, at=later(-100)), request_id="old")
        attempts.mark_failed(connection, old, http_status=None, provider_code="", now=NOW)
        attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
        assert attempts.owned(connection, "ark_image", ["old", "job-1", "job-2"]) == {"old", "job-1"}
        assert attempts.owned(connection, "ark_video", ["old", "job-1"]) == set()
        assert attempts.owned(connection, "ark_image", []) == set()
        assert attempts.owner_of(connection, "ark_image", "job-1") == task.task_id
        assert attempts.owner_of(connection, "ark_video", "job-1") is None


def test_only_what_was_given_up_is_booked_late(database: Database, task: Task) -> None:
    """A job id that comes twice, or after its result, changes nothing in the books."""
    with database.write() as connection:
        attempt = attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
        assert not attempts.book_late(connection, attempt, request_id="job-2")
        attempts.mark_succeeded(connection, attempt, cost=cny("0.2"), result="{}", now=NOW)
        assert not attempts.book_late(connection, attempt, request_id="job-2")
        standing = attempts.get(connection, task.task_id, attempt.number)
    assert (standing.provider_request_id, standing.cost) == ("job-1", cny("0.2"))


def test_a_job_that_came_late_is_booked_on_its_own_create_only(database: Database, task: Task) -> None:
    """Creates of other tasks, and the next one of the same task, that were given up as well stay given up, and free."""
    with database.write() as connection:
        other = claimed(connection, a_frame(seq=1), a_worker())
        given_up = [attempts.mark_released(connection, begin(connection, one), now=NOW) for one in (task, task, other)]
        assert attempts.book_late(connection, given_up[0], request_id="job-1")
        standing = attempts.of_project(connection, "p1")
    booked = [(one.task_id, one.number, one.provider_request_id, one.cost) for one in standing if one.cost]
    assert booked == [(task.task_id, 1, "job-1", ESTIMATE)]


def test_an_attempt_of_no_task_is_refused(database: Database, task: Task) -> None:
    """Every cost belongs to a task."""
    with database.write() as connection:
        first = begin(connection, task)
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(attempt_rows.insert().values(**first.model_dump() | {"task_id": "nobody"}))


def test_the_next_worker_finds_the_last_attempt_only(database: Database, task: Task) -> None:
    """Ids belong to one attempt: a claim after a failure gives the newest attempt, not an older one's id."""
    with database.write() as connection:
        first = attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
        attempts.mark_failed(connection, first, http_status=None, provider_code="expired", now=NOW)
        second = begin(connection, task)
    with database.write() as connection:
        claim = ledger.claim(connection, a_frame(), a_worker("w2"), now=later(60))
    assert isinstance(claim, Claimed)
    assert claim.last == second
    assert claim.last.provider_request_id is None


def test_one_attempt_is_found_by_its_number(database: Database, task: Task) -> None:
    """As it stands in the database, not as the caller remembers it; a number that does not exist is named."""
    with database.write() as connection:
        intent = begin(connection, task)
        submitted = attempts.mark_submitted(connection, intent, request_id="job-1")
        assert attempts.get(connection, task.task_id, 1) == submitted
        with pytest.raises(LookupError, match="no attempt 2"):
            attempts.get(connection, task.task_id, 2)


def test_work_goes_on_from_what_is_open_or_ready(database: Database, task: Task) -> None:
    """An open attempt or a paid result is gone on from, also behind a later failure; where all has ended a create is next."""
    with database.write() as connection:
        assert attempts.unfinished(connection, task.task_id) is None
        intent = begin(connection, task)
        assert attempts.unfinished(connection, task.task_id) == intent
        attempts.mark_unknown(connection, intent, now=NOW)
        assert attempts.unfinished(connection, task.task_id) is None
        ready = attempts.mark_succeeded(connection, begin(connection, task), cost=ESTIMATE, result="{}", now=NOW)
        failed = begin(connection, task, kind=AttemptKind.REPAIR)
        attempts.mark_failed(connection, failed, http_status=500, provider_code="x", now=NOW)
        assert attempts.unfinished(connection, task.task_id) == ready


def test_a_projects_attempts_are_read_together_and_no_others(database: Database, task: Task) -> None:
    """The manifest tells every create of the project, those that failed included, and nobody else's."""
    with database.write() as connection:
        attempts.mark_failed(connection, begin(connection, task), http_status=503, provider_code="Busy", now=NOW)
        begin(connection, task)
        stranger = begin_project(connection, a_project("p2"), worker="w2")
        begin(connection, claimed(connection, a_frame("p2"), stranger), worker=stranger)
    with database.read() as connection:
        of_project = attempts.of_project(connection, "p1")
        assert [one.state for one in of_project] == [AttemptState.FAILED, AttemptState.INTENT]
        assert of_project == attempts.of_task(connection, task.task_id)
