"""Seedance tasks: one create, looks, money."""

import base64
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.project import Resolution
from comic_pipeline.providers.interface import Phase, Remote, Submitted
from comic_pipeline.providers.picture import PICTURE_BYTES
from comic_pipeline_tests.unit.providers.ark_task import MODEL, TASKS, URL, ark, task
from comic_pipeline_tests.unit.providers.vendor import (
    JPEG,
    PNG,
    Vendor,
    ark_error,
    clip_request,
    html,
    picture,
    run,
)


def created() -> httpx.Response:
    return httpx.Response(200, json={"id": "cgt-20261130-abc", "safety_identifier": "u" * 32})


def polled(answer: httpx.Response) -> Any:
    return run(ark(Vendor(answer)).poll("cgt-1", clip_request()))


def refused(vendor: Vendor) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        run(ark(vendor).submit(clip_request()))
    assert vendor.methods == ["POST"]
    return caught.value


# --- create ---------------------------------------------------------------------------------------------------------------


def test_create_sends_what_was_described_with_the_picture_in_place_of_its_hash() -> None:
    """Sound and watermark are switched off explicitly; the description holds no media bytes."""
    vendor = Vendor(created())
    provider = ark(vendor)
    assert run(provider.submit(clip_request())) == Submitted("cgt-20261130-abc")
    assert str(vendor.requests[0].url) == TASKS
    sent, described = vendor.body, provider.describe(clip_request())
    picture_sent = sent["content"][1]
    assert picture_sent["role"] == "first_frame"
    assert picture_sent["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert described["content"][1]["image_url"]["url"] == "sha256:" + "ab" * 32
    picture_sent["image_url"]["url"] = described["content"][1]["image_url"]["url"]
    assert sent == described
    assert {key: sent[key] for key in sent if key not in ("content", "model")} == {
        "resolution": "720p",
        "ratio": "16:9",
        "duration": 5,
        "seed": 7,
        "watermark": False,
        "generate_audio": False,
        "safety_identifier": "u" * 32,
    }


def test_settings_that_stand_in_a_prompt_are_words() -> None:
    """Older models obey ` --dur 12 --rs 1080p` in the text: whoever writes the prompt would choose what the clip costs."""
    vendor = Vendor(created())
    prompt = "--wm true a cat--dog -- runs --dur 12\n--Resolution 1080p"
    request = clip_request(prompt=prompt)
    run(ark(vendor, "doubao-seedance-1-0-pro-250528").submit(request))
    assert vendor.body["content"][0]["text"] == "—wm true a cat--dog -- runs —dur 12\n—Resolution 1080p"
    assert ark(vendor).describe(request)["content"][0] == vendor.body["content"][0]


def test_jpeg_named_png_is_sent_with_the_mime_of_its_bytes() -> None:
    """ArcReel PR#2046: the name of a file says nothing about its bytes."""
    vendor = Vendor(created())
    run(ark(vendor).submit(clip_request(first_frame=picture(JPEG, key="shot.png"))))
    assert vendor.body["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    ("model", "present", "absent"),
    [
        ("doubao-seedance-1-0-pro-250528", {"ratio": "16:9"}, "generate_audio"),
        ("doubao-seedance-1-5-pro-251215", {"ratio": "16:9", "generate_audio": False}, "frames"),
        ("doubao-seedance-2-5-260628", {"ratio": "adaptive", "generate_audio": False}, "frames"),
        ("ep-20261130-abcde", {"ratio": "adaptive", "generate_audio": False}, "frames"),
    ],
)
def test_each_model_gets_the_fields_it_knows(model: str, present: dict[str, object], absent: str) -> None:
    """1.0 knows no sound; 2.5 refuses a named ratio beside a first frame (InvalidParameter.TaskTypeConstraint)."""
    body = ark(Vendor(created()), model).describe(clip_request())
    assert {key: body[key] for key in present} == present
    assert absent not in body


@pytest.mark.parametrize(
    ("first_frame", "told"),
    [
        (picture(width=299, height=400), "299x400"),
        (picture(width=6_001, height=4_000), "6001x4000"),
        (picture(width=1_000, height=2_600), "width to height"),
        (picture(width=2_600, height=1_000), "width to height"),
        (picture(width=None, height=None), "measured"),
        (picture(PNG + bytes(PICTURE_BYTES)), "bytes"),
        (picture(b"<!doctype html><html></html>", key="shot.png"), "not a picture"),
        (picture(b""), "not a picture"),
    ],
)
def test_bad_first_frame_is_refused_before_any_spend(first_frame: Any, told: str) -> None:
    """ArcReel PR#2046 (HTML saved as .png) and the limits of 1.3: a clip of a broken picture is paid waste."""
    vendor = Vendor(created())
    for act in (
        lambda: ark(vendor).describe(clip_request(first_frame=first_frame)),
        lambda: run(ark(vendor).submit(clip_request(first_frame=first_frame))),
    ):
        with pytest.raises(ProviderFault) as caught:
            act()
        assert caught.value.code is ErrorCode.INPUT_INVALID
        assert told in str(caught.value)
    assert vendor.requests == []


def test_request_over_64_mb_is_refused_before_any_spend() -> None:
    """29 MB of picture are 39 MB of base64; an enormous prompt takes the rest."""
    big = clip_request(first_frame=picture(PNG + bytes(29 * 1024 * 1024)), prompt="x" * 5_000_000)
    with pytest.raises(ProviderFault) as caught:
        ark(Vendor(created())).describe(big)
    assert caught.value.code is ErrorCode.INPUT_INVALID


def test_film_larger_than_the_model_is_refused() -> None:
    """2.0-fast makes no 1080p; nobody gets 720p silently."""
    with pytest.raises(ProviderFault):
        ark(Vendor(created()), "doubao-seedance-2-0-fast-260128").estimate(clip_request(resolution=Resolution.FULL_HD))


@pytest.mark.parametrize("duration_ms", [1_000, 5_000, 9_400, 30_000])
@pytest.mark.parametrize("model", [MODEL, "doubao-seedance-1-5-pro-251215", "doubao-seedance-2-5-260628", "ep-1"])
def test_estimate_is_the_price_of_the_described_request(model: str, duration_ms: int) -> None:
    """Judged from the seconds and the size that are really sent (ArcReel ADR 0056), and booked by the tokens that come back."""
    provider = ark(Vendor(created()), model)
    request = clip_request(duration_ms=duration_ms)
    body = provider.describe(request)
    rate, price = {MODEL: (24, 46), "doubao-seedance-1-5-pro-251215": (24, 8)}.get(model, (48, 70))
    tokens = -(-(body["duration"] * rate + 1) * 1280 * 720 // 1024)
    assert provider.estimate(request) == Decimal(price) * tokens / 1_000_000


@pytest.mark.parametrize("fault", [httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("dropped"), httpx.ReadError("reset")])
def test_create_dropped_after_acceptance_is_unknown(fault: Exception) -> None:
    """ArcReel PR#793: the server took the POST and dropped the connection; there is exactly one create."""
    assert isinstance(refused(Vendor(fault)), OutcomeUnknown)


@pytest.mark.parametrize(
    "answer", [html(502), html(504), html(408), httpx.Response(502), httpx.Response(504), httpx.Response(408)]
)
def test_gateway_page_after_a_create_may_hide_a_task(answer: httpx.Response) -> None:
    """A gateway gave up waiting, but Ark may have gone on: the list must be asked before another create."""
    fault = refused(Vendor(answer))
    assert isinstance(fault, OutcomeUnknown)
    assert fault.http_status == answer.status_code


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, json={}), httpx.Response(200, content=b""), httpx.Response(200, json={"id": None}), html(200)]
)
def test_success_without_an_id_may_hide_a_task(answer: httpx.Response) -> None:
    """An id that was lost on the way is a task that runs and bills."""
    assert isinstance(refused(Vendor(answer)), OutcomeUnknown)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (html(503), ErrorCode.PROVIDER_ERROR),
        (html(500), ErrorCode.PROVIDER_ERROR),
        (ark_error(502, "InternalServiceError"), ErrorCode.PROVIDER_ERROR),
        (ark_error(504, "SomethingNew"), ErrorCode.PROVIDER_TIMEOUT),
        (ark_error(429, "QuotaExceeded", "too many queued tasks"), ErrorCode.PROVIDER_RATE_LIMIT),
        (ark_error(400, "InputImageSensitiveContentDetected.PrivacyInformation"), ErrorCode.MODERATION_REJECTED),
        (ark_error(403, "AccountOverdueError"), ErrorCode.PROVIDER_QUOTA),
        (ark_error(404, "InvalidEndpointOrModel.NotFound"), ErrorCode.PROVIDER_AUTH),
        (
            httpx.Response(502, json={"ResponseMetadata": {"RequestId": "r-9", "Error": {"Code": "BadGateway", "Message": "m"}}}),
            ErrorCode.PROVIDER_ERROR,
        ),
        (httpx.Response(301, headers={"location": f"{TASKS}/"}), ErrorCode.UNKNOWN_ERROR),
    ],
)
def test_whole_error_answer_to_a_create_is_a_known_outcome(answer: httpx.Response, code: ErrorCode) -> None:
    """An answer that says no in words means that no task exists: it may be tried again where the code allows it."""
    fault = refused(Vendor(answer))
    assert fault.code is code
    assert not isinstance(fault, OutcomeUnknown)
    assert fault.http_status == answer.status_code


