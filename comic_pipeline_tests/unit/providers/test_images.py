"""Picture models: what is sent to each, what comes back, what it costs."""

import base64
from decimal import Decimal

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.model.project import Aspect, Resolution
from comic_pipeline.providers.ark_image import ArkImage
from comic_pipeline.providers.interface import Inline, Remote
from comic_pipeline.providers.openai_image import OpenAiImage
from comic_pipeline_tests.unit.providers.vendor import BASE, PNG, Vendor, ark_error, image_request, run, service

LITE = "doubao-seedream-5-0-260128"
PRO = "doubao-seedream-5-0-pro-260628"
URL = "https://ark-content-generation-v2-cn-beijing.tos-cn-beijing.volces.com/0.jpeg?X-Tos-Signature=deadbeef"


def answer(item: object, **changes: object) -> httpx.Response:
    usage = {"generated_images": 1, "output_tokens": 14_400, "total_tokens": 14_400}
    return httpx.Response(200, json={"model": LITE, "created": 1, "data": [item], "usage": usage} | changes)


def ark(vendor: Vendor, model: str = LITE) -> ArkImage:
    return ArkImage(service("ark_image"), model=model, transport=vendor.transport)


def refused(vendor: Vendor) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        run(ark(vendor).submit(image_request()))
    return caught.value


def test_request_is_what_was_described() -> None:
    """The vendor's own defaults would put a watermark on every frame and may make a series of pictures."""
    vendor = Vendor(answer({"url": URL, "size": "2560x1440"}))
    provider = ark(vendor)
    run(provider.submit(image_request()))
    assert str(vendor.requests[0].url) == f"{BASE}/images/generations"
    assert vendor.body == provider.describe(image_request())
    assert vendor.body == {
        "model": LITE,
        "prompt": "a cat on the moon",
        "size": "2560x1440",
        "seed": 7,
        "response_format": "url",
        "watermark": False,
        "sequential_image_generation": "disabled",
    }


@pytest.mark.parametrize("model", [PRO, "ep-20261130-abcde"])
def test_model_gets_no_field_that_it_may_not_know(model: str) -> None:
    """Whether an unknown field is an error is undocumented: 5.0-pro has no group mode."""
    assert "sequential_image_generation" not in ark(Vendor(answer({})), model).describe(image_request())


def test_size_below_the_models_minimum_is_never_sent() -> None:
    """The size is chosen from the model's limits before any spend (huobao #22)."""
    body = ark(Vendor(answer({}))).describe(image_request())
    width, height = map(int, body["size"].split("x"))
    assert width * height >= 3_686_400


def test_picture_by_url_is_fetched_later_with_its_price() -> None:
    """The URL is signed: it goes into the output and into no text."""
    done = run(ark(Vendor(answer({"url": URL, "size": "2560x1440"}))).submit(image_request()))
    assert done.output == Remote(URL)
    assert done.cost == Decimal("0.22")
    assert done.usage["output_tokens"] == 14_400
    assert "deadbeef" not in repr(done)


def test_price_follows_the_size_that_was_made() -> None:
    """5.0-pro costs twice as much above 2.36 megapixels, and what is made need not be what was asked for (1.2)."""
    large = run(ark(Vendor(answer({"url": URL, "size": "2720x1536"})), PRO).submit(image_request()))
    small = run(ark(Vendor(answer({"url": URL})), PRO).submit(image_request()))
    assert (large.cost, small.cost) == (Decimal("0.60"), Decimal("0.30"))


def test_picture_as_base64_is_inline() -> None:
    """Relays send base64 whatever was asked for."""
    done = run(ark(Vendor(answer({"b64_json": base64.b64encode(PNG).decode()}))).submit(image_request()))
    assert done.output == Inline(PNG)
    assert run(ark(Vendor(answer({}))).fetch(done.output)) == PNG


