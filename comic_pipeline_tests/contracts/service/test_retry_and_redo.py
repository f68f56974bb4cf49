"""`retry` and `redo`: what gets another round, what stays untouched, what is refused."""

from collections.abc import Mapping
from datetime import datetime

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Project, Tier
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.task import TaskStatus, TaskType
from comic_pipeline.model.workflow import (
    ALLOWED_FROM,
    OPEN_STAGE_STATUSES,
    PRODUCTION,
    ProjectState,
    Stage,
    StageStatus,
    SubmissionKind,
)
from comic_pipeline.store import projects, stages
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.door import Door, answer_of
from comic_pipeline_tests.contracts.store.racing import raced

RETRY, REDO = SubmissionKind.RETRY, SubmissionKind.REDO
STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
PASSED, FAILED, MANUAL, CANCELLED = (
    StageStatus.PASSED,
    StageStatus.FAILED,
    StageStatus.MANUAL_REQUIRED,
    StageStatus.CANCELLED,
)
ALL_PASSED = dict.fromkeys(PRODUCTION, PASSED)
TWO_FAILED = {STORYBOARD: PASSED, FRAMES: MANUAL, VOICES: FAILED}


def stopped(
    project_id: str = "p1",
    *,
    state: ProjectState = ProjectState.MANUAL_REQUIRED,
    tier: Tier = Tier.FREE,
    finished_at: datetime | None = None,
) -> Project:
    """A project that has stopped, flags and all."""
    return a_project(
        project_id,
        status=state,
        tier=tier,
        error_code=ErrorCode.PROVIDER_ERROR,
        error_message="busy",
        fail_stage="frames",
        retry_count=2,
        finished_at=finished_at,
    )


def open_stages(door: Door) -> set[Stage]:
    """Stages with a round that has not ended."""
    return {stage for stage, row in door.rounds().items() if row.status in OPEN_STAGE_STATUSES}


def statuses(door: Door) -> Mapping[TaskType, TaskStatus]:
    """The ledger's statuses by type; one task a type."""
    return {task.task_type: task.status for task in door.tasks()}


def conflict(submission: Submission) -> str:
    """The reason of a conflict."""
    assert (submission.status, submission.error_code) == ("rejected", ErrorCode.CONFLICT)
    return submission.error_message or ""


def test_retry_asks_for_what_failed_and_nothing_else(door: Door) -> None:
    """Both failed stages get a round at once, the finished one keeps its round and its task."""
    door.put(stopped(), TWO_FAILED)
    before = {task.task_type: task for task in door.tasks()}
    answer = answer_of(door.ask(RETRY, project="p1"))
    rounds = door.rounds()
    assert (answer.project_id, answer.status) == ("p1", "QUEUED")
    assert {stage: (row.round, row.status) for stage, row in rounds.items()} == {
        STORYBOARD: (1, PASSED),
        FRAMES: (2, StageStatus.REQUESTED),
        VOICES: (2, StageStatus.REQUESTED),
    }
    assert {row.requested_at for row in rounds.values() if row.round == 2} == {door.now}
    after = {task.task_type: task for task in door.tasks()}
    assert after[TaskType.STORYBOARD] == before[TaskType.STORYBOARD]
    for kind in (TaskType.FRAME_IMAGE, TaskType.VOICE_LINE):
        renewed = after[kind]
        assert (renewed.status, renewed.retry_count, renewed.error_code, renewed.deadline_at) == (
            TaskStatus.PENDING,
            0,
            None,
            None,
        )
        assert renewed.task_id == before[kind].task_id


def test_retry_counts_and_forgets_the_failure(door: Door) -> None:
    """One more on the count; the error, the failed stage and the end are gone; the project is in production again."""
    door.put(stopped(finished_at=door.now), TWO_FAILED)
    door.ask(RETRY, project="p1")
    project = door.project()
    assert (project.status, project.retry_count) == ("QUEUED", 3)
    assert (project.fail_stage, project.error_code, project.error_message, project.finished_at) == (None, None, None, None)


