"""What servers and relays do to answers: numbers in quotes, empty keys, errors in odd places, base64 in odd spellings.

The rule in every case: the right code, money that was spent is booked, and a paid thing is never made twice.
"""

import base64
import json
from decimal import Decimal
from typing import Any

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.ark_image import ArkImage
from comic_pipeline.providers.ark_text import ArkText
from comic_pipeline.providers.envelope import Reply, VendorError, parse_retry_after, read_amount, read_error, read_url, read_usage
from comic_pipeline.providers.interface import Inline, Phase, Remote, Submitted
from comic_pipeline.providers.openai_image import OpenAiImage
from comic_pipeline.providers.openai_text import OpenAiText
from comic_pipeline.providers.openspeech_v1 import OpenSpeechV1
from comic_pipeline.providers.openspeech_v3 import OpenSpeechV3
from comic_pipeline_tests.unit.providers.ark_task import AT, SINCE, ark, task
from comic_pipeline_tests.unit.providers.test_http import NOW
from comic_pipeline_tests.unit.providers.vendor import (
    JPEG,
    KEY,
    PNG,
    Vendor,
    ark_error,
    clip_request,
    html,
    image_request,
    run,
    service,
    text_request,
    voice_request,
)

LITE, PRO = "doubao-seedream-5-0-260128", "doubao-seedream-5-0-pro-260628"
URL = "https://ark-content.tos-cn-beijing.volces.com/0.jpeg?X-Tos-Signature=deadbeef"
ODD = PNG + b"x"
PACKED = base64.b64encode(ODD).decode()


def ok(body: object) -> httpx.Response:
    # Half characters travel as escapes, as servers send them.
    return httpx.Response(200, content=json.dumps(body).encode(), headers={"content-type": "application/json"})


def fault_of(work: Any) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        run(work)
    return caught.value


# --- headers, numbers, errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["Mon, 30 Nov 99999999999999 12:00:20 GMT", "Mon, 30 Nov 99999 12:00:20 GMT", "5, 6", "0x10"])
def test_a_wait_that_is_no_wait_is_none(header: str) -> None:
    """A year of fourteen digits was a crash that left a refused create looking like a lost one."""
    assert parse_retry_after(header, now=NOW) is None
    vendor = Vendor(ark_error(429, "AccountRateLimitExceeded", **{"Retry-After": header}))
    fault = fault_of(ark(vendor).submit(clip_request()))
    assert (fault.code, fault.retry_after) == (ErrorCode.PROVIDER_RATE_LIMIT, None)


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (0, 0),
        (7, 7),
        ("7", 7),
        (7.0, 7),
        (10**10, 10**10),
        (10**10 + 1, None),
        ("1" + "0" * 11, None),
        ("9" * 5_000, None),
        (-1, None),
        ("-1", None),
        (7.5, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        ("seven", None),
        ("７", None),
        ("", None),
        (None, None),
        ([7], None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_amount_is_a_count_that_money_can_be_made_of(told: object, read: int | None) -> None:
    """Digits in quotes count; a negative number would pay us, one of thirty digits cannot be booked."""
    assert read_amount(told) == read
    assert read_usage({"tokens": told, "details": {"x": 1}}) == ({} if read is None else {"tokens": read})


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"error": {}}, None),
        ({"error": {"code": "", "message": "", "param": None}}, None),
        ({"error": ""}, None),
        ({"error": False}, None),
        ({"error": []}, None),
        ({"code": 0, "message": "success", "data": []}, None),
        ({"code": "200", "message": "ok"}, None),
        ({"ResponseMetadata": {"RequestId": "r", "Error": {}}}, None),
        ({"error": {"error": {"code": "A", "message": "m"}}}, VendorError("A", "m")),
        ({"error": {"message": "m"}}, VendorError("", "m")),
        ({"error": {"code": "", "message": "m", "type": "T"}}, VendorError("T", "m")),
    ],
    ids=str,
)
def test_keys_that_are_always_there_are_no_error(document: dict[str, object], error: VendorError | None) -> None:
    """A server that writes its empty error beside a success has done the work: taking it for a refusal pays twice."""
    assert read_error(document) == error