@pytest.mark.parametrize("model", [LITE, PRO, "ep-1"])
@pytest.mark.parametrize("resolution", Resolution)
def test_estimate_is_the_price_of_the_described_request(model: str, resolution: Resolution) -> None:
    """Judged from the size that is really sent, so that a reservation cannot fall short of the bill."""
    provider = ark(Vendor(answer({"url": URL})), model)
    request = image_request(resolution=resolution)
    assert provider.estimate(request) == run(provider.submit(request)).cost > 0


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"error": {"code": "OutputImageSensitiveContentDetected", "message": "m"}}, ErrorCode.MODERATION_REJECTED),
        ({"error": {"code": "InternalServiceError", "message": "m"}}, ErrorCode.PROVIDER_ERROR),
        ({}, ErrorCode.EMPTY_RESPONSE),
        ({"url": ""}, ErrorCode.EMPTY_RESPONSE),
        ({"b64_json": "%%%"}, ErrorCode.PROVIDER_ERROR),
        (None, ErrorCode.EMPTY_RESPONSE),
    ],
)
def test_content_filter_or_nothing_in_place_of_the_picture_is_its_own_code(item: object, code: ErrorCode) -> None:
    """A moderated picture comes inside a 200 and must not count as made (openstory #881)."""
    assert refused(Vendor(answer(item))).code is code


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (httpx.Response(200, json={"data": []}), ErrorCode.EMPTY_RESPONSE),
        (httpx.Response(200, content=b""), ErrorCode.EMPTY_RESPONSE),
        (httpx.Response(200, json={"error": {"code": "InternalServiceError", "message": "m"}}), ErrorCode.PROVIDER_ERROR),
        (ark_error(400, "InputTextSensitiveContentDetected"), ErrorCode.MODERATION_REJECTED),
        (ark_error(429, "ModelAccountIpmRateLimitExceeded"), ErrorCode.PROVIDER_RATE_LIMIT),
        (ark_error(403, "AccountOverdueError"), ErrorCode.PROVIDER_QUOTA),
        (ark_error(404, "ModelNotOpen"), ErrorCode.PROVIDER_AUTH),
    ],
)
def test_failed_call_has_its_code(reply: httpx.Response, code: ErrorCode) -> None:
    """A call without a picture is a typed error, whatever its status."""
    vendor = Vendor(reply)
    assert refused(vendor).code is code
    assert len(vendor.requests) == 1


def test_lost_answer_is_unknown() -> None:
    """300 s without an answer: the picture may have been drawn and billed."""
    assert isinstance(refused(Vendor(httpx.ReadTimeout("slow"))), OutcomeUnknown)


def test_empty_prompt_is_no_task() -> None:
    """new-api #2050: empty-input work must not reach a vendor that bills it."""
    for provider in (ark(Vendor(answer({}))), OpenAiImage(service(), model="gpt-image-1")):
        with pytest.raises(ProviderFault) as caught:
            provider.describe(image_request(prompt=" \n"))
        assert caught.value.code is ErrorCode.INPUT_INVALID


def openai(vendor: Vendor, model: str = "gpt-image-1") -> OpenAiImage:
    return OpenAiImage(service("openai_image", base_url="https://api.openai.com/v1"), model=model, transport=vendor.transport)


@pytest.mark.parametrize(
    ("aspect", "size"), [(Aspect.WIDE, "1536x1024"), (Aspect.TALL, "1024x1536"), (Aspect.SQUARE, "1024x1024")]
)
def test_openai_request_names_size_and_quality(aspect: Aspect, size: str) -> None:
    """A quality left to the vendor has no price that could be reserved."""
    vendor = Vendor(answer({"b64_json": base64.b64encode(PNG).decode()}, usage=None))
    provider = openai(vendor)
    done = run(provider.submit(image_request(aspect=aspect)))
    assert vendor.body == provider.describe(image_request(aspect=aspect))
    asked = {"model": "gpt-image-1", "prompt": "a cat on the moon", "n": 1, "user": "u" * 32}
    assert vendor.body == asked | {"size": size, "quality": "medium"}
    assert done.output == Inline(PNG)
    assert done.cost == provider.estimate(image_request(aspect=aspect)) > 0


def test_openai_cost_is_by_reported_tokens() -> None:
    """10 tokens of prompt at 5 and 1,568 of picture at 40 USD per million, at 7.2."""
    usage = {"input_tokens": 10, "output_tokens": 1_568, "total_tokens": 1_578}
    done = run(openai(Vendor(answer({"b64_json": "AAAA"}, usage=usage))).submit(image_request()))
    assert done.cost == Decimal("0.451944")


def test_other_openai_model_gets_no_quality_and_may_send_a_url() -> None:
    """Compatible services know neither our quality words nor base64."""
    vendor = Vendor(answer({"url": "https://api.openai.com/files/1.png"}))
    provider = openai(vendor, "dall-e-3")
    done = run(provider.submit(image_request()))
    assert "quality" not in vendor.body
    assert done.output == Remote("https://api.openai.com/files/1.png")
    assert run(openai(Vendor(httpx.Response(200, content=PNG)), "dall-e-3").fetch(done.output)) == PNG


def test_openai_refusal_by_moderation_is_its_own_code() -> None:
    """The filter's answer is not a bad request to be debugged."""
    vendor = Vendor(httpx.Response(400, json={"error": {"code": "moderation_blocked", "message": "safety system"}}))
    with pytest.raises(ProviderFault) as caught:
        run(openai(vendor).submit(image_request()))
    assert caught.value.code is ErrorCode.MODERATION_REJECTED
