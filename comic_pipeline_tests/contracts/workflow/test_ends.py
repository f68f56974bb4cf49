"""How runs end, and what the reconciler makes of it."""

import pytest

from comic_pipeline.model.errors import ERROR_RULES, ErrorCode
from comic_pipeline.model.task import TaskStatus, TaskType
from comic_pipeline.model.workflow import MAX_ROUNDS, PRODUCTION, ProjectState, RunPhase, Stage, StageStatus, SubmissionKind
from comic_pipeline.store import limits, stages, verdicts
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.workflow.world import World

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
LEASE = 60.0
# More than any wait before the round after a dead one.
BACK_OFF = 60.0


def stand(world: World) -> tuple[str, ErrorCode | None, str | None]:
    """The project's state, code and failed stage."""
    project = world.project()
    return project.status, project.error_code, project.fail_stage


def statuses(world: World) -> dict[str, str]:
    """The status of each stage's latest round, with its number when it is not the first."""
    return {
        stage.value: row.status.value if row.round == 1 else f"{row.status.value} {row.round}"
        for stage, row in world.rounds().items()
    }


def test_a_run_that_dies_without_a_word_gets_five_rounds(world: World) -> None:
    """Killed, out of memory, machine gone: again, by itself; after the fifth time a person must look."""
    world.put_at(STORYBOARD, a_project())
    for number in range(1, MAX_ROUNDS + 1):
        assert world.rounds()[STORYBOARD].round == number
        world.fail(STORYBOARD)
        world.tick()
        world.wait(BACK_OFF)
        world.tick()
    assert stand(world) == ("MANUAL_REQUIRED", ErrorCode.UNKNOWN_ERROR, "storyboard")
    assert "5 rounds ended this way" in (world.project().error_message or "")
    assert statuses(world) == {"storyboard": "manual_required 5"}
    assert world.tick().launches == ()


def test_each_of_these_rounds_is_a_launch_of_its_own(world: World) -> None:
    """Another key, so that the orchestrator does not take it for the run that died; the project stays where it is."""
    world.put_at(STORYBOARD, a_project())
    first = world.rounds()[STORYBOARD]
    world.fail(STORYBOARD)
    world.tick()
    world.wait(BACK_OFF)
    (launch,) = world.tick().launches
    assert launch.stage_id != first.id
    assert (world.project().status, world.project().error_code) == ("SCRIPT", None)
    with world.database.read() as connection:
        ended = stages.get(connection, first.id)
    assert ended is not None
    assert (ended.status, ended.error_code) == (StageStatus.FAILED, ErrorCode.UNKNOWN_ERROR)


def test_a_retry_gives_five_new_rounds(world: World) -> None:
    """A fresh allowance, whatever the number of the round."""
    world.put_at(STORYBOARD, a_project())
    for _ in range(MAX_ROUNDS):
        world.fail(STORYBOARD)
        world.tick()
        world.wait(BACK_OFF)
        world.tick()
    world.ask(SubmissionKind.RETRY, project="p1")
    for _ in range(MAX_ROUNDS):
        assert world.project().status in ("SCRIPT", "QUEUED")
        world.wait(BACK_OFF)
        world.tick()
        world.fail(STORYBOARD)
        world.tick()
    assert (world.project().status, world.rounds()[STORYBOARD].round) == ("MANUAL_REQUIRED", 2 * MAX_ROUNDS)


def test_a_run_that_vanished_gets_another_round(world: World) -> None:
    """Its record was deleted while it ran: nobody will ever report about it."""
    world.put_at(STORYBOARD, a_project())
    world.runs.lose(world.begin(STORYBOARD).run_id)
    world.tick()
    assert statuses(world) == {"storyboard": "requested 2"}


def test_a_silent_run_is_given_up(world: World) -> None:
    """No heartbeat for twice the lease: its process is gone, though its record says running. A beating one is left alone."""
    world.put_at(STORYBOARD, a_project())
    run = world.begin(STORYBOARD)
    world.wait(2 * LEASE - 10)
    world.tick()
    assert world.runs.given_up == {}
    assert world.heartbeat(run)
    world.wait(2 * LEASE - 10)
    world.tick()
    assert statuses(world) == {"storyboard": "running"}
    world.wait(20)
    world.tick()
    assert "no heartbeat since" in world.runs.given_up[run.run_id]
    assert statuses(world) == {"storyboard": "requested 2"}
    assert not world.heartbeat(run)


