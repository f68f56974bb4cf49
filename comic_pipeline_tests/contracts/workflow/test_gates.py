"""Closed gates: what is made anew by itself, how often, and when a person must look."""

import pytest

from comic_pipeline import service
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.model.workflow import PRODUCTION, RunPhase, Stage, StageStatus, SubmissionKind
from comic_pipeline.settings import load_settings
from comic_pipeline.store import stages, verdicts
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.workflow.world import World

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION


def blame(seq: int | None, severity: Severity = Severity.ERROR) -> Finding:
    """A finding about one shot, or about the whole."""
    return Finding(rule="not_blank", severity=severity, seq=seq, measured="0", wanted="1")


def close(world: World, stage: Stage, *findings: Finding, phase: RunPhase = RunPhase.SUCCEEDED) -> None:
    """The stage's run ends with a closed gate."""
    run = world.begin(stage)
    world.judge(run, stage, passed=False, findings=findings)
    run.phase = phase
    world.tick()


@pytest.mark.parametrize("phase", [RunPhase.SUCCEEDED, RunPhase.FAILED])
def test_the_shots_that_a_gate_refused_are_made_anew_once(world: World, phase: RunPhase) -> None:
    """Exactly those with an ERROR get their next take and a round of their own; a warning costs nothing."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(2), blame(0), blame(1, Severity.WARN), phase=phase)
    row = world.rounds()[FRAMES]
    assert (row.round, row.scope, row.status) == (2, "qc:0,2", StageStatus.REQUESTED)
    assert world.overrides() == {(0, "take_frames"): "1", (2, "take_frames"): "1"}
    assert world.project().status == "IMAGE"
    assert CLIPS not in world.rounds()


def test_the_second_closed_gate_is_for_a_person(world: World) -> None:
    """QC_FAILED with the gate's name; nothing after it is started, and nothing more is paid by itself."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(1))
    close(world, FRAMES, blame(1))
    project = world.project()
    assert (project.status, project.error_code, project.fail_stage) == ("MANUAL_REQUIRED", ErrorCode.QC_FAILED, "frames")
    assert "frame_images_qc" in (project.error_message or "")
    assert world.overrides() == {(1, "take_frames"): "1"}
    assert CLIPS not in world.rounds()
    assert world.tick().launches == ()


def test_what_was_made_anew_and_passes_goes_on(world: World) -> None:
    """The second take is good: the clips follow."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(1))
    world.succeed(FRAMES)
    world.tick()
    world.tick()
    assert CLIPS in world.rounds()


@pytest.mark.parametrize(("stage", "field"), [(STORYBOARD, "take_storyboard"), (FILM, "take_film")])
def test_what_is_made_as_a_whole_is_made_anew_as_a_whole(world: World, stage: Stage, field: str) -> None:
    """A storyboard has one take, whichever shots were named."""
    world.put_at(stage, a_project())
    close(world, stage, blame(None), blame(1))
    assert world.overrides() == {(0, field): "1"}
    assert world.rounds()[stage].round == 2


def test_a_finding_about_the_whole_makes_every_shot_anew(world: World) -> None:
    """No shot is named, so none can be spared: those that the ledger knows."""
    world.put_at(CLIPS, a_project())
    close(world, CLIPS, blame(None))
    assert world.overrides() == {(0, "take_clips"): "1"}
    assert world.rounds()[CLIPS].scope == "qc:all"


@pytest.mark.parametrize("allowed", [0, 2])
def test_how_often_is_a_setting(database: Database, allowed: int) -> None:
    """COMIC_QC_REMAKES: 0 hands over at once."""
    world = World(database, load_settings(qc_remakes=allowed))
    world.put_at(FRAMES, a_project())
    for number in range(allowed):
        close(world, FRAMES, blame(1))
        assert world.rounds()[FRAMES].round == number + 2
    close(world, FRAMES, blame(1))
    assert world.project().status == "MANUAL_REQUIRED"


def test_a_retry_gives_one_more_take(world: World) -> None:
    """A person asked: a fresh allowance."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(1))
    close(world, FRAMES, blame(1))
    world.ask(SubmissionKind.RETRY, project="p1")
    world.tick()
    close(world, FRAMES, blame(1))
    assert world.overrides() == {(1, "take_frames"): "2"}
    close(world, FRAMES, blame(1))
    assert world.project().status == "MANUAL_REQUIRED"


