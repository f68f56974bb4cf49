"""Whatever a server answers, an adapter gives a result that can be kept or a typed error that can be shown (seeded)."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from comic_pipeline.model.errors import ComicError, ProviderFault
from comic_pipeline.model.task import canonical_json
from comic_pipeline.providers.ark_image import ArkImage
from comic_pipeline.providers.ark_text import ArkText
from comic_pipeline.providers.ark_video import ArkVideo
from comic_pipeline.providers.interface import Done, JobStatus, Provider, Remote, Submitted
from comic_pipeline.providers.openai_image import OpenAiImage
from comic_pipeline.providers.openai_text import OpenAiText
from comic_pipeline.providers.openai_voice import OpenAiVoice
from comic_pipeline.providers.openspeech_v1 import OpenSpeechV1
from comic_pipeline.providers.openspeech_v3 import OpenSpeechV3
from comic_pipeline_tests.unit.providers.vendor import (
    KEY,
    Vendor,
    clip_request,
    image_request,
    service,
    text_request,
    voice_request,
)

_URL, _ANSWERS = "https://a.volces.com/x?sign=deadbeef", 60
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "generated_images": 1, "output_tokens": 5, "text_words": 5}
_TASK = {
    "id": "cgt-1",
    "status": "succeeded",
    "content": {"video_url": _URL},
    "usage": _USAGE,
    "created_at": 1_764_500_000,
    "seed": 7,
}
# One good answer of each kind; each field of them is spoilt in turn.
_GOOD: tuple[Any, ...] = (
    {"id": "1", "choices": [{"finish_reason": "stop", "message": {"content": "{}"}}], "usage": _USAGE},
    {"data": [{"url": _URL, "size": "2560x1440"}, {"b64_json": "AAAA"}], "usage": _USAGE},
    _TASK,
    {"id": "cgt-1", "status": "failed", "error": {"code": "InternalServiceError", "message": "m"}},
    {"items": [_TASK, _TASK], "total": 2},
    {"code": 3000, "message": "Success", "data": "AAAA", "addition": {"duration": "1960"}},
    {"code": 20_000_000, "message": "ok", "data": None, "usage": _USAGE},
    {"error": {"code": "InvalidParameter", "message": f"key {KEY}", "param": "p", "type": "t"}},
    {"ResponseMetadata": {"RequestId": "r", "Error": {"Code": "A", "Message": "m"}}},
)
_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "7",
    "\ud800",
    "a\x00b\x9b",
    "x" * 5_000,
)
_ODD += ("https://xn--.volces.com/", "0x0", f"Bearer {KEY}", "succeeded", "length", "%%%", [], {}, [None], {"error": {}})
_STATUSES = (*[200] * 8, 201, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 524, 599)
_WAITS = ("3", "-1", "soon", "Mon, 30 Nov 99999999999999 12:00:20 GMT", "9" * 30)


def _spoilt(dice: random.Random, document: Any) -> Any:
    """A copy with one value replaced, anywhere."""
    if isinstance(document, dict | list) and document and dice.random() < 0.8:
        copy = dict(document) if isinstance(document, dict) else list(document)
        place = dice.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
        copy[place] = _spoilt(dice, copy[place])
        return copy
    return dice.choice(_ODD)


def _answer(dice: random.Random) -> httpx.Response:
    bodies = [json.dumps(_spoilt(dice, _spoilt(dice, dice.choice(_GOOD)))).encode() for _ in range(dice.choice((1, 1, 3)))]
    body = b"\n".join(bodies)
    headers = {"retry-after": dice.choice(_WAITS)} if dice.random() < 0.3 else {}
    if dice.random() < 0.1:
        headers["location"] = dice.choice(("https://xn--.x/", "/a", "http://[", "::"))
    cut = dice.randrange(len(body) + 1) if dice.random() < 0.1 else len(body)
    return httpx.Response(dice.choice(_STATUSES), content=body[:cut], headers=headers)


def _adapters(transport: httpx.MockTransport) -> dict[str, tuple[Provider[Any], Any]]:
    account = service()
    return {
        "ark_text": (ArkText(account, model="doubao-seed-2-1-pro-260628", transport=transport), text_request()),
        "ark_image": (ArkImage(account, model="doubao-seedream-5-0-pro-260628", transport=transport), image_request()),
        "ark_video": (ArkVideo(account, model="doubao-seedance-2-0-260128", transport=transport), clip_request()),
        "openai_text": (OpenAiText(account, model="gpt-4.1", transport=transport), text_request()),
        "openai_image": (OpenAiImage(account, model="gpt-image-1", transport=transport), image_request()),
        "openai_voice": (OpenAiVoice(account, model="tts-1", voice="alloy", transport=transport), voice_request()),
        "openspeech_v1": (OpenSpeechV1(account, app_id="1", cluster="c", voice="v", transport=transport), voice_request()),
        "openspeech_v3": (OpenSpeechV3(account, resource="seed-tts-2.0", voice="v", transport=transport), voice_request()),
    }


def _check_result(got: object) -> None:
    """It can be written down: text that has UTF-8, money that a column holds."""
    done = got.done if isinstance(got, JobStatus) else got
    if isinstance(done, Done):
        assert 0 <= done.cost < 10**7
        assert done.request_id.isprintable()
        if isinstance(done.output, Remote):
            assert canonical_json({"url": done.output.url}).encode()
    if isinstance(got, Submitted):
        assert got.job_id.isprintable()
    if isinstance(got, JobStatus) and got.fault is not None:
        _check_error(got.fault)


def _check_error(error: ComicError) -> None:
    """It can be shown and written down."""
    said = str(error)
    assert said.isprintable()
    assert len(said) < 1_000
    assert KEY not in said
    assert "deadbeef" not in said
    if isinstance(error, ProviderFault):
        assert error.provider_code.isprintable()
        assert 0 <= error.cost < 10**7
        assert error.retry_after is None or 0 <= error.retry_after <= 3_600


@pytest.mark.parametrize("name", _adapters(httpx.MockTransport(lambda _: httpx.Response(200))))
def test_any_answer_is_a_result_or_a_typed_error(name: str) -> None:
    """A trace in the middle of a paid call leaves a create of which nobody knows what became of it."""
    dice = random.Random(name)
    vendor = Vendor(lambda _: _answer(dice))
    provider, request = _adapters(vendor.transport)[name]

    async def main() -> None:
        acts: list[Callable[[], Awaitable[object]]] = [lambda: provider.submit(request)]
        if provider.asynchronous:
            acts += [lambda: provider.poll("cgt-1", request), lambda: provider.cancel("cgt-1")]
            acts += [lambda: provider.find(request, since=datetime.now(UTC))]
        for _ in range(_ANSWERS):
            for number, act in enumerate(acts):
                vendor.requests.clear()
                try:
                    _check_result(await act())
                except ComicError as error:
                    _check_error(error)
                assert number or len(vendor.requests) == 1

    asyncio.run(main())
