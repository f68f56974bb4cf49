"""`review`: approval and release, rejection with a redo or without, and everything twice."""

from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Tier
from comic_pipeline.model.review import Decision
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.workflow import PRODUCTION, ProjectState, Stage, StageStatus, SubmissionKind
from comic_pipeline.store import reviews
from comic_pipeline_tests.builders import a_picture, a_project
from comic_pipeline_tests.contracts.service.door import Door, answer_of

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
MADE = dict.fromkeys(PRODUCTION, StageStatus.PASSED)
APPROVE: dict[str, Any] = {"decision": "approve", "by": "ann"}
REJECT: dict[str, Any] = {"decision": "reject", "by": "ann", "note": "the cat has six legs"}


def review(door: Door, payload: dict[str, Any], **facts: Any) -> Submission:
    """Say it."""
    return door.ask(SubmissionKind.REVIEW, payload, project="p1", **facts)


def made(door: Door, state: ProjectState = ProjectState.PENDING_REVIEW, **facts: Any) -> None:
    """A project with its film."""
    door.put(a_project(status=state, **facts), MADE)


def recorded(door: Door) -> list[tuple[Decision, str, str, str]]:
    """What the table of reviews says."""
    with door.database.read() as connection:
        return [(one.decision, one.by, one.note, one.film_sha256) for one in reviews.of_project(connection, "p1")]


def test_an_approval_releases_the_film(door: Door) -> None:
    """Who, about which film; the release is asked for in the same moment."""
    made(door)
    answer = answer_of(review(door, APPROVE | {"note": "lovely"}))
    assert (answer.status, answer.reused) == ("APPROVED", False)
    assert door.project().status == "APPROVED"
    assert recorded(door) == [(Decision.APPROVE, "ann", "lovely", a_picture("film-None").sha256)]
    assert door.rounds()[Stage.RELEASE].status is StageStatus.REQUESTED


def test_the_same_review_twice_acts_once(door: Door) -> None:
    """A double click: one row, one release."""
    made(door)
    review(door, APPROVE)
    again = answer_of(review(door, APPROVE))
    assert (again.status, again.reused) == ("APPROVED", True)
    assert len(recorded(door)) == 1
    assert door.rounds()[Stage.RELEASE].round == 1


def test_a_rejection_ends_it_until_somebody_redoes_it(door: Door) -> None:
    """No release; the same again finds it done; an approval of what was rejected is a conflict."""
    made(door)
    assert answer_of(review(door, REJECT)).status == "REJECTED"
    assert answer_of(review(door, REJECT)).reused
    assert review(door, APPROVE).error_code is ErrorCode.CONFLICT
    assert Stage.RELEASE not in door.rounds()
    assert answer_of(door.ask(SubmissionKind.REDO, {"stage": "film"}, project="p1")).status == "QUEUED"


def test_a_rejection_with_shots_becomes_a_redo(door: Door) -> None:
    """Stored as takes by the reviewer, as any redo is; said twice, the shots are made anew once."""
    made(door)
    asked = REJECT | {"stage": "frames", "shots": [0]}
    assert answer_of(review(door, asked)).status == "QUEUED"
    assert door.overrides() == {(0, "take_frames"): "1"}
    assert door.rounds()[FRAMES].round == 2
    again = answer_of(review(door, asked))
    assert (again.status, again.reused) == ("QUEUED", True)
    assert door.overrides() == {(0, "take_frames"): "1"}
    assert len(recorded(door)) == 1


def test_a_rejection_that_cannot_be_redone_leaves_nothing(door: Door) -> None:
    """The shot does not exist: neither the review nor the state is written."""
    made(door)
    refused = review(door, REJECT | {"stage": "frames", "shots": [9]})
    assert refused.error_code is ErrorCode.INPUT_INVALID
    assert "shots [9] do not exist" in (refused.error_message or "")
    assert (door.project().status, recorded(door)) == ("PENDING_REVIEW", [])


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"decision": "maybe", "by": "ann"}, "decision"),
        ({"decision": "approve"}, "by"),
        ({"decision": "approve", "by": "  "}, "must be named"),
        (APPROVE | {"stage": "frames"}, "only a rejection"),
        (REJECT | {"shots": [1]}, "name the stage"),
        (REJECT | {"stage": "storyboard"}, "cannot be re-made"),
        (REJECT | {"stage": "release"}, "not made anew"),
        (REJECT | {"stage": "film", "shots": [1]}, "rendered whole"),
        (APPROVE | {"note": "a\x00b"}, "control character"),
    ],
)
def test_a_review_that_says_nothing_clear_is_refused(door: Door, payload: dict[str, Any], said: str) -> None:
    """Named: the field and the way out. Nothing is written."""
    made(door)
    refused = review(door, payload)
    assert refused.status == "rejected"
    assert said in (refused.error_message or "")
    assert (door.project().status, recorded(door)) == ("PENDING_REVIEW", [])


def test_a_release_that_failed_is_retried_without_another_review(door: Door) -> None:
    """The film stays approved."""
    door.put(
        a_project(status=ProjectState.MANUAL_REQUIRED, fail_stage="release", error_code=ErrorCode.STORAGE_FAILED),
        MADE | {Stage.RELEASE: StageStatus.MANUAL_REQUIRED},
    )
    assert answer_of(door.ask(SubmissionKind.RETRY, project="p1")).status == "APPROVED"
    assert {stage: row.round for stage, row in door.rounds().items()} == dict.fromkeys(PRODUCTION, 1) | {Stage.RELEASE: 2}


def test_a_release_that_failed_long_ago_is_not_part_of_a_retry(door: Door) -> None:
    """The film has been made anew since: it must be approved first."""
    door.put(
        a_project(status=ProjectState.FAILED, fail_stage="clips", error_code=ErrorCode.TASK_TIMEOUT),
        MADE | {CLIPS: StageStatus.FAILED, Stage.RELEASE: StageStatus.MANUAL_REQUIRED},
    )
    assert answer_of(door.ask(SubmissionKind.RETRY, project="p1")).status == "QUEUED"
    assert door.rounds()[Stage.RELEASE].round == 1


def test_a_film_that_was_cancelled_when_it_was_made_is_not_released_by_a_retry(door: Door) -> None:
    """Everything is there, and the release of the version before had failed: this one has not been approved."""
    door.put(a_project(status=ProjectState.CANCELLED), MADE | {Stage.RELEASE: StageStatus.MANUAL_REQUIRED})
    assert answer_of(door.ask(SubmissionKind.RETRY, project="p1")).status == "QUEUED"
    assert door.rounds()[Stage.RELEASE].round == 1


def test_a_project_without_a_film_cannot_be_reviewed(door: Door) -> None:
    """A row that somebody moved by hand: said by name, not approved empty."""
    door.put(a_project(status=ProjectState.PENDING_REVIEW), {STORYBOARD: StageStatus.PASSED})
    assert "has no film" in (review(door, APPROVE).error_message or "")


def test_a_published_project_that_is_redone_is_reviewed_anew(door: Door) -> None:
    """From APPROVED back into production; the first approval does not count for the new film."""
    made(door, tier=Tier.PREVIEW)
    review(door, APPROVE)
    door.put_release_to_an_end()
    assert answer_of(door.ask(SubmissionKind.REDO, {"stage": "film"}, project="p1")).status == "QUEUED"
    assert review(door, APPROVE).error_code is ErrorCode.CONFLICT
