"""Each kind of fault does what it is named after, once, to the request it was meant for."""

import json
import re
import time
from decimal import Decimal
from typing import Any

import httpx
import pytest

from comic_pipeline_tests.integration.sandbox.material import (
    IMAGE_MODEL,
    STORY,
    TASKS,
    TEXT_MODEL,
    measure_film,
    measure_picture,
    task_body,
)
from comic_pipeline_tests.pixels import colour_ranges
from comic_pipeline_tests.sandbox.client import Refused
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox

CHAT = {"model": TEXT_MODEL, "messages": STORY}
IMAGE = {"model": IMAGE_MODEL, "prompt": "月球花田", "size": "2048x2048"}


def chat(http: httpx.Client) -> httpx.Response:
    """One chat."""
    return http.post("/api/v3/chat/completions", json=CHAT)


def finished_job(http: httpx.Client, sandbox: Sandbox) -> dict[str, Any]:
    """A job that has run to its end."""
    job = http.post(TASKS, json=task_body()).json()["id"]
    sandbox.admin.advance(5)
    ended: dict[str, Any] = http.get(f"{TASKS}/{job}").json()
    return ended


@pytest.mark.parametrize("retry_after", ["", "3"])
def test_rate_limit_with_and_without_retry_after(http: httpx.Client, sandbox: Sandbox, retry_after: str) -> None:
    """The fault happens the asked number of times, makes nothing, and is over."""
    fault = api_error("RateLimitExceeded.EndpointRPMExceeded", retry_after=retry_after)
    sandbox.admin.faults.add(Route.VIDEO_CREATE, fault, times=2)
    answers = [http.post(TASKS, json=task_body()) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [429, 429, 200]
    assert answers[0].json()["error"]["type"] == "TooManyRequests"
    assert answers[0].headers.get("retry-after", "") == retry_after
    report = sandbox.admin.books()
    assert (report.requests["video_create"], report.video_jobs) == (3, 1)
    assert report.faults_fired == {"video_create:http": 2}


def test_html_page_empty_body_and_flat_error(http: httpx.Client, sandbox: Sandbox) -> None:
    """What gateways and relays send instead of an answer."""
    sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.HTML, status=502))
    sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.EMPTY))
    sandbox.admin.faults.add(Route.CHAT, api_error("QuotaExceeded", message="free trial used up", shape="flat"))
    page, empty, flat = chat(http), chat(http), chat(http)
    assert (page.status_code, page.headers["content-type"][:9]) == (502, "text/html")
    assert (empty.status_code, empty.content) == (200, b"")
    assert (flat.status_code, flat.json()["code"]) == (429, "QuotaExceeded")
    assert sandbox.admin.books().chats == 0


@pytest.mark.parametrize(("accept_first", "jobs_at_timeout"), [(True, 1), (False, 0)])
def test_slow_answers(http: httpx.Client, sandbox: Sandbox, *, accept_first: bool, jobs_at_timeout: int) -> None:
    """A read time-out says nothing about the job: it may exist already, or come into being after the client has left."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.SLOW, seconds=0.8, accept_first=accept_first))
    with pytest.raises(httpx.ReadTimeout):
        http.post(TASKS, json=task_body(), timeout=0.3)
    assert sandbox.admin.books().video_jobs == jobs_at_timeout
    deadline = time.monotonic() + 5
    while sandbox.admin.requests(Route.VIDEO_CREATE)[0].status == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sandbox.admin.books().video_jobs == 1


@pytest.mark.parametrize(("kind", "jobs"), [(Kind.DROP, 0), (Kind.DROP_AFTER, 1)])
def test_dropped_connections(http: httpx.Client, sandbox: Sandbox, kind: Kind, jobs: int) -> None:
    """Before accept nothing has happened, after accept the job exists; the client cannot tell one from the other."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=kind))
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        http.post(TASKS, json=task_body())
    report = sandbox.admin.books()
    assert (report.video_jobs, report.requests["video_create"]) == (jobs, 1)
    assert http.get(TASKS).json()["total"] == jobs