# --- poll -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("queued", Phase.QUEUED),
        ("running", Phase.RUNNING),
        ("cancelled", Phase.CANCELLED),
        ("expired", Phase.EXPIRED),
    ],
)
def test_status_words_are_understood(word: str, phase: Phase) -> None:
    """Page 1521309; the vendor's own word is kept for people."""
    status = polled(httpx.Response(200, json=task(word)))
    assert (status.phase, status.word, status.done, status.fault) == (phase, word, None, None)


def test_unknown_status_word_is_running_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A new word of next year must not fail a paid task, nor fill the logs at every poll."""
    provider = ark(Vendor(httpx.Response(200, json=task("pausing"))))
    assert [run(provider.poll("cgt-1", clip_request())).phase for _ in range(3)] == [Phase.RUNNING] * 3
    assert caplog.text.count("pausing") == 1


def test_success_has_the_url_and_the_vendors_tokens() -> None:
    """ArcReel PR#663: the price comes from the task's own numbers, once; 108,900 tokens at 46 CNY per million."""
    status = polled(httpx.Response(200, json=task()))
    assert status.phase is Phase.SUCCEEDED
    assert status.done.output == Remote(URL)
    assert status.done.cost == Decimal("5.0094")
    assert status.done.usage == {"completion_tokens": 108_900, "total_tokens": 108_900}
    assert "deadbeef" not in repr(status)


