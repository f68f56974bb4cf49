"""What a stopped run leaves behind is found by its project, and what is written about one task is written about no other.

When it is looked at, and what follows, is tested with the reconciler (`test_upkeep.py`).
"""

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.retry import JOB_LIFE
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.store import attempts, ledger, leftovers
from comic_pipeline.store.database import Connection, Database
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_project, begin_project
from comic_pipeline_tests.contracts.store.acts import begin, claimed

# When providers are about to forget what was created at NOW.
LATE = NOW + JOB_LIFE


@pytest.fixture
def tasks(database: Database) -> tuple[Task, Task, Task]:
    """Two tasks of p1 and one of p2, each with a job at its provider that nobody follows any more."""
    with database.write() as connection:
        workers = {name: begin_project(connection, a_project(name, user_id=name), worker=name) for name in ("p1", "p2")}
        made = [claimed(connection, a_frame(name, seq=seq), workers[name]) for name, seq in (("p1", 0), ("p1", 1), ("p2", 0))]
        for task in made:
            attempt = begin(connection, task, worker=workers[task.project_id])
            attempts.mark_submitted(connection, attempt, request_id=f"job-{task.task_id}")
        first, sibling, stranger = (ledger.get(connection, task.task_id) for task in made)
    return first, sibling, stranger


def _standing(connection: Connection, *of: Task) -> list[tuple[Task, list[Attempt]]]:
    return [(ledger.get(connection, task.task_id), attempts.of_task(connection, task.task_id)) for task in of]


def test_a_project_is_asked_about_its_own(database: Database, tasks: tuple[Task, Task, Task]) -> None:
    """Not before the leases have run out; jobs only when their providers are about to forget them."""
    first, sibling, stranger = tasks
    with database.read() as connection:
        assert leftovers.of_project(connection, "p1", now=NOW) == leftovers.overdue(connection, "p1", now=NOW) == []
        for look in (leftovers.of_project, leftovers.overdue):
            assert {task.task_id for task in look(connection, "p1", now=LATE)} == {first.task_id, sibling.task_id}
            assert [task.task_id for task in look(connection, "p2", now=LATE)] == [stranger.task_id]


def test_a_job_is_written_off_alone(database: Database, tasks: tuple[Task, Task, Task]) -> None:
    """What others have at their providers may still come, and stays open with its reservation."""
    first, *others = tasks
    with database.write() as connection:
        before = _standing(connection, *others)
        leftovers.write_off(connection, first.task_id, now=LATE)
        ((task, (attempt,)),) = _standing(connection, first)
        assert (attempt.state, attempt.cost, attempt.finished_at) == (AttemptState.UNKNOWN, attempt.estimate, LATE)
        assert (task.status, task.cost_actual) == (TaskStatus.RUNNING, attempt.estimate)
        assert _standing(connection, *others) == before


def test_a_task_is_reopened_and_ended_alone(database: Database, tasks: tuple[Task, Task, Task]) -> None:
    """Reopened, it is free for a settle round and has time; ended, it says why. Nobody else loses a lease or a deadline."""
    first, *others = tasks
    with database.write() as connection:
        before = _standing(connection, *others)
        leftovers.reopen(connection, first.task_id)
        task = ledger.get(connection, first.task_id)
        assert (task.status, task.lease_owner, task.deadline_at) == (TaskStatus.RUNNING, None, None)
        leftovers.end(
            connection, first.task_id, status=TaskStatus.FAILED, code=ErrorCode.TASK_TIMEOUT, message="too late", now=LATE
        )
        task = ledger.get(connection, first.task_id)
        assert (task.status, task.error_code, task.error_message) == (TaskStatus.FAILED, ErrorCode.TASK_TIMEOUT, "too late")
        assert (task.finished_at, task.cancelled_at) == (LATE, None)
        assert _standing(connection, *others) == before


def test_what_was_finished_meanwhile_is_neither_reopened_nor_ended(database: Database, tasks: tuple[Task, Task, Task]) -> None:
    """A run that was thought dead stored its result between the look and the write: it is paid and stays a success."""
    first, *_ = tasks
    with database.write() as connection:
        done = ledger.succeed(connection, first.task_id, a_picture(), now=LATE)
        leftovers.reopen(connection, first.task_id)
        leftovers.end(connection, first.task_id, status=TaskStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=LATE)
        assert ledger.get(connection, first.task_id) == done
