"""What Ark refuses, the sandbox refuses: with the status and code, before anything is made; and what Ark ignores, it ignores."""

import json
from typing import Any

import httpx
import pytest

from comic_pipeline_tests.integration.sandbox.material import (
    GROUP_MODEL,
    IMAGE_MODEL,
    OLD_VIDEO_MODEL,
    PRO_IMAGE_MODEL,
    TASKS,
    TEXT_MODEL,
    first_frame,
    picture_uri,
    task_body,
)
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.process import Sandbox

TEXT = {"type": "text", "text": "小猫"}
FIRST = first_frame(picture_uri(400, 400))
LAST = first_frame(picture_uri(400, 400), "last_frame")
REFERENCE = first_frame(picture_uri(400, 400), "reference_image")
SEEDANCE_25 = "doubao-seedance-2-5-260628"
SEEDANCE_15 = "doubao-seedance-1-5-pro-251215"
FAST_10 = "doubao-seedance-1-0-pro-fast-251015"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"content": None}, "MissingParameter"),
        ({"content": []}, "MissingParameter"),
        ({"model": None}, "MissingParameter"),
        ({"model": "doubao-seedance-2-0"}, "InvalidEndpointOrModel.NotFound"),
        ({"content": [TEXT, FIRST, FIRST]}, "InvalidParameter"),
        ({"content": [TEXT, LAST]}, "InvalidParameter"),
        ({"content": [TEXT, FIRST, REFERENCE]}, "InvalidParameter"),
        ({"content": [TEXT, *[first_frame(picture_uri(400, 400), None)] * 2]}, "MissingParameter"),
        ({"content": [TEXT, first_frame(picture_uri(400, 400), "hero")]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame(picture_uri(299, 400))]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame(picture_uri(1200, 400))]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame("data:image/jpeg;base64,@@@")]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame("data:image/jpeg;base64,aGVsbG8=")]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame(picture_uri(400, 400, "PNG", "image/jpeg"))]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame(picture_uri(400, 400).replace("jpeg", "JPEG"))]}, "InvalidParameter"),
        ({"content": [TEXT, first_frame("/tmp/first.png")]}, "InvalidParameter"),
        ({"content": [TEXT, *[REFERENCE] * 10]}, "InvalidParameter"),
        ({"content": [{"type": "text"}]}, "MissingParameter"),
        ({"content": [{"type": "poem"}]}, "InvalidParameter"),
        ({"resolution": "360p"}, "InvalidParameter"),
        ({"resolution": "1080p", "model": "doubao-seedance-2-0-fast-260128"}, "InvalidParameter"),
        ({"ratio": "2:1"}, "InvalidParameter"),
        ({"duration": 3}, "InvalidParameter"),
        ({"duration": 16}, "InvalidParameter"),
        ({"duration": 4.5}, "InvalidParameter"),
        ({"duration": True}, "InvalidParameter"),
        ({"duration": -1, "model": OLD_VIDEO_MODEL}, "InvalidParameter"),
        ({"frames": 57}, "InvalidParameter.UnsupportedParameter"),
        ({"frames": 58, "model": OLD_VIDEO_MODEL}, "InvalidParameter"),
        ({"seed": 2**32}, "InvalidParameter"),
        ({"service_tier": "flex"}, "InvalidParameter.UnsupportedParameter"),
        ({"priority": 1, "model": SEEDANCE_15}, "InvalidParameter.UnsupportedParameter"),
        ({"execution_expires_after": 60}, "InvalidParameter"),
        ({"camera_fixed": True}, "InvalidParameter.UnsupportedParameter"),
        ({"ratio": "16:9", "model": SEEDANCE_25}, "InvalidParameter.TaskTypeConstraint"),
        ({"content": [TEXT, FIRST, LAST], "model": FAST_10}, "InvalidParameter"),
        ({"content": [TEXT, REFERENCE], "model": OLD_VIDEO_MODEL}, "InvalidParameter"),
    ],
)
def test_refused_videos(http: httpx.Client, sandbox: Sandbox, changes: dict[str, object], code: str) -> None:
    """400 (404 for the model), the code, the field's name, and no job."""
    answer = http.post(TASKS, json=task_body(**changes))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (404 if "NotFound" in code else 400, code)
    assert error["param"]
    assert error["message"].endswith(f"Request id: {answer.headers['x-request-id']}")
    assert sandbox.admin.books().video_jobs == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"duration": None, "ratio": None, "resolution": None}, {"duration": 5, "ratio": "16:9", "resolution": "720p"}),
        ({"duration": -1}, {"duration": 5}),
        ({"ratio": "adaptive", "content": [TEXT, first_frame(picture_uri(720, 1280))]}, {"ratio": "9:16"}),
        ({"content": [TEXT, first_frame(picture_uri(400, 400), None)]}, {"duration": 4}),
        ({"content": [TEXT, FIRST, LAST]}, {"duration": 4}),
        ({"content": [TEXT, *[REFERENCE] * 9]}, {"duration": 4}),
        ({"content": [FIRST]}, {"duration": 4}),
        ({"framespersecond": 999, "negative_prompt": "x", "fps": 12}, {"framespersecond": 24}),
        ({"resolution": "4k"}, {"resolution": "4k"}),
        ({"frames": 57, "model": OLD_VIDEO_MODEL}, {"frames": 57}),
        ({"ratio": None, "model": SEEDANCE_25}, {"ratio": "16:9"}),
        ({"generate_audio": None, "model": SEEDANCE_15}, {"generate_audio": True}),
        ({"content": [first_frame("https://example.com/a.png"), TEXT]}, {"duration": 4}),
    ],
)
def test_accepted_videos(http: httpx.Client, changes: dict[str, object], expected: dict[str, object]) -> None:
    """Null is absent and takes the default; unknown keys and framespersecond are not looked at."""
    answer = http.post(TASKS, json=task_body(**changes))
    assert answer.status_code == 200, answer.text
    task = http.get(f"{TASKS}/{answer.json()['id']}").json()
    assert expected == {key: task[key] for key in expected}