@pytest.mark.parametrize("body", [b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16"), b' \r\n{"a": 1}\n', b'{"a": 0, "a": 1}'])
def test_a_document_is_read_with_its_mark_and_its_white_space(body: bytes) -> None:
    """A byte order mark before the JSON is not the end of a paid answer; of two equal keys the last one counts."""
    assert Reply(status=200, body=body).document() == {"a": 1}


@pytest.mark.parametrize("url", ["https://h/\ud800", "https://h/a\x00b", "https://h/a\nb", "h" * 16_001, None, 7, ["https://h"]])
def test_an_address_that_no_row_can_hold_is_none(url: object) -> None:
    """Half a character in a link has no UTF-8: the commit that keeps the paid result would fail."""
    assert read_url(url) == ""
    assert read_url("https://h/a?b=c") == "https://h/a?b=c"


def test_the_kind_of_an_answer_is_shown_without_its_tricks() -> None:
    """Content-Type is the server's to write: no escape and no flood reaches the log."""
    shown = Reply(status=502, body=b"x", content_type="text/\x9b31mhtml" + "x" * 5_000).shape
    assert shown.isprintable()
    assert len(shown) < 120


# --- clips ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [{}, {"code": "", "message": ""}, {"code": "InternalServiceError", "message": "m"}, "odd"])
def test_a_create_that_has_an_id_has_made_a_task(error: object) -> None:
    """Whatever stands beside the id: the task exists, and the next look tells how it went. A refusal here creates it again."""
    assert run(ark(Vendor(ok({"id": "cgt-1", "error": error}))).submit(clip_request())) == Submitted("cgt-1")


@pytest.mark.parametrize("status", [408, 499, 502, 504, 520, 522, 524, 598, 599])
def test_every_gateway_that_gave_up_may_hide_a_task(status: int) -> None:
    """524 is a content network's word for "the server took too long": the task may be running, and be billed."""
    assert isinstance(fault_of(ark(Vendor(html(status))).submit(clip_request())), OutcomeUnknown)


@pytest.mark.parametrize("status", [500, 503, 521, 529])
def test_a_page_that_says_that_nobody_was_reached_is_a_known_outcome(status: int) -> None:
    """The request was not taken: it may be sent again."""
    fault = fault_of(ark(Vendor(html(status))).submit(clip_request()))
    assert fault.retryable
    assert not isinstance(fault, OutcomeUnknown)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"completion_tokens": "108900", "total_tokens": "108900"}, "5.0094"),
        ({"completion_tokens": 108_900.0}, "5.0094"),
        ({"total_tokens": 217_800}, "10.0188"),
        ({"completion_tokens": 0, "total_tokens": 0}, "5.0094"),
        ({"completion_tokens": -108_900}, "5.0094"),
        ({"completion_tokens": 10**30}, "5.0094"),
        ({"completion_tokens": None}, "5.0094"),
    ],
    ids=str,
)
def test_a_clip_is_booked_by_tokens_that_can_be_true_else_at_its_estimate(usage: object, cost: str) -> None:
    """Zero, negative and astronomic numbers are a relay's slips: no clip is free, none earns money, none breaks the books."""
    status = run(ark(Vendor(ok(task(usage=usage)))).poll("cgt-1", clip_request()))
    assert status.done is not None
    assert status.done.cost == Decimal(cost)


@pytest.mark.parametrize(
    "error", [{"error": "upstream busy"}, {"error": {"message": "m"}}, {"code": "Throttled", "message": "m"}], ids=str
)
def test_an_error_inside_a_success_says_nothing_about_the_task(error: dict[str, object]) -> None:
    """A look that failed is looked at again, and is not a task that runs until its deadline."""
    fault = fault_of(ark(Vendor(ok(error))).poll("cgt-1", clip_request()))
    assert fault.code is ErrorCode.PROVIDER_ERROR
    assert fault.retryable
    assert fault_of(ark(Vendor(ok({"error": {"code": "AccessDenied", "message": "m"}}))).poll("c", clip_request())).code is (
        ErrorCode.PROVIDER_AUTH
    )


