"""Claiming and ending tasks: one worker at a time, one row for one input, no paid result lost."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.ledger import Claim, Claimed, Ended, Finished, Held, NewTask, NotYet
from comic_pipeline.model.task import AttemptState, Task, TaskStatus, TaskType
from comic_pipeline.store import attempts, cancelling, ledger, projects
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_project, a_worker, begin_project, later
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.contracts.store.racing import raced


@pytest.fixture
def started(database: Database) -> Database:
    """A database in which worker w1 owns the running frames of project p1."""
    with database.write() as connection:
        begin_project(connection, a_project())
    return database


def _claim(database: Database, worker: str, at: datetime = NOW, words: str = "a cat") -> Claim:
    with database.write() as connection:
        return ledger.claim(connection, a_frame(words=words), a_worker(worker), now=at)


def test_a_new_input_is_claimed_with_a_lease_and_a_deadline(started: Database) -> None:
    """The first claim makes the row, running, with nothing to go on from."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    assert claim.last is None
    task = claim.task
    assert (task.status, task.lease_owner, task.run_id) == (TaskStatus.RUNNING, "w1", "run-w1")
    assert (task.lease_expires_at, task.deadline_at, task.started_at) == (later(60), later(600), NOW)
    assert (task.cost_estimate, task.input_hash, task.retry_count) == (a_frame().estimate, a_frame().input_hash, 0)


def test_a_wanted_task_waits_until_it_is_claimed(started: Database) -> None:
    """Wanting it twice makes one pending row; claiming it starts that row and no other."""
    with started.write() as connection:
        ledger.want(connection, a_frame(), now=NOW)
        ledger.want(connection, a_frame(), now=later(1))
        (wanted,) = ledger.of_project(connection, "p1")
        assert (wanted.status, wanted.created_at, wanted.started_at) == (TaskStatus.PENDING, NOW, None)
    claim = _claim(started, "w1", later(2))
    assert isinstance(claim, Claimed)
    assert claim.task.task_id == wanted.task_id


def test_a_task_of_a_live_worker_is_held(started: Database) -> None:
    """Another worker learns until when to wait; the holder itself may claim again (an op retry in the same process)."""
    _claim(started, "w1")
    assert _claim(started, "w2", later(59.9)) == Held(later(60))
    assert isinstance(_claim(started, "w1", later(30)), Claimed)


def test_a_dead_lease_is_taken_over_with_its_attempt(started: Database) -> None:
    """From the moment of expiry on the task goes to whoever comes, who gets the attempt in flight to go on from."""
    with started.write() as connection:
        task = claimed(connection, a_frame(), a_worker())
        attempt = attempts.mark_submitted(connection, begin(connection, task), request_id="job-1")
    claim = _claim(started, "w2", later(60))
    assert isinstance(claim, Claimed)
    assert claim.last == attempt
    assert (claim.task.lease_owner, claim.task.provider_request_id) == ("w2", "job-1")


def test_a_renewed_lease_keeps_others_out(started: Database) -> None:
    """Renewing moves the end; once taken over, the old worker's renewal says False and changes nothing."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    task_id = claim.task.task_id
    with started.write() as connection:
        assert ledger.renew_lease(connection, task_id, a_worker("w1"), now=later(50))
    assert _claim(started, "w2", later(100)) == Held(later(110))
    assert isinstance(_claim(started, "w2", later(110)), Claimed)
    with started.write() as connection:
        assert not ledger.renew_lease(connection, task_id, a_worker("w1"), now=later(111))
        assert ledger.get(connection, task_id).lease_expires_at == later(170)


def test_tasks_are_listed_as_they_were_wanted(started: Database) -> None:
    """By time, those of one moment by shot; the shots of a project are its own."""
    with started.write() as connection:
        begin_project(connection, a_project("p2", user_id="u2"))
        for project, seq, at in (("p1", 7, 0), ("p1", 3, 5), ("p1", None, 5), ("p1", 1, 5), ("p1", 7, 9), ("p2", 4, 0)):
            ledger.want(connection, a_frame(project, seq=seq, words=str(at)), now=later(at))
        assert [task.shot_seq for task in ledger.of_project(connection, "p1") if task.shot_seq is not None] == [7, 1, 3, 7]
        assert ledger.shots(connection, "p1") == [1, 3, 7]


def test_a_finished_input_is_free(started: Database) -> None:
    """Asked for again, by anybody: the stored output, no claim, no new row. Other words are other work."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    with started.write() as connection:
        done = ledger.succeed(connection, claim.task.task_id, a_picture(), now=later(5))
    assert _claim(started, "w2", later(9)) == Finished(done)
    assert (done.status, done.output, done.finished_at, done.lease_owner) == (TaskStatus.SUCCESS, a_picture(), later(5), None)
    assert isinstance(_claim(started, "w2", later(9), words="a dog"), Claimed)