def test_legacy_flags_work_on_old_models_and_the_body_wins(http: httpx.Client) -> None:
    """` --rs 480p --dur 3` behind the prompt; the same field in the body is stronger."""
    content = [{"type": "text", "text": "小猫 --rs 480p --dur 3 --rt 1:1 --seed 11"}]
    body = {"model": OLD_VIDEO_MODEL, "content": content, "duration": 2}
    task = http.get(f"{TASKS}/{http.post(TASKS, json=body).json()['id']}").json()
    assert (task["resolution"], task["duration"], task["ratio"], task["seed"]) == ("480p", 2, "1:1", 11)


def test_a_post_below_the_tasks_is_a_create(http: httpx.Client, sandbox: Sandbox) -> None:
    """There is no cancel route: who posts to one with a body makes a paid job."""
    assert http.post(f"{TASKS}/cgt-1/cancel", json=task_body()).status_code == 200
    assert http.post(f"{TASKS}/cgt-1/cancel").json()["error"]["code"] == "MissingParameter"
    assert sandbox.admin.books().video_jobs == 1


@pytest.mark.parametrize(
    ("model", "changes", "code"),
    [
        (IMAGE_MODEL, {"size": "1024x1024"}, "InvalidParameter"),
        (IMAGE_MODEL, {"size": "1280x720"}, "InvalidParameter"),
        (IMAGE_MODEL, {"size": "1K"}, "InvalidParameter"),
        (IMAGE_MODEL, {"size": "8192x8192"}, "InvalidParameter"),
        (IMAGE_MODEL, {"size": "big"}, "InvalidParameter"),
        (IMAGE_MODEL, {"response_format": "base64"}, "InvalidParameter"),
        (IMAGE_MODEL, {"output_format": "gif"}, "InvalidParameter"),
        (GROUP_MODEL, {"output_format": "png"}, "InvalidParameter.UnsupportedParameter"),
        (PRO_IMAGE_MODEL, {"stream": True}, "InvalidParameter.UnsupportedParameter"),
        (PRO_IMAGE_MODEL, {"sequential_image_generation": "auto"}, "InvalidParameter.UnsupportedParameter"),
        (PRO_IMAGE_MODEL, {"image": [picture_uri(400, 400)] * 11}, "InvalidParameter"),
        (IMAGE_MODEL, {"image": "data:image/png;base64,AAAA"}, "InvalidParameter"),
        (IMAGE_MODEL, {"image": picture_uri(12, 12)}, "InvalidParameter"),
        (IMAGE_MODEL, {"prompt": None}, "MissingParameter"),
        (IMAGE_MODEL, {"watermark": "no"}, "InvalidParameter"),
    ],
)
def test_refused_images(http: httpx.Client, sandbox: Sandbox, model: str, changes: dict[str, object], code: str) -> None:
    """Pixel area and keywords by model, formats, groups, pictures in the request."""
    answer = http.post("/api/v3/images/generations", json={"model": model, "prompt": "猫", **changes})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert sandbox.admin.books().images == 0


