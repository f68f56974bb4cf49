"""What the reconciler sees to beside moving stages: back-off, force, time-outs, and jobs that nobody follows any more."""

from dataclasses import replace

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.ledger import Claimed, Worker
from comic_pipeline.model.money import cny
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import MAX_ROUNDS, ProjectState, RunPhase, Stage, StageStatus, SubmissionKind
from comic_pipeline.settings import load_settings
from comic_pipeline.store import attempts, ledger, leftovers, projects, stages
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import attempts as attempt_rows
from comic_pipeline.upkeep import settle_left_behind
from comic_pipeline_tests.builders import a_frame, a_picture, a_project, a_worker
from comic_pipeline_tests.contracts.store.acts import begin, claimed
from comic_pipeline_tests.contracts.workflow.world import World

STORYBOARD, FRAMES = Stage.STORYBOARD, Stage.FRAMES


def at_frames(world: World) -> Worker:
    """The storyboard has passed and the frames run is at work; returns its worker."""
    world.put_at(FRAMES, a_project(status=ProjectState.SCRIPT))
    run, row = world.begin(FRAMES), world.rounds()[FRAMES]
    return replace(a_worker(stage_id=row.id), run_id=run.run_id)


def under_way(world: World, worker: Worker, *, submitted: bool) -> Task:
    """A picture that the frames run is making: its create is at the provider with an id, or was never sent."""
    with world.database.write() as connection:
        task = claimed(connection, a_frame(), worker, at=world.now)
        if submitted:
            attempt = begin(connection, task, worker=worker, at=world.now)
            attempts.mark_submitted(connection, attempt, request_id="job-1")
    return task


def settle_down(world: World) -> None:
    """Passes until nothing more follows from what is there."""
    for _ in range(4):
        world.tick()


def follow(world: World) -> Attempt:
    """The settle round of the pictures begins and claims the task; its job, which is still at the provider."""
    row = world.rounds()[FRAMES]
    assert (row.scope, row.ended_at) == ("settle", None)
    run = world.begin(FRAMES)
    with world.database.write() as connection:
        worker = replace(a_worker("w2", stage_id=row.id), run_id=run.run_id)
        claim = ledger.claim(connection, a_frame(), worker, now=world.now)
    assert isinstance(claim, Claimed)
    assert claim.last is not None
    assert claim.last.state is AttemptState.SUBMITTED
    return claim.last


def task_of(world: World, task: Task) -> Task:
    """The task as it is now."""
    with world.database.read() as connection:
        return ledger.get(connection, task.task_id)


def open_attempts(world: World, task: Task) -> int:
    """How many creates of the task nobody knows the end of."""
    with world.database.read() as connection:
        found = attempts.of_task(connection, task.task_id)
    return sum(one.state in (AttemptState.INTENT, AttemptState.SUBMITTED) for one in found)


def left_behind(world: World) -> list[str]:
    """The projects that a pass would look at for leftovers."""
    with world.database.read() as connection:
        return leftovers.stopped_projects(connection, now=world.now)


def test_rounds_after_a_death_wait_longer_each_time(world: World) -> None:
    """A code server that restarts for half a minute must not use up all five rounds."""
    world.put_at(STORYBOARD, a_project(status=ProjectState.QUEUED))
    world.fail(STORYBOARD)
    world.tick()
    assert world.tick().launches == ()
    world.wait(3)
    world.tick()
    world.fail(STORYBOARD)
    world.tick()
    world.wait(3)
    assert world.tick().launches == ()
    world.wait(6)
    assert [launch.stage for launch in world.tick().launches] == [STORYBOARD]


def test_force_stops_the_run_that_is_at_work_once(world: World) -> None:
    """With force the run gets its signal, and only one: a second would cut a create short."""
    at_frames(world)
    world.ask(SubmissionKind.CANCEL, {"force": True}, project="p1")
    world.tick()
    run = world.run_of(FRAMES)
    assert world.runs.terminated.count(run.run_id) == 1
    run.phase = RunPhase.STOPPING
    world.tick()
    assert world.runs.terminated.count(run.run_id) == 1


def test_a_cancel_without_force_leaves_the_run_at_its_work(world: World) -> None:
    """Its checkpoints stop it."""
    at_frames(world)
    world.ask(SubmissionKind.CANCEL, project="p1")
    world.tick()
    assert world.run_of(FRAMES).run_id not in world.runs.terminated


def test_a_paid_job_of_a_cancelled_project_is_followed_to_its_end(world: World) -> None:
    """A terminated run leaves a job at the provider: one more round follows it, in which the gate refuses every create."""
    task = under_way(world, at_frames(world), submitted=True)
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)

    assert world.project().status == ProjectState.CANCELLED
    job = follow(world)
    with world.database.write() as connection:
        attempts.mark_succeeded(connection, job, cost=cny("0.22"), result="{}", now=world.now)
        ledger.succeed(connection, task.task_id, a_picture(), now=world.now)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    settle_down(world)
    assert world.project().status == ProjectState.CANCELLED
    assert (task_of(world, task).status, task_of(world, task).cost_actual) == (TaskStatus.SUCCESS, cny("0.22"))


