"""Chat models: what is sent, what comes back, and every way in which an answer can be none."""

from decimal import Decimal

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.ark_text import ArkText
from comic_pipeline.providers.interface import CancelOutcome, Done, Inline
from comic_pipeline.providers.openai_text import OpenAiText
from comic_pipeline_tests.unit.providers.vendor import BASE, KEY, Vendor, ark_error, html, run, service, text_request

MODEL = "doubao-seed-2-1-pro-260628"
USAGE = {
    "prompt_tokens": 1_000,
    "completion_tokens": 2_000,
    "total_tokens": 3_000,
    "prompt_tokens_details": {"cached_tokens": 0},
}


def completion(content: object = '{"title": "x"}', *, finish: str = "stop", **changes: object) -> httpx.Response:
    message = {"role": "assistant", "content": content, "reasoning_content": ""}
    choice = {"index": 0, "finish_reason": finish, "logprobs": None, "message": message}
    body = {"id": "0217", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": USAGE}
    return httpx.Response(200, json=body | changes)


def ark(vendor: Vendor) -> ArkText:
    return ArkText(service("ark_text"), model=MODEL, transport=vendor.transport)


def refused(vendor: Vendor) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        run(ark(vendor).submit(text_request()))
    assert len(vendor.requests) == 1
    assert KEY not in str(caught.value)
    return caught.value


def test_request_asks_for_json_without_thinking() -> None:
    """Thinking costs 33 s against 2 s, JSON mode keeps prose away, and nothing is sent that was not described."""
    vendor = Vendor(completion())
    run(ark(vendor).submit(text_request()))
    assert str(vendor.requests[0].url) == f"{BASE}/chat/completions"
    assert vendor.body == ark(vendor).describe(text_request())
    assert vendor.body == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "写一个分镜"}],
        "response_format": {"type": "json_object"},
        "thinking": {"type": "disabled"},
        "max_tokens": 4_000,
        "user": "u" * 32,
    }


def test_repair_round_shows_the_model_its_answer_and_the_problems() -> None:
    """A repair that does not say what is wrong gets the same answer again."""
    vendor = Vendor(completion())
    run(ark(vendor).submit(text_request(repair_of="{broken", problems="shot 1: seq missing")))
    assert [message["role"] for message in vendor.body["messages"]] == ["system", "user", "assistant", "user"]
    assert vendor.body["messages"][2]["content"] == "{broken"
    assert "shot 1: seq missing" in vendor.body["messages"][3]["content"]


def test_answer_is_the_text_with_its_tokens_and_price() -> None:
    """1,000 tokens in at 6 and 2,000 out at 30 CNY per million."""
    done = run(ark(Vendor(completion("你好"))).submit(text_request()))
    assert isinstance(done, Done)
    assert done.output == Inline("你好".encode())
    assert done.cost == Decimal("0.066")
    assert done.usage == {"prompt_tokens": 1_000, "completion_tokens": 2_000, "total_tokens": 3_000}
    assert done.request_id == "0217"


def test_estimate_is_the_price_of_the_described_request() -> None:
    """The prompt as it is sent, guessed on the high side, and an answer of max_tokens."""
    provider = ark(Vendor(completion()))
    sent = sum(-(-len(message["content"].encode()) // 3) for message in provider.describe(text_request())["messages"])
    assert provider.estimate(text_request()) == (Decimal(6) * sent + Decimal(30) * 4_000) / 1_000_000
    longer = text_request(repair_of="x" * 3_000, problems="y")
    assert provider.estimate(longer) > provider.estimate(text_request())


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": 3}])
def test_answer_without_tokens_is_booked_at_the_estimate(usage: object) -> None:
    """A service that reports nothing did not work for nothing."""
    provider = ark(Vendor(completion(usage=usage)))
    assert run(provider.submit(text_request())).cost == provider.estimate(text_request()) > 0


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, content=b""),
        httpx.Response(200, json={}),
        httpx.Response(200, json={"choices": []}),
        httpx.Response(200, json={"choices": None}),
        httpx.Response(200, json={"choices": [None]}),
        httpx.Response(200, json={"choices": [{}]}),
        httpx.Response(200, html="<html>login</html>"),
        completion(""),
        completion(" \n"),
        completion(None),
        completion([{"type": "text"}]),
    ],
    ids=range(11),
)
def test_empty_body_or_no_choices_is_empty_response(answer: httpx.Response) -> None:
    """An empty answer is EMPTY_RESPONSE and retried within bounds, never a trace about None (waooAI #113, huobao #45)."""
    fault = refused(Vendor(answer))
    assert fault.code is ErrorCode.EMPTY_RESPONSE
    assert fault.retryable


def test_answer_cut_at_max_tokens_is_named() -> None:
    """Half a JSON document must not be repaired into a shorter film."""
    fault = refused(Vendor(completion('{"shots": [', finish="length")))
    assert (fault.code, fault.provider_code) == (ErrorCode.PROVIDER_ERROR, "length")
    assert "max_tokens" in str(fault)
    # The tokens of a cut answer are billed like any others.
    assert fault.cost > 0


def test_content_filter_is_moderation() -> None:
    """An answer stopped by the filter is not retried as if it were an accident."""
    fault = refused(Vendor(completion("", finish="content_filter")))
    assert (fault.code, fault.provider_code) == (ErrorCode.MODERATION_REJECTED, "content_filter")
    assert fault.cost > 0


def test_tokens_of_an_answer_without_choices_are_billed() -> None:
    """1,000 in and 2,000 out were used, whatever became of the text."""
    assert refused(Vendor(httpx.Response(200, json={"choices": [], "usage": USAGE}))).cost == Decimal("0.066")


