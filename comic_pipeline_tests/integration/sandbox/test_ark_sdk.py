"""Ark's own SDK, sync and async, against the sandbox: every route, every exception class, its retries."""

import asyncio
import base64
import io
import json

import httpx
import pytest
from PIL import Image, ImageChops
from volcenginesdkarkruntime import Ark, AsyncArk, _exceptions

from comic_pipeline_tests.integration.sandbox.material import (
    GROUP_MODEL,
    IMAGE_MODEL,
    STORY,
    TEXT_MODEL,
    VIDEO_MODEL,
    first_frame,
    measure_film,
    measure_picture,
    picture_bytes,
    picture_uri,
)
from comic_pipeline_tests.pixels import colour_ranges
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox


def create_task(ark: Ark, **more: object) -> str:
    """One valid create."""
    settings = {"resolution": "720p", "ratio": "16:9", "duration": 4, "generate_audio": False, **more}
    content = [{"type": "text", "text": "小猫推开门"}, first_frame(picture_uri())]
    return str(ark.content_generation.tasks.create(model=VIDEO_MODEL, content=content, **settings).id)


def test_chat_answers_a_storyboard_with_the_shots_that_were_asked(ark: Ark, sandbox: Sandbox) -> None:
    """The default answer must be usable as a storyboard, the same every time, and be counted and priced."""
    first, again = (ark.chat.completions.create(model=TEXT_MODEL, messages=STORY) for _ in range(2))
    story = json.loads(first.choices[0].message.content)
    assert [shot["seq"] for shot in story["shots"]] == [0, 1, 2]
    assert {shot["duration_ms"] for shot in story["shots"]} == {5_000}
    assert all(shot["image_prompt"] and (shot["dialogue"] or shot["narration"]) for shot in story["shots"])
    assert story["title"]
    assert again.choices[0].message.content == first.choices[0].message.content
    assert first.choices[0].finish_reason == "stop"
    assert first.object == "chat.completion"
    assert first.choices[0].message.reasoning_content
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens
    report = sandbox.admin.books()
    assert report.chats == 2
    # 6 CNY in, 30 CNY out for a million tokens of the pro model.
    assert report.spend * 1_000_000 == 2 * (6 * first.usage.prompt_tokens + 30 * first.usage.completion_tokens)


def test_thinking_can_be_switched_off(ark: Ark) -> None:
    """Doubao models think unless told not to; the adapter's switch must have an effect that tests can see."""
    answer = ark.chat.completions.create(model=TEXT_MODEL, messages=STORY, thinking={"type": "disabled"})
    assert getattr(answer.choices[0].message, "reasoning_content", None) is None
    assert answer.usage.completion_tokens_details.reasoning_tokens == 0


def test_chat_streams_to_the_same_text_and_counts_only_when_asked(ark: Ark) -> None:
    """Deltas add up to the plain answer; the usage chunk has no choices."""
    plain = ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    options = {"include_usage": True}
    chunks = list(ark.chat.completions.create(model=TEXT_MODEL, messages=STORY, stream=True, stream_options=options))
    text = "".join(chunk.choices[0].delta.content for chunk in chunks if chunk.choices)
    assert text == plain.choices[0].message.content
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == plain.usage.completion_tokens
    assert chunks[-2].choices[0].finish_reason == "stop"
    without = list(ark.chat.completions.create(model=TEXT_MODEL, messages=STORY, stream=True))
    assert all(chunk.choices for chunk in without)


def test_max_tokens_cuts_the_answer(ark: Ark) -> None:
    """An answer that is longer than allowed ends in the middle and says so."""
    answer = ark.chat.completions.create(model=TEXT_MODEL, messages=STORY, max_tokens=50)
    assert answer.choices[0].finish_reason == "length"
    assert len(answer.choices[0].message.content) == 100


