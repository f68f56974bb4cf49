"""Faults that other systems of this kind had at their door (field cases), shown not to be ours."""

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import SCRIPT_MAX_CHARS
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import ProjectState, Stage, StageStatus, SubmissionKind, SubmissionStatus
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.door import Door


def test_a_chapter_that_is_too_long_is_refused_with_the_limit(database: Database) -> None:
    """Jellyfish #27, huobao #75: a 40,000-character chapter, and special characters, fail at once and by name."""
    door = Door(database)
    long = door.ask(SubmissionKind.PRODUCE, {"script": "他走进了房间。" * 5_715})
    odd = door.ask(SubmissionKind.PRODUCE, {"idea": "a cat\u0007"})
    assert (long.status, long.error_code) == (SubmissionStatus.REJECTED, ErrorCode.INPUT_INVALID)
    assert f"at most {SCRIPT_MAX_CHARS}" in (long.error_message or "")
    assert "U+0007" in (odd.error_message or "")


def test_an_empty_script_is_no_project_and_no_charge(database: Database) -> None:
    """new-api #2050, jaaz #244, dramaclaw #159: no input, no task, nothing booked."""
    door = Door(database)
    refused = door.ask(SubmissionKind.PRODUCE, {"script": " \n", "idea": ""})
    assert (refused.status, refused.error_code, refused.project_id) == (SubmissionStatus.REJECTED, ErrorCode.INPUT_INVALID, None)


def test_a_review_during_production_touches_nothing(database: Database) -> None:
    """QwenPaw #7693: approving at 2 of 6 images aborted the running ones. Here it is a CONFLICT with the current state."""
    door = Door(database)
    door.put(a_project(), {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.RUNNING})
    before = (door.rounds(), door.tasks())
    refused = door.ask(SubmissionKind.REVIEW, {"decision": "approve", "by": "ann"}, project="p1")
    assert (refused.status, refused.error_code) == (SubmissionStatus.REJECTED, ErrorCode.CONFLICT)
    assert (door.rounds(), door.tasks()) == before
    assert [task.status for task in door.tasks()] == [TaskStatus.SUCCESS, TaskStatus.RUNNING]


def test_asking_again_after_a_timed_out_answer_binds_no_second_round(database: Database) -> None:
    """Dramaclaw #507: the answer was lost, the user asks again: 409 or the same answer, never a second task."""
    door = Door(database)
    failed = a_project(status=ProjectState.FAILED)
    door.put(failed, {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.FAILED})
    first = door.ask(SubmissionKind.RETRY, project="p1", key="click-1")
    again = door.ask(SubmissionKind.RETRY, project="p1", key="click-1")
    other = door.ask(SubmissionKind.RETRY, project="p1", key="click-2")
    assert (first.id, first.answer) == (again.id, again.answer)
    assert other.error_code is ErrorCode.CONFLICT
    assert door.rounds()[Stage.FRAMES].round == 2


def test_a_client_that_goes_away_cancels_nothing(database: Database) -> None:
    """open-ai-canvas #142, #135: only a cancel submission is a cancel; requests live in the table, not in a connection."""
    door = Door(database)
    number = door.submit(SubmissionKind.PRODUCE, {"idea": "一只猫"})
    database.engine.dispose()
    assert door.decide(number).status is SubmissionStatus.ACCEPTED
