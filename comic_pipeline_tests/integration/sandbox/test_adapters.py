"""Our adapters against the sandbox: they send what the vendors' own clients take, and book what is billed."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import pytest
from openai import OpenAI
from volcenginesdkarkruntime import Ark

from comic_pipeline.model.errors import ProviderFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Aspect, Resolution
from comic_pipeline.providers.interface import CancelOutcome, Done, Inline, JobStatus, Phase, Picture, Provider, Submitted
from comic_pipeline.providers.picture import data_uri
from comic_pipeline.providers.registry import Providers, build_providers
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.integration.sandbox.material import measure_film, measure_picture, measure_sound, picture_bytes
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.settings import sandbox_environment
from comic_pipeline_tests.unit.providers.vendor import clip_request, image_request, text_request, voice_request

T = TypeVar("T")
USER = "u" * 32
_DATA = picture_bytes(1280, 720)
FRAME = Picture(
    MediaRef(key="f.jpg", sha256=hashlib.sha256(_DATA).hexdigest(), size=len(_DATA), mime="image/jpeg", width=1280, height=720),
    _DATA,
)
CLIP = clip_request(first_frame=FRAME, duration_ms=4_000)
TEXT = text_request(system="You write storyboards. Answer in JSON with shots.", user="3 shots of 5000 milliseconds each: 猫")
OPENAI = {"COMIC_TEXT_PROVIDER": "openai", "COMIC_IMAGE_PROVIDER": "openai", "COMIC_VOICE_PROVIDER": "openai"}


def using(sandbox: Sandbox, work: Callable[[Providers], Awaitable[T]], **changes: str) -> T:
    """Do `work` with the providers of a deployment whose every service is the sandbox."""
    keys = {"OPENAI_API_KEY": sandbox.api_key, "OPENAI_BASE_URL": sandbox.openai_base_url}

    async def main() -> T:
        providers = build_providers(load_settings(**sandbox_environment(sandbox, **keys, **changes)))
        try:
            return await work(providers)
        finally:
            await providers.close()

    return asyncio.run(main())


async def made(provider: Provider[Any], request: Any) -> tuple[Done, bytes]:
    """One create of a service that answers at once, and its bytes."""
    done = await provider.submit(request)
    assert isinstance(done, Done)
    return done, await provider.fetch(done.output)


async def finished(provider: Provider[Any], job: str, sandbox: Sandbox) -> JobStatus:
    """The job at its end."""
    sandbox.admin.advance(120)
    return await provider.poll(job, CLIP)


@pytest.mark.parametrize("model", ["doubao-seed-2-1-lite-261004", "doubao-seed-2-1-turbo-260628", "doubao-seed-2-1-pro-260628"])
def test_a_text_is_what_arks_client_would_ask_for_and_costs_what_is_billed(sandbox: Sandbox, ark: Ark, model: str) -> None:
    """A field that Ark's client does not know is a TypeError there; the price is the list's, token by token."""
    done, text = using(sandbox, lambda providers: made(providers.text, TEXT), ARK_TEXT_MODEL=model)
    assert done.cost == sandbox.admin.books().spend.quantize(Decimal("0.000001")) > 0
    (sent,) = sandbox.admin.requests(Route.CHAT)
    assert ark.chat.completions.create(**sent.body).choices[0].message.content == text.decode()
    assert sent.body["thinking"] == {"type": "disabled"}
    assert sent.key == USER


@pytest.mark.parametrize(
    ("model", "resolution"),
    [
        ("doubao-seedream-5-0-260128", Resolution.HD),
        ("doubao-seedream-5-0-pro-260628", Resolution.HD),
        ("doubao-seedream-5-0-pro-260628", Resolution.FULL_HD),
        ("doubao-seedream-4-5-251128", Resolution.HD),
        ("doubao-seedream-4-0-250828", Resolution.HD),
    ],
)
def test_every_picture_model_takes_the_request_and_costs_what_is_billed(
    sandbox: Sandbox, ark: Ark, model: str, resolution: Resolution
) -> None:
    """Size, fields and price of each model of the list; the picture has the size that was asked for and no watermark."""
    request = image_request(resolution=resolution)
    done, data = using(sandbox, lambda providers: made(providers.image, request), ARK_IMAGE_MODEL=model)
    assert done.cost == sandbox.admin.books().spend
    (sent,) = sandbox.admin.requests(Route.IMAGE)
    _, width, height, _ = measure_picture(data)
    assert sent.body["size"] == f"{width}x{height}"
    assert sent.body["watermark"] is False
    assert ark.images.generate(**sent.body).data[0].size == sent.body["size"]


@pytest.mark.parametrize(
    ("model", "resolution"),
    [
        ("doubao-seedance-1-5-pro-251215", Resolution.HD),
        ("doubao-seedance-1-5-pro-251215", Resolution.FULL_HD),
        ("doubao-seedance-2-0-260128", Resolution.HD),
        ("doubao-seedance-2-0-260128", Resolution.FULL_HD),
        ("doubao-seedance-2-0-fast-260128", Resolution.HD),
        ("doubao-seedance-2-0-mini-260615", Resolution.HD),
        ("doubao-seedance-2-5-260628", Resolution.HD),
    ],
)
def test_every_clip_model_takes_the_request_and_costs_what_is_billed(
    sandbox: Sandbox, ark: Ark, model: str, resolution: Resolution
) -> None:
    """Roles, ratio, resolution and sound of each model of the list, by the tokens of its own formula. Nobody pays for sound."""
    request = clip_request(first_frame=FRAME, duration_ms=4_000, resolution=resolution)

    async def work(providers: Providers) -> tuple[Submitted | Done, JobStatus, Decimal]:
        job = await providers.video.submit(request)
        assert isinstance(job, Submitted)
        sandbox.admin.advance(120)
        return job, await providers.video.poll(job.job_id, request), providers.video.estimate(request)

    job, status, estimate = using(sandbox, work, ARK_VIDEO_MODEL=model)
    assert status.done is not None
    (billed,) = sandbox.admin.charges()
    assert billed.cost is not None
    assert status.done.cost == billed.cost.quantize(Decimal("0.000001")) == estimate
    (seen,) = sandbox.admin.jobs()
    assert isinstance(job, Submitted)
    assert (seen.id, seen.key) == (job.job_id, USER)
    body = seen.body | {"content": [seen.body["content"][0], seen.body["content"][1] | {"image_url": {"url": data_uri(FRAME)}}]}
    again = ark.content_generation.tasks.create(**body)
    task = ark.content_generation.tasks.get(task_id=again.id)
    assert (task.resolution, task.duration, task.ratio, task.generate_audio) == (resolution.value, 4, "16:9", False)


@pytest.mark.parametrize("aspect", [Aspect.TALL, Aspect.SQUARE])
def test_a_clip_of_another_shape_costs_what_is_billed(sandbox: Sandbox, aspect: Aspect) -> None:
    """Tokens are counted by the pixels of the shape."""
    request = clip_request(first_frame=FRAME, duration_ms=4_000, aspect=aspect)

    async def work(providers: Providers) -> tuple[JobStatus, Decimal]:
        job = await providers.video.submit(request)
        assert isinstance(job, Submitted)
        return await finished(providers.video, job.job_id, sandbox), providers.video.estimate(request)

    status, estimate = using(sandbox, work)
    (billed,) = sandbox.admin.charges()
    assert billed.cost is not None
    assert status.done is not None
    assert status.done.cost == estimate == billed.cost.quantize(Decimal("0.000001"))


def test_a_prompt_cannot_choose_what_an_older_model_makes(sandbox: Sandbox) -> None:
    """Camera and watermark are not the prompt's to set, nor are the length and the size that are paid for."""
    request = clip_request(first_frame=FRAME, duration_ms=4_000, prompt="a cat --dur 12 --rs 1080p --wm true --cf true --seed 1")

    async def work(providers: Providers) -> None:
        await providers.video.submit(request)

    using(sandbox, work, ARK_VIDEO_MODEL="doubao-seedance-1-0-pro-250528")
    (job,) = sandbox.admin.jobs()
    # The sandbox takes settings out of the text that it understands as such.
    assert job.prompt == "a cat —dur 12 —rs 1080p —wm true —cf true —seed 1"