def test_a_job_that_five_rounds_could_not_follow_is_a_persons_and_a_retry_begins_a_new_count(world: World) -> None:
    """After some cancels and retries the sixth job was handed over unfollowed: five rounds it never had were told of."""
    task = under_way(world, at_frames(world), submitted=True)
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    for _ in range(MAX_ROUNDS):
        assert world.rounds()[FRAMES].ended_at is None
        world.begin(FRAMES).phase = RunPhase.FAILED
        settle_down(world)
    assert task_of(world, task).status is TaskStatus.MANUAL_REQUIRED
    world.wait(1)
    world.ask(SubmissionKind.RETRY, project="p1")
    settle_down(world)
    run = world.begin(FRAMES)
    with world.database.write() as connection:
        claimed(
            connection, a_frame(), replace(a_worker("w3", stage_id=world.rounds()[FRAMES].id), run_id=run.run_id), at=world.now
        )
    run.phase = RunPhase.CANCELED
    settle_down(world)
    assert (world.rounds()[FRAMES].scope, world.rounds()[FRAMES].ended_at) == ("settle", None)


def test_rounds_that_followed_another_stages_job_are_not_this_ones(world: World) -> None:
    """Five rounds for the clips' job took those of the picture's: it was a person's before anybody had looked at it."""
    task = under_way(world, at_frames(world), submitted=True)
    with world.database.write() as connection:
        for number in range(MAX_ROUNDS):
            stages.request(connection, "p1", Stage.CLIPS, stage_id=f"clips-{number}", priority=0, scope="settle", now=world.now)
            stages.end(connection, f"clips-{number}", status=StageStatus.CANCELLED, code=None, message="", now=world.now)
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    assert (world.rounds()[FRAMES].scope, world.rounds()[FRAMES].ended_at) == ("settle", None)
    assert task_of(world, task).status is not TaskStatus.MANUAL_REQUIRED


def test_a_job_whose_task_was_cancelled_while_it_waited_is_followed_too(world: World) -> None:
    """It was to be looked at again later, so the cancel ended the task at once: its paid job must not be left unseen for that."""
    task = under_way(world, at_frames(world), submitted=True)
    with world.database.write() as connection:
        ledger.postpone(connection, task.task_id, code=ErrorCode.STORAGE_FAILED, message="away", not_before=world.now)
    world.ask(SubmissionKind.CANCEL, project="p1")
    assert task_of(world, task).status is TaskStatus.CANCELLED
    world.report(FRAMES, ErrorCode.CANCELLED)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    settle_down(world)
    follow(world)


def test_work_without_a_job_of_a_cancelled_project_just_ends(world: World) -> None:
    """No task is left running for ever (Windup 391)."""
    task = under_way(world, at_frames(world), submitted=False)
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    assert task_of(world, task).status is TaskStatus.CANCELLED
    assert world.rounds()[FRAMES].ended_at is not None


def test_a_stage_that_dies_for_good_leaves_no_task_running(world: World) -> None:
    """Its attempts stay, so that a retry polls the same job."""
    task = under_way(world, at_frames(world), submitted=True)
    for _ in range(5):
        world.run_of(FRAMES).phase = RunPhase.FAILED
        world.tick()
        world.wait(60)
        world.tick()
        if world.rounds()[FRAMES].ended_at is None:
            world.begin(FRAMES)
    settle_down(world)
    assert world.project().status == ProjectState.MANUAL_REQUIRED
    assert task_of(world, task).status is TaskStatus.FAILED
    with world.database.read() as connection:
        assert [one.state for one in attempts.of_task(connection, task.task_id)] == [AttemptState.SUBMITTED]


def test_what_a_redo_has_replaced_does_not_stay_open_for_ever(world: World) -> None:
    """A picture timed out and was redone with other words: when the film is finished, the old wish ends and its job is booked.

    The job stays what it is for as long as its provider knows it: until then somebody may still go back to it.
    """
    task = under_way(world, at_frames(world), submitted=True)
    with world.database.write() as connection:
        ledger.end(connection, task.task_id, status=TaskStatus.FAILED, code=ErrorCode.TASK_TIMEOUT, message="slow", now=world.now)
    world.report(FRAMES, ErrorCode.TASK_TIMEOUT)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    settle_down(world)
    world.ask(SubmissionKind.REDO, {"stage": "frames", "shots": [0]}, project="p1")
    settle_down(world)
    assert task_of(world, task).status is TaskStatus.PENDING
    world.put(a_project("p2", user_id="u2"), {STORYBOARD: StageStatus.PASSED})
    other = world.add_task("p2", FRAMES, TaskStatus.PENDING, seq=1)
    while world.project().status != ProjectState.PENDING_REVIEW:
        world.finish_open()
        world.tick()
    settle_down(world)
    ended = task_of(world, task)
    assert task_of(world, other).status is TaskStatus.PENDING
    assert (ended.status, ended.error_code) == (TaskStatus.CANCELLED, ErrorCode.CANCELLED)
    assert open_attempts(world, task) == 1
    world.wait(6 * 86_400)
    settle_down(world)
    assert open_attempts(world, task) == 0
    assert (task_of(world, task).status, task_of(world, task).cost_actual) == (TaskStatus.CANCELLED, cny("0.22"))


