"""Faults that stop a project: it says why and who must act, keeps what was made, spends nothing more, and can be gone on with."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from comic_pipeline.defs.io import document_key
from comic_pipeline.model.errors import ERROR_RULES, Actor, ErrorCode, Refused
from comic_pipeline.model.media import VoiceLines
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import ProjectState, Stage, SubmissionKind
from comic_pipeline_tests.acceptance.faults.trial import Trial, check_stopped
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox

BeginTrial = Callable[..., Trial]
PICTURES = {"chat": 1, "image": 3, "tts_v3": 3}
CLIPS = PICTURES | {"video_create": 3}


# --- moderation of one shot ---------------------------------------------------------------------------------------------------


def test_one_rejected_clip_keeps_the_others_and_a_redo_pays_only_that_shot(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case openstory 881: the film is not "completed" without it; MANUAL_REQUIRED names the shot; other words finish it."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.TASK_ERROR), match="shot 2.")
    end = one.make(before=Stage.FILM)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.MODERATION_REJECTED, stage=Stage.CLIPS)
    assert "shot 1" in (end.error_message or "")
    one.check_books(end, CLIPS)
    assert [task.status for task in one.tasks("clip")] == [TaskStatus.SUCCESS, TaskStatus.MANUAL_REQUIRED, TaskStatus.SUCCESS]
    before = one.spend
    end = one.redo(Stage.CLIPS, shot=1, prompt="a slow pan over the flowers", before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE, end.error_message
    one.check_books(end, CLIPS | {"video_create": 4})
    assert one.spend - before == one.tasks("clip")[0].cost_actual


def test_one_rejected_picture_keeps_the_others_and_a_redo_pays_only_that_shot(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The same for a picture, which is refused in the answer itself and costs nothing."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.TASK_ERROR), match="shot 3 of 3")
    end = one.make(before=Stage.CLIPS)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.MODERATION_REJECTED, stage=Stage.FRAMES)
    one.check_books(end, PICTURES | {"image": 2})
    end = one.redo(Stage.FRAMES, shot=2, prompt="a cat among stars", before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO, end.error_message
    one.check_books(end, PICTURES)


def test_a_rejected_shot_is_not_tried_again_by_itself(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """A permanent refusal of one shot costs one request, whatever the others do meanwhile."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, api_error("InputImageRiskDetection"), match="shot 1 of 3")
    shared_sandbox.admin.faults.add(Route.IMAGE, api_error("InternalServiceError"), times=2, match="shot 2 of 3")
    end = one.make(before=Stage.CLIPS)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.MODERATION_REJECTED, stage=Stage.FRAMES)
    assert one.requests["image"] == 5
    one.check_books(end, PICTURES | {"image": 2})


# --- key and account ----------------------------------------------------------------------------------------------------------


def test_a_wrong_key_stops_for_an_operator_and_a_retry_with_the_right_one_finishes(
    trial: BeginTrial, shared_sandbox: Sandbox, tmp_path: Path
) -> None:
    """401: PROVIDER_AUTH after one request; the key is mended in the environment, the project retried, nothing lost.

    The service quotes the key in its answer, as some do: it is in no row, event, log or document.
    """
    key = "sandbox-key-of-somebody-else"
    one = trial(ARK_API_KEY=key)
    shared_sandbox.admin.faults.add(Route.CHAT, api_error("AuthenticationError", message=f"The API key {key} is wrong."))
    end = one.make()
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.PROVIDER_AUTH, stage=Stage.STORYBOARD)
    assert one.requests == {"chat": 1}
    one.check_books(end, {})
    assert "The API key" in (end.error_message or "")
    assert [path for path in one.files() if key.encode() in path.read_bytes()] == []
    mended = one.with_settings(ARK_API_KEY=shared_sandbox.api_key)
    end = mended.retry(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    mended.check_books(end, PICTURES)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (api_error("AuthenticationError"), ErrorCode.PROVIDER_AUTH),
        (api_error("AccountOverdueError"), ErrorCode.PROVIDER_QUOTA),
        (api_error("SetLimitExceeded"), ErrorCode.PROVIDER_QUOTA),
        (api_error("QuotaExceeded", message="Your free trial of this model is used up."), ErrorCode.PROVIDER_QUOTA),
        (api_error("ModelNotOpen"), ErrorCode.PROVIDER_AUTH),
    ],
    ids=lambda value: value.code if isinstance(value, Fault) else value.value,
)
def test_an_account_that_may_not_ask_stops_for_an_operator_at_once(
    trial: BeginTrial, shared_sandbox: Sandbox, fault: Fault, code: ErrorCode
) -> None:
    """Key, balance, quota, model: nothing helps but an operator, so one request is made and no more."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.CHAT, fault)
    end = one.make()
    check_stopped(end, ProjectState.MANUAL_REQUIRED, code, stage=Stage.STORYBOARD)
    assert ERROR_RULES[code].actor is Actor.OPERATOR
    assert one.requests == {"chat": 1}
    one.check_books(end, {})


# --- money and bounds ---------------------------------------------------------------------------------------------------------


def test_a_film_over_its_budget_is_refused_before_anything_is_sent(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The deployment's own providers say what it would cost: ¥15.78 of ¥12."""
    one = trial(COMIC_BUDGETS="free=2,preview=10,paid=12,premium=500")
    with pytest.raises(Refused, match=r"¥15\.\d\d, a paid project may cost ¥12\.00") as refused:
        one.make()
    assert refused.value.code is ErrorCode.BUDGET_EXCEEDED
    assert one.requests == {}


