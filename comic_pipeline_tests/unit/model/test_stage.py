"""What follows from the rounds of a project: what is made, what is due, what is shown, what stands still."""

from dataclasses import dataclass

import pytest

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.stage import check_redoable, due_stages, made, rounds_in_a_row, shown_state, stalled
from comic_pipeline.model.workflow import OPEN_STAGE_STATUSES, PRODUCTION, ProjectState, Stage, StageStatus, downstream
from comic_pipeline_tests.unit.model.rounds import Rounds, a_round, all_made, rounds

FAILED, MANUAL, CANCELLED = StageStatus.FAILED, StageStatus.MANUAL_REQUIRED, StageStatus.CANCELLED
REQUESTED, RUNNING = StageStatus.REQUESTED, StageStatus.RUNNING
STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION


@dataclass(frozen=True)
class Case:
    """Rounds as they stand, and what follows."""

    says: str
    latest: Rounds
    due: tuple[Stage, ...]
    shown: ProjectState
    stalled: Stage | None = None


CASES = [
    Case("nothing yet", {}, (STORYBOARD,), ProjectState.QUEUED),
    Case("writing", rounds(a_round(STORYBOARD, RUNNING)), (), ProjectState.SCRIPT),
    Case("written: frames and voices side by side", rounds(a_round(STORYBOARD)), (FRAMES, VOICES), ProjectState.IMAGE),
    Case(
        "both at work: the earliest unfinished is shown",
        rounds(a_round(STORYBOARD), a_round(FRAMES, RUNNING, requested=2), a_round(VOICES, RUNNING, requested=2)),
        (),
        ProjectState.IMAGE,
    ),
    Case(
        "voices first: still the pictures are shown, and clips wait for them",
        rounds(a_round(STORYBOARD), a_round(FRAMES, RUNNING, requested=2), a_round(VOICES, requested=2, ended=3)),
        (),
        ProjectState.IMAGE,
    ),
    Case(
        "pictures first: clips do not wait for voices",
        rounds(a_round(STORYBOARD), a_round(FRAMES, requested=2, ended=3), a_round(VOICES, RUNNING, requested=2)),
        (CLIPS,),
        ProjectState.TTS,
    ),
    Case(
        "clips made, voices not: no film yet",
        rounds(
            a_round(STORYBOARD),
            a_round(FRAMES, requested=2, ended=3),
            a_round(VOICES, RUNNING, requested=2),
            a_round(CLIPS, requested=3, ended=4),
        ),
        (),
        ProjectState.TTS,
    ),
    Case("all made", all_made(), (), ProjectState.PENDING_REVIEW),
    Case(
        "everything but the film",
        {stage: row for stage, row in all_made().items() if stage is not FILM},
        (FILM,),
        ProjectState.COMPOSE,
    ),
    Case(
        "frames re-made: clips are due, voices are not touched",
        all_made() | rounds(a_round(FRAMES, requested=60, ended=70, number=2)),
        (CLIPS,),
        ProjectState.VIDEO,
    ),
    Case(
        "frames being re-made: nothing after them is due yet",
        all_made() | rounds(a_round(FRAMES, RUNNING, requested=60, number=2)),
        (),
        ProjectState.IMAGE,
    ),
    Case(
        "frames and clips re-made: the film is due",
        all_made()
        | rounds(
            a_round(FRAMES, requested=60, ended=70, number=2),
            a_round(CLIPS, requested=70, ended=80, number=2),
        ),
        (FILM,),
        ProjectState.COMPOSE,
    ),
    Case(
        "voices re-made: only the film is due",
        all_made() | rounds(a_round(VOICES, requested=60, ended=70, number=2)),
        (FILM,),
        ProjectState.COMPOSE,
    ),
    Case(
        "requested in the very moment in which its need ended: fresh",
        rounds(a_round(STORYBOARD, ended=10), a_round(FRAMES, requested=10, ended=20), a_round(VOICES, RUNNING, requested=10)),
        (CLIPS,),
        ProjectState.TTS,
    ),
    Case(
        "frames failed, voices at work: nothing is asked again by itself",
        rounds(a_round(STORYBOARD), a_round(FRAMES, FAILED, requested=2, ended=3), a_round(VOICES, RUNNING, requested=2)),
        (),
        ProjectState.IMAGE,
    ),
    Case(
        "frames failed, voices made: it stands still",
        rounds(a_round(STORYBOARD), a_round(FRAMES, MANUAL, requested=2, ended=3), a_round(VOICES, requested=2, ended=4)),
        (),
        ProjectState.IMAGE,
        stalled=FRAMES,
    ),
    Case("the storyboard failed", rounds(a_round(STORYBOARD, FAILED)), (), ProjectState.SCRIPT, stalled=STORYBOARD),
    Case(
        "clips failed, then voices were re-made: still nothing asks for the clips",
        all_made() | rounds(a_round(CLIPS, FAILED, requested=30, ended=40), a_round(VOICES, requested=60, ended=70, number=2)),
        (),
        ProjectState.VIDEO,
        stalled=CLIPS,
    ),
    Case(
        "clips failed, then frames were re-made: clips are due by themselves",
        all_made() | rounds(a_round(CLIPS, FAILED, requested=30, ended=40), a_round(FRAMES, requested=60, ended=70, number=2)),
        (CLIPS,),
        ProjectState.VIDEO,
    ),
    Case(
        "by hand over three stages, all made by one run",
        rounds(
            a_round(STORYBOARD, requested=0, ended=10, run="hand"),
            a_round(FRAMES, requested=0, ended=10, run="hand"),
            a_round(VOICES, requested=0, ended=10, run="hand"),
        ),
        (CLIPS,),
        ProjectState.VIDEO,
    ),
    Case(
        "by hand over two stages, the first one made again afterwards",
        rounds(
            a_round(STORYBOARD, requested=20, ended=30, number=2),
            a_round(FRAMES, requested=0, ended=10, run="hand"),
            a_round(VOICES, requested=30, ended=40),
        ),
        (FRAMES,),
        ProjectState.IMAGE,
    ),
    Case(
        "by hand over two stages, the second not reached, the first made by a later round",
        rounds(
            a_round(STORYBOARD, requested=20, ended=30, number=2),
            a_round(FRAMES, CANCELLED, requested=0, ended=10, run="hand"),
            a_round(VOICES, requested=30, ended=40),
        ),
        (FRAMES,),
        ProjectState.IMAGE,
    ),
    Case(
        "a round by hand is open: the reconciler asks for no second one",
        rounds(a_round(STORYBOARD), a_round(FRAMES, RUNNING, requested=2, run="hand"), a_round(VOICES, requested=2, ended=3)),
        (),
        ProjectState.IMAGE,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_what_follows_from_rounds(case: Case) -> None:
    """Due, shown and stalled are read from the latest rounds alone, so any pass can be skipped or repeated."""
    assert due_stages(case.latest) == case.due
    assert shown_state(case.latest) is case.shown
    still = stalled(case.latest)
    assert (still.stage if still else None) is case.stalled


@pytest.mark.parametrize("status", [REQUESTED, StageStatus.QUEUED, RUNNING])
def test_an_open_round_is_never_requested_twice(status: StageStatus) -> None:
    """Not even when its need was made anew meanwhile: the index would refuse it, and the run reads the newest anyway."""
    latest = all_made() | rounds(a_round(STORYBOARD, requested=90, ended=99), a_round(FRAMES, status, requested=10))
    assert FRAMES not in due_stages(latest)


@pytest.mark.parametrize("status", [FAILED, MANUAL, CANCELLED])
@pytest.mark.parametrize("stage", PRODUCTION)
def test_a_round_that_did_not_pass_is_not_asked_again_by_itself(stage: Stage, status: StageStatus) -> None:
    """With the same inputs it would fail, and cost, the same way; and nothing after it is due."""
    latest = all_made()
    latest |= rounds(latest[stage].model_copy(update={"status": status}))
    assert due_stages(latest) == ()
    standing = stalled(latest)
    assert standing is not None
    assert standing.stage is stage


@pytest.mark.parametrize("stage", PRODUCTION)
def test_made_means_passed_on_inputs_that_are_made(stage: Stage) -> None:
    """A need that was made anew, or is being made, un-makes all that came of it."""
    assert made(stage, all_made())
    assert not made(stage, {})
    for remade in PRODUCTION:
        again = all_made() | rounds(a_round(remade, requested=60, ended=70, number=2))
        assert made(stage, again) == (stage is remade or stage not in downstream(remade))
        being = all_made() | rounds(a_round(remade, RUNNING, requested=60, number=2))
        assert made(stage, being) == (stage not in downstream(remade))


def test_a_project_gets_through_all_stages_from_nothing() -> None:
    """Requesting whatever is due and passing it leads to the review in four steps, each stage once."""
    latest: Rounds = {}
    steps = []
    for step in range(4):
        due = due_stages(latest)
        steps.append(due)
        latest |= rounds(*(a_round(stage, requested=step * 10, ended=step * 10 + 5) for stage in due))
    assert steps == [(STORYBOARD,), (FRAMES, VOICES), (CLIPS,), (FILM,)]
    assert (due_stages(latest), shown_state(latest)) == ((), ProjectState.PENDING_REVIEW)


def test_rounds_that_follow_by_themselves_are_counted_from_the_last_wish_of_a_person() -> None:
    """A retry has a fresh allowance: the five automatic rounds are counted from it on, whatever the round's number."""
    history = [
        a_round(FRAMES, FAILED, requested=0, ended=1, number=1),
        a_round(FRAMES, MANUAL, requested=1, ended=2, number=2),
        a_round(FRAMES, FAILED, requested=7, ended=8, number=3),
        a_round(FRAMES, FAILED, requested=8, ended=9, number=4),
        a_round(FRAMES, MANUAL, requested=9, ended=10, number=5),
        a_round(FRAMES, RUNNING, requested=10, number=6),
        a_round(VOICES, FAILED, requested=6, ended=7, number=2),
    ]
    counts = [rounds_in_a_row(row, history) for row in history if row.stage is FRAMES]
    assert counts == [1, 2, 1, 2, 3, 1]


def refused(stage: Stage, latest: Rounds) -> str:
    """Why a stage cannot be re-made."""
    with pytest.raises(Refused) as why:
        check_redoable(stage, latest, project_id="p1")
    assert why.value.code is ErrorCode.CONFLICT
    return why.value.detail


@pytest.mark.parametrize("stage", [FRAMES, VOICES, CLIPS, FILM])
def test_every_stage_but_the_storyboard_can_be_made_anew(stage: Stage) -> None:
    """Another storyboard would be another film."""
    check_redoable(stage, all_made(), project_id="p1")
    assert "one of: frames, voices, clips, film" in refused(STORYBOARD, all_made())


def test_a_stage_that_was_never_tried_cannot_be_made_anew() -> None:
    """It names what can be."""
    assert "one of: frames" in refused(CLIPS, rounds(a_round(STORYBOARD), a_round(FRAMES, FAILED, requested=2)))
    assert "none yet" in refused(FRAMES, {})


def test_a_stage_whose_needs_failed_cannot_be_made_anew() -> None:
    """It would be made of the old inputs, beside the round that makes the new ones."""
    latest = all_made() | rounds(a_round(FRAMES, MANUAL, requested=60, ended=70, number=2))
    assert "needs frames" in refused(CLIPS, latest)
    check_redoable(FRAMES, latest, project_id="p1")


@pytest.mark.parametrize("status", OPEN_STAGE_STATUSES)
def test_a_stage_cannot_be_made_anew_while_it_or_a_later_one_is_worked_on(status: StageStatus) -> None:
    """The running one would lose its inputs, or be doubled; one beside it does not matter."""
    latest = all_made() | rounds(a_round(FILM, status, requested=60, run="r9", number=2))
    assert f"film of project p1 is {status} in run r9" in refused(FRAMES, latest)
    assert "film" in refused(FILM, latest)
    beside = all_made() | rounds(a_round(VOICES, status, requested=60, number=2))
    check_redoable(FRAMES, {stage: row for stage, row in beside.items() if stage is not FILM}, project_id="p1")