def test_image_url_gives_a_real_picture_of_the_promised_size(ark: Ark, sandbox: Sandbox) -> None:
    """Size, format, tokens and price of one Seedream picture; the wire says `created`, not `created_at`."""
    answer = ark.images.generate(model=IMAGE_MODEL, prompt="月球花田", size="2560x1440", output_format="png", watermark=False)
    data = httpx.get(answer.data[0].url).content
    kind, width, height, colours = measure_picture(data)
    assert (kind, f"{width}x{height}") == ("PNG", answer.data[0].size)
    assert colours > 500
    assert answer.usage.generated_images == 1
    assert answer.usage.output_tokens == round(2560 * 1440 / 256)
    assert answer.created_at is None
    assert answer.created > 1_700_000_000
    report = sandbox.admin.books()
    assert report.images == 1
    assert str(report.spend) == "0.22"


def test_image_base64_and_references(ark: Ark) -> None:
    """b64_json holds the picture itself; a reference picture is taken and counted."""
    answer = ark.images.generate(
        model=GROUP_MODEL, prompt="同一只猫", image=[picture_uri(400, 400)], size="1K", response_format="b64_json"
    )
    assert measure_picture(base64.b64decode(answer.data[0].b64_json))[:3] == ("JPEG", 1024, 1024)
    assert answer.data[0].url is None
    assert answer.usage.input_images == 1


def test_prompts_and_seeds_make_different_pictures(ark: Ark) -> None:
    """Pictures of different shots must differ, or a test of mixed-up shots could never fail."""
    wishes = [("雪山", 1), ("雪山", 2), ("海底", 1), ("雪山", 1)]
    pictures = [
        ark.images.generate(model=GROUP_MODEL, prompt=prompt, seed=seed, size="1K", response_format="b64_json").data[0].b64_json
        for prompt, seed in wishes
    ]
    assert len(set(pictures)) == 3
    assert pictures[0] == pictures[3]


def test_image_groups_stream_and_a_refused_member_raises(ark: Ark, sandbox: Sandbox) -> None:
    """Frames come one a picture and end with the usage; the SDK raises at a refused member, so the rest is lost to it."""
    wish = {
        "model": GROUP_MODEL,
        "prompt": "3张 连环画",
        "size": "1K",
        "sequential_image_generation": "auto",
        "stream": True,
    }
    events = list(ark.images.generate(**wish))
    assert [event.type for event in events] == ["image_generation.partial_succeeded"] * 3 + ["image_generation.completed"]
    assert [event.image_index for event in events[:3]] == [0, 1, 2]
    assert len({event.url for event in events[:3]}) == 3
    assert events[3].usage["generated_images"] == 3
    sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.TASK_ERROR))
    with pytest.raises(_exceptions.ArkAPIError):
        list(ark.images.generate(**wish))
    # The two good ones of the second group are billed.
    assert sandbox.admin.books().images == 5


def test_a_video_task_from_create_to_film(ark: Ark, sandbox: Sandbox) -> None:
    """Queued, running, succeeded by virtual time; the film starts with the given frame and has the asked size and length."""
    sandbox.admin.latency(video=60)
    job = create_task(ark, seed=7, safety_identifier="project-9", return_last_frame=True)
    get = ark.content_generation.tasks.get
    assert job.startswith("cgt-20")
    assert get(task_id=job).status == "queued"
    sandbox.admin.advance(3)
    running = get(task_id=job)
    assert (running.status, running.content, running.usage) == ("running", None, None)
    sandbox.admin.advance(60)
    done = get(task_id=job)
    assert (done.status, done.error, done.model, done.seed) == ("succeeded", None, VIDEO_MODEL, 7)
    assert (done.resolution, done.ratio, done.duration, done.framespersecond) == ("720p", "16:9", 4, 24)
    assert (done.safety_identifier, done.generate_audio) == ("project-9", False)
    assert done.usage.completion_tokens == 87_300
    film = measure_film(httpx.get(done.content.video_url).content)
    assert (film.width, film.height, film.frames, film.fps, film.audio) == (1280, 720, 97, 24.0, False)
    given = Image.open(io.BytesIO(picture_bytes()))
    worst = max(high for _, high in colour_ranges(ImageChops.difference(film.first, given).reduce(16)))
    assert worst < 40
    assert measure_picture(httpx.get(done.content.last_frame_url).content)[:3] == ("PNG", 1280, 720)
    report = sandbox.admin.books()
    # 87,300 tokens at 46 CNY a million.
    assert str(report.spend.normalize()) == "4.0158"
    assert report.creates_by_key["video_create"] == {"project-9": 1}


