"""Faults of single calls for pictures, lines and clips: what was made is kept, and the books agree with the provider's.

The text model's faults are in `test_story.py`, those that end a project in `test_stops.py`.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import AttemptState, TaskStatus
from comic_pipeline.model.workflow import STAGE_RULES, ProjectState, Stage
from comic_pipeline_tests.acceptance.faults.trial import Trial, check_stopped, states_of
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox

BeginTrial = Callable[..., Trial]
PICTURES = {"chat": 1, "image": 3, "tts_v3": 3}
CLIPS = PICTURES | {"video_create": 3}
PICTURE_PRICE = Decimal("0.20")


# --- busy, broken, slow ------------------------------------------------------------------------------------------------------


def test_retry_after_is_honoured(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """MoneyPrinterV2 266: one answer says Retry-After: 3; that shot waits as long as it was told, the others go on."""
    one = trial()
    one.hurry(really=False)
    shared_sandbox.admin.faults.add(Route.IMAGE, api_error("ServerOverloaded", retry_after="3"))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)
    refused, *others = shared_sandbox.admin.requests(Route.IMAGE)[-4:]
    assert refused.status == 429
    assert others[-1].at - refused.at >= 3.0
    assert others[0].at - refused.at < 3.0


def test_a_picture_service_that_is_busy_broken_or_slow_for_a_moment(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """429 without Retry-After, 500, 502 in HTML, an empty 200, slow before and after the work: three pictures, each paid once."""
    one = trial()
    for match, fault in (
        ("shot 1 of 3", api_error("RequestBurstTooFast")),
        ("shot 1 of 3", api_error("InternalServiceError")),
        ("shot 2 of 3", Fault(kind=Kind.HTML, status=502)),
        ("shot 2 of 3", Fault(kind=Kind.EMPTY)),
        ("shot 2 of 3", Fault(kind=Kind.SLOW, seconds=1.0)),
        ("shot 3 of 3", api_error("ServerOverloaded")),
        ("shot 3 of 3", Fault(kind=Kind.SLOW, seconds=1.0, accept_first=False)),
    ):
        shared_sandbox.admin.faults.add(Route.IMAGE, fault, match=match)
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)


def test_a_gateways_error_page_for_a_clips_create_is_no_reason_to_create_again_at_once(
    trial: BeginTrial, shared_sandbox: Sandbox
) -> None:
    """A 502 from a gateway does not say whether the job was taken: the list is asked first, then it is created anew."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.HTML, status=502))
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)
    assert one.requests["video_list"] >= 1
    assert sorted(states_of(one.attempts("clip"))) == ["released", "succeeded", "succeeded", "succeeded"]


def test_polls_that_fail_cost_nothing(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Looking is free: errors, error pages and dropped connections of the poll leave the job alone."""
    one = trial()
    for fault in (api_error("InternalServiceError"), Fault(kind=Kind.HTML, status=502), Fault(kind=Kind.DROP)):
        shared_sandbox.admin.faults.add(Route.VIDEO_GET, fault, times=2)
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)


def test_an_unknown_status_word_is_taken_as_running(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """A word that no document names for a while: the job is followed, not given up."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_GET, Fault(kind=Kind.WORD, word="postprocessing"), times=4)
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)


# --- lost answers ------------------------------------------------------------------------------------------------------------


def test_a_clips_create_that_never_arrived_is_made_once_more(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The connection broke before the job was taken: surely absent from the list after the grace time, then created."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.DROP))
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)
    assert sorted(states_of(one.attempts("clip"))) == ["released", "succeeded", "succeeded", "succeeded"]


