"""The openai SDK against the sandbox's OpenAI-compatible routes and against Ark's own."""

import base64
import json
import time
from decimal import Decimal

import openai
import pytest
from openai import OpenAI

from comic_pipeline_tests.integration.sandbox.material import (
    IMAGE_MODEL,
    STORY,
    TEXT_MODEL,
    measure_picture,
    measure_sound,
)
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox


def test_chat_plain_and_streamed(openai_client: OpenAI) -> None:
    """The same storyboard both ways, without Ark's thinking."""
    plain = openai_client.chat.completions.create(
        model="gpt-4.1", messages=STORY, response_format={"type": "json_object"}, user="u1"
    )
    text = plain.choices[0].message.content
    assert text is not None
    assert len(json.loads(text)["shots"]) == 3
    assert not hasattr(plain.choices[0].message, "reasoning_content")
    stream = openai_client.chat.completions.create(model="gpt-4.1", messages=STORY, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == text


def test_ark_routes_take_the_openai_sdk(sandbox: Sandbox) -> None:
    """base_url …/api/v3 works for chat and images, extras through extra_body."""
    with OpenAI(base_url=sandbox.ark_base_url, api_key=sandbox.api_key, max_retries=0) as client:
        chat = client.chat.completions.create(model=TEXT_MODEL, messages=STORY, extra_body={"thinking": {"type": "disabled"}})
        image = client.images.generate(
            model=IMAGE_MODEL, prompt="猫", size="2048x2048", extra_body={"watermark": False, "seed": 3}
        )
    assert chat.choices[0].message.content
    # What Ark says beyond OpenAI's own fields.
    told = json.loads(image.to_json())
    assert told["data"][0]["size"] == "2048x2048"
    assert told["usage"].get("input_tokens") is None
    assert told["usage"]["generated_images"] == 1


def test_image_models_of_openai_answer_base64(openai_client: OpenAI, sandbox: Sandbox) -> None:
    """gpt-image models always send base64 and refuse `response_format`; what has no known price is counted as unpriced."""
    answer = openai_client.images.generate(
        model="gpt-image-1", prompt="猫", size="1536x1024", output_format="jpeg", quality="medium"
    )
    assert answer.usage is not None
    assert answer.data is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1, 1_568)
    sent = answer.data[0].b64_json
    assert sent is not None
    assert measure_picture(base64.b64decode(sent))[:3] == ("JPEG", 1536, 1024)
    with pytest.raises(openai.BadRequestError) as refused:
        openai_client.images.generate(model="gpt-image-1", prompt="猫", response_format="b64_json")
    assert (refused.value.code, refused.value.param) == ("unknown_parameter", "response_format")
    report = sandbox.admin.books()
    assert (report.images, report.unpriced, report.spend) == (1, 1, Decimal(0))


def test_speech_is_raw_sound(openai_client: OpenAI) -> None:
    """The body is the audio: eight characters take two seconds."""
    answer = openai_client.audio.speech.create(model="gpt-4o-mini-tts", voice="alloy", input="星星在天上唱歌。")
    seconds, loudest = measure_sound(answer.content)
    assert answer.response.headers["content-type"] == "audio/mpeg"
    assert seconds == pytest.approx(2.0, abs=0.2)
    assert loudest > 3_000
    wav = openai_client.audio.speech.create(model="tts-1", voice="alloy", input="星星", response_format="wav")
    assert wav.content[:4] == b"RIFF"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InvalidParameter", openai.BadRequestError),
        ("AuthenticationError", openai.AuthenticationError),
        ("AccessDenied", openai.PermissionDeniedError),
        ("ModelNotOpen", openai.NotFoundError),
        ("InvalidAction", openai.ConflictError),
        ("ServerOverloaded", openai.RateLimitError),
        ("InternalServiceError", openai.InternalServerError),
    ],
)
def test_errors_become_the_sdks_exceptions(
    openai_client: OpenAI, sandbox: Sandbox, code: str, kind: type[openai.APIStatusError]
) -> None:
    """Class, code and the request id out of the header."""
    sandbox.admin.faults.add(Route.CHAT, api_error(code))
    with pytest.raises(kind) as raised:
        openai_client.chat.completions.create(model="gpt-4.1", messages=STORY)
    assert raised.value.code == code
    assert raised.value.request_id == sandbox.admin.requests(Route.CHAT)[0].request_id


def test_unknown_key_and_model(openai_client: OpenAI, sandbox: Sandbox) -> None:
    """401 and 404 in OpenAI's envelope."""
    stranger = OpenAI(base_url=sandbox.openai_base_url, api_key="wrong", max_retries=0)
    with stranger, pytest.raises(openai.AuthenticationError) as key:
        stranger.chat.completions.create(model="gpt-4.1", messages=STORY)
    assert key.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError):
        openai_client.chat.completions.create(model="gpt-9", messages=STORY)


def test_retry_after_is_honoured_by_this_sdk(sandbox: Sandbox) -> None:
    """A 429 with Retry-After: 1 is tried again after a second; a chat that was dropped before accept is made once."""
    with OpenAI(base_url=sandbox.openai_base_url, api_key=sandbox.api_key) as client:
        sandbox.admin.faults.add(Route.CHAT, api_error("ServerOverloaded", retry_after="1"))
        begun = time.monotonic()
        client.chat.completions.create(model="gpt-4.1", messages=STORY)
        assert time.monotonic() - begun >= 1.0
        sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.DROP))
        client.chat.completions.create(model="gpt-4.1", messages=STORY)
    report = sandbox.admin.books()
    assert (report.requests["chat"], report.chats) == (4, 2)
