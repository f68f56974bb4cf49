"""Volcengine speech: both APIs, their errors, and streams cut in odd places."""

import base64
import json
from decimal import Decimal

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import Inline
from comic_pipeline.providers.openspeech import speech_code
from comic_pipeline.providers.openspeech_v1 import OpenSpeechV1, v1_cluster
from comic_pipeline.providers.openspeech_v3 import OpenSpeechV3
from comic_pipeline_tests.unit.providers.vendor import KEY, MP3, Vendor, html, run, voice_request

SPEECH = Service(
    name="openspeech_voice", base_url="https://openspeech.bytedance.com", headers={"X-Api-Access-Key": KEY}, secrets=(KEY,)
)
A, B = MP3[:20], MP3[20:]


def v1(vendor: Vendor) -> OpenSpeechV1:
    return OpenSpeechV1(
        SPEECH, app_id="123", cluster="volcano_tts", voice="zh_female", transport=vendor.transport, new_id=lambda: "req-1"
    )


def v3(vendor: Vendor) -> OpenSpeechV3:
    return OpenSpeechV3(SPEECH, resource="seed-tts-2.0", voice="zh_female", transport=vendor.transport)


def piece(data: bytes) -> str:
    return json.dumps({"code": 0, "message": "", "data": base64.b64encode(data).decode()})


END = json.dumps({"code": 20000000, "message": "ok", "data": None, "usage": {"text_words": 5}})
SENTENCE = json.dumps({"code": 0, "data": None, "sentence": {"text": "你好", "words": []}})


def stream(text: str, status: int = 200) -> httpx.Response:
    return httpx.Response(status, content=text.encode(), headers={"X-Tt-Logid": "log-1", "content-type": "text/plain"})


def refused(provider: OpenSpeechV1 | OpenSpeechV3) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        run(provider.submit(voice_request()))
    assert KEY not in str(caught.value)
    return caught.value


DOCUMENTED = [
    (3001, "bad request", ErrorCode.INPUT_INVALID),
    (3001, "authenticate request: load grant: requested grant not found", ErrorCode.PROVIDER_AUTH),
    (3001, "quota exceeded for types: text_words_lifetime", ErrorCode.PROVIDER_QUOTA),
    (3001, "extract request resource id: get resource id: access denied", ErrorCode.PROVIDER_AUTH),
    (3003, "too many", ErrorCode.PROVIDER_RATE_LIMIT),
    (3003, "quota exceeded for types: concurrency", ErrorCode.PROVIDER_RATE_LIMIT),
    (3005, "busy", ErrorCode.PROVIDER_RATE_LIMIT),
    (3006, "reqid reused", ErrorCode.UNKNOWN_ERROR),
    (3010, "too long", ErrorCode.INPUT_INVALID),
    (3011, "invalid text", ErrorCode.INPUT_INVALID),
    (3011, "illegal input text!", ErrorCode.INPUT_INVALID),
    (3030, "timeout", ErrorCode.PROVIDER_TIMEOUT),
    (3031, "processing error", ErrorCode.PROVIDER_ERROR),
    (3031, "Fail to feed text, reason Init Engine Instance failed", ErrorCode.INPUT_INVALID),
    (3032, "audio wait timeout", ErrorCode.PROVIDER_TIMEOUT),
    (3040, "backend link", ErrorCode.PROVIDER_ERROR),
    (3050, "voice unknown", ErrorCode.INPUT_INVALID),
    (40402003, "text too long", ErrorCode.INPUT_INVALID),
    (45000000, "speaker permission denied", ErrorCode.PROVIDER_AUTH),
    (45000000, "quota exceeded for types: concurrency", ErrorCode.PROVIDER_RATE_LIMIT),
    (45000292, "quota exceeded for types: concurrency", ErrorCode.PROVIDER_RATE_LIMIT),
    (45000010, "load grant: requested grant not found", ErrorCode.PROVIDER_AUTH),
    (55000000, "server error", ErrorCode.PROVIDER_ERROR),
    (55000000, "resource ID is mismatched with speaker related resource", ErrorCode.INPUT_INVALID),
    (99, "never seen", ErrorCode.PROVIDER_ERROR),
    (None, "no code", ErrorCode.PROVIDER_ERROR),
]


@pytest.mark.parametrize(("code", "message", "ours"), DOCUMENTED)
@pytest.mark.parametrize("status", [200, 400])
def test_documented_speech_error_has_its_meaning(code: int | None, message: str, ours: ErrorCode, status: int) -> None:
    """Sections 2.1 and 2.2: words decide before codes, codes whatever the HTTP status; the status counts only without a code."""
    if status == 400 and code in (99, None):
        ours = ErrorCode.INPUT_INVALID
    assert speech_code(code, message, http_status=status) is ours