def test_budgets_stop_a_redo_before_the_create_that_would_break_them(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Three clips fit, a fourth would not: it is never sent, what was made is kept. A day's budget refuses the next film."""
    one = trial(COMIC_BUDGETS="free=2,preview=10,paid=17,premium=500")
    one.make(before=Stage.FILM)
    one.house.ask(SubmissionKind.CANCEL, {}, project_id="film")
    one.go_on()
    end = one.redo(Stage.CLIPS, shot=1, prompt="zoom out", before=Stage.FILM)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.BUDGET_EXCEEDED, stage=Stage.CLIPS)
    one.check_books(end, PICTURES | {"video_create": 3})
    assert one.spend <= Decimal(17)
    same_day = one.with_settings(COMIC_DAY_BUDGET="20")
    with pytest.raises(Refused, match=r"of today's ¥20\.00 \(COMIC_DAY_BUDGET\)"):
        same_day.house.ask(SubmissionKind.PRODUCE, {"idea": "another"}, user="somebody else")


def test_a_service_that_always_fails_is_asked_a_bounded_number_of_times(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case waooAI 109: 3 shots x 4 rounds x 4 tries and not one more; then an operator is asked, nothing was spent."""
    one = trial(COMIC_MAX_ATTEMPTS="100")
    shared_sandbox.admin.faults.add(Route.IMAGE, api_error("InternalServiceError"), times=48)
    end = one.make(before=Stage.CLIPS)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.PROVIDER_ERROR, stage=Stage.FRAMES)
    assert one.requests["image"] == 48
    one.check_books(end, {"chat": 1, "tts_v3": 3})


def test_the_breaker_ends_a_project_that_creates_and_creates(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case PlotPilot 169: COMIC_MAX_ATTEMPTS counts every create of a project, refused ones too."""
    one = trial(COMIC_MAX_ATTEMPTS="3")
    shared_sandbox.admin.faults.add(Route.CHAT, api_error("InternalServiceError"), times=3)
    end = one.make()
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.BUDGET_EXCEEDED, stage=Stage.STORYBOARD)
    assert one.requests == {"chat": 3}
    one.check_books(end, {})


# --- policies -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "state"), [("silence", ProjectState.VIDEO), ("fail", ProjectState.MANUAL_REQUIRED)])
def test_a_line_that_cannot_be_spoken_follows_the_policy(
    trial: BeginTrial, shared_sandbox: Sandbox, policy: str, state: ProjectState
) -> None:
    """COMIC_ON_VOICE_FAILURE: silence for that line alone, said so in the document; or the stage stops."""
    one = trial(COMIC_ON_VOICE_FAILURE=policy, COMIC_MAX_RETRY="0")
    shots = [
        {"seq": seq, "scene_desc": "月球", "image_prompt": f"a cat {seq}", "narration": line}
        for seq, line in enumerate(("月亮升起来了", "花都开了", "再见，星星"))
    ]
    shared_sandbox.admin.answers.add(json.dumps({"title": "猫", "shots": shots}, ensure_ascii=False))
    broken = Fault(kind=Kind.ERROR_LINE, code="55000000", message="server error")
    shared_sandbox.admin.faults.add(Route.TTS_V3, broken, times=2, match="花都开了")
    end = one.make(before=Stage.CLIPS)
    assert end.status == state, end.error_message
    assert [task.status for task in one.tasks("voice_line")].count(TaskStatus.SUCCESS) == 2
    if policy == "silence":
        document = one.house.workshop.objects.get(document_key("film", "voice_lines"))
        assert [line.silenced for line in VoiceLines.model_validate_json(document).lines] == [False, True, False]