def test_a_task_with_its_own_error_is_still_a_task() -> None:
    """The error beside a status is the task's."""
    running = task("running") | {"error": {"code": "x", "message": "m"}}
    assert run(ark(Vendor(ok(running))).poll("cgt-1", clip_request())).phase is Phase.RUNNING


@pytest.mark.parametrize(
    "changes", [{"seed": "7"}, {"duration": "5"}, {"duration": 5.0}, {"resolution": "720P"}, {"ratio": None, "seed": "7"}]
)
def test_a_lost_task_is_found_however_its_numbers_are_written(changes: dict[str, object]) -> None:
    """A seed in quotes made the paid task look like another one: it was called absent and created again."""
    listed = {"items": [task("running", **changes)], "total": 1}
    (job,) = run(ark(Vendor(ok(listed))).find(clip_request(), since=SINCE))
    assert job.job_id == "cgt-1"
    stranger = {"items": [task("running", seed="8", created_at=AT + 1)], "total": 1}
    assert run(ark(Vendor(ok(stranger))).find(clip_request(), since=SINCE)) == ()


def test_the_code_of_a_failed_task_is_made_safe() -> None:
    """The vendor's own word goes into a row: Postgres takes no NUL, and a key has no place there."""
    failed = task("failed", error={"code": f"Odd\x00Code {KEY}" + "x" * 200, "message": "m"})
    fault = run(ark(Vendor(ok(failed))).poll("cgt-1", clip_request())).fault
    assert fault is not None
    assert fault.provider_code.startswith("Odd Code ***")
    assert len(fault.provider_code) <= 100
    assert "\x00" not in str(fault)
    assert KEY not in str(fault)


# --- pictures -------------------------------------------------------------------------------------------------------------


def drawn(*items: object, model: str = LITE, **changes: object) -> ArkImage:
    body = {"model": model, "data": list(items), "usage": {"generated_images": 1}} | changes
    return ArkImage(service("ark_image"), model=model, transport=Vendor(ok(body)).transport)


@pytest.mark.parametrize(
    "text",
    [
        PACKED,
        f"data:image/png;base64,{PACKED}",
        f"\n data:image/png;base64,{PACKED}",
        "\n".join(PACKED[start : start + 40] for start in range(0, len(PACKED), 40)),
        PACKED.rstrip("="),
    ],
    ids=["plain", "data uri", "blank before", "lines", "no padding"],
)
def test_base64_is_read_in_every_spelling(text: str) -> None:
    """A picture that was drawn and paid must not be thrown away, and drawn again, for a prefix."""
    assert run(drawn({"b64_json": text}).submit(image_request())).output == Inline(ODD)


@pytest.mark.parametrize("text", ["%%%", PACKED[:5], f"{PACKED}*", "data:image/png;base64,%", "data:image/png,x"])
def test_a_picture_that_cannot_be_read_was_drawn_and_costs(text: str) -> None:
    """Each new try pays anew: the one before stays in the books."""
    fault = fault_of(drawn({"b64_json": text}).submit(image_request()))
    assert (fault.code, fault.cost) == (ErrorCode.PROVIDER_ERROR, Decimal("0.22"))


@pytest.mark.parametrize("item", [{}, {"b64_json": ""}, {"b64_json": 7}, {"url": 7}, {"url": "https://h/\ud800"}], ids=str)
def test_a_picture_without_bytes_costs_when_the_usage_says_that_it_was_drawn(item: object) -> None:
    """Only successful pictures are billed."""
    fault = fault_of(drawn(item).submit(image_request()))
    assert (fault.code, fault.cost) == (ErrorCode.EMPTY_RESPONSE, Decimal("0.22"))
    assert fault_of(drawn({"error": {"code": "OutputImageRiskDetection", "message": "m"}}).submit(image_request())).cost == 0