def test_retry_takes_a_cancel_back(door: Door) -> None:
    """All four columns of it, on the project and on its tasks: otherwise the first checkpoint would stop it again."""
    door.put(a_project(), {STORYBOARD: PASSED, FRAMES: StageStatus.REQUESTED})
    door.add_task("p1", FRAMES, TaskStatus.PENDING)
    door.ask(SubmissionKind.CANCEL, {"reason": "later"}, project="p1")
    assert (door.project().status, statuses(door)[TaskType.FRAME_IMAGE]) == ("CANCELLED", TaskStatus.CANCELLED)
    door.ask(RETRY, project="p1")
    project, task = door.project(), door.tasks()[-1]
    for one in (project, task):
        assert (one.cancel_requested, one.cancel_requested_at, one.cancel_reason, one.cancelled_at) == (False, None, None, None)
    assert (project.status, task.status, open_stages(door)) == ("QUEUED", TaskStatus.PENDING, {FRAMES})


def test_retry_leaves_stages_whose_needs_are_not_made(door: Door) -> None:
    """Clips that failed wait for the frames that failed: they become due by themselves, but with a fresh allowance."""
    door.put(stopped(), {STORYBOARD: PASSED, VOICES: PASSED, CLIPS: FAILED, FRAMES: MANUAL})
    door.ask(RETRY, project="p1")
    assert open_stages(door) == {FRAMES}
    assert statuses(door)[TaskType.CLIP] is TaskStatus.PENDING


def test_retry_leaves_a_running_stage_alone(door: Door) -> None:
    """Frames failed while voices are still being spoken."""
    door.put(stopped(), {STORYBOARD: PASSED, FRAMES: MANUAL, VOICES: StageStatus.RUNNING})
    voices = door.rounds()[VOICES]
    door.ask(RETRY, project="p1")
    assert door.rounds()[VOICES] == voices
    assert open_stages(door) == {FRAMES, VOICES}


def test_retry_of_a_project_that_never_began(door: Door) -> None:
    """Set aside before its first stage: back to the queue, and the first stage is due by itself."""
    door.put(stopped(), {})
    assert door.ask(RETRY, project="p1").status == "accepted"
    assert (door.project().status, door.rounds()) == ("QUEUED", {})


@pytest.mark.parametrize("kind", [RETRY, REDO])
def test_only_the_states_of_the_table_allow_it(door: Door, kind: SubmissionKind) -> None:
    """Otherwise CONFLICT with the current state, and nothing has changed; every pair is tabled in the unit tests."""
    for state in ProjectState:
        door.put(stopped(state, state=state), {**ALL_PASSED, FILM: FAILED})
        before = (door.project(state), door.rounds(state), door.tasks(state))
        asked = door.ask(kind, {"stage": "film"} if kind is REDO else {}, project=state)
        if state in ALLOWED_FROM[kind]:
            assert (asked.status, door.project(state).status) == ("accepted", "QUEUED")
            continue
        assert f"{state} is {state}" in conflict(asked)
        assert (door.project(state), door.rounds(state), door.tasks(state)) == before


@pytest.mark.parametrize("kind", [RETRY, REDO])
def test_a_second_formal_project_is_not_reopened(door: Door, kind: SubmissionKind) -> None:
    """The user's other paid film is under way: refused with its id, not a broken index."""
    door.put(stopped(tier=Tier.PAID), ALL_PASSED)
    door.put(a_project("p2", tier=Tier.PREMIUM), {})
    assert "p2" in conflict(door.ask(kind, {"stage": "film"} if kind is REDO else {}, project="p1"))
    assert door.project().status == "MANUAL_REQUIRED"


def test_the_priority_of_a_round_is_that_of_the_project(door: Door) -> None:
    """Not of the operator who asks: his own submission is a free one."""
    door.put(stopped(tier=Tier.PREMIUM), TWO_FAILED)
    door.ask(RETRY, project="p1", user="operator", tier=Tier.FREE)
    assert door.rounds()[FRAMES].priority == 50


def shots(door: Door, *seqs: int) -> None:
    """Shots that were drawn."""
    for seq in seqs:
        door.add_task("p1", FRAMES, TaskStatus.SUCCESS, seq=seq)