def test_tasks_are_listed_newest_first_with_filters_and_pages(ark: Ark, sandbox: Sandbox) -> None:
    """Reconciling a lost create depends on this list: status, ids, model and paging must work."""
    sandbox.admin.latency(video=100)
    jobs = [create_task(ark) for _ in range(3)]
    tasks = ark.content_generation.tasks
    assert [task.id for task in tasks.list().items] == jobs[::-1]
    page = tasks.list(page_num=2, page_size=2)
    assert ([task.id for task in page.items], page.total) == ([jobs[0]], 3)
    assert {task.id for task in tasks.list(task_ids=jobs[:2]).items} == set(jobs[:2])
    assert tasks.list(status="succeeded").total == 0
    assert tasks.list(status="queued", model=VIDEO_MODEL, service_tier="default").total == 3
    assert tasks.list(model="doubao-seedance-2-0-fast-260128").total == 0
    tasks.delete(task_id=jobs[1])
    assert [task.id for task in tasks.list(status="cancelled").items] == [jobs[1]]


def test_delete_by_state(ark: Ark, sandbox: Sandbox) -> None:
    """Queued is cancelled, running is refused with 409, ended is forgotten, cancelled is refused."""
    sandbox.admin.latency(video=60)
    tasks = ark.content_generation.tasks
    queued, running = create_task(ark), create_task(ark)
    tasks.delete(task_id=queued)
    assert tasks.get(task_id=queued).status == "cancelled"
    with pytest.raises(_exceptions.ArkConflictError):
        tasks.delete(task_id=queued)
    sandbox.admin.advance(5)
    with pytest.raises(_exceptions.ArkConflictError) as refused:
        tasks.delete(task_id=running)
    assert refused.value.code == "InvalidAction.RunningTaskDeletion"
    assert "currently running" in refused.value.message
    sandbox.admin.advance(60)
    tasks.delete(task_id=running)
    with pytest.raises(_exceptions.ArkNotFoundError):
        tasks.get(task_id=running)
    # The running job finished and is billed, the cancelled one is not.
    assert str(sandbox.admin.books().spend.normalize()) == "4.0158"


@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [
        ("InvalidParameter", _exceptions.ArkBadRequestError, 400),
        ("InputTextSensitiveContentDetected", _exceptions.ArkBadRequestError, 400),
        ("AuthenticationError", _exceptions.ArkAuthenticationError, 401),
        ("AccountOverdueError", _exceptions.ArkPermissionDeniedError, 403),
        ("ModelNotOpen", _exceptions.ArkNotFoundError, 404),
        ("InvalidAction.RunningTaskDeletion", _exceptions.ArkConflictError, 409),
        ("ModelAccountRpmRateLimitExceeded", _exceptions.ArkRateLimitError, 429),
        ("QuotaExceeded", _exceptions.ArkRateLimitError, 429),
        ("InternalServiceError", _exceptions.ArkInternalServerError, 500),
    ],
)
def test_error_codes_become_the_sdks_exceptions(
    ark: Ark, sandbox: Sandbox, code: str, kind: type[_exceptions.ArkAPIStatusError], status: int
) -> None:
    """Envelope, status and class of each family of errors."""
    sandbox.admin.faults.add(Route.CHAT, api_error(code))
    with pytest.raises(kind) as raised:
        ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    assert (raised.value.status_code, raised.value.code, raised.value.param) == (status, code, "")
    assert "Request id: " in raised.value.message
    assert sandbox.admin.books().chats == 0


