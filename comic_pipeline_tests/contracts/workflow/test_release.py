"""The release of an approved film: launched once, tried again when it dies, an operator's when it fails."""

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import MAX_ROUNDS, PRODUCTION, ProjectState, RunPhase, Stage, StageStatus, SubmissionKind
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.workflow.world import World

RELEASE, FILM = Stage.RELEASE, Stage.FILM


def approved(world: World) -> None:
    """A film that was approved; its release is in the queue."""
    world.put(a_project(status=ProjectState.PENDING_REVIEW), dict.fromkeys(PRODUCTION, StageStatus.PASSED))
    world.ask(SubmissionKind.REVIEW, {"decision": "approve", "by": "ann"}, project="p1")
    (launch,) = world.tick().launches
    assert (launch.stage, launch.job) == (RELEASE, "release_film")
    world.tick()


def test_an_approved_film_is_released(world: World) -> None:
    """One run; the project stays approved."""
    approved(world)
    world.succeed(RELEASE)
    world.tick()
    assert (world.project().status, world.rounds()[RELEASE].status) == ("APPROVED", StageStatus.PASSED)
    assert world.tick().launches == ()


def test_a_release_that_dies_is_tried_again(world: World) -> None:
    """Five times, as any stage; then an operator's, and a retry goes on without another review."""
    approved(world)
    for number in range(1, MAX_ROUNDS + 1):
        assert world.rounds()[RELEASE].round == number
        world.fail(RELEASE)
        world.tick()
        world.wait(60)
        world.tick()
    project = world.project()
    assert (project.status, project.fail_stage, project.error_code) == ("MANUAL_REQUIRED", "release", ErrorCode.UNKNOWN_ERROR)
    world.ask(SubmissionKind.RETRY, project="p1")
    assert [launch.stage for launch in world.tick().launches] == [RELEASE]
    world.succeed(RELEASE)
    world.tick()
    assert (world.project().status, world.project().error_code) == ("APPROVED", None)


def test_a_release_that_fails_says_why(world: World) -> None:
    """The store is full: MANUAL_REQUIRED with its code."""
    approved(world)
    world.fail(RELEASE, ErrorCode.STORAGE_FAILED)
    world.tick()
    project = world.project()
    assert (project.status, project.fail_stage, project.error_code) == ("MANUAL_REQUIRED", "release", ErrorCode.STORAGE_FAILED)


def test_a_release_that_somebody_terminated_is_not_lost(world: World) -> None:
    """The film is approved, but nowhere: that must be seen."""
    approved(world)
    world.begin(RELEASE).phase = RunPhase.CANCELED
    world.tick()
    assert (world.project().status, world.project().error_code) == ("MANUAL_REQUIRED", ErrorCode.CANCELLED)


def test_a_release_by_hand_of_a_film_that_is_not_approved_stops_nothing(world: World) -> None:
    """Materialize on a project in production: that run is refused, production goes on."""
    world.put_at(FILM, a_project())
    run = world.by_hand(RELEASE)
    world.report(RELEASE, ErrorCode.CONFLICT)
    run.phase = RunPhase.FAILED
    world.tick()
    assert world.rounds()[RELEASE].ended_at is not None
    assert world.project().status == "COMPOSE"
    world.add_task("p1", FILM, TaskStatus.SUCCESS)
    world.succeed(FILM)
    world.tick()
    assert world.project().status == "PENDING_REVIEW"