def test_success_without_tokens_is_booked_at_the_estimate() -> None:
    """Never at nothing."""
    provider = ark(Vendor(httpx.Response(200, json=task(usage=None))))
    done = run(provider.poll("cgt-1", clip_request())).done
    assert done is not None
    assert done.cost == provider.estimate(clip_request()) > 0


@pytest.mark.parametrize("content", [None, {}, {"video_url": ""}, {"video_url": None}])
def test_success_without_a_video_is_looked_at_again(content: object, caplog: pytest.LogCaptureFixture) -> None:
    """Toonflow #237: success only counts with something to show. It is billed: a failure would pay for three more."""
    provider = ark(Vendor(httpx.Response(200, json=task(content=content))))
    for _ in range(3):
        status = run(provider.poll("cgt-1", clip_request()))
        assert (status.phase, status.done, status.fault) == (Phase.SUCCEEDED, None, None)
    assert caplog.text.count("has no video") == 1


@pytest.mark.parametrize(
    ("changes", "code", "vendor_code"),
    [
        (
            {"error": {"code": "OutputVideoSensitiveContentDetected", "message": "m"}},
            ErrorCode.MODERATION_REJECTED,
            "OutputVideoSensitiveContentDetected",
        ),
        ({"error": {"code": "InternalServiceError", "message": "m"}}, ErrorCode.PROVIDER_ERROR, "InternalServiceError"),
        (
            {"failure_reason": {"code": "InvalidParameter.TaskTypeConstraint", "message": "m"}},
            ErrorCode.INPUT_INVALID,
            "InvalidParameter.TaskTypeConstraint",
        ),
        ({"failure_reason": "it broke"}, ErrorCode.PROVIDER_ERROR, ""),
        ({}, ErrorCode.PROVIDER_ERROR, ""),
    ],
)
def test_failed_task_says_why(changes: dict[str, Any], code: ErrorCode, vendor_code: str) -> None:
    """Python's side says `error`, Go's side `failure_reason`; a task-level error means what the HTTP error means."""
    status = polled(httpx.Response(200, json=task("failed", **changes)))
    assert status.phase is Phase.FAILED
    assert (status.fault.code, status.fault.provider_code) == (code, vendor_code)


@pytest.mark.parametrize("answer", [ark_error(404, "NotFound.task"), html(404)])
def test_unknown_task_is_lost(answer: httpx.Response) -> None:
    """Records are kept for 7 days; after that the task is an end of its own, not an error to retry for ever."""
    assert polled(answer).phase is Phase.LOST


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (html(502), ErrorCode.PROVIDER_ERROR),
        (httpx.ReadTimeout("slow"), ErrorCode.PROVIDER_TIMEOUT),
        (httpx.Response(200, content=b""), ErrorCode.PROVIDER_ERROR),
        (ark_error(429, "AccountRateLimitExceeded"), ErrorCode.PROVIDER_RATE_LIMIT),
    ],
)
def test_failed_look_says_nothing_about_the_task(answer: Any, code: ErrorCode) -> None:
    """A poll that fails is retried; the task goes on."""
    with pytest.raises(ProviderFault) as caught:
        run(ark(Vendor(answer)).poll("cgt-1", clip_request()))
    assert caught.value.code is code
    assert caught.value.retryable


def test_task_id_cannot_leave_its_path() -> None:
    """An id comes from outside: it is one path segment."""
    vendor = Vendor(httpx.Response(404))
    run(ark(vendor).poll("../../models?x=1", clip_request()))
    assert vendor.requests[0].url.raw_path.decode().endswith("/contents/generations/tasks/..%2F..%2Fmodels%3Fx%3D1")


def test_a_clip_whose_first_frame_is_gone_can_be_followed_but_not_made() -> None:
    """ArcReel #640, #648: the picture is deleted after the create, the resume validates it again, and the paid job is lost."""
    vendor = Vendor(created())
    there = picture()
    gone = replace(there, data=None)
    assert ark(vendor).describe(clip_request(first_frame=gone)) == ark(vendor).describe(clip_request(first_frame=there))
    with pytest.raises(ProviderFault, match="is gone; make the frame anew") as refused:
        run(ark(vendor).submit(clip_request(first_frame=gone)))
    assert (refused.value.code, vendor.requests) == (ErrorCode.INPUT_INVALID, [])
