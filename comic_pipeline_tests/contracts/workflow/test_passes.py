"""A project's way through the reconciler: from its submission to the review, pass by pass."""

from collections.abc import Callable

import pytest

from comic_pipeline.launching import Launch, launch_of, max_runtime, tag_value
from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.project import Project, Tier
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    PRODUCTION,
    ProjectState,
    RunPhase,
    Stage,
    StageStatus,
    SubmissionKind,
)
from comic_pipeline.settings import load_settings
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database
from comic_pipeline.workflow import EMIT_AT_MOST
from comic_pipeline.workflow.advancing import Advancer
from comic_pipeline.workflow.rows import Rows
from comic_pipeline_tests.builders import NOW, a_project
from comic_pipeline_tests.contracts.service.door import CAT, answer_of
from comic_pipeline_tests.contracts.work.bench import Rival
from comic_pipeline_tests.contracts.workflow.world import World

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
# The lease: looked for, inserted, given back.
IDLE_WRITES = 3


def produced(world: World) -> str:
    """Submit the usual film and let a pass admit it; returns the project's id."""
    number = world.submit(SubmissionKind.PRODUCE, CAT)
    world.tick()
    return answer_of(world.row(number)).project_id


def test_a_project_goes_from_its_submission_to_the_review(world: World) -> None:
    """One pass admits and launches the first stage; each further step follows from what the runs reported."""
    number = world.submit(SubmissionKind.PRODUCE, CAT)
    first = world.tick()
    project_id = answer_of(world.row(number)).project_id
    assert [(launch.stage, launch.project_id) for launch in first.launches] == [(STORYBOARD, project_id)]
    shown, made = [world.project(project_id).status], []
    while world.project(project_id).status != ProjectState.PENDING_REVIEW:
        made.append(world.finish_open(project_id))
        world.tick()
        shown.append(world.project(project_id).status)
        assert len(shown) < 9, shown
    assert made == [[STORYBOARD], [FRAMES, VOICES], [CLIPS], [FILM]]
    assert shown == ["SCRIPT", "IMAGE", "VIDEO", "COMPOSE", "PENDING_REVIEW"]
    rows = world.rounds(project_id)
    assert {row.status for row in rows.values()} == {StageStatus.PASSED}
    assert {row.round for row in rows.values()} == {1}
    assert (world.now - (world.project(project_id).finished_at or NOW)).total_seconds() < 1
    assert world.tick().launches == ()


def test_frames_and_voices_are_launched_in_one_pass(world: World) -> None:
    """They need only the storyboard, so neither waits for the other."""
    project_id = produced(world)
    world.succeed(STORYBOARD, project_id)
    seen = world.tick()
    assert {launch.stage for launch in seen.launches} == {FRAMES, VOICES}
    assert world.project(project_id).status == "IMAGE"


def test_the_state_shown_is_that_of_the_earliest_unfinished_stage(world: World) -> None:
    """Voices that are ready first do not hide that pictures are still being drawn."""
    project_id = produced(world)
    world.finish_open(project_id)
    world.tick()
    world.succeed(VOICES, project_id)
    world.tick()
    assert world.project(project_id).status == "IMAGE"
    world.succeed(FRAMES, project_id)
    seen = world.tick()
    assert ([launch.stage for launch in seen.launches], world.project(project_id).status) == ([CLIPS], "VIDEO")


def test_clips_do_not_wait_for_voices(world: World) -> None:
    """The longest stage begins as soon as the pictures are there."""
    project_id = produced(world)
    world.finish_open(project_id)
    world.tick()
    world.succeed(FRAMES, project_id)
    assert [launch.stage for launch in world.tick().launches] == [CLIPS]
    assert world.project(project_id).status == "TTS"


def test_a_row_follows_its_run(world: World) -> None:
    """Requested, then queued when its run is seen, then running when the run claims it; each with its time."""
    produced_id = produced(world)
    assert world.rounds(produced_id)[STORYBOARD].status is StageStatus.REQUESTED
    world.tick()
    row = world.rounds(produced_id)[STORYBOARD]
    assert (row.status, row.run_id) == (StageStatus.QUEUED, world.run_of(STORYBOARD, produced_id).run_id)
    assert row.requested_at < (row.queued_at or NOW) <= world.now
    world.begin(STORYBOARD, produced_id)
    world.tick()
    assert world.rounds(produced_id)[STORYBOARD].status is StageStatus.RUNNING


def test_a_row_is_emitted_until_its_run_is_seen_and_never_after(world: World) -> None:
    """Emitting marks nothing: a launch that was lost on the way comes again, under the same key."""
    world.submit(SubmissionKind.PRODUCE, CAT)
    first, second = world.tick(start=False), world.tick(start=False)
    assert first.launches == second.launches
    assert len(first.launches) == 1
    world.start(first.launches[0])
    assert world.tick().launches == ()