def test_download_faults(http: httpx.Client, sandbox: Sandbox) -> None:
    """Cut in the middle, too short but complete, expired, a gateway's page; and then it works after all."""
    url = http.post("/api/v3/images/generations", json=IMAGE).json()["data"][0]["url"]
    sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.TRUNCATED))
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without sending complete"):
        http.get(url)
    sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.SHORT))
    sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.URL_EXPIRED))
    sandbox.admin.faults.add(Route.DOWNLOAD, Fault(kind=Kind.HTML, status=200))
    short, expired, page, good = (http.get(url) for _ in range(4))
    assert good.content.startswith(short.content)
    assert len(short.content) == len(good.content) // 2
    assert (expired.status_code, "Request has expired" in expired.text) == (403, True)
    assert page.content.startswith(b"<!DOCTYPE html>")
    assert measure_picture(good.content)[:3] == ("JPEG", 2048, 2048)


@pytest.mark.parametrize(
    ("fault", "kind", "size"),
    [
        (Fault(kind=Kind.MEDIA, width=640, height=640), "JPEG", (640, 640)),
        (Fault(kind=Kind.MEDIA, type="png"), "PNG", (2048, 2048)),
        (Fault(kind=Kind.MEDIA, type="webp"), "WEBP", (2048, 2048)),
    ],
)
def test_wrong_pictures(http: httpx.Client, sandbox: Sandbox, fault: Fault, kind: str, size: tuple[int, int]) -> None:
    """Another size or another format than asked."""
    sandbox.admin.faults.add(Route.IMAGE, fault)
    item = http.post("/api/v3/images/generations", json=IMAGE).json()["data"][0]
    assert measure_picture(http.get(item["url"]).content)[:3] == (kind, *size)
    assert item["size"] == f"{size[0]}x{size[1]}"


def test_blank_and_unreadable_pictures(http: httpx.Client, sandbox: Sandbox) -> None:
    """One colour all over; a page of HTML served as image/jpeg; nothing at all."""
    for fault in (
        Fault(kind=Kind.MEDIA, look="black"),
        Fault(kind=Kind.MEDIA, type="html"),
        Fault(kind=Kind.MEDIA, type="empty"),
    ):
        sandbox.admin.faults.add(Route.IMAGE, fault)
    urls = [http.post("/api/v3/images/generations", json=IMAGE).json()["data"][0]["url"] for _ in range(3)]
    black, page, empty = (http.get(url) for url in urls)
    assert measure_picture(black.content)[3] == 1
    assert (page.headers["content-type"], page.content[:9]) == ("image/jpeg", b"<!DOCTYPE")
    assert (empty.status_code, empty.content) == (200, b"")