def test_a_clip_is_followed_fetched_found_and_cancelled(sandbox: Sandbox) -> None:
    """The five verbs over the wire: one create, one film without sound; a lost one is found once; a queued one is dropped."""
    sandbox.admin.latency(video=60)

    async def work(providers: Providers) -> tuple[bytes, list[bool], CancelOutcome, CancelOutcome]:
        video = providers.video
        job = await video.submit(CLIP)
        assert isinstance(job, Submitted)
        assert (await video.poll(job.job_id, CLIP)).phase is Phase.QUEUED
        found = await video.find(CLIP, since=datetime.now(UTC) - timedelta(seconds=30))
        done = (await finished(video, job.job_id, sandbox)).done
        assert done is not None
        second = await video.submit(CLIP)
        assert isinstance(second, Submitted)
        dropped, late = await video.cancel(second.job_id), await video.cancel(job.job_id)
        return await video.fetch(done.output), [one.job_id == job.job_id for one in found], dropped, late

    film, found, dropped, late = using(sandbox, work)
    assert (found, dropped, late) == ([True], CancelOutcome.CANCELLED, CancelOutcome.TOO_LATE)
    seen = measure_film(film)
    assert (seen.width, seen.height, seen.fps, seen.audio) == (1280, 720, 24.0, False)
    assert sandbox.admin.books().jobs_by_status == {"succeeded": 1, "cancelled": 1}