def test_a_run_that_was_never_seen_before_it_ended_counts(world: World) -> None:
    """A pass may be skipped while a short run starts and ends."""
    project_id = produced(world)
    world.succeed(STORYBOARD, project_id)
    world.tick()
    assert world.rounds(project_id)[STORYBOARD].status is StageStatus.PASSED


@pytest.mark.parametrize("skipped", [0, 1, 5])
def test_passes_repeated_or_skipped_change_nothing(world: World, skipped: int) -> None:
    """Level-triggered: after any number of further passes the tables are the same, and so is the film's way."""
    project_id = produced(world)
    for _ in range(4):
        for _ in range(skipped):
            world.tick()
        before = world.everything()
        world.tick()
        repeated = world.everything()
        world.tick()
        assert world.everything() == repeated
        if skipped:
            assert repeated == before
        world.finish_open(project_id)
        world.tick()
    assert world.project(project_id).status == "PENDING_REVIEW"
    assert {row.round for row in world.rounds(project_id).values()} == {1}


def test_a_redo_makes_anew_what_depends_on_it_and_nothing_else(world: World) -> None:
    """Frames again, then clips and film by themselves; storyboard and voices keep their round."""
    project_id = produced(world)
    for _ in range(4):
        world.finish_open(project_id)
        world.tick()
    assert world.ask(SubmissionKind.REDO, {"stage": "frames"}, project=project_id).status == "accepted"
    made = []
    for _ in range(3):
        world.tick()
        made.append((world.project(project_id).status, world.finish_open(project_id)))
    world.tick()
    assert made == [("IMAGE", [FRAMES]), ("VIDEO", [CLIPS]), ("COMPOSE", [FILM])]
    assert world.project(project_id).status == "PENDING_REVIEW"
    rounds = {stage.value: row.round for stage, row in world.rounds(project_id).items()}
    assert rounds == {"storyboard": 1, "frames": 2, "voices": 1, "clips": 2, "film": 2}


def test_the_next_formal_project_is_admitted_when_the_first_ends(world: World) -> None:
    """In order, one at a time, by passes alone; the line is not written to while it waits."""
    numbers = [world.submit(SubmissionKind.PRODUCE, {"idea": idea}, tier=Tier.PAID) for idea in "abc"]
    for position, number in enumerate(numbers):
        world.tick()
        assert [world.row(one).status for one in numbers[position:]] == ["accepted", *["waiting"] * (2 - position)]
        world.tick()
        with world.counted() as seen:
            world.tick()
        assert seen()["writes"] == IDLE_WRITES
        project_id = answer_of(world.row(number)).project_id
        for _ in range(4):
            world.finish_open(project_id)
            world.tick()
        assert world.project(project_id).status == "PENDING_REVIEW"


def test_the_same_film_in_the_line_is_not_made_twice(world: World) -> None:
    """The second of two equal ones that waited is answered with the first."""
    numbers = [world.submit(SubmissionKind.PRODUCE, {"idea": idea}, tier=Tier.PAID) for idea in ("a", "b", "b")]
    world.tick()
    with world.database.write() as connection:
        first = answer_of(world.row(numbers[0])).project_id
        projects.move(connection, first, old=list(ProjectState), new=ProjectState.APPROVED, now=world.now)
    world.tick()
    second, third = (answer_of(world.row(number)) for number in numbers[1:])
    assert (third.project_id, third.reused) == (second.project_id, True)


def test_priorities_order_admission_and_launches(world: World) -> None:
    """Premium, paid, preview, free; the older first among equals."""
    tiers = [Tier.FREE, Tier.PREMIUM, Tier.PREVIEW, Tier.PAID, Tier.FREE]
    numbers = [world.submit(SubmissionKind.PRODUCE, CAT, user=f"user-{index}", tier=tier) for index, tier in enumerate(tiers)]
    seen = world.tick()
    by_project = {answer_of(world.row(number)).project_id: index for index, number in enumerate(numbers)}
    assert [by_project[launch.project_id] for launch in seen.launches] == [1, 3, 2, 0, 4]
    assert [launch.tags["dagster/priority"] for launch in seen.launches] == ["50", "40", "30", "20", "20"]


def test_at_most_fifty_are_launched_a_pass(world: World) -> None:
    """The rest follows when those are seen; the most urgent come first."""
    for number in range(EMIT_AT_MOST + 2):
        world.submit(SubmissionKind.PRODUCE, CAT, user=f"user-{number}")
    late = world.submit(SubmissionKind.PRODUCE, CAT, user="late", tier=Tier.PREMIUM)
    first = world.tick()
    assert len(first.launches) == EMIT_AT_MOST
    assert first.launches[0].project_id == answer_of(world.row(late)).project_id
    assert len(world.tick().launches) == 3
    assert world.tick().launches == ()