def test_a_clips_create_whose_answer_was_lost_is_adopted_from_the_list(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """ArcReel PR#793: the job was taken, then the connection broke: found in the list, never created again."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.DROP_AFTER), times=2)
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)
    assert states_of(one.attempts("clip")) == [AttemptState.SUCCEEDED] * 3


def test_a_picture_whose_answer_was_lost_is_booked_and_made_once_more(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The first picture was drawn and charged but cannot be fetched: it is booked at its price, and so is the second."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.DROP_AFTER))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES | {"image": 4})
    assert sorted(states_of(one.attempts("frame_image"))) == ["succeeded", "succeeded", "succeeded", "unknown"]


def test_a_picture_request_that_never_arrived_is_booked_as_well(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """From outside it looks the same as a lost answer, so it is booked although the provider charged nothing for it."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.DROP))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES, never_arrived=PICTURE_PRICE)


def test_a_second_lost_picture_of_the_same_shot_is_for_an_operator(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """COMIC_LOST_RECREATES is 1: after two lost answers nothing is sent any more; the other shots are kept; a retry finishes."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.DROP_AFTER), times=2, match="shot 2 of 3")
    end = one.make(before=Stage.CLIPS)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.OUTCOME_UNKNOWN, stage=Stage.FRAMES)
    one.check_books(end, PICTURES | {"image": 4})
    assert [task.status for task in one.tasks("frame_image")].count(TaskStatus.SUCCESS) == 2
    end = one.retry(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES | {"image": 5})


def test_a_line_whose_answer_was_lost_is_booked_and_spoken_once_more(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The same for speech: two lines at the provider, two in the books."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.TTS_V3, Fault(kind=Kind.DROP_AFTER))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES | {"tts_v3": 4})


# --- downloads ---------------------------------------------------------------------------------------------------------------


def test_broken_downloads_of_pictures_are_fetched_again_and_never_created_again(
    trial: BeginTrial, shared_sandbox: Sandbox
) -> None:
    """Cut off in the middle, short but said to be whole, dropped, an error page: only the download is repeated."""
    one = trial()
    _break_downloads(shared_sandbox, names=("shot 1 of 3", "shot 2 of 3", "shot 3 of 3"))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)


def test_broken_downloads_of_clips_are_fetched_again_and_never_created_again(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The same for clips, where a second create would cost most."""
    one = trial()
    _break_downloads(shared_sandbox, names=("drama shot 1.", "drama shot 2.", "drama shot 3."))
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)


def _break_downloads(sandbox: Sandbox, *, names: tuple[str, str, str]) -> None:
    first, second, third = names
    for match, fault in (
        (first, Fault(kind=Kind.TRUNCATED)),
        (second, Fault(kind=Kind.SHORT)),
        (third, Fault(kind=Kind.DROP)),
        (third, Fault(kind=Kind.HTML, status=502)),
    ):
        sandbox.admin.faults.add(Route.DOWNLOAD, fault, match=match)


def test_an_expired_link_of_a_clip_is_asked_for_anew(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Field case huobao 53: the link has run out; the job's record gives a fresh one, and nothing is created."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.URL_EXPIRED), match="video/")
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)


def test_an_unreachable_picture_stops_for_an_operator_and_is_fetched_by_a_retry(
    trial: BeginTrial, shared_sandbox: Sandbox
) -> None:
    """A synchronous service keeps no record to ask: the paid picture is not made again, the retry fetches the same link."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.URL_EXPIRED), match="image/")
    end = one.make(before=Stage.CLIPS)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.REF_URL_UNREACHABLE, stage=Stage.FRAMES)
    one.check_books(end, PICTURES)
    end = one.retry(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)


# --- wrong media -------------------------------------------------------------------------------------------------------------


def test_an_error_page_delivered_as_a_picture_is_paid_and_made_again(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """ArcReel PR#2046: HTML behind a picture's link never gets into the film; what it cost stays in the books."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.MEDIA, type="html"))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES | {"image": 4})
    assert all(task.output is not None and task.output.mime.startswith("image/") for task in one.tasks("frame_image"))


def test_a_png_under_a_jpegs_name_is_stored_as_what_it_is(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """ArcReel PR#2046: bytes decide, not names: type and ending of the stored picture are those of its bytes."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.MEDIA, type="png"))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)
    kinds = sorted((task.output.mime, task.output.key[-4:]) for task in one.tasks("frame_image") if task.output)
    assert kinds == [("image/jpeg", ".jpg"), ("image/jpeg", ".jpg"), ("image/png", ".png")]


def test_an_error_page_delivered_as_a_clip_is_paid_and_made_again(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """The same for a clip: four jobs, four charges, three clips."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.MEDIA, type="html"))
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS | {"video_create": 4})


def test_streams_of_speech_that_are_cut_oddly_are_read_whole(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Lines glued together or cut in the middle are the same lines."""
    one = trial()
    for kind in (Kind.GLUED, Kind.SPLIT):
        shared_sandbox.admin.faults.add(Route.TTS_V3, Fault(kind=kind))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES)


def test_a_stream_of_speech_without_its_end_is_paid_and_spoken_again(trial: BeginTrial, shared_sandbox: Sandbox) -> None:
    """Sound without the end line may lack words: it is thrown away, but it was spoken, and the books say so."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.TTS_V3, Fault(kind=Kind.NO_END))
    end = one.make(before=Stage.CLIPS)
    assert end.status == ProjectState.VIDEO
    one.check_books(end, PICTURES | {"tts_v3": 4})


# --- what becomes of jobs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.PROVIDER_CANCEL, Kind.EXPIRE])
def test_a_job_that_the_provider_ended_costs_nothing_and_is_made_again(
    trial: BeginTrial, shared_sandbox: Sandbox, kind: Kind
) -> None:
    """Cancelled or expired at the provider: only successful jobs are billed, so a new round creates it once more."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=kind))
    end = one.make(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS | {"video_create": 4})
    assert sorted(states_of(one.attempts("clip"))) == ["failed", "succeeded", "succeeded", "succeeded"]


def test_a_job_that_the_provider_no_longer_knows_is_booked_and_waits_for_an_operator(
    trial: BeginTrial, shared_sandbox: Sandbox
) -> None:
    """A 404 for a job of ours: it may have been charged (here it is), so only a person starts another one."""
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.LOSE))
    end = one.make(before=Stage.FILM)
    check_stopped(end, ProjectState.MANUAL_REQUIRED, ErrorCode.OUTCOME_UNKNOWN, stage=Stage.CLIPS)
    one.check_books(end, CLIPS)
    end = one.retry(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS | {"video_create": 4})


def test_a_stuck_job_times_out_and_a_retry_follows_the_same_job(
    trial: BeginTrial, shared_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pixelle 48: a deadline for each job; the two finished clips stay, and the late one is fetched, not paid again."""
    # The two others take less than a second on an idle machine; what is left is for a busy one.
    monkeypatch.setitem(STAGE_RULES, Stage.CLIPS, replace(STAGE_RULES[Stage.CLIPS], deadline=8.0))
    one = trial()
    shared_sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.PACE, seconds=3_000))
    end = one.make(before=Stage.FILM)
    check_stopped(end, ProjectState.FAILED, ErrorCode.TASK_TIMEOUT, stage=Stage.CLIPS)
    one.check_books(end, CLIPS)
    assert [task.status for task in one.tasks("clip")].count(TaskStatus.SUCCESS) == 2
    ids = {task.provider_request_id for task in one.tasks("clip")}
    shared_sandbox.admin.advance(3_600)
    end = one.retry(before=Stage.FILM)
    assert end.status == ProjectState.COMPOSE
    one.check_books(end, CLIPS)
    assert {task.provider_request_id for task in one.tasks("clip")} == ids