def test_unprocessable_and_odd_statuses(ark: Ark, sandbox: Sandbox) -> None:
    """422 has a class of its own, other 4xx the base class; a gateway page has no code but its text."""
    sandbox.admin.faults.add(Route.CHAT, api_error("InvalidParameter", status=422))
    sandbox.admin.faults.add(Route.CHAT, api_error("InvalidParameter", status=418))
    sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.HTML, status=502))
    sandbox.admin.faults.add(Route.CHAT, api_error("InvalidAccessKey", status=400, shape="gateway"))
    with pytest.raises(_exceptions.ArkUnprocessableEntityError):
        ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    with pytest.raises(_exceptions.ArkAPIStatusError):
        ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    with pytest.raises(_exceptions.ArkInternalServerError) as page:
        ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    assert page.value.code is None
    assert "Bad Gateway" in str(page.value.body)
    with pytest.raises(_exceptions.ArkBadRequestError) as gateway:
        ark.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    assert gateway.value.code is None
    assert gateway.value.body["ResponseMetadata"]["Error"]["Code"] == "InvalidAccessKey"


def test_keys_and_models_are_checked(sandbox: Sandbox, ark: Ark) -> None:
    """A wrong key is 401, an unknown model and a bare family name are 404, a closed model is ModelNotOpen."""
    stranger = Ark(base_url=sandbox.ark_base_url, api_key="wrong", max_retries=0)
    with pytest.raises(_exceptions.ArkAuthenticationError) as unknown_key:
        stranger.chat.completions.create(model=TEXT_MODEL, messages=STORY)
    stranger.close()
    assert unknown_key.value.code == "AuthenticationError"
    for model in ("doubao-seed-2-1-pro", "gpt-4.1"):
        with pytest.raises(_exceptions.ArkNotFoundError) as unknown_model:
            ark.chat.completions.create(model=model, messages=STORY)
        assert unknown_model.value.code == "InvalidEndpointOrModel.NotFound"
    sandbox.admin.close_model(IMAGE_MODEL)
    with pytest.raises(_exceptions.ArkNotFoundError) as closed:
        ark.images.generate(model=IMAGE_MODEL, prompt="猫")
    assert closed.value.code == "ModelNotOpen"
    assert all("authorization" not in item.headers or item.headers["authorization"] == "***" for item in sandbox.admin.requests())


def test_a_dropped_connection_after_accept_leaves_a_job_behind(ark: Ark, sandbox: Sandbox) -> None:
    """Without retries: one create, one job that only the list can tell of."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.DROP_AFTER))
    with pytest.raises(_exceptions.ArkAPIConnectionError):
        create_task(ark, safety_identifier="lost")
    assert [task.safety_identifier for task in ark.content_generation.tasks.list().items] == ["lost"]
    assert sandbox.admin.books().video_jobs == 1


def test_the_sdks_own_retries_make_three_jobs_of_one_create(patient_ark: Ark, sandbox: Sandbox) -> None:
    """Why adapters must not retry a create: with the default of two retries, dropped answers cost three paid jobs."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.DROP_AFTER), times=3)
    with pytest.raises(_exceptions.ArkAPIConnectionError):
        create_task(patient_ark)
    report = sandbox.admin.books()
    assert (report.requests["video_create"], report.video_jobs) == (3, 3)
    ids = [item.headers["x-client-request-id"] for item in sandbox.admin.requests(Route.VIDEO_CREATE)]
    assert len(set(ids)) == 3


def test_the_async_client_does_the_same(sandbox: Sandbox) -> None:
    """AsyncArk: chat, image and a task, at the same time."""

    async def drive() -> tuple[str, str, str]:
        async with AsyncArk(base_url=sandbox.ark_base_url, api_key=sandbox.api_key, max_retries=0) as ark:
            content = [{"type": "text", "text": "雨夜小巷"}]
            chat, image, task = await asyncio.gather(
                ark.chat.completions.create(model=TEXT_MODEL, messages=STORY),
                ark.images.generate(model=GROUP_MODEL, prompt="雨夜小巷", size="1K"),
                ark.content_generation.tasks.create(model=VIDEO_MODEL, content=content, duration=4),
            )
            status = (await ark.content_generation.tasks.get(task_id=task.id)).status
            return chat.choices[0].finish_reason, image.data[0].size, status

    finish, size, status = asyncio.run(drive())
    assert (finish, size) == ("stop", "1024x1024")
    assert status in ("queued", "running")