def test_wrong_films(http: httpx.Client, sandbox: Sandbox) -> None:
    """Another size and length than asked, or black; tokens and price stay those of the order."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.MEDIA, width=640, height=640, seconds=2, look="black"))
    task = finished_job(http, sandbox)
    film = measure_film(http.get(task["content"]["video_url"]).content)
    assert (film.width, film.height, film.frames) == (640, 640, 48)
    assert max(high for _, high in colour_ranges(film.first)) < 20
    assert task["usage"]["completion_tokens"] == 87_300
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.MEDIA, type="html"))
    page = http.get(finished_job(http, sandbox)["content"]["video_url"])
    assert (page.headers["content-type"], page.content[:9]) == ("video/mp4", b"<!DOCTYPE")


def test_output_moderation_is_a_task_error_and_input_moderation_a_400(http: httpx.Client, sandbox: Sandbox) -> None:
    """Two origins of the same kind of refusal; neither is billed."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.TASK_ERROR), match="小猫推开门")
    failed = finished_job(http, sandbox)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "OutputVideoSensitiveContentDetected")
    assert "content" not in failed
    sandbox.admin.faults.add(Route.VIDEO_CREATE, api_error("InputTextSensitiveContentDetected"))
    refused = http.post(TASKS, json=task_body())
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InputTextSensitiveContentDetected")
    sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.TASK_ERROR))
    image = http.post("/api/v3/images/generations", json=IMAGE)
    assert (image.status_code, image.json()["error"]["code"]) == (400, "OutputImageSensitiveContentDetected")
    report = sandbox.admin.books()
    assert (report.spend, report.images, report.video_jobs) == (Decimal(0), 0, 1)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault(kind=Kind.STUCK), "running"),
        (Fault(kind=Kind.STUCK, word="queued"), "queued"),
        (Fault(kind=Kind.PROVIDER_CANCEL), "cancelled"),
        (Fault(kind=Kind.EXPIRE), "expired"),
        (Fault(kind=Kind.TASK_ERROR, code="InternalServiceError", message="oops"), "failed"),
        (Fault(kind=Kind.PACE, seconds=2), "succeeded"),
        (Fault(kind=Kind.PACE, seconds=50), "queued"),
    ],
)
def test_task_fates(http: httpx.Client, sandbox: Sandbox, fault: Fault, status: str) -> None:
    """How a job ends, or does not, five seconds (of the half second it should take) after its create."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, fault)
    job = http.post(TASKS, json=task_body()).json()["id"]
    sandbox.admin.advance(1.5)
    early = http.get(f"{TASKS}/{job}").json()["status"]
    assert early in {status, "running", "queued"}
    sandbox.admin.advance(3.5 if fault.seconds < 50 else 0)
    assert http.get(f"{TASKS}/{job}").json()["status"] == status
    assert (sandbox.admin.books().spend > 0) is (status == "succeeded")


def test_lost_jobs_and_unknown_words(http: httpx.Client, sandbox: Sandbox) -> None:
    """A status word nobody knows for a while; then the id is unknown to GET, list and DELETE."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.LOSE, seconds=10))
    job = http.post(TASKS, json=task_body()).json()["id"]
    sandbox.admin.faults.add(Route.VIDEO_GET, Fault(kind=Kind.WORD, word="postprocessing"), times=2)
    words = [http.get(f"{TASKS}/{job}").json()["status"] for _ in range(3)]
    assert words[:2] == ["postprocessing"] * 2
    assert words[2] in ("queued", "running")
    sandbox.admin.advance(10)
    assert http.get(f"{TASKS}/{job}").status_code == 404
    assert http.delete(f"{TASKS}/{job}").status_code == 404
    assert http.get(TASKS).json() == {"items": [], "total": 0}
    assert [item.visible for item in sandbox.admin.jobs()] == [False]


def story(answer: httpx.Response) -> str:
    """The text of a chat answer."""
    return str(answer.json()["choices"][0]["message"]["content"])


@pytest.fixture
def clean_story(http: httpx.Client) -> dict[str, object]:
    """The storyboard without any fault."""
    told: dict[str, object] = json.loads(story(chat(http)))
    return told


def test_answers_that_are_not_quite_json(http: httpx.Client, sandbox: Sandbox, clean_story: dict[str, object]) -> None:
    """Fence, prose, trailing commas: around or inside the same storyboard."""
    for kind in (Kind.FENCED, Kind.PROSE, Kind.TRAILING_COMMAS):
        sandbox.admin.faults.add(Route.CHAT, Fault(kind=kind))
    fenced, prose, commas = (story(chat(http)) for _ in range(3))
    assert json.loads(fenced.removeprefix("```json\n").removesuffix("\n```")) == clean_story
    assert json.loads(prose[prose.index("{") : prose.rindex("}") + 1]) == clean_story
    with pytest.raises(json.JSONDecodeError):
        json.loads(commas)
    assert json.loads(re.sub(r",(\s*[}\]])", r"\1", commas)) == clean_story