def test_a_failed_member_of_a_group_is_free(http: httpx.Client, sandbox: Sandbox) -> None:
    """One refused picture stands as an error in its place; the others are made and billed; null means absent."""
    sandbox.admin.faults.add(Route.IMAGE, Fault(kind=Kind.TASK_ERROR))
    options = {"sequential_image_generation": "auto", "sequential_image_generation_options": {"max_images": 3}}
    body = {"model": GROUP_MODEL, "prompt": "5张 连环画", "size": "1K", "seed": None, "stream": None, **options}
    answer = http.post("/api/v3/images/generations", json=body).json()
    assert [sorted(item) for item in answer["data"]] == [["error"], ["size", "url"], ["size", "url"]]
    assert answer["usage"] == {"generated_images": 2, "output_tokens": 8192, "total_tokens": 8192}
    assert str(sandbox.admin.books().spend) == "0.40"


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": []},
        {"messages": [{"role": "boss", "content": "x"}]},
        {"messages": [{"role": "user", "content": 5}]},
        {"response_format": {"type": "xml"}},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "json_object"}},
        {"temperature": 3},
        {"max_tokens": 0},
        {"thinking": {"type": "deep"}},
    ],
)
def test_refused_chats(http: httpx.Client, sandbox: Sandbox, changes: dict[str, Any]) -> None:
    """Roles, contents, response formats and ranges."""
    messages = [{"role": "user", "content": "hello"}]
    answer = http.post("/api/v3/chat/completions", json={"model": TEXT_MODEL, "messages": messages, **changes})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in ("InvalidParameter", "MissingParameter")
    assert sandbox.admin.books().chats == 0


def test_other_bodies_and_headers(http: httpx.Client) -> None:
    """No JSON is a 400 in the envelope; the client's request id comes back, the server's own is new each time."""
    answers = [http.post(TASKS, content=b"{oops", headers={"X-Client-Request-Id": "mine"}) for _ in range(2)]
    assert {answer.status_code for answer in answers} == {400}
    assert answers[0].json()["error"]["code"] == "InvalidParameter"
    assert answers[0].headers["x-client-request-id"] == "mine"
    assert answers[0].headers["x-request-id"] != answers[1].headers["x-request-id"]


@pytest.mark.parametrize(
    ("prompt", "shots", "milliseconds"),
    [
        ("Exactly 6 shots, each with duration_ms 10000. Answer with JSON {shots}", 6, 10_000),
        ("输出 JSON 分镜，共 4 个镜头，每个 7000 毫秒", 4, 7_000),
        ("镜头数：12，shot_ms=3000，JSON", 12, 3_000),
        ("JSON storyboard, as you like", 3, 5_000),
    ],
)
def test_the_writer_reads_the_prompt(http: httpx.Client, prompt: str, shots: int, milliseconds: int) -> None:
    """Numbers of shots and milliseconds out of the prompt's words, in Chinese and in English, with defaults."""
    body = {"model": TEXT_MODEL, "messages": [{"role": "user", "content": prompt}]}
    text = http.post("/api/v3/chat/completions", json=body).json()["choices"][0]["message"]["content"]
    story = json.loads(text)
    assert len(story["shots"]) == shots
    assert {shot["duration_ms"] for shot in story["shots"]} == {milliseconds}
    assert story["title"]