@pytest.mark.parametrize("state", ["submitted", "intent"])
def test_a_job_that_nobody_goes_back_to_is_booked_before_its_provider_forgets_it(world: World, state: str) -> None:
    """A stopped project that is never retried: its reservation must not stand in the books for ever, neither paid nor free."""
    worker = at_frames(world)
    task = under_way(world, worker, submitted=True)
    with world.database.write() as connection:
        (refused,) = attempts.of_task(connection, task.task_id)
        attempts.mark_failed(connection, refused, http_status=503, provider_code="busy", now=world.now)
        attempts.mark_submitted(connection, begin(connection, task, worker=worker, at=world.now), request_id="job-2")
        if state == "intent":
            still_open = attempt_rows.c.state == AttemptState.SUBMITTED
            connection.execute(
                attempt_rows.update().where(still_open).values(state=AttemptState.INTENT, provider_request_id=None)
            )
        ledger.end(
            connection,
            task.task_id,
            status=TaskStatus.MANUAL_REQUIRED,
            code=ErrorCode.OUTCOME_UNKNOWN,
            message="?",
            now=world.now,
        )
    world.report(FRAMES, ErrorCode.OUTCOME_UNKNOWN)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    world.wait(6 * 86_400 - 60)
    settle_down(world)
    assert world.project().status == ProjectState.MANUAL_REQUIRED
    assert open_attempts(world, task) == 1
    world.wait(60)
    settle_down(world)
    with world.database.read() as connection:
        found = attempts.of_task(connection, task.task_id)
    assert [(one.state, one.cost) for one in found] == [(AttemptState.FAILED, 0), (AttemptState.UNKNOWN, cny("0.22"))]
    assert task_of(world, task).status is TaskStatus.MANUAL_REQUIRED


def test_a_job_of_a_project_in_production_is_never_written_off(world: World) -> None:
    """It is followed, however old: the run that works on it decides."""
    task = under_way(world, at_frames(world), submitted=True)
    world.wait(7 * 86_400)
    world.heartbeat(world.run_of(FRAMES))
    settle_down(world)
    assert (open_attempts(world, task), left_behind(world)) == (1, [])


def test_a_job_that_a_run_follows_is_not_written_off_although_its_project_has_stopped(world: World) -> None:
    """Its neighbour failed, and it is finished all the same; a look at it takes no lock."""
    task = under_way(world, at_frames(world), submitted=True)
    with world.database.write() as connection:
        projects.move(
            connection, "p1", old=(ProjectState.IMAGE,), new=ProjectState.MANUAL_REQUIRED, now=world.now, finished_at=world.now
        )
    world.wait(7 * 86_400)
    world.heartbeat(world.run_of(FRAMES))
    with world.database.write() as connection:
        settle_left_behind(connection, "p1", now=world.now)
    assert (open_attempts(world, task), left_behind(world)) == (1, [])


def test_a_dropped_task_of_a_failed_project_is_left_to_its_retry(world: World) -> None:
    """Only a cancelled project's jobs are followed at once; no pass looks at the others again and again."""
    task = under_way(world, at_frames(world), submitted=True)
    with world.database.write() as connection:
        ledger.end(connection, task.task_id, status=TaskStatus.CANCELLED, code=ErrorCode.CANCELLED, message="", now=world.now)
    world.report(FRAMES, ErrorCode.TASK_TIMEOUT)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    settle_down(world)
    assert (world.project().status, left_behind(world)) == (ProjectState.FAILED, [])
    assert open_attempts(world, task) == 1


def test_a_project_that_takes_too_long_fails_and_a_retry_has_its_time_again(database: Database) -> None:
    """WaooAI 61: finished work stays; Pixelle 48: nothing waits without end. Time in the queue does not count."""
    world = World(database, load_settings(COMIC_PROJECT_TIMEOUT="100"))
    world.put_at(STORYBOARD, a_project(status=ProjectState.QUEUED))
    world.wait(500)
    world.tick()
    assert world.project().status == ProjectState.SCRIPT
    run = world.begin(STORYBOARD)
    world.wait(101)
    world.tick()
    assert (world.project().status, world.project().error_code) == (ProjectState.FAILED, ErrorCode.TASK_TIMEOUT)
    assert run.run_id in world.runs.terminated
    run.phase = RunPhase.CANCELED
    settle_down(world)
    world.ask(SubmissionKind.RETRY, project="p1")
    world.tick()
    assert world.project().status == ProjectState.SCRIPT