@pytest.mark.parametrize(("code", "message", "ours"), DOCUMENTED[:-1])
def test_error_of_either_api_reaches_the_runner(code: int, message: str, ours: ErrorCode) -> None:
    """V1 tells errors in its one body, V3 in a line of the stream; both name the vendor's code."""
    body = json.dumps({"reqid": "r", "code": code, "message": message})
    for fault in (refused(v1(Vendor(stream(body)))), refused(v3(Vendor(stream(f"{piece(A)}\n{body}"))))):
        assert fault.code is ours
        assert fault.provider_code == str(code)
        assert fault.request_id == "log-1"


# --- V1 -------------------------------------------------------------------------------------------------------------------


def v1_answer(**changes: object) -> httpx.Response:
    body = {"reqid": "req-1", "code": 3000, "operation": "query", "message": "Success", "sequence": -1}
    return httpx.Response(200, json=body | {"data": base64.b64encode(MP3).decode(), "addition": {"duration": "1960"}} | changes)


def test_v1_request_is_the_described_body_and_a_new_id() -> None:
    """The id is new in every call, so it is no part of the description; the real token is in no body."""
    vendor = Vendor(v1_answer())
    provider = v1(vendor)
    run(provider.submit(voice_request(voice="zh_male")))
    described = provider.describe(voice_request(voice="zh_male"))
    assert str(vendor.requests[0].url) == "https://openspeech.bytedance.com/api/v1/tts"
    assert vendor.body["request"]["reqid"] == "req-1"
    sent = vendor.body
    del sent["request"]["reqid"]
    assert sent == described
    assert sent == {
        "app": {"appid": "123", "token": "in-header", "cluster": "volcano_tts"},
        "user": {"uid": "u" * 32},
        "audio": {"voice_type": "zh_male", "encoding": "mp3", "rate": 24_000},
        "request": {"text": "你好，月亮", "text_type": "plain", "operation": "query"},
    }
    assert KEY not in vendor.requests[0].content.decode()


def test_v1_sound_comes_with_its_length_and_price() -> None:
    """The length is a string of milliseconds."""
    provider = v1(Vendor(v1_answer()))
    done = run(provider.submit(voice_request()))
    assert done.output == Inline(MP3)
    assert done.usage == {"characters": 5, "duration_ms": 1_960}
    assert done.cost == provider.estimate(voice_request()) == Decimal("0.0015")


@pytest.mark.parametrize("text", ["你" * 341 + "a", "a" * 1_024])
def test_v1_line_up_to_1024_bytes_is_described(text: str) -> None:
    """The limit counts UTF-8 bytes, three for a Chinese character."""
    assert v1(Vendor(v1_answer())).describe(voice_request(text=text))["request"]["text"] == text


def test_v1_shot_with_long_text_fails_naming_the_limit() -> None:
    """Jellyfish #27: 342 Chinese characters are 1,026 bytes; refused before any spend, with the number."""
    with pytest.raises(ProviderFault) as caught:
        v1(Vendor(v1_answer())).describe(voice_request(text="你" * 342))
    assert caught.value.code is ErrorCode.INPUT_INVALID
    assert "1026" in str(caught.value)
    assert "1024" in str(caught.value)


@pytest.mark.parametrize("text", ["", " ", "……", "？！", "—"])
def test_line_without_words_is_never_sent(text: str) -> None:
    """V1 answers 3011 and some services bill it: there is nothing to say."""
    for provider in (v1(Vendor(v1_answer())), v3(Vendor(stream(END)))):
        with pytest.raises(ProviderFault) as caught:
            provider.describe(voice_request(text=text))
        assert caught.value.code is ErrorCode.INPUT_INVALID


@pytest.mark.parametrize("status", [200, 400, 500])
def test_v1_success_is_decided_by_the_body(status: int) -> None:
    """The HTTP status of failures is undocumented, so it is not looked at while the body has a code."""
    answer = httpx.Response(status, json={"code": 3050, "message": "voice unknown"})
    assert refused(v1(Vendor(answer))).code is ErrorCode.INPUT_INVALID


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (v1_answer(data=""), ErrorCode.EMPTY_RESPONSE),
        (v1_answer(data=None), ErrorCode.EMPTY_RESPONSE),
        (v1_answer(data="***"), ErrorCode.PROVIDER_ERROR),
        (httpx.Response(200, content=b""), ErrorCode.PROVIDER_ERROR),
        (html(502), ErrorCode.PROVIDER_ERROR),
        (html(401), ErrorCode.PROVIDER_AUTH),
    ],
)
def test_v1_answer_without_sound_is_a_failure(answer: httpx.Response, code: ErrorCode) -> None:
    """A success without bytes must not become a silent line."""
    assert refused(v1(Vendor(answer))).code is code