def test_redo_changes_only_the_asked_shots(door: Door) -> None:
    """The next take, the new words and the seed of shot 1; one new round of that stage; later stages follow by themselves."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    shots(door, 1, 2)
    door.ask(REDO, {"stage": "frames", "shots": [1, 1], "prompt": " a dog ", "seed": 7}, project="p1")
    assert door.overrides() == {(1, "take_frames"): "1", (1, "image_prompt"): "a dog", (1, "seed"): "7"}
    assert open_stages(door) == {FRAMES}
    assert (door.project().status, door.project().retry_count) == ("QUEUED", 0)
    with door.database.write() as connection:
        stages.end(connection, door.rounds()[FRAMES].id, status=PASSED, code=None, message="", now=door.now)
    _end(door)
    door.ask(REDO, {"stage": "frames", "shots": [2, 1]}, project="p1")
    assert door.overrides() == {
        (1, "take_frames"): "2",
        (1, "image_prompt"): "a dog",
        (1, "seed"): "7",
        (2, "take_frames"): "1",
    }


def _end(door: Door) -> None:
    with door.database.write() as connection:
        assert projects.move(connection, "p1", old=[ProjectState.QUEUED], new=ProjectState.REJECTED, now=door.now)


@pytest.mark.parametrize(
    ("stage", "field", "words"),
    [
        ("frames", "take_frames", "image_prompt"),
        ("voices", "take_voices", "spoken"),
        ("clips", "take_clips", "motion_prompt"),
    ],
)
def test_redo_of_all_shots_of_a_stage(door: Door, stage: str, field: str, words: str) -> None:
    """No shots named means all of them."""
    door.put(a_project(status=ProjectState.APPROVED), ALL_PASSED)
    shots(door, 0, 1, 2)
    door.ask(REDO, {"stage": stage, "prompt": "calm"}, project="p1")
    assert door.overrides() == {(seq, name): value for seq in range(3) for name, value in ((field, "1"), (words, "calm"))}
    assert open_stages(door) == {Stage(stage)}


def test_redo_of_the_film(door: Door) -> None:
    """Rendered whole: one take for all of it."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    door.ask(REDO, {"stage": "film"}, project="p1")
    assert door.overrides() == {(0, "take_film"): "1"}
    assert open_stages(door) == {FILM}


def test_redo_renews_what_comes_after(door: Door) -> None:
    """Clips and film that ended badly get a fresh allowance; voices, and everything that succeeded, are not touched."""
    states = {STORYBOARD: PASSED, FRAMES: PASSED, VOICES: PASSED, CLIPS: MANUAL}
    door.put(stopped(), states)
    before = {task.task_type: task for task in door.tasks()}
    door.ask(REDO, {"stage": "frames"}, project="p1")
    after = {task.task_type: task for task in door.tasks()}
    assert after.pop(TaskType.CLIP).status is TaskStatus.PENDING
    del before[TaskType.CLIP]
    assert after == before
    assert open_stages(door) == {FRAMES}


def test_redo_takes_up_what_failed_beside_it(door: Door) -> None:
    """Voices are re-made while clips have failed: without a round for the clips the project would stand still for ever."""
    door.put(stopped(), {STORYBOARD: PASSED, FRAMES: PASSED, VOICES: PASSED, CLIPS: FAILED})
    door.ask(REDO, {"stage": "voices"}, project="p1")
    assert open_stages(door) == {VOICES, CLIPS}
    assert statuses(door)[TaskType.CLIP] is TaskStatus.PENDING


def test_redo_after_a_cancel(door: Door) -> None:
    """From CANCELLED too, with the flags taken back."""
    door.put(
        a_project(status=ProjectState.CANCELLED, cancel_requested=True),
        {STORYBOARD: PASSED, FRAMES: CANCELLED, VOICES: CANCELLED},
    )
    door.ask(REDO, {"stage": "frames"}, project="p1")
    assert (door.project().cancel_requested, open_stages(door)) == (False, {FRAMES, VOICES})