@pytest.mark.parametrize(
    ("items", "usage", "cost"),
    [
        ([{"url": URL}] * 3, None, "0.66"),
        ([{"url": URL}] * 3, {"generated_images": 3}, "0.66"),
        ([{"url": URL}], {"generated_images": "2"}, "0.44"),
        ([{"url": URL}, {"error": {"code": "x", "message": "m"}}], {}, "0.22"),
        ([None, {"url": URL}], {"generated_images": 0}, "0.22"),
    ],
)
def test_several_pictures_where_one_was_asked_are_all_paid(items: list[object], usage: object, cost: str) -> None:
    """The first one is taken; what the vendor drew is what it bills."""
    done = run(drawn(*items, usage=usage).submit(image_request()))
    assert (done.output, done.cost) == (Remote(URL), Decimal(cost))


@pytest.mark.parametrize(
    ("size", "cost"), [("2720x1536", "0.60"), ("1280x720", "0.30"), ("big", "0.30"), (7, "0.30"), (None, "0.30")]
)
def test_the_size_that_was_made_is_priced_where_it_is_told(size: object, cost: str) -> None:
    """Nonsense in its place means what was asked for."""
    assert run(drawn({"url": URL, "size": size}, model=PRO).submit(image_request())).cost == Decimal(cost)


@pytest.mark.parametrize("usage", [{"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 5, "output_tokens": -9}, "x", None])
def test_openai_pictures_without_true_tokens_are_booked_at_their_estimate(usage: object) -> None:
    """A relay that counts nothing does not draw for nothing."""
    body = {"data": [{"b64_json": base64.b64encode(JPEG).decode()}] * 2, "usage": usage}
    provider = OpenAiImage(service("openai_image"), model="gpt-image-1", transport=Vendor(ok(body)).transport)
    assert run(provider.submit(image_request())).cost == 2 * provider.estimate(image_request()) > 0


# --- text -----------------------------------------------------------------------------------------------------------------


def said(content: object, *, finish: str = "stop", usage: object = None, **more: object) -> httpx.Response:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}} | more
    return ok({"id": "1", "choices": [choice], "usage": usage or {"prompt_tokens": 10, "completion_tokens": 5}})


def asked(answer: httpx.Response) -> ArkText:
    return ArkText(service("ark_text"), model="doubao-seed-2-1-pro-260628", transport=Vendor(answer).transport)


def test_an_answer_in_parts_is_one_answer() -> None:
    """Some compatible services send a list of parts for the text."""
    parts = [{"type": "text", "text": '{"title": '}, {"type": "image"}, None, {"type": "text", "text": '"x"}'}]
    assert run(asked(said(parts)).submit(text_request())).output == Inline(b'{"title": "x"}')


@pytest.mark.parametrize("finish", ["tool_calls", "function_call", "stop", None])
def test_a_call_of_a_tool_in_place_of_an_answer_is_empty_and_paid(finish: str) -> None:
    """No tool was offered: there is nothing to read, and its tokens are billed."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    fault = fault_of(asked(said(None, finish=finish, message=call)).submit(text_request()))
    assert (fault.code, fault.cost) == (ErrorCode.EMPTY_RESPONSE, Decimal("0.00021"))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -10, "completion_tokens": 5},
        {"prompt_tokens": 10**30, "completion_tokens": 5},
        {"prompt_tokens": 10},
    ],
    ids=str,
)
def test_an_answer_without_true_tokens_is_booked_at_its_estimate(usage: object) -> None:
    """A crash over a number of thirty digits would lose the answer that was paid for."""
    provider = asked(said("{}", usage=usage))
    assert run(provider.submit(text_request())).cost == provider.estimate(text_request()) > 0


def test_tokens_in_quotes_are_counted() -> None:
    """10 in at 6 and 5 out at 30 CNY per million."""
    usage = {"prompt_tokens": "10", "completion_tokens": "5", "prompt_tokens_details": {"cached_tokens": -5}}
    assert run(asked(said("{}", usage=usage)).submit(text_request())).cost == Decimal("0.00021")


def test_why_the_filter_stopped_is_shown_without_tricks() -> None:
    """The reason is the vendor's text like any other."""
    fault = fault_of(
        asked(said("", finish="content_filter", moderation_hit_type=f"violence\x1b[2J {KEY}")).submit(text_request())
    )
    assert fault.code is ErrorCode.MODERATION_REJECTED
    assert "violence" in str(fault)
    assert KEY not in str(fault)
    assert "\x1b" not in str(fault)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "'response_format.type' must be 'json_schema' or 'text'"),
        (400, "Json mode response is not supported when enable_thinking is true"),
        (422, "json_object is not a permitted value"),
    ],
)
def test_a_model_without_json_mode_is_known_by_many_words(status: int, message: str) -> None:
    """Each server says it in its own way; the film must not fail as bad input for it."""
    vendor = Vendor(httpx.Response(status, json={"error": message}), said("{}"))
    provider = OpenAiText(service("openai_text"), model="local", transport=vendor.transport)
    assert fault_of(provider.submit(text_request())).retryable
    run(provider.submit(text_request()))
    assert "response_format" not in vendor.body