def test_cut_blank_filtered_and_no_choices(http: httpx.Client, sandbox: Sandbox) -> None:
    """finish_reason length with half the text; empty content; content_filter; a list of choices with none in it."""
    for kind in (Kind.CUT, Kind.BLANK, Kind.FILTERED, Kind.NO_CHOICES):
        sandbox.admin.faults.add(Route.CHAT, Fault(kind=kind))
    cut, blank, filtered, none = (chat(http).json() for _ in range(4))
    assert cut["choices"][0]["finish_reason"] == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut["choices"][0]["message"]["content"])
    assert blank["choices"][0]["message"]["content"] == ""
    assert filtered["choices"][0]["finish_reason"] == "content_filter"
    assert none["choices"] == []


def test_storyboards_with_other_keys(http: httpx.Client, sandbox: Sandbox, clean_story: dict[str, object]) -> None:
    """No title, `frames` for `shots`, one wrapper, synonyms in each shot."""
    for kind in (Kind.MISSING_TITLE, Kind.FRAMES_KEY, Kind.WRAPPED, Kind.SYNONYMS):
        sandbox.admin.faults.add(Route.CHAT, Fault(kind=kind))
    untitled, frames, wrapped, synonyms = (json.loads(story(chat(http))) for _ in range(4))
    assert untitled == {"shots": clean_story["shots"]}
    assert frames == {"title": clean_story["title"], "frames": clean_story["shots"]}
    assert wrapped == {"storyboard": clean_story}
    assert {"scene", "line", "voiceover", "index"} < set(synonyms["shots"][0])


def test_queued_answers_come_first(http: httpx.Client, sandbox: Sandbox) -> None:
    """Whatever a test wants the model to say, in order, then the usual."""
    sandbox.admin.answers.add("Here are the rules: ...", '{"title": "x"}')
    assert [story(chat(http)) for _ in range(2)] == ["Here are the rules: ...", '{"title": "x"}']
    assert "shots" in story(chat(http))


def test_match_aims_at_one_job(http: httpx.Client, sandbox: Sandbox) -> None:
    """A fault for GET can be aimed by the job's own prompt, so that one of several shots fails."""
    sandbox.admin.faults.add(Route.VIDEO_GET, Fault(kind=Kind.WORD, word="odd"), match="第二镜")
    jobs = [
        http.post(TASKS, json=task_body(content=[{"type": "text", "text": text}])).json()["id"] for text in ("第一镜", "第二镜")
    ]
    words = [http.get(f"{TASKS}/{job}").json()["status"] for job in jobs]
    assert [word == "odd" for word in words] == [False, True]


def test_a_fault_that_cannot_happen_is_refused(sandbox: Sandbox) -> None:
    """A test that plans nonsense must not pass for lack of the fault."""
    with pytest.raises(Refused, match="cannot happen on chat"):
        sandbox.admin.faults.add(Route.CHAT, Fault(kind=Kind.STUCK))
    with pytest.raises(Refused, match="400"):
        sandbox.admin.latency(video=-1)


def test_chaos_is_the_same_for_the_same_seed(http: httpx.Client, sandbox: Sandbox) -> None:
    """The nth request of a route meets the same fault; about the asked share of them; rate 0 ends it."""

    def run(seed: int) -> list[int]:
        sandbox.admin.reset()
        kinds = frozenset({Kind.HTTP, Kind.HTML})
        sandbox.admin.faults.chaos(seed, 0.4, kinds=kinds)
        return [http.get(TASKS).status_code for _ in range(40)]

    first, again, other = run(1), run(1), run(2)
    assert first == again != other
    assert 6 <= sum(status != 200 for status in first) <= 26
    assert set(first) <= {200, 429, 500, 502}
    sandbox.admin.faults.chaos(1, 0)
    assert {http.get(TASKS).status_code for _ in range(10)} == {200}