def test_a_postponed_task_waits_for_its_time(started: Database) -> None:
    """Before `not_before`: NotYet. From then on: claimed for a new round, with a new deadline and the count one up."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    with started.write() as connection:
        ledger.postpone(connection, claim.task.task_id, code=ErrorCode.PROVIDER_RATE_LIMIT, message="busy", not_before=later(30))
    assert _claim(started, "w2", later(29)) == NotYet(later(30))
    again = _claim(started, "w2", later(30))
    assert isinstance(again, Claimed)
    task = again.task
    assert (task.retry_count, task.deadline_at, task.not_before, task.started_at) == (1, later(630), None, NOW)


def test_the_deadline_is_kept_when_work_is_resumed(started: Database) -> None:
    """A worker that dies again and again must not get a fresh deadline each time, or a stuck job would be polled for ever."""
    _claim(started, "w1")
    taken = _claim(started, "w2", later(100))
    assert isinstance(taken, Claimed)
    assert taken.task.deadline_at == later(600)


@pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.MANUAL_REQUIRED])
def test_an_ended_task_is_opened_only_by_a_retry(started: Database, status: TaskStatus) -> None:
    """Claims give Ended, whoever asks, until a person's retry renews it with a fresh allowance and a fresh deadline."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    with started.write() as connection:
        ledger.end(connection, claim.task.task_id, status=status, code=ErrorCode.CANCELLED, message="why", now=later(1))
        ended = ledger.get(connection, claim.task.task_id)
    assert _claim(started, "w1", later(2)) == Ended(ended)
    assert (ended.error_message, ended.finished_at, ended.lease_owner) == ("why", later(1), None)
    assert ended.cancelled_at == (later(1) if status is TaskStatus.CANCELLED else None)
    with started.write() as connection:
        assert ledger.renew(connection, "p1", (TaskType.CLIP,)) == 0
        assert ledger.renew(connection, "p1", (TaskType.FRAME_IMAGE,)) == 1
    again = _claim(started, "w1", later(1_000))
    assert isinstance(again, Claimed)
    assert (again.task.deadline_at, again.task.retry_count, again.task.error_code) == (later(1_600), 0, None)
    assert (again.task.error_message, again.task.cancelled_at, again.task.finished_at) == (None, None, None)


def test_what_has_ended_or_goes_on_is_left_as_it_is(started: Database) -> None:
    """A late word about a finished task changes nothing, and a person's decision finds nothing to renew while one is at work."""
    with started.write() as connection:
        task = claimed(connection, a_frame(), a_worker())
        assert not ledger.renew_one(connection, task.task_id, note="again")
        assert ledger.get(connection, task.task_id) == task
        done = ledger.succeed(connection, task.task_id, a_picture(), now=later(1))
        ledger.end(connection, task.task_id, status=TaskStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=later(2))
        ledger.postpone(connection, task.task_id, code=ErrorCode.PROVIDER_ERROR, message="", not_before=later(9))
        assert not ledger.renew_one(connection, task.task_id, note="again")
        assert ledger.get(connection, task.task_id) == done
        failed = claimed(connection, a_frame(seq=1), a_worker())
        ledger.end(connection, failed.task_id, status=TaskStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=later(2))
        assert ledger.renew_one(connection, failed.task_id, note="again")
        renewed = ledger.get(connection, failed.task_id)
        assert (renewed.status, renewed.error_message) == (TaskStatus.PENDING, "again")
        assert ledger.get(connection, task.task_id) == done


def test_racing_workers_get_one_claim(started: Database) -> None:
    """Four workers, one input, one moment: exactly one Claimed, the others are told to wait, one row."""
    outcomes = raced([partial(_claim, started, name) for name in ("w1", "w2", "w3", "w4")])
    assert sum(isinstance(outcome, Claimed) for outcome in outcomes) == 1, outcomes
    assert [outcome for outcome in outcomes if not isinstance(outcome, Claimed)] == [Held(later(60))] * 3
    with started.read() as connection:
        assert len(ledger.of_project(connection, "p1")) == 1