def test_an_unnamed_error_inside_a_success_may_be_tried_again() -> None:
    """A relay's "busy" in a 200 is no reason to call an operator."""
    fault = fault_of(asked(ok({"error": "upstream busy"})).submit(text_request()))
    assert (fault.code, fault.retryable) == (ErrorCode.PROVIDER_ERROR, True)


# --- voices ---------------------------------------------------------------------------------------------------------------

SPOKEN = Decimal("0.0015")


def v3(*lines: object, head: bytes = b"") -> OpenSpeechV3:
    text = "\n".join(json.dumps(line) for line in lines)
    answer = httpx.Response(200, content=head + text.encode())
    return OpenSpeechV3(service("openspeech_voice"), resource="seed-tts-2.0", voice="v", transport=Vendor(answer).transport)


PIECE = {"code": 0, "data": PACKED}
END = {"code": 20_000_000, "message": "ok", "data": None}


def test_a_stream_with_a_byte_order_mark_is_read() -> None:
    """Three bytes before the first line made the whole paid line look like a stream without its end."""
    assert run(v3(PIECE, END, head=b"\xef\xbb\xbf").submit(voice_request())).output == Inline(ODD)


@pytest.mark.parametrize(
    ("lines", "cost"),
    [
        ([PIECE, {"code": 55_000_000, "message": "server error"}], SPOKEN),
        ([{"code": 55_000_000, "message": "server error"}], 0),
        ([PIECE, {"code": 0, "data": "%%%"}, END], SPOKEN),
        ([PIECE], SPOKEN),
        ([{"code": 0, "data": None}], 0),
    ],
    ids=["error in the middle", "error at once", "base64 broken", "no end", "no sound and no end"],
)
def test_sound_that_came_and_is_thrown_away_costs(lines: list[object], cost: Decimal) -> None:
    """Characters are billed when they are spoken, not when the stream ends well."""
    fault = fault_of(v3(*lines).submit(voice_request()))
    assert (fault.code, fault.cost) == (ErrorCode.PROVIDER_ERROR, cost)


@pytest.mark.parametrize(
    ("words", "cost"), [("10", "0.003"), (0, SPOKEN), (-3, SPOKEN), (10**30, SPOKEN), (None, SPOKEN)], ids=str
)
def test_a_line_is_booked_by_words_that_can_be_true_else_by_its_characters(words: object, cost: str | Decimal) -> None:
    """Five characters at 3 CNY for 10,000, unless the vendor counted otherwise."""
    done = run(v3(PIECE, END | {"usage": {"text_words": words}}).submit(voice_request()))
    assert done.cost == Decimal(cost)


def test_v1_sound_that_cannot_be_read_costs() -> None:
    """It was spoken."""
    answer = ok({"code": 3000, "message": "Success", "data": "%%%"})
    provider = OpenSpeechV1(service("openspeech_voice"), app_id="1", cluster="c", voice="v", transport=Vendor(answer).transport)
    assert fault_of(provider.submit(voice_request())).cost == SPOKEN