@pytest.mark.parametrize(
    ("changes", "route"),
    [
        ({}, Route.TTS_V3),
        ({"OPENSPEECH_APP_ID": ""}, Route.TTS_V3),
        ({"OPENSPEECH_RESOURCE": "seed-tts-1.0"}, Route.TTS_V3),
        ({"OPENSPEECH_API": "v1"}, Route.TTS_V1),
    ],
    ids=["old console", "new console", "voices of 1.0", "one shot"],
)
def test_speech_of_each_account_and_api_is_heard_and_costs_what_is_billed(
    sandbox: Sandbox, changes: dict[str, str], route: Route
) -> None:
    """Headers of both consoles, both generations of voices, both APIs."""
    done, data = using(sandbox, lambda providers: made(providers.voice, voice_request()), **changes)
    assert isinstance(done.output, Inline)
    assert measure_sound(data)[1] > 3_000
    assert done.cost == sandbox.admin.books().spend
    (sent,) = sandbox.admin.requests(route)
    assert sent.key == USER


def test_openai_requests_are_what_its_client_would_send(sandbox: Sandbox, openai_client: OpenAI) -> None:
    """A field that the client does not know is a TypeError there."""

    async def work(providers: Providers) -> tuple[Done, Done, bytes]:
        image, _ = await made(providers.image, image_request())
        text, _ = await made(providers.text, TEXT)
        return image, text, (await made(providers.voice, voice_request()))[1]

    image, text, sound = using(sandbox, work, **OPENAI)
    asked = {record.route: record.body for record in sandbox.admin.requests()}
    assert openai_client.images.generate(**asked["image"]).usage.output_tokens == image.usage["output_tokens"]
    assert openai_client.chat.completions.create(**asked["chat"]).usage.total_tokens == text.usage["total_tokens"]
    assert openai_client.audio.speech.create(**asked["speech"]).content == sound


def test_a_stream_that_ends_in_an_error_costs_what_is_billed(sandbox: Sandbox) -> None:
    """The sandbox bills what was spoken before the stream broke, as the vendor may: the book must not be below the bill."""
    sandbox.admin.faults.add(Route.TTS_V3, Fault(kind=Kind.ERROR_LINE))
    with pytest.raises(ProviderFault, match="server error") as caught:
        using(sandbox, lambda providers: made(providers.voice, voice_request()))
    assert caught.value.cost == sandbox.admin.books().spend > 0
