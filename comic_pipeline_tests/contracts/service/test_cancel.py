"""`cancel`: at once when nothing runs, at the next checkpoint when something does, once."""

from collections.abc import Callable

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import (
    ALLOWED_FROM,
    OPEN_STAGE_STATUSES,
    PRODUCTION,
    ProjectState,
    StageStatus,
    SubmissionKind,
)
from comic_pipeline.store import projects, stages
from comic_pipeline_tests.builders import a_project, later
from comic_pipeline_tests.contracts.service.door import Door, answer_of
from comic_pipeline_tests.contracts.store.racing import raced

CANCEL = SubmissionKind.CANCEL
STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION


def test_a_project_that_nothing_works_on_is_cancelled_at_once(door: Door) -> None:
    """Requested rounds end, waiting tasks end, all columns are written, the wording says so in both languages."""
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED, FRAMES: StageStatus.REQUESTED, VOICES: StageStatus.REQUESTED})
    for status in (TaskStatus.PENDING, TaskStatus.RETRYING):
        door.add_task("p1", FRAMES if status is TaskStatus.PENDING else VOICES, status)
    door.wait(5)
    answer = answer_of(door.ask(CANCEL, {"reason": "变卦了"}, project="p1"))
    assert (answer.status, answer.effective_immediately, answer.running_at_provider) == ("CANCELLED", True, ())
    assert (answer.message_zh, answer.message_en) == ("已取消", "cancelled")
    project = door.project()
    assert (project.status, project.cancel_requested, project.cancel_reason) == ("CANCELLED", True, "变卦了")
    assert project.cancel_requested_at == project.cancelled_at == project.finished_at == door.now
    assert (project.error_code, project.error_message) == (ErrorCode.CANCELLED, "变卦了")
    assert [row.status for row in door.rounds().values()] == ["passed", "cancelled", "cancelled"]
    assert [task.status for task in door.tasks()] == ["success", "cancelled", "cancelled"]
    for task in door.tasks()[1:]:
        assert (task.cancel_requested, task.cancel_reason, task.cancelled_at) == (True, "变卦了", door.now)


@pytest.mark.parametrize("status", [StageStatus.QUEUED, StageStatus.RUNNING])
def test_work_under_way_ends_at_its_next_checkpoint(door: Door, status: StageStatus) -> None:
    """The flag is up, the state stays, what has not begun ends, and the wording says what will happen."""
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED, FRAMES: status, VOICES: StageStatus.REQUESTED})
    door.add_task("p1", CLIPS, TaskStatus.PENDING)
    answer = answer_of(door.ask(CANCEL, project="p1"))
    assert (answer.status, answer.effective_immediately) == ("IMAGE", False)
    assert answer.message_zh == "已请求取消，系统会在当前步骤结束后停止"
    assert answer.message_en == "cancel requested: work stops after the current step"
    project, rounds = door.project(), door.rounds()
    assert (project.status, project.cancel_requested, project.cancelled_at, project.finished_at) == ("IMAGE", True, None, None)
    assert project.cancel_reason == "cancelled by user-1"
    assert (rounds[FRAMES].status, rounds[VOICES].status) == (status, StageStatus.CANCELLED)
    expected = [TaskStatus.SUCCESS, *([TaskStatus.RUNNING] if status is StageStatus.RUNNING else []), TaskStatus.CANCELLED]
    assert [task.status for task in door.tasks()] == expected
    assert all(task.cancel_requested for task in door.tasks() if task.status is not TaskStatus.SUCCESS)


def test_jobs_at_the_provider_are_named(door: Door) -> None:
    """They are left to finish and paid for: the caller is told which."""
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED, FRAMES: StageStatus.RUNNING, VOICES: StageStatus.RUNNING})
    written, drawing, speaking = door.tasks()
    door.submitted_at_provider(written, "cgt-0")
    door.submitted_at_provider(drawing, "cgt-1")
    answer = answer_of(door.ask(CANCEL, project="p1"))
    # The one that has ended is not: nothing of it is under way.
    assert answer.running_at_provider == (drawing.task_id,)
    assert speaking.task_id not in answer.running_at_provider