@pytest.mark.parametrize("shot_numbers", [[5], [0, 5], [-1], [10**30]])
def test_unknown_shots_are_refused(door: Door, shot_numbers: list[int]) -> None:
    """With those that exist; nothing is stored for the known ones either."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    refused = door.ask(REDO, {"stage": "frames", "shots": shot_numbers}, project="p1")
    assert (refused.status, refused.error_code) == ("rejected", ErrorCode.INPUT_INVALID)
    assert "it has [0]" in (refused.error_message or "")
    assert (door.overrides(), open_stages(door), door.project().status) == ({}, set(), "PENDING_REVIEW")


def test_thousands_of_unknown_shots_make_a_short_message(door: Door) -> None:
    """It is stored in the row and shown to a person."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    refused = door.ask(REDO, {"stage": "frames", "shots": list(range(1, 20_000))}, project="p1")
    assert len(refused.error_message or "") < 300


@pytest.mark.parametrize(
    "payload",
    [
        {"stage": "storyboard"},
        {"stage": "pictures"},
        {},
        {"stage": "frames", "shots": "all"},
        {"stage": "frames", "prompt": "a\x00b"},
        {"stage": "frames", "prompt": "x" * 2_001},
        {"stage": "film", "shots": [0]},
        {"stage": "film", "seed": 3},
        {"stage": "voices", "seed": 3},
        {"stage": "frames", "seed": 2**31},
        {"stage": "frames", "unknown": 1},
    ],
    ids=str,
)
def test_a_redo_that_cannot_be_meant_changes_nothing(door: Door, payload: dict[str, object]) -> None:
    """The storyboard is another film; a seed of the film would change the first picture of a later round."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    refused = door.ask(REDO, payload, project="p1")
    code = ErrorCode.CONFLICT if payload.get("stage") == "storyboard" else ErrorCode.INPUT_INVALID
    assert (refused.status, refused.error_code) == ("rejected", code)
    assert (door.overrides(), open_stages(door), door.project().status) == ({}, set(), "PENDING_REVIEW")


def test_redo_of_a_stage_that_was_never_reached(door: Door) -> None:
    """It says what can be re-made."""
    door.put(stopped(), {STORYBOARD: PASSED, FRAMES: FAILED})
    assert "one of: frames" in conflict(door.ask(REDO, {"stage": "clips"}, project="p1"))


def test_redo_of_a_stage_whose_needs_failed(door: Door) -> None:
    """Clips of pictures that are about to be made anew would be paid twice."""
    door.put(stopped(), {STORYBOARD: PASSED, VOICES: PASSED, CLIPS: PASSED, FRAMES: FAILED})
    assert "needs frames" in conflict(door.ask(REDO, {"stage": "clips"}, project="p1"))


def test_redo_while_a_run_works_on_it(door: Door) -> None:
    """The project has failed elsewhere, the voices are still being spoken: CONFLICT with the run, not a broken index."""
    door.put(stopped(), {STORYBOARD: PASSED, FRAMES: FAILED, VOICES: StageStatus.RUNNING})
    assert f"in run {door.rounds()[VOICES].run_id}" in conflict(door.ask(REDO, {"stage": "voices"}, project="p1"))


def test_two_retries_at_once_make_one_round(door: Door) -> None:
    """Two operators at two machines: the second finds the project in production and is refused with its state."""
    door.put(stopped(), TWO_FAILED)
    outcomes = raced([lambda: door.ask(RETRY, project="p1", user="a"), lambda: door.ask(RETRY, project="p1", user="b")])
    assert sorted(one.status for one in outcomes) == ["accepted", "rejected"], outcomes
    assert [row.round for row in door.rounds().values()] == [1, 2, 2]
    assert door.project().retry_count == 3


def test_a_retry_and_a_cancel_at_once_end_in_one_order_or_the_other(door: Door) -> None:
    """Never a cancelled project with a round that will be launched."""
    door.put(stopped(), TWO_FAILED)
    raced([lambda: door.ask(RETRY, project="p1"), lambda: door.ask(SubmissionKind.CANCEL, project="p1")])
    state, open_now = door.project().status, open_stages(door)
    assert (state, open_now) in (("CANCELLED", set()), ("QUEUED", {FRAMES, VOICES}))


def test_what_is_not_offered_is_refused(door: Door) -> None:
    """An answer in the row, not silence."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), ALL_PASSED)
    assert "not offered" in conflict(door.ask(SubmissionKind.CONFIRM, project="p1"))