def launched(world: World, project: Project, stage: Stage) -> Launch:
    """The launch of a requested round of `stage`."""
    world.put(project, {stage: StageStatus.REQUESTED})
    return launch_of(world.rounds(project.id)[stage], project, world.settings)


@pytest.mark.parametrize(
    ("stage", "queue", "providers", "job", "serial"),
    [
        (STORYBOARD, "text_queue", "offline_text", "make_storyboard", True),
        (FRAMES, "image_queue", "offline_image", "make_frames", False),
        (VOICES, "voice_queue", "offline_voice", "make_voices", False),
        (CLIPS, "video_queue", "offline_video", "make_clips", False),
        (FILM, "ffmpeg_queue", "ffmpeg offline_music", "make_film", True),
    ],
)
def test_a_launch_carries_every_tag(  # one argument a column
    world: World, stage: Stage, queue: str, providers: str, job: str, *, serial: bool
) -> None:
    """All of them: limits, locks, look-ups and time-outs all hang on them."""
    launch = launched(world, a_project(user_id="用户 7/ä"), stage)
    row = world.rounds()[stage]
    assert (launch.stage_id, launch.project_id, launch.job) == (row.id, "p1", job)
    expected = {
        "comic/kind": "stage",
        "comic/stage_id": row.id,
        "comic/project": "p1",
        "comic/user": "用户_7_ä",
        "comic/stage": stage.value,
        "comic/queue": queue,
        **{f"comic.provider/{one}": "1" for one in providers.split()},
        "dagster/priority": "20",
        "dagster/max_runtime": str(max_runtime(stage, world.settings)),
    }
    assert launch.tags == expected | ({"comic/lock": "p1"} if serial else {})


def test_the_priority_tag_is_that_of_the_row(world: World) -> None:
    """A round asked for with another priority keeps it."""
    assert launched(world, a_project(tier=Tier.PREMIUM), FRAMES).tags["dagster/priority"] == "20"


@pytest.mark.parametrize(("stage", "seconds"), [(STORYBOARD, 180), (FRAMES, 600), (CLIPS, 1_800), (FILM, 1_800)])
def test_a_run_may_take_all_its_rounds_and_waits(stage: Stage, seconds: float) -> None:
    """Whole seconds, which is what Dagster reads; the waits between rounds have up to a tenth of jitter."""
    assert max_runtime(stage, load_settings()) == int(4 * seconds + 1.1 * (30 + 120 + 300) + 60)
    assert max_runtime(stage, load_settings(COMIC_MAX_RETRY=0)) == seconds + 60
    assert max_runtime(stage, load_settings(COMIC_MAX_RETRY=2, COMIC_RETRY_DELAYS="10")) == int(3 * seconds + 22 + 60)


@pytest.mark.parametrize(
    ("text", "value"), [("user-1", "user-1"), ("a b/c", "a_b_c"), ("x" * 99, "x" * 63), ("a\nb", "a_b"), ("me@x.cn", "me@x.cn")]
)
def test_user_text_becomes_a_tag_value(text: str, value: str) -> None:
    """At most 63 characters and no separators."""
    assert tag_value(text) == value


def test_one_evaluation_looks_at_a_time(world: World) -> None:
    """Evaluations overlap: the second is told so at once. After the first has left, or its lease is over, it may look."""
    other = world.another()
    assert world.reconciler.take()
    assert not other.take()
    assert world.reconciler.take()
    world.reconciler.leave()
    assert other.take()
    assert not world.reconciler.take()
    world.wait(31)
    assert world.reconciler.take()
    other.leave()
    assert not other.take()


def test_two_reconcilers_that_overlap_all_the_same_make_one_round_each(world: World) -> None:
    """A lease may run out during a slow pass: the tables still hold every rule."""
    world.submit(SubmissionKind.PRODUCE, CAT)
    first, second = world.reconciler.tick(), world.another().tick()
    assert first.launches == second.launches
    for launch in first.launches:
        world.start(launch)
    project_id = first.launches[0].project_id
    world.succeed(STORYBOARD, project_id)
    world.reconciler.tick()
    before = world.everything()
    world.another().tick()
    assert world.everything() == before


def _advanced(world: World, *, meanwhile: Callable[[], None]) -> tuple[int, list[str]]:
    """One look at all projects, between whose reading and writing somebody else does something."""
    rival = Rival(world.database.engine.url.render_as_string(hide_password=False))
    rival.first = meanwhile
    rows = Rows(database=rival, now=lambda: world.now)
    done = Advancer(rows=rows, settings=world.settings, now=lambda: world.now).advance()
    assert rival.first is None
    rival.close()
    return done