def test_the_tasks_of_a_run_that_is_gone_are_free_at_once(world: World) -> None:
    """The next round need not wait for leases of a process that is surely dead."""
    world.put_at(FRAMES, a_project())
    run = world.begin(FRAMES)
    with world.database.write() as connection:
        world._task(connection, "p1", FRAMES, TaskStatus.RUNNING, run=run.run_id.removeprefix("run-"), row_id=run.stage_id or "")
    run.phase = RunPhase.FAILED
    world.tick()
    drawing = next(task for task in world.tasks() if task.task_type is TaskType.FRAME_IMAGE)
    assert (drawing.status, drawing.lease_owner, drawing.lease_expires_at) == (TaskStatus.RUNNING, None, None)


def test_the_lock_of_a_run_that_is_gone_is_free_at_once(world: World) -> None:
    """The next round of a serial stage would stand in line behind a dead process until its lock ran out."""
    world.put_at(STORYBOARD, a_project())
    run = world.begin(STORYBOARD)
    with world.database.write() as connection:
        assert limits.take_lease(connection, "project/p1/serial", holder=run.run_id, now=world.now, seconds=LEASE)
    run.phase = RunPhase.FAILED
    world.tick()
    with world.database.write() as connection:
        assert limits.take_lease(connection, "project/p1/serial", holder="next", now=world.now, seconds=LEASE)


def test_a_run_without_verdicts_did_not_pass(world: World) -> None:
    """Checks that were skipped have said nothing: another round, and in the end a person; never a pass."""
    world.put_at(STORYBOARD, a_project())
    world.begin(STORYBOARD).phase = RunPhase.SUCCEEDED
    world.tick()
    assert statuses(world) == {"storyboard": "requested 2"}
    for _ in range(MAX_ROUNDS - 1):
        world.wait(BACK_OFF)
        world.tick()
        world.begin(STORYBOARD).phase = RunPhase.SUCCEEDED
        world.tick()
    assert stand(world) == ("MANUAL_REQUIRED", ErrorCode.QC_FAILED, "storyboard")
    assert "skipped its checks: storyboard_qc" in (world.project().error_message or "")


def test_the_verdict_of_another_run_does_not_count(world: World) -> None:
    """An earlier round passed its gate: the new pictures were not looked at."""
    world.put_at(FRAMES, a_project())
    other = world.runs.start("other", stage_id=None)
    world.judge(other, FRAMES)
    world.begin(FRAMES).phase = RunPhase.SUCCEEDED
    world.tick()
    assert statuses(world)["frames"] == "requested 2"


def test_a_later_verdict_of_the_same_run_wins(world: World) -> None:
    """The check ran again after an op retry: the newest pictures are judged."""
    world.put_at(FRAMES, a_project())
    run = world.begin(FRAMES)
    world.judge(run, FRAMES, passed=False)
    world.judge(run, FRAMES, passed=True)
    run.phase = RunPhase.SUCCEEDED
    world.tick()
    assert statuses(world)["frames"] == "passed"
    with world.database.read() as connection:
        assert len(verdicts.of_run(connection, "p1", run_id=run.run_id)) == 1


@pytest.mark.parametrize("code", ErrorCode)
def test_a_reported_code_lands_as_the_table_says(world: World, code: ErrorCode) -> None:
    """In the project's row with the stage, and never with another round by itself."""
    world.put_at(CLIPS, a_project())
    world.fail(CLIPS, code)
    world.tick()
    world.tick()
    expected = "MANUAL_REQUIRED" if code is ErrorCode.MODERATION_REJECTED else ERROR_RULES[code].lands_in
    project, row = world.project(), world.rounds()[CLIPS]
    if code is ErrorCode.CANCELLED:
        # The voices have not ended yet; see the tests of stopping.
        assert (row.status, project.cancel_requested) == (StageStatus.CANCELLED, True)
        return
    assert stand(world) == (expected, code, "clips")
    assert (project.error_message, row.error_code, row.round) == ("because", code, 1)
    assert project.finished_at is not None
    assert row.status.value.upper() == expected