def test_a_retry_that_comes_while_the_timed_out_run_still_stops_is_kept(database: Database) -> None:
    """A backend retries at once; the run that was told to stop ends as terminated, and must not cancel what goes on."""
    world = World(database, load_settings(COMIC_PROJECT_TIMEOUT="100"))
    task = under_way(world, at_frames(world), submitted=True)
    world.wait(101)
    world.tick()
    assert (world.project().status, world.project().fail_stage) == (ProjectState.FAILED, "frames")
    world.ask(SubmissionKind.RETRY, project="p1")
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    assert world.project().status == ProjectState.IMAGE
    assert world.rounds()[FRAMES].status is StageStatus.QUEUED
    assert not task_of(world, task).cancel_requested
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    assert world.project().status == ProjectState.CANCELLED


def test_a_retry_that_comes_while_a_cancelled_project_is_settled_is_kept(world: World) -> None:
    """The settle round stops as cancelled work does; the project was taken up again, so an ordinary round follows."""
    task = under_way(world, at_frames(world), submitted=True)
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    settle_down(world)
    assert world.rounds()[FRAMES].scope == "settle"
    world.begin(FRAMES)
    world.ask(SubmissionKind.RETRY, project="p1")
    with world.database.write() as connection:
        ledger.claim(connection, a_frame(), a_worker("w2"), now=world.now)
        ledger.end(connection, task.task_id, status=TaskStatus.CANCELLED, code=ErrorCode.CANCELLED, message="", now=world.now)
    world.report(FRAMES, ErrorCode.CANCELLED)
    world.run_of(FRAMES).phase = RunPhase.FAILED
    settle_down(world)
    assert (world.project().status, world.rounds()[FRAMES].scope) == (ProjectState.IMAGE, None)
    assert (task_of(world, task).status, task_of(world, task).cancel_requested) == (TaskStatus.PENDING, False)


def test_a_run_stopped_at_its_max_runtime_timed_out(world: World) -> None:
    """Dagster stops it like a cancelled one, but nobody cancelled anything."""
    at_frames(world)
    for _ in range(40):
        world.wait(80)
        world.heartbeat(world.run_of(FRAMES))
    world.run_of(FRAMES).phase = RunPhase.CANCELED
    world.tick()
    assert world.rounds()[FRAMES].error_code is ErrorCode.TASK_TIMEOUT
    assert world.project().error_code is ErrorCode.TASK_TIMEOUT
    assert "dagster/max_runtime" in (world.project().error_message or "")


def test_time_in_line_at_a_provider_is_not_the_projects(database: Database) -> None:
    """Issue line 9: a run that only waited for a place, because others hold them all, has used none of its time."""
    world = World(database, load_settings(COMIC_PROJECT_TIMEOUT="100"))
    world.put_at(STORYBOARD, a_project(status=ProjectState.QUEUED))
    run = world.begin(STORYBOARD)
    world.wait(150)
    with database.write() as connection:
        stages.add_waited(connection, run.stage_id or "", seconds=60.5)
    world.heartbeat(run)
    world.tick()
    assert world.project().status == ProjectState.SCRIPT
    world.wait(15)
    world.tick()
    assert (world.project().status, world.project().error_code) == (ProjectState.FAILED, ErrorCode.TASK_TIMEOUT)


def test_a_run_that_dies_before_it_claims_its_row_is_noticed_before_dagster_does(world: World) -> None:
    """Killed together with its code server while it started: Dagster waits 120 s for its first word. A queued run may wait."""
    world.put_at(STORYBOARD, a_project(status=ProjectState.QUEUED))
    run = world.run_of(STORYBOARD)
    world.wait(600)
    world.tick()
    assert world.runs.given_up == {}
    run.launched_at = world.now
    world.wait(88)
    world.tick()
    assert world.runs.given_up == {}
    world.wait(2)
    world.tick()
    assert "did no work" in world.runs.given_up[run.run_id]
    world.tick()
    assert [row.status.value for row in world.everything()[1]] == ["failed", "requested"]


def test_a_run_at_its_work_is_not_taken_for_one_that_never_came(world: World) -> None:
    """Hours after its start it is still alive, as its heart says."""
    at_frames(world)
    run = world.run_of(FRAMES)
    run.launched_at = world.now
    for _ in range(10):
        world.wait(60)
        world.heartbeat(run)
        world.tick()
    assert world.runs.given_up == {}