def test_racing_workers_get_one_claim_of_a_dead_lease(started: Database) -> None:
    """The same when a lease has expired: two rescuers, one takes over."""
    _claim(started, "w1")
    outcomes = raced([partial(_claim, started, name, later(60)) for name in ("w2", "w3")])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Claimed", "Held"]


def test_a_task_put_back_need_not_wait_for_its_lease(started: Database) -> None:
    """A stopped run lets go; only the owner can. The next one goes on under the old deadline."""
    claim = _claim(started, "w1")
    assert isinstance(claim, Claimed)
    with started.write() as connection:
        ledger.put_back(connection, claim.task.task_id, a_worker("w2"))
    assert _claim(started, "w2", later(1)) == Held(later(60))
    with started.write() as connection:
        ledger.put_back(connection, claim.task.task_id, a_worker("w1"))
    taken = _claim(started, "w2", later(1))
    assert isinstance(taken, Claimed)
    assert taken.task.deadline_at == later(600)


def test_a_worker_of_many_shots_holds_and_lets_go_of_each(started: Database) -> None:
    """One shot's end, or its longer life, is not the others': they would be taken over in the middle, or held by nobody."""
    with started.write() as connection:
        first, second = (claimed(connection, a_frame(seq=seq), a_worker()) for seq in (0, 1))
        assert ledger.renew_lease(connection, first.task_id, a_worker(), now=later(30))
        assert ledger.get(connection, second.task_id) == second
        ledger.put_back(connection, first.task_id, a_worker())
        assert ledger.get(connection, first.task_id).lease_owner is None
        assert ledger.get(connection, second.task_id) == second


def test_leases_of_an_ended_run_are_dropped(started: Database) -> None:
    """Once Dagster says that a run is over its tasks are free; those of other runs are not."""
    _claim(started, "w1")
    _claim(started, "w2", words="a dog")
    with started.write() as connection:
        ledger.drop_leases(connection, "run-w1")
    assert isinstance(_claim(started, "w3", later(1)), Claimed)
    assert _claim(started, "w3", later(1), words="a dog") == Held(later(60))


def _cancel(connection: Connection) -> None:
    projects.request_cancel(connection, "p1", reason="enough", now=later(10))
    cancelling.cancel_project(connection, "p1", reason="enough", now=later(10))


def test_cancel_ends_what_has_not_begun_and_flags_what_runs(started: Database) -> None:
    """Pending and waiting work is cancelled at once, running work carries the flag, finished work stays finished."""
    with started.write() as connection:
        ledger.want(connection, a_frame(words="pending"), now=NOW)
        running = claimed(connection, a_frame(words="running"), a_worker())
        waiting = claimed(connection, a_frame(words="waiting"), a_worker())
        ledger.postpone(connection, waiting.task_id, code=ErrorCode.PROVIDER_ERROR, message="", not_before=later(99))
        done = claimed(connection, a_frame(words="done"), a_worker())
        ledger.succeed(connection, done.task_id, a_picture(), now=NOW)
        _cancel(connection)
        states = {task.input_json: task for task in ledger.of_project(connection, "p1")}

    def state(words: str) -> tuple[TaskStatus, bool, datetime | None]:
        task = states[a_frame(words=words).input_json]
        return task.status, task.cancel_requested, task.cancelled_at

    ended = states[a_frame(words="waiting").input_json]
    assert (ended.error_code, ended.error_message, ended.not_before) == (ErrorCode.CANCELLED, "enough", None)
    assert state("pending") == (TaskStatus.CANCELLED, True, later(10))
    assert state("waiting") == (TaskStatus.CANCELLED, True, later(10))
    assert state("running") == (TaskStatus.RUNNING, True, None)
    assert state("done") == (TaskStatus.SUCCESS, False, None)
    assert running.status is TaskStatus.RUNNING


def test_a_retry_after_a_cancel_takes_the_flag_back_from_killed_work(started: Database) -> None:
    """Cancel, then the run is killed: its task still says running and flagged. A retry must not be cancelled by that old flag."""
    with started.write() as connection:
        claimed(connection, a_frame(), a_worker())
        _cancel(connection)
    with started.write() as connection:
        ledger.renew(connection, "p1", (TaskType.FRAME_IMAGE,))
    claim = _claim(started, "w2", later(1_000))
    assert isinstance(claim, Claimed)
    assert not claim.task.cancel_requested
    assert (claim.task.deadline_at, claim.task.cancel_reason) == (later(1_600), None)