@pytest.mark.parametrize(("stage", "state"), [(STORYBOARD, "FAILED"), (FRAMES, "MANUAL_REQUIRED")])
def test_moderation_of_the_idea_is_the_users_of_a_shot_an_operators(world: World, stage: Stage, state: str) -> None:
    """The user can change the idea; a shot's words are changed by a redo."""
    world.put_at(stage, a_project())
    world.fail(stage, ErrorCode.MODERATION_REJECTED)
    world.tick()
    assert stand(world) == (state, ErrorCode.MODERATION_REJECTED, stage.value)


def test_a_project_that_has_stopped_starts_no_new_work(world: World) -> None:
    """The round beside the failed one that no run has seen yet is not launched and paid; a retry asks for it."""
    world.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    both = world.tick(start=False).launches
    frames = next(launch for launch in both if launch.stage is FRAMES)
    world.start(frames)
    world.fail(FRAMES, ErrorCode.PROVIDER_AUTH)
    assert world.tick(start=False).launches == ()
    assert statuses(world) == {"storyboard": "passed", "frames": "manual_required", "voices": "cancelled"}
    assert stand(world) == ("MANUAL_REQUIRED", ErrorCode.PROVIDER_AUTH, "frames")
    world.ask(SubmissionKind.RETRY, project="p1")
    assert {launch.stage for launch in world.tick().launches} == {FRAMES, VOICES}


def test_a_stage_that_runs_beside_a_failed_one_is_finished(world: World) -> None:
    """What is already being paid for is kept; its end does not change what the project has come to."""
    world.put_at(FRAMES, a_project())
    voices = world.begin(VOICES)
    world.fail(FRAMES, ErrorCode.INPUT_INVALID)
    world.tick()
    world.judge(voices, VOICES)
    voices.phase = RunPhase.SUCCEEDED
    world.tick()
    assert stand(world) == ("FAILED", ErrorCode.INPUT_INVALID, "frames")
    assert statuses(world) == {"storyboard": "passed", "frames": "failed", "voices": "passed"}
    world.ask(SubmissionKind.RETRY, project="p1")
    assert [launch.stage for launch in world.tick().launches] == [FRAMES]


def test_a_stage_that_dies_beside_a_failed_one_waits_for_the_retry(world: World) -> None:
    """No round by itself for a project that has stopped."""
    world.put_at(FRAMES, a_project())
    voices = world.begin(VOICES)
    world.fail(FRAMES, ErrorCode.INPUT_INVALID)
    world.tick()
    voices.phase = RunPhase.FAILED
    assert world.tick().launches == ()
    assert statuses(world)["voices"] == "failed"
    world.ask(SubmissionKind.RETRY, project="p1")
    assert {launch.stage for launch in world.tick().launches} == {FRAMES, VOICES}


def test_the_first_failure_is_the_one_that_is_shown(world: World) -> None:
    """Two stages fail one after the other: the second does not overwrite why the project stopped."""
    world.put_at(FRAMES, a_project())
    world.fail(FRAMES, ErrorCode.INPUT_INVALID)
    world.tick()
    world.fail(VOICES, ErrorCode.PROVIDER_AUTH)
    world.tick()
    assert stand(world) == ("FAILED", ErrorCode.INPUT_INVALID, "frames")


def test_a_project_that_would_stand_still_for_ever_is_given_to_a_person(world: World) -> None:
    """Whatever led to it: in production, nothing open, nothing due. It ends with what its earliest unmade stage came to."""
    world.put(a_project(), {STORYBOARD: StageStatus.PASSED, FRAMES: StageStatus.FAILED, VOICES: StageStatus.PASSED})
    world.tick()
    assert stand(world) == ("FAILED", ErrorCode.PROVIDER_ERROR, "frames")


# --- runs that were started by hand ---------------------------------------------------------------------------------------