def test_model_without_json_mode_is_asked_in_plain_words_next_time() -> None:
    """Toonflow #29, #2: the capability is found out once; the next try goes plain instead of four equal failures."""
    refusal = ark_error(400, "InvalidParameter", "response_format.type not supported")
    vendor = Vendor(refusal, completion())
    provider = ark(vendor)
    described = provider.describe(text_request())
    with pytest.raises(ProviderFault) as caught:
        run(provider.submit(text_request()))
    assert caught.value.retryable
    assert caught.value.provider_code == "InvalidParameter"
    run(provider.submit(text_request()))
    assert len(vendor.requests) == 2
    assert "response_format" not in vendor.body
    assert provider.describe(text_request()) == described


def test_refusal_of_json_mode_counts_once() -> None:
    """A server that complains about it even when it was not sent must not be asked for ever."""
    provider = ark(Vendor(ark_error(400, "InvalidParameter", "response_format.type not supported")))
    with pytest.raises(ProviderFault):
        run(provider.submit(text_request()))
    with pytest.raises(ProviderFault) as caught:
        run(provider.submit(text_request()))
    assert caught.value.code is ErrorCode.INPUT_INVALID


def test_rate_limit_carries_its_wait() -> None:
    """MoneyPrinterV2 #266: one answer with Retry-After: 3 must reach the runner as three seconds."""
    fault = refused(Vendor(ark_error(429, "ModelAccountRpmRateLimitExceeded", **{"Retry-After": "3"})))
    assert (fault.code, fault.retry_after, fault.http_status) == (ErrorCode.PROVIDER_RATE_LIMIT, 3.0, 429)
    assert fault.provider_code == "ModelAccountRpmRateLimitExceeded"


@pytest.mark.parametrize("answer", [html(502), httpx.Response(503), html(504)])
def test_gateway_page_is_a_known_temporary_fault(answer: httpx.Response) -> None:
    """Whole HTTP errors of synchronous calls are known outcomes."""
    fault = refused(Vendor(answer))
    assert fault.retryable
    assert not isinstance(fault, OutcomeUnknown)


def test_error_inside_a_success_is_an_error() -> None:
    """Some relays answer 200 with an error body."""
    vendor = Vendor(httpx.Response(200, json={"error": {"code": "AuthenticationError", "message": f"bad key {KEY}"}}))
    assert refused(vendor).code is ErrorCode.PROVIDER_AUTH


def test_service_that_answers_at_once_keeps_no_jobs() -> None:
    """There is nothing to look for after a lost answer, and nothing to cancel."""
    from datetime import UTC, datetime

    provider = ark(Vendor(completion()))
    assert run(provider.cancel("x")) is CancelOutcome.UNSUPPORTED
    assert run(provider.find(text_request(), since=datetime.now(UTC))) == ()
    with pytest.raises(ProviderFault):
        run(provider.poll("x", text_request()))


@pytest.mark.parametrize(
    ("base", "field"), [("https://api.openai.com/v1", "max_completion_tokens"), ("https://relay.example/v1", "max_tokens")]
)
def test_openai_limit_field_depends_on_the_service(base: str, field: str) -> None:
    """OpenAI refuses max_tokens for new models; compatible services know nothing else."""
    vendor = Vendor(completion())
    provider = OpenAiText(service("openai_text", base_url=f"{base}/"), model="gpt-4.1", transport=vendor.transport)
    done = run(provider.submit(text_request()))
    assert str(vendor.requests[0].url) == f"{base}/chat/completions"
    messages = [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "写一个分镜"}]
    asked = {"model": "gpt-4.1", "messages": messages, "response_format": {"type": "json_object"}, "user": "u" * 32}
    assert vendor.body == asked | {field: 4_000}
    # 1,000 in at 2 and 2,000 out at 8 USD per million, at 7.2.
    assert done.cost == Decimal("0.1296")


def test_input_from_the_vendors_cache_costs_less() -> None:
    """500 of 1,000 at 2, 500 at 0.5 and 2,000 out at 8 USD per million, at 7.2."""
    vendor = Vendor(completion(usage=USAGE | {"prompt_tokens_details": {"cached_tokens": 500}}))
    provider = OpenAiText(service("openai_text"), model="gpt-4.1", transport=vendor.transport)
    assert run(provider.submit(text_request())).cost == Decimal("0.1242")


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (401, {"code": "invalid_api_key"}, ErrorCode.PROVIDER_AUTH),
        (429, {"code": "rate_limit_exceeded"}, ErrorCode.PROVIDER_RATE_LIMIT),
        (429, {"code": "insufficient_quota"}, ErrorCode.PROVIDER_QUOTA),
        (429, {"code": None, "type": "insufficient_quota"}, ErrorCode.PROVIDER_QUOTA),
        (400, {"code": "content_policy_violation"}, ErrorCode.MODERATION_REJECTED),
        (404, {"code": "model_not_found"}, ErrorCode.PROVIDER_AUTH),
        (400, {"code": "bad_thing"}, ErrorCode.INPUT_INVALID),
        (500, {"code": "odd"}, ErrorCode.PROVIDER_ERROR),
    ],
)
def test_openai_errors_have_their_meaning(status: int, error: dict[str, object], code: ErrorCode) -> None:
    """A used-up balance must not be retried as a rate limit, though both are 429."""
    vendor = Vendor(httpx.Response(status, json={"error": error | {"message": f"Incorrect key: {KEY}"}}))
    provider = OpenAiText(service("openai_text"), model="gpt-4.1", transport=vendor.transport)
    with pytest.raises(ProviderFault) as caught:
        run(provider.submit(text_request()))
    assert caught.value.code is code
    assert KEY not in str(caught.value)