def test_a_retry_renews_one_project_and_the_work_it_is_about(started: Database) -> None:
    """What failed of another project, or of another kind, waits for a retry of its own."""
    with started.write() as connection:
        begin_project(connection, a_project("p2", user_id="u2"))
        kinds = (a_frame(), a_frame(task_type=TaskType.CLIP), a_frame("p2"))
        failed = [claimed(connection, new, a_worker()) for new in kinds]
        for task in failed:
            ledger.end(connection, task.task_id, status=TaskStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=NOW)
        assert ledger.renew(connection, "p1", (TaskType.FRAME_IMAGE,)) == 1
        assert [ledger.get(connection, task.task_id).status for task in failed] == ["pending", "failed", "failed"]


def test_a_retry_takes_no_cancel_back_that_was_asked_of_others(started: Database) -> None:
    """Work under way in another project, or of another kind, keeps its flag and its deadline."""
    with started.write() as connection:
        begin_project(connection, a_project("p2", user_id="u2"))
        for new in (a_frame(), a_frame(task_type=TaskType.CLIP), a_frame("p2")):
            task = claimed(connection, new, a_worker())
            cancelling.cancel_task(connection, task.task_id, reason="enough", now=later(10))
        ledger.renew(connection, "p1", (TaskType.FRAME_IMAGE,))
        standing = [*ledger.of_project(connection, "p1"), *ledger.of_project(connection, "p2")]
    kept = {(task.project_id, task.task_type) for task in standing if task.cancel_requested and task.deadline_at == later(600)}
    assert kept == {("p1", TaskType.CLIP), ("p2", TaskType.FRAME_IMAGE)}


def test_cancel_and_claim_at_once_agree(started: Database) -> None:
    """Either the claim came first and the task is flagged, or the cancel came first and the claim finds it ended."""
    with started.write() as connection:
        ledger.want(connection, a_frame(), now=NOW)

    def cancel() -> None:
        with started.write() as connection:
            _cancel(connection)

    acts: list[Callable[[], object]] = [cancel, lambda: _claim(started, "w1")]
    _, claim = raced(acts)
    with started.read() as connection:
        (task,) = ledger.of_project(connection, "p1")
    assert task.cancel_requested
    assert task.status is (TaskStatus.RUNNING if isinstance(claim, Claimed) else TaskStatus.CANCELLED)


def _result(connection: Connection, task: Task) -> str | None:
    return attempts.of_task(connection, task.task_id)[-1].result


def _paid(connection: Connection) -> Task:
    task = claimed(connection, a_frame(), a_worker())
    cost = a_frame().estimate
    attempts.mark_succeeded(connection, begin(connection, task), cost=cost, result='{"url":"u"}', now=NOW)
    return task


def test_success_books_the_cost_and_forgets_the_links(started: Database) -> None:
    """The sum over all attempts, failed ones with their cost included; signed links do not stay in the database."""
    with started.write() as connection:
        task = claimed(connection, a_frame(), a_worker())
        lost = begin(connection, task)
        attempts.mark_unknown(connection, lost, now=NOW)
        attempts.mark_succeeded(connection, begin(connection, task), cost=lost.estimate, result='{"url":"u"}', now=NOW)
        done = ledger.succeed(connection, task.task_id, a_picture(), now=NOW)
        assert done.cost_actual == 2 * lost.estimate
        assert _result(connection, task) is None


def test_a_late_result_of_cancelled_work_is_kept(started: Database) -> None:
    """Cancelled while the provider was drawing: what arrives is paid, so it is stored as an unused candidate."""
    with started.write() as connection:
        task = _paid(connection)
        ledger.end(connection, task.task_id, status=TaskStatus.CANCELLED, code=ErrorCode.CANCELLED, message="", now=NOW)
        assert ledger.succeed(connection, task.task_id, a_picture(), now=later(1)).status is TaskStatus.SUCCESS


@pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.MANUAL_REQUIRED])
def test_a_result_that_comes_after_the_end_is_not_forgotten(started: Database, status: TaskStatus) -> None:
    """A zombie ended the task meanwhile: success is refused by name, and the paid result stays for the retry."""
    with started.write() as connection:
        task = _paid(connection)
        ledger.end(connection, task.task_id, status=status, code=ErrorCode.TASK_TIMEOUT, message="", now=NOW)
        other = claimed(connection, a_frame(seq=1), a_worker())
        other = ledger.succeed(connection, other.task_id, a_picture("other"), now=NOW)
    with pytest.raises(WorkStopped) as stopped, started.write() as connection:
        ledger.succeed(connection, task.task_id, a_picture(), now=later(1))
    assert stopped.value.code is ErrorCode.CONFLICT
    with started.read() as connection:
        assert _result(connection, task) == '{"url":"u"}'
        assert ledger.get(connection, task.task_id).status is status
        assert ledger.get(connection, other.task_id) == other


def test_a_second_finisher_changes_only_the_cost(started: Database) -> None:
    """Two workers finish the same task: the first output holds, and what the second has paid is in the books."""
    with started.write() as connection:
        task = _paid(connection)
        ledger.succeed(connection, task.task_id, a_picture("first"), now=later(1))
        connection.execute(text("UPDATE attempts SET cost = 5"))
        again = ledger.succeed(connection, task.task_id, a_picture("second"), now=later(2))
    assert (again.output, again.finished_at, again.cost_actual) == (a_picture("first"), later(1), Decimal(5))


def test_success_without_an_output_is_refused(started: Database) -> None:
    """No fake success: the constraint holds it whatever the code does."""
    _claim(started, "w1")
    with pytest.raises(IntegrityError), started.write() as connection:
        connection.execute(text("UPDATE tasks SET status = 'success'"))


def test_an_unknown_task_is_a_lookup_error(database: Database) -> None:
    """Named, not an empty value."""
    with database.read() as connection, pytest.raises(LookupError, match="no task nobody"):
        ledger.get(connection, "nobody")


def test_one_active_task_per_relation(database: Database) -> None:
    """Script-desk work: one active task for one entity; the next one when that has ended. Other entities are not concerned."""

    def portrait(words: str, entity: str = "e1") -> NewTask:
        return a_frame(words=words, relation_type="portrait", relation_entity_id=entity)

    with database.write() as connection:
        ledger.want(connection, portrait("1"), now=NOW)
        ledger.want(connection, portrait("2", "e2"), now=NOW)
        ledger.want(connection, a_frame(words="3"), now=NOW)
        ledger.want(connection, a_frame(words="4"), now=NOW)
    with pytest.raises(IntegrityError), database.write() as connection:
        ledger.want(connection, portrait("5"), now=NOW)
    with database.write() as connection:
        cancelling.cancel_project(connection, "p1", reason="", now=NOW)
        ledger.want(connection, portrait("5"), now=NOW)


def test_the_median_time_is_that_of_finished_tasks_of_type_and_provider(started: Database) -> None:
    """None before the first; one very slow task does not move it; other types and unfinished tasks do not count."""
    with started.write() as connection:
        assert ledger.median_seconds(connection, TaskType.FRAME_IMAGE, "ark_image") is None
        for seconds in (10, 20, 900):
            task = claimed(connection, a_frame(words=str(seconds)), a_worker())
            ledger.succeed(connection, task.task_id, a_picture(), now=later(seconds))
        claimed(connection, a_frame(words="unfinished"), a_worker())
        assert ledger.median_seconds(connection, TaskType.FRAME_IMAGE, "ark_image") == 20
        assert ledger.median_seconds(connection, TaskType.CLIP, "ark_image") is None
        assert ledger.median_seconds(connection, TaskType.FRAME_IMAGE, "other") is None


def test_a_retry_keeps_the_attempts_and_their_costs(started: Database) -> None:
    """A renewed task remembers what it has cost, and goes on from a result that was paid already."""
    with started.write() as connection:
        task = _paid(connection)
        ledger.end(connection, task.task_id, status=TaskStatus.FAILED, code=ErrorCode.STORAGE_FAILED, message="", now=NOW)
        ledger.renew(connection, "p1", (TaskType.FRAME_IMAGE,))
        claim = ledger.claim(connection, a_frame(), a_worker(), now=later(1))
        assert isinstance(claim, Claimed)
        assert claim.last is not None
        assert (claim.last.state, claim.last.result) == (AttemptState.SUCCEEDED, '{"url":"u"}')
        assert attempts.cost_of(connection, task.task_id) == a_frame().estimate