def test_rounds_that_a_run_by_hand_registered_are_adopted(world: World) -> None:
    """Somebody materializes the frames of a stopped project; after the retry the project goes on from there."""
    world.put(a_project(status=ProjectState.MANUAL_REQUIRED), {STORYBOARD: StageStatus.PASSED, FRAMES: StageStatus.FAILED})
    run = world.by_hand(FRAMES)
    world.tick()
    assert statuses(world)["frames"] == "running 2"
    world.judge(run, FRAMES)
    run.phase = RunPhase.SUCCEEDED
    world.tick()
    assert statuses(world) == {"storyboard": "passed", "frames": "passed 2"}
    assert world.project().status == "MANUAL_REQUIRED"
    world.ask(SubmissionKind.RETRY, project="p1")
    assert {launch.stage for launch in world.tick().launches} == {VOICES, CLIPS}


def test_a_run_by_hand_over_several_stages_makes_them_all(world: World) -> None:
    """Registered at one moment, made one after the other: none of them is taken for older than its need."""
    world.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    run = world.by_hand(FRAMES, VOICES, CLIPS)
    for stage in (FRAMES, VOICES, CLIPS):
        world.wait(5)
        world.judge(run, stage)
    run.phase = RunPhase.SUCCEEDED
    (launch,) = world.tick().launches
    assert launch.stage is FILM
    assert statuses(world) == {
        "storyboard": "passed",
        "frames": "passed",
        "voices": "passed",
        "clips": "passed",
        "film": "requested",
    }


def test_later_stages_that_a_run_by_hand_did_not_reach_become_due_again(world: World) -> None:
    """It failed early: the rows of the others say so, and after a retry they follow by themselves."""
    world.put(a_project(), {})
    run = world.by_hand(STORYBOARD, FRAMES, VOICES)
    world.report(STORYBOARD, ErrorCode.SCRIPT_INVALID)
    run.phase = RunPhase.FAILED
    world.tick()
    assert statuses(world) == {"storyboard": "failed", "frames": "cancelled", "voices": "cancelled"}
    assert {world.rounds()[stage].error_message for stage in (FRAMES, VOICES)} == {"not reached"}
    assert stand(world) == ("FAILED", ErrorCode.SCRIPT_INVALID, "storyboard")
    world.ask(SubmissionKind.RETRY, project="p1")
    assert [launch.stage for launch in world.tick().launches] == [STORYBOARD]
    world.succeed(STORYBOARD)
    assert {launch.stage for launch in world.tick().launches} == {FRAMES, VOICES}


def test_a_run_by_hand_that_dies_is_taken_over_from_where_it_was(world: World) -> None:
    """The stage it was at gets another round, the later ones are not reached and follow."""
    world.put(a_project(), {})
    run = world.by_hand(STORYBOARD, FRAMES)
    run.phase = RunPhase.FAILED
    world.tick()
    world.wait(BACK_OFF)
    assert [launch.stage for launch in world.tick().launches] == [STORYBOARD]
    assert statuses(world) == {"storyboard": "requested 2", "frames": "cancelled"}
    world.succeed(STORYBOARD)
    assert {launch.stage for launch in world.tick().launches} == {FRAMES, VOICES}


def test_a_stage_that_passed_in_a_run_by_hand_stays_passed_when_a_later_one_fails(world: World) -> None:
    """The run failed as a whole, and the closed gate is the later stage's: it alone is made again."""
    world.put(a_project(), {})
    run = world.by_hand(STORYBOARD, FRAMES)
    world.judge(run, STORYBOARD)
    world.judge(run, FRAMES, passed=False)
    run.phase = RunPhase.FAILED
    world.tick()
    assert statuses(world) == {"storyboard": "passed", "frames": "requested 2", "voices": "requested"}


def test_a_run_that_was_executed_again_by_hand_does_not_end_the_first_ones_round(world: World) -> None:
    """The copy carries the same tag and fails at once, because the row is not its own: the first one works on."""
    world.put_at(STORYBOARD, a_project())
    first = world.begin(STORYBOARD)
    copy = world.runs.start("copy", stage_id=first.stage_id)
    copy.phase = RunPhase.FAILED
    world.tick()
    assert statuses(world) == {"storyboard": "running"}
    world.wait(2 * LEASE)
    world.tick()
    world.wait(BACK_OFF)
    assert world.tick().launches != ()
    assert set(world.runs.given_up) == {first.run_id}