@pytest.mark.parametrize(
    ("resource", "cluster"),
    [("seed-tts-2.0", "volcano_tts"), ("seed-icl-1.0-concurr", "volcano_icl"), ("volcano_icl", "volcano_icl"), ("own", "own")],
)
def test_v1_cluster_for_a_v3_resource(resource: str, cluster: str) -> None:
    """One setting names the resource of V3 and the cluster of V1."""
    assert v1_cluster(resource) == cluster


# --- V3 -------------------------------------------------------------------------------------------------------------------


def test_v3_request_is_what_was_described() -> None:
    """The resource travels as a header and still belongs to the key of the work."""
    vendor = Vendor(stream(f"{piece(MP3)}\n{END}\n"))
    provider = v3(vendor)
    run(provider.submit(voice_request()))
    described = provider.describe(voice_request())
    assert described.pop("resource") == "seed-tts-2.0"
    assert str(vendor.requests[0].url) == "https://openspeech.bytedance.com/api/v3/tts/unidirectional"
    assert vendor.body == described
    audio = {"format": "mp3", "sample_rate": 24_000}
    assert vendor.body == {
        "user": {"uid": "u" * 32},
        "req_params": {"text": "你好，月亮", "speaker": "zh_female", "audio_params": audio},
    }


@pytest.mark.parametrize(
    "text",
    [
        f"{piece(A)}\n{piece(B)}\n{END}\n",
        f"{piece(A)}\r\n\r\n{piece(B)}\r\n{END}",
        f"{piece(A)}{piece(B)}\n{END}",
        f"{piece(A)}{piece(B)}{END}",
        f" {piece(A)} {piece(B)}\n {END}",
        f"{SENTENCE}\n{piece(A)}\n{SENTENCE}{piece(B)}\n{END}\n",
        f"{piece(A)}\n{piece(B)}\n{END}\n{piece(A)}",
        f"{piece(A)}\n{piece(B)[:30]}\n{piece(B)[30:]}\n{END}",
    ],
    ids=[
        "lines",
        "crlf and blank",
        "two glued",
        "all glued",
        "single spaces",
        "sentences",
        "after the end",
        "one over two lines",
    ],
)
def test_v3_sound_is_put_together_however_the_lines_are_cut(text: str) -> None:
    """Some servers glue two objects on a line, others break one: the bytes must be the same."""
    done = run(v3(Vendor(stream(text))).submit(voice_request()))
    assert done.output == Inline(MP3)
    assert done.usage == {"text_words": 5, "characters": 5}
    assert done.cost == Decimal("0.0015")


@pytest.mark.parametrize(
    "text",
    [f"{piece(A)}\n{piece(B)}\n", f"{piece(A)}\n{END[:20]}", "", "<html></html>", f"{piece(A)}\nnonsense\n{END}"],
)
def test_v3_stream_without_its_end_line_is_a_failure(text: str) -> None:
    """A stream that stops early would cut words off a line: its sound is thrown away."""
    fault = refused(v3(Vendor(stream(text))))
    assert fault.code is ErrorCode.PROVIDER_ERROR
    assert fault.retryable


def test_v3_end_line_without_sound_is_empty() -> None:
    """An ok without bytes is not a line."""
    assert refused(v3(Vendor(stream(END)))).code is ErrorCode.EMPTY_RESPONSE


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"code": 45000010, "message": "load grant: requested grant not found"}, ErrorCode.PROVIDER_AUTH),
        (400, {"header": {"code": 40402003, "message": "text too long"}}, ErrorCode.INPUT_INVALID),
        (200, {"header": {"code": 45000000, "message": "speaker permission denied"}}, ErrorCode.PROVIDER_AUTH),
        (500, {"code": "55000000", "message": "server error"}, ErrorCode.PROVIDER_ERROR),
        (503, {}, ErrorCode.PROVIDER_ERROR),
    ],
)
def test_v3_error_can_be_a_json_answer(status: int, body: dict[str, object], code: ErrorCode) -> None:
    """The same errors come as HTTP 4xx JSON, sometimes inside a header object."""
    assert refused(v3(Vendor(httpx.Response(status, json=body)))).code is code


def test_v3_end_line_in_a_failed_answer_is_no_success() -> None:
    """A status that says no wins over a line that says ok."""
    assert refused(v3(Vendor(stream(f"{piece(MP3)}\n{END}", status=500)))).code is ErrorCode.PROVIDER_ERROR


def test_dropped_stream_is_a_lost_answer() -> None:
    """The connection died in the middle: the line may be billed, so the runner books it as lost."""
    vendor = Vendor(httpx.RemoteProtocolError("peer closed connection"))
    assert isinstance(refused(v3(vendor)), OutcomeUnknown)
    assert len(vendor.requests) == 1