def test_a_project_that_is_stopped_after_it_was_looked_at_gets_no_new_round(world: World) -> None:
    """Its next stages were due a moment ago; begun all the same, they would be paid for a film that has stopped."""
    world.put(a_project(), {STORYBOARD: StageStatus.PASSED})

    def stop() -> None:
        with world.database.write() as connection:
            old, now = ACTIVE_PROJECT_STATES, world.now
            assert projects.move(connection, "p1", old=old, new=ProjectState.FAILED, now=now, finished_at=now)

    assert _advanced(world, meanwhile=stop) == (0, [])
    assert (set(world.rounds()), world.project().status) == ({STORYBOARD}, ProjectState.FAILED)


def test_a_project_is_not_cancelled_under_a_run_that_has_just_begun(world: World) -> None:
    """Nothing was open when it was looked at; the run by hand that came since ends first, and the project with it."""
    world.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    with world.database.write() as connection:
        projects.request_cancel(connection, "p1", reason="enough", now=world.now)

    def begin() -> None:
        world.by_hand(FRAMES)

    assert _advanced(world, meanwhile=begin) == (0, [])
    assert world.project().status in ACTIVE_PROJECT_STATES


def test_a_database_that_is_away_stops_the_pass(world: World, tmp_path: object) -> None:
    """StorageFault comes out: nothing is set aside for it, and the next pass goes on from the tables."""
    produced_id = produced(world)
    before = world.everything()
    gone = world.another()
    gone.database = Database(f"sqlite:///{tmp_path}/empty.db")
    for step in (gone.take, gone.tick):
        with pytest.raises(StorageFault):
            step()
    gone.database.close()
    assert world.everything() == before
    assert world.project(produced_id).error_code is None


def test_an_orchestrator_that_is_away_stops_the_pass(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer about runs is not the answer that there are none: every row would be given up."""
    project_id = produced(world)
    world.begin(STORYBOARD, project_id)
    before = world.everything()

    def away(_rows: object) -> dict[str, object]:
        raise StorageFault("Dagster's database does not answer")

    monkeypatch.setattr(world.runs, "find", away)
    with pytest.raises(StorageFault, match="does not answer"):
        world.tick()
    assert world.everything() == before


def test_runs_are_looked_up_once_a_pass(world: World) -> None:
    """One question about all rows, not one a row; none when nothing is open."""
    world.tick()
    assert world.runs.finds == 0
    for number in range(9):
        world.put(a_project(f"p{number}", user_id=f"u{number}"), {STORYBOARD: StageStatus.QUEUED})
    world.tick()
    assert world.runs.finds == 1


@pytest.mark.parametrize("count", [10, 40])
def test_an_idle_pass_reads_a_few_rows_a_project_and_writes_nothing(world: World, count: int) -> None:
    """Linear in the number of active projects: two short reads each and two a running round, no writes but the lease."""
    for number in range(count):
        world.put(a_project(f"p{number}", user_id=f"u{number}"), {STORYBOARD: StageStatus.PASSED})
    while world.tick().launches:
        pass
    for number in range(count):
        for stage in (FRAMES, VOICES):
            world.begin(stage, f"p{number}")
    with world.counted() as seen:
        world.tick()
    counted = seen()
    assert counted["writes"] == IDLE_WRITES, counted
    assert counted["reads"] <= 4 * count + 10, counted


def test_passes_say_how_much_has_moved(world: World) -> None:
    """The sensor's skip reason: something moved, or nothing did."""
    world.submit(SubmissionKind.PRODUCE, CAT)
    assert world.tick().changed == 2
    assert world.tick().changed == 1
    assert world.tick().changed == 0


def test_a_waiting_run_is_left_alone(world: World) -> None:
    """A run may queue for hours behind others: its row has no heartbeat yet and is not given up."""
    project_id = produced(world)
    world.wait(7_200)
    world.tick()
    assert world.run_of(STORYBOARD, project_id).phase is RunPhase.WAITING
    assert world.rounds(project_id)[STORYBOARD].round == 1


def test_cancelling_the_first_of_a_line_reaches_the_last(world: World) -> None:
    """ArcReel #650: A runs, B and C wait; A is cancelled, then B while it is queued; C must not wait for ever."""
    numbers = [world.submit(SubmissionKind.PRODUCE, {"idea": idea}, tier=Tier.PAID) for idea in "abc"]
    for number in numbers[:2]:
        world.tick()
        project_id = answer_of(world.row(number)).project_id
        world.ask(SubmissionKind.CANCEL, project=project_id)
        for _ in range(3):
            world.tick()
        assert world.project(project_id).status == "CANCELLED"
    assert world.row(numbers[2]).status == "accepted"
    assert world.project(answer_of(world.row(numbers[2])).project_id).status == "SCRIPT"