# --- stopping -------------------------------------------------------------------------------------------------------------


def test_a_terminated_run_cancels_its_project(world: World) -> None:
    """Terminate in the UI is a cancel: no other round, all columns written."""
    world.put_at(STORYBOARD, a_project())
    world.begin(STORYBOARD).phase = RunPhase.CANCELED
    world.tick()
    project = world.project()
    assert (project.status, project.error_code, project.cancel_requested) == ("CANCELLED", ErrorCode.CANCELLED, True)
    assert project.error_message == project.cancel_reason == "the run was terminated in Dagster"
    assert project.cancelled_at == project.finished_at
    assert project.cancelled_at is not None
    assert world.tick().launches == ()


def test_a_terminated_run_stops_the_stages_beside_it(world: World) -> None:
    """The other run sees the flag at its next checkpoint; the project is CANCELLED when it has ended, not before."""
    world.put_at(FRAMES, a_project())
    voices = world.begin(VOICES)
    world.begin(FRAMES).phase = RunPhase.CANCELED
    world.tick()
    assert (world.project().status, world.project().cancel_requested) == ("IMAGE", True)
    world.report(VOICES, ErrorCode.CANCELLED)
    voices.phase = RunPhase.FAILED
    world.tick()
    assert world.project().status == "CANCELLED"
    assert statuses(world) == {"storyboard": "passed", "frames": "cancelled", "voices": "cancelled"}


def test_cancel_takes_queued_runs_out_of_the_queue(world: World) -> None:
    """Both wait in the queue: both leave it, and the project is CANCELLED when their rows have ended."""
    world.put_at(FRAMES, a_project())
    runs = {world.run_of(stage).run_id for stage in (FRAMES, VOICES)}
    answer = world.ask(SubmissionKind.CANCEL, {"reason": "later"}, project="p1").answer or ""
    assert '"effective_immediately":false' in answer
    world.tick()
    assert set(world.runs.terminated) == runs
    world.tick()
    assert (world.project().status, world.project().error_message) == ("CANCELLED", "later")
    assert statuses(world) == {"storyboard": "passed", "frames": "cancelled", "voices": "cancelled"}
    assert len(world.runs.terminated) == 2


def test_cancel_lets_running_work_come_to_its_checkpoint(world: World) -> None:
    """No signal: what is being paid is finished and kept. The project waits for it."""
    world.put_at(FRAMES, a_project())
    run = world.begin(FRAMES)
    world.ask(SubmissionKind.CANCEL, project="p1")
    for _ in range(3):
        world.tick()
    assert run.run_id not in world.runs.terminated
    assert (world.project().status, statuses(world)["frames"]) == ("IMAGE", "running")
    world.report(FRAMES, ErrorCode.CANCELLED)
    run.phase = RunPhase.FAILED
    world.tick()
    assert world.project().status == "CANCELLED"


@pytest.mark.parametrize("phase", [RunPhase.SUCCEEDED, RunPhase.FAILED])
def test_a_run_that_ends_after_a_cancel_leads_to_nothing_new(world: World, phase: RunPhase) -> None:
    """Whether it still succeeded or died: no other round, no next stage."""
    world.put_at(STORYBOARD, a_project())
    run = world.begin(STORYBOARD)
    world.ask(SubmissionKind.CANCEL, project="p1")
    if phase is RunPhase.SUCCEEDED:
        world.judge(run, STORYBOARD)
    run.phase = phase
    assert world.tick().launches == ()
    assert world.project().status == "CANCELLED"
    assert statuses(world) == {"storyboard": "cancelled"}


def test_a_cancelled_project_goes_on_after_a_retry(world: World) -> None:
    """From the stage at which it was stopped, through the usual passes."""
    world.put_at(FRAMES, a_project())
    world.ask(SubmissionKind.CANCEL, project="p1")
    world.tick()
    world.tick()
    assert world.project().status == "CANCELLED"
    world.ask(SubmissionKind.RETRY, project="p1")
    assert {launch.stage for launch in world.tick().launches} == {FRAMES, VOICES}
    assert (world.project().status, world.project().cancel_requested) == ("IMAGE", False)
