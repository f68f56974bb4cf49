"""Faults of the text model: answers in odd dress are read as they are, bad ones repaired once, and every one is paid for once."""

import json
from collections.abc import Callable

import pytest

from comic_pipeline.defs.io import document_key
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.storyboard import UNTITLED, Storyboard, build_storyboard
from comic_pipeline.model.task import AttemptKind
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline_tests.acceptance.faults.trial import Trial, check_stopped, states_of
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.sandbox.storyboards import write_storyboard

BeginTrial = Callable[..., Trial]


def storyboard_of(one: Trial) -> Storyboard:
    """The stored storyboard."""
    return Storyboard.model_validate_json(one.house.workshop.objects.get(document_key("film", "storyboard")))


def write(one: Trial) -> tuple[ProjectState, Storyboard]:
    """Make the storyboard alone."""
    end = one.make(before=Stage.FRAMES)
    return ProjectState(end.status), storyboard_of(one)


@pytest.mark.parametrize("kind", [Kind.FENCED, Kind.PROSE, Kind.TRAILING_COMMAS, Kind.FRAMES_KEY, Kind.SYNONYMS, Kind.WRAPPED])
def test_an_answer_in_odd_dress_is_the_storyboard_that_it_holds(trial: BeginTrial, shared_sandbox: Sandbox, kind: Kind) -> None:
    """NarratoAI PR#266, 123: fences, prose, trailing commas, other keys, a wrapper: read without a second call."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=kind))
    state, storyboard = write(one)
    assert state == ProjectState.IMAGE
    asked = shared_sandbox.admin.requests(Route.CHAT)[-1].body
    prompt = "\n".join(message["content"] for message in sorted(asked["messages"], key=lambda said: said["role"] != "user"))
    assert storyboard == build_storyboard(write_storyboard(prompt), shot_ms=5_000)
    one.check_books(one.house.status("film"), {"chat": 1})


def test_a_missing_title_is_written_by_the_house(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """A film without a title gets 未命名漫剧 and costs no second call."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.MISSING_TITLE))
    state, storyboard = write(one)
    assert state == ProjectState.IMAGE
    assert storyboard.title == UNTITLED
    one.check_books(one.house.status("film"), {"chat": 1})


def test_prose_instead_of_json_is_repaired_once_and_both_answers_are_booked(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case waooAI 136: "Here are the rules" instead of the storyboard costs one repair round, not the job."""
    one = trial()
    shared_sandbox.admin.answers.add("Here are the rules: first, a storyboard has shots.")
    state, storyboard = write(one)
    assert state == ProjectState.IMAGE
    assert len(storyboard.shots) == 3
    one.check_books(one.house.status("film"), {"chat": 2})
    assert [made.kind for made in one.attempts("storyboard")] == [AttemptKind.CREATE, AttemptKind.REPAIR]


def test_a_shot_that_lacks_its_picture_is_named_in_the_repair(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """NarratoAI 123: the model is told which shot and which field; its corrected answer is taken."""
    one = trial()
    shots = [{"seq": seq, "scene_desc": "月球", "image_prompt": "a cat", "duration_ms": 5_000} for seq in range(3)]
    del shots[1]["image_prompt"]
    shared_sandbox.admin.answers.add(json.dumps({"title": "猫", "shots": shots}))
    state, _ = write(one)
    assert state == ProjectState.IMAGE
    one.check_books(one.house.status("film"), {"chat": 2})
    asked = json.dumps(shared_sandbox.admin.requests(Route.CHAT)[-1].body, ensure_ascii=False)
    assert "shot 1: image_prompt" in asked


def test_a_model_that_never_answers_with_a_storyboard_ends_the_project(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """One repair, no more: SCRIPT_INVALID for the user, both answers paid; a retry may then succeed."""
    one = trial()
    shared_sandbox.admin.answers.add("no", "still no")
    end = one.make()
    check_stopped(end, ProjectState.FAILED, ErrorCode.SCRIPT_INVALID, stage=Stage.STORYBOARD)
    one.check_books(end, {"chat": 2})
    end = one.retry(before=Stage.FRAMES)
    assert end.status == ProjectState.IMAGE
    one.check_books(end, {"chat": 3})


@pytest.mark.parametrize("kind", [Kind.CUT, Kind.NO_CHOICES, Kind.BLANK])
def test_an_answer_without_a_usable_text_is_paid_and_asked_for_again(
    trial: BeginTrial, shared_sandbox: Sandbox, kind: Kind
) -> None:
    """Field case waooAI 113: cut at the limit, no choices, no text: tokens are billed all the same."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=kind))
    state, storyboard = write(one)
    assert state == ProjectState.IMAGE
    assert len(storyboard.shots) == 3
    one.check_books(one.house.status("film"), {"chat": 2})


def test_an_empty_body_is_asked_for_again(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """HTTP 200 with nothing in it: no trace of a None, one more try."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.EMPTY))
    state, _ = write(one)
    assert state == ProjectState.IMAGE
    one.check_books(one.house.status("film"), {"chat": 1})
    assert states_of(one.attempts("storyboard")) == ["failed", "succeeded"]


def test_answers_that_stay_empty_are_bounded(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case waooAI 113: EMPTY_RESPONSE after the rounds of retry, for an operator, without a storm of calls."""
    one = trial(COMIC_MAX_RETRY="1")
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.EMPTY), times=8)
    end = one.make()
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.EMPTY_RESPONSE, stage=Stage.STORYBOARD)
    assert one.requests == {"chat": 8}
    one.check_books(end, {})


def test_a_model_without_json_mode_is_asked_in_plain_words(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Toonflow 29: response_format is refused once; the next try goes without it."""
    one = trial()
    refusal = api_error("InvalidParameter", message="The parameter response_format.type is not supported by this model.")
    shared_sandbox.admin.faults.add(Route.CHAT, refusal)
    state, _ = write(one)
    assert state == ProjectState.IMAGE
    one.check_books(one.house.status("film"), {"chat": 1})
    assert "response_format" not in shared_sandbox.admin.requests(Route.CHAT)[-1].body


def test_a_lost_answer_of_the_text_model_is_booked_at_its_estimate(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """What the lost answer cost nobody can know: the estimate (never below it) stands for it, and one more call is made."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.DROP_AFTER))
    state, _ = write(one)
    assert state == ProjectState.IMAGE
    assert one.creates == {"chat": 2}
    lost, made = one.attempts("storyboard")
    charges = [charge.cost for charge in shared_sandbox.admin.charges()[-2:]]
    assert (lost.state, lost.cost, made.cost) == ("unknown", lost.estimate, charges[1])
    assert lost.estimate >= (charges[0] or 0)


def test_a_rejected_idea_is_the_users_to_change(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Input moderation: FAILED with its own code after one call that cost nothing; nothing else is tried."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, api_error("InputTextSensitiveContentDetected"))
    end = one.make()
    check_stopped(end, ProjectState.FAILED, ErrorCode.MODERATION_REJECTED, stage=Stage.STORYBOARD)
    assert one.requests == {"chat": 1}
    one.check_books(end, {})


def test_an_answer_stopped_by_the_content_filter_is_paid_and_ends_the_project(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The filter struck while the answer was written: its tokens are billed, nothing is tried again."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.FILTERED))
    end = one.make()
    check_stopped(end, ProjectState.FAILED, ErrorCode.MODERATION_REJECTED, stage=Stage.STORYBOARD)
    one.check_books(end, {"chat": 1})
