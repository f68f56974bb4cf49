"""OpenAI-compatible speech: raw bytes, or a failure that looks like a success."""

from decimal import Decimal

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import Inline
from comic_pipeline.providers.openai_voice import OpenAiVoice
from comic_pipeline_tests.unit.providers.vendor import KEY, MP3, Vendor, html, run, voice_request


def openai(vendor: Vendor) -> OpenAiVoice:
    account = Service(
        name="openai_voice", base_url="https://relay.example/v1", headers={"Authorization": f"Bearer {KEY}"}, secrets=(KEY,)
    )
    return OpenAiVoice(account, model="gpt-4o-mini-tts", voice="alloy", transport=vendor.transport)


def test_openai_sound_is_the_raw_body() -> None:
    """`POST /audio/speech` answers with bytes, not with JSON."""
    vendor = Vendor(httpx.Response(200, content=MP3, headers={"content-type": "audio/mpeg"}))
    provider = openai(vendor)
    done = run(provider.submit(voice_request()))
    assert done.output == Inline(MP3)
    assert vendor.body == provider.describe(voice_request())
    assert vendor.body == {"model": "gpt-4o-mini-tts", "input": "你好，月亮", "voice": "alloy", "response_format": "mp3"}
    assert done.cost == provider.estimate(voice_request()) == Decimal("0.0025")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (httpx.Response(200, json={"error": {"code": "insufficient_quota", "message": "m"}}), ErrorCode.PROVIDER_QUOTA),
        (httpx.Response(200, json={"status": "failed"}), ErrorCode.PROVIDER_ERROR),
        (httpx.Response(200, content=b'{"error": "x"}', headers={"content-type": "audio/mpeg"}), ErrorCode.PROVIDER_ERROR),
        (httpx.Response(200, html="<html>login</html>"), ErrorCode.PROVIDER_ERROR),
        (httpx.Response(200, content=b""), ErrorCode.EMPTY_RESPONSE),
        (httpx.Response(429, json={"error": {"code": "rate_limit_exceeded", "message": "m"}}), ErrorCode.PROVIDER_RATE_LIMIT),
        (html(401), ErrorCode.PROVIDER_AUTH),
    ],
)
def test_openai_success_that_is_not_sound_is_a_failure(answer: httpx.Response, code: ErrorCode) -> None:
    """A relay's JSON or login page in a 200 would be stored as a voice that nobody can decode."""
    with pytest.raises(ProviderFault) as caught:
        run(openai(Vendor(answer)).submit(voice_request()))
    assert caught.value.code is code