def test_the_round_that_remakes_does_not_wait_as_after_a_crash(world: World) -> None:
    """Nothing died: the round is launched in the pass that asks for it."""
    world.put_at(FRAMES, a_project())
    run = world.begin(FRAMES)
    world.judge(run, FRAMES, passed=False, findings=(blame(1),))
    run.phase = RunPhase.SUCCEEDED
    assert FRAMES in {launch.stage for launch in world.tick().launches}


def test_the_time_of_such_a_round_counts(world: World) -> None:
    """COMIC_PROJECT_TIMEOUT is about work, and this is work; only rounds that settle leftovers are not."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(1))
    with world.database.read() as connection:
        before = stages.seconds_by_project(connection, now=world.now)["p1"]
    world.begin(FRAMES)
    world.wait(100)
    with world.database.read() as connection:
        assert stages.seconds_by_project(connection, now=world.now)["p1"] >= before + 100


def opened(world: World, check: str = "frame_images_qc", *, by: str = "ann", reason: str = "looks right") -> str:
    """Open a gate by hand; the state that is answered."""
    with world.database.write() as connection:
        return service.open_gate(connection, "p1", check, by=by, reason=reason, house=world.house).status


def test_an_operator_opens_a_gate_and_work_goes_on(world: World) -> None:
    """Recorded as a verdict with name and reason about this version; the stage gets a round, which finds everything made."""
    world.put_at(FRAMES, a_project())
    close(world, FRAMES, blame(1))
    close(world, FRAMES, blame(1))
    assert opened(world) == "QUEUED"
    with world.database.read() as connection:
        held = verdicts.of_version(connection, "p1", check="frame_images_qc", data_version="v1")
    assert held is not None
    assert (held.passed, held.severity, held.override_by, held.override_reason) == (True, Severity.WARN, "ann", "looks right")
    assert held.findings == (blame(1),)
    assert world.rounds()[FRAMES].status is StageStatus.REQUESTED
    world.tick()
    world.succeed(FRAMES)
    world.tick()
    assert world.project().status in ("TTS", "VIDEO")


def test_a_gate_that_is_not_closed_cannot_be_opened(world: World) -> None:
    """Neither an open one, nor one that never gave a verdict, nor one whose project is at work."""
    world.put_at(FRAMES, a_project())
    with pytest.raises(Refused, match="gave no verdict") as missing:
        opened(world)
    assert missing.value.code is ErrorCode.NOT_FOUND
    close(world, FRAMES, blame(1))
    with pytest.raises(Refused, match="is IMAGE") as busy:
        opened(world)
    assert busy.value.code is ErrorCode.CONFLICT
    world.succeed(FRAMES)
    with pytest.raises(Refused, match="nothing to override"):
        opened(world)


@pytest.mark.parametrize(("by", "reason"), [("", "why"), ("ann", " "), ("a" * 200, "why")])
def test_an_override_names_who_and_why(world: World, by: str, reason: str) -> None:
    """An anonymous one is refused before anything is looked at."""
    with pytest.raises(Refused) as refused:
        opened(world, by=by, reason=reason)
    assert refused.value.code is ErrorCode.INPUT_INVALID


def finish(world: World, *, tier: Tier, findings: tuple[Finding, ...] = ()) -> str:
    """Make the film; its last gate has these findings. The project's state afterwards."""
    world.put_at(FILM, a_project(tier=tier))
    run = world.begin(FILM)
    world.add_task("p1", FILM, TaskStatus.SUCCESS)
    world.judge(run, FILM, findings=findings)
    run.phase = RunPhase.SUCCEEDED
    world.tick()
    return world.project().status


@pytest.mark.parametrize(
    ("tier", "findings", "state"),
    [
        (Tier.PREVIEW, (), "APPROVED"),
        (Tier.PREVIEW, (blame(None, Severity.WARN),), "PENDING_REVIEW"),
        (Tier.FREE, (), "PENDING_REVIEW"),
        (Tier.PREMIUM, (), "PENDING_REVIEW"),
    ],
    ids=["clean", "warned", "another tier", "premium"],
)
def test_a_clean_film_of_these_tiers_needs_no_person(
    database: Database, tier: Tier, findings: tuple[Finding, ...], state: str
) -> None:
    """COMIC_AUTO_APPROVE; a warning, and a premium film, always do."""
    world = World(database, load_settings(auto_approve_text="preview"))
    assert finish(world, tier=tier, findings=findings) == state
    assert (Stage.RELEASE in world.rounds()) == (state == "APPROVED")