def test_a_second_cancel_changes_nothing(door: Door) -> None:
    """The first reason and time stay, while it is pending and after it took effect; the answer is the same."""
    door.put(a_project(), {STORYBOARD: StageStatus.RUNNING})
    first = door.ask(CANCEL, {"reason": "first"}, project="p1")
    before = (door.project(), door.rounds(), door.tasks())
    door.wait(60)
    second = door.ask(CANCEL, {"reason": "second"}, project="p1")
    assert answer_of(second) == answer_of(first)
    assert (door.project(), door.rounds(), door.tasks()) == before
    assert before[0].cancel_reason == "first"


def test_a_second_cancel_that_finds_the_work_ended_keeps_the_first_reason(door: Door) -> None:
    """The run has stopped, no pass has looked yet: the project ends now, for the reason that was given first."""
    door.put(a_project(), {STORYBOARD: StageStatus.QUEUED})
    door.ask(CANCEL, {"reason": "first"}, project="p1")
    with door.database.write() as connection:
        stages.end(connection, door.rounds()[STORYBOARD].id, status=StageStatus.CANCELLED, code=None, message="", now=door.now)
    answer = answer_of(door.ask(CANCEL, {"reason": "second"}, project="p1"))
    assert answer.effective_immediately is True
    assert (door.project().cancel_reason, door.project().error_message) == ("first", "first")


def test_cancelling_what_is_cancelled_is_answered_the_same(door: Door) -> None:
    """A caller whose first answer was lost gets it again, not a conflict."""
    door.put(a_project(), {})
    first = answer_of(door.ask(CANCEL, {"reason": "first"}, project="p1"))
    project = door.project()
    door.wait(60)
    assert answer_of(door.ask(CANCEL, {"reason": "second"}, project="p1")) == first
    assert door.project() == project


def test_only_the_states_of_the_table_allow_it(door: Door) -> None:
    """CONFLICT with the state for what has ended; CANCELLED is answered again."""
    for state in ProjectState:
        door.put(a_project(state, status=state), {})
        asked = door.ask(CANCEL, project=state)
        project = door.project(state)
        if state in ALLOWED_FROM[CANCEL] or state is ProjectState.CANCELLED:
            assert (answer_of(asked).status, project.status) == ("CANCELLED", "CANCELLED")
            continue
        assert (asked.status, asked.error_code) == ("rejected", ErrorCode.CONFLICT)
        assert f"{state} is {state}" in (asked.error_message or "")
        assert (project.status, project.cancel_requested) == (state, False)


@pytest.mark.parametrize("payload", ["[]", '{"reason": 7}', '{"why": "x"}', '{"reason": "a\\u0000b"}', '{"force": "maybe"}'])
def test_a_bad_cancel_changes_nothing(door: Door, payload: str) -> None:
    """A misspelt field is not a cancel without a reason."""
    door.put(a_project(), {})
    refused = door.ask(CANCEL, payload, project="p1")
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.INPUT_INVALID)
    assert not door.project().cancel_requested


def test_a_long_reason_is_kept_as_far_as_its_column_goes(door: Door) -> None:
    """The column has 255; the rest is not worth a refusal, and Postgres must not fail on it."""
    door.put(a_project(), {STORYBOARD: StageStatus.RUNNING})
    door.ask(CANCEL, {"reason": "因" * 2_000}, project="p1")
    assert door.project().cancel_reason == "因" * 255


def test_a_cancel_and_the_end_of_production_at_once(door: Door) -> None:
    """The answer says what became of the project: never CANCELLED for one that is waiting for its review."""
    door.put(a_project(status=ProjectState.COMPOSE, created_at=later(-9)), dict.fromkeys(PRODUCTION, StageStatus.PASSED))

    def finish() -> bool:
        with door.database.write() as connection:
            return projects.move(
                connection, "p1", old=[ProjectState.COMPOSE], new=ProjectState.PENDING_REVIEW, now=door.now, finished_at=door.now
            )

    acts: list[Callable[[], bool | Submission]] = [finish, lambda: door.ask(CANCEL, project="p1")]
    finished, asked = raced(acts)
    assert isinstance(asked, Submission)
    state = door.project().status
    assert state == ("PENDING_REVIEW" if finished else "CANCELLED"), asked
    assert asked.status == ("rejected" if finished else "accepted")
    assert door.project().cancel_requested == (not finished)
    assert not any(row.status in OPEN_STAGE_STATUSES for row in door.rounds().values())
