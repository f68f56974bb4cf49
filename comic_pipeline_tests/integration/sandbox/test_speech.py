"""OpenSpeech V1 and V3 over plain HTTP, line by line."""

import base64
import json
import uuid
from collections.abc import Iterator

import httpx
import pytest

from comic_pipeline_tests.integration.sandbox.material import measure_sound
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox

V3 = "/api/v3/tts/unidirectional"
LINE = "你听见星星在唱歌吗？"


@pytest.fixture
def bare(sandbox: Sandbox) -> Iterator[httpx.Client]:
    """A client without any key."""
    with httpx.Client(base_url=sandbox.url, timeout=10, trust_env=False) as client:
        yield client


def v1_body(**request: object) -> dict[str, object]:
    """A valid V1 body."""
    wish = {"reqid": uuid.uuid4().hex, "text": LINE, "text_type": "plain", "operation": "query", **request}
    return {
        "app": {"appid": "1", "token": "any", "cluster": "volcano_tts"},
        "user": {"uid": "u1"},
        "audio": {"voice_type": "BV700_streaming", "encoding": "mp3"},
        "request": wish,
    }


def v3_body(**params: object) -> dict[str, object]:
    """A valid V3 body."""
    return {"user": {"uid": "u1"}, "req_params": {"text": LINE, "speaker": "zh_female_vv_uranus_bigtts", **params}}


def v3_headers(sandbox: Sandbox, **more: str) -> dict[str, str]:
    """Old console's keys."""
    keys = {"X-Api-App-Id": sandbox.app_id, "X-Api-Access-Key": sandbox.api_key, "X-Api-Resource-Id": "seed-tts-2.0"}
    return {**keys, **more}


def test_v1_speaks(bare: httpx.Client, sandbox: Sandbox) -> None:
    """Ten characters: 2.5 s of sound, the duration as a string in ms, the price by characters."""
    answer = bare.post("/api/v1/tts", json=v1_body(reqid="r1"), headers={"Authorization": f"Bearer;{sandbox.api_key}"})
    body = answer.json()
    assert (body["code"], body["reqid"], body["sequence"], body["message"]) == (3000, "r1", -1, "Success")
    assert body["addition"]["duration"] == "2500"
    seconds, loudest = measure_sound(base64.b64decode(body["data"]))
    assert seconds == pytest.approx(2.5, abs=0.2)
    assert loudest > 3_000
    assert answer.headers["x-tt-logid"]
    report = sandbox.admin.books()
    assert (report.voices, str(report.spend)) == (1, "0.0030")
    assert report.creates_by_key == {"tts_v1": {"u1": 1}}
    assert sandbox.admin.requests()[0].body["app"]["token"] == "***"


@pytest.mark.parametrize(
    ("request_change", "code"),
    [({"text": "长" * 342}, 3010), ({"text": "……！"}, 3011), ({"text": ""}, 3011), ({"operation": None}, 3001)],
)
def test_v1_refuses_by_number(bare: httpx.Client, sandbox: Sandbox, request_change: dict[str, object], code: int) -> None:
    """Length counts in UTF-8 bytes (1024), punctuation alone is no text, required fields are required."""
    headers = {"Authorization": f"Bearer;{sandbox.api_key}"}
    assert bare.post("/api/v1/tts", json=v1_body(**request_change), headers=headers).json()["code"] == code
    assert sandbox.admin.books().voices == 0


def test_v1_needs_the_semicolon_and_a_new_reqid(bare: httpx.Client, sandbox: Sandbox) -> None:
    """`Bearer <token>` with a space is refused; so is the second use of a reqid, and an unknown voice."""
    spaced = bare.post("/api/v1/tts", json=v1_body(), headers={"Authorization": f"Bearer {sandbox.api_key}"})
    assert (spaced.json()["code"], "grant" in spaced.json()["message"]) == (3001, True)
    good = {"Authorization": f"Bearer;{sandbox.api_key}"}
    codes = [bare.post("/api/v1/tts", json=v1_body(reqid="same"), headers=good).json()["code"] for _ in range(2)]
    assert codes == [3000, 3006]
    unknown = v1_body() | {"audio": {"voice_type": "nobody", "encoding": "mp3"}}
    assert bare.post("/api/v1/tts", json=unknown, headers=good).json()["code"] == 3050


def test_v3_streams_one_object_a_line(bare: httpx.Client, sandbox: Sandbox) -> None:
    """Audio pieces, the sentence with word times, the end with usage."""
    body = v3_body(audio_params={"format": "mp3", "enable_subtitle": True})
    headers = v3_headers(sandbox, **{"X-Control-Require-Usage-Tokens-Return": "*"})
    with bare.stream("POST", V3, json=body, headers=headers) as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    sound = b"".join(base64.b64decode(line["data"]) for line in lines if line["data"])
    assert measure_sound(sound)[0] == pytest.approx(2.5, abs=0.2)
    assert sum(bool(line["data"]) for line in lines) > 2
    assert lines[-1] == {"code": 20_000_000, "message": "ok", "data": None, "usage": {"text_words": 10}}
    words = lines[-2]["sentence"]["words"]
    assert [word["word"] for word in words] == list(LINE)
    assert words[-1]["endTime"] == pytest.approx(2.5)


def test_v3_takes_the_new_console_key_and_events(bare: httpx.Client, sandbox: Sandbox) -> None:
    """X-Api-Key alone works; the /sse form wraps the same lines as events 352 … 152; no usage unless asked."""
    headers = {"X-Api-Key": sandbox.api_key, "X-Api-Resource-Id": "seed-tts-2.0"}
    text = bare.post(f"{V3}/sse", json=v3_body(), headers=headers).text
    events = [frame.split("\n") for frame in text.strip().split("\n\n")]
    names = [lines[0] for lines in events]
    assert set(names[:-1]) == {"event: 352"}
    assert names[-1] == "event: 152"
    assert json.loads(events[-1][1].removeprefix("data: ")) == {"code": 20_000_000, "message": "ok", "data": None}


def test_v3_refuses_mixed_keys_and_foreign_voices(bare: httpx.Client, sandbox: Sandbox) -> None:
    """Old and new keys together fail with "load grant"; a voice must belong to the resource."""
    mixed = bare.post(V3, json=v3_body(), headers=v3_headers(sandbox, **{"X-Api-Key": sandbox.api_key}))
    assert (mixed.status_code, mixed.json()["code"]) == (401, 45000010)
    assert "load grant" in mixed.json()["message"]
    foreign = bare.post(V3, json=v3_body(speaker="zh_female_shuangkuaisisi_moon_bigtts"), headers=v3_headers(sandbox))
    assert (foreign.json()["code"], "mismatched" in foreign.json()["message"]) == (55000000, True)
    long = bare.post(V3, json=v3_body(text="长" * 5_001), headers=v3_headers(sandbox))
    assert long.json()["code"] == 40402003
    assert sandbox.admin.books().voices == 0


def test_v3_line_faults(bare: httpx.Client, sandbox: Sandbox) -> None:
    """Glued objects, chunks that end inside a line, no end, an error inside a 200: each can be asked for."""

    def say(fault: Fault) -> tuple[list[bytes], bytes]:
        sandbox.admin.faults.add(Route.TTS_V3, fault)
        with bare.stream("POST", V3, json=v3_body(), headers=v3_headers(sandbox)) as answer:
            assert answer.status_code == 200
            chunks = list(answer.iter_raw())
        return chunks, b"".join(chunks)

    _, glued = say(Fault(kind=Kind.GLUED))
    assert b"\n" not in glued
    assert b"}{" in glued
    chunks, split = say(Fault(kind=Kind.SPLIT))
    assert sum(not chunk.endswith(b"\n") for chunk in chunks) > 2
    assert split.count(b"\n") > 2
    _, endless = say(Fault(kind=Kind.NO_END))
    assert b"20000000" not in endless
    _, broken = say(Fault(kind=Kind.ERROR_LINE, code="45000000", message="quota exceeded for types: concurrency"))
    assert json.loads(broken.splitlines()[-1])["code"] == 45_000_000
    assert b"20000000" not in broken


def test_speech_errors_use_the_vendors_numbers(bare: httpx.Client, sandbox: Sandbox) -> None:
    """An HTTP fault on a speech route comes in that route's envelope."""
    sandbox.admin.faults.add(Route.TTS_V1, api_error("3005", status=503, message="server busy"))
    sandbox.admin.faults.add(Route.TTS_V3, api_error("ServerOverloaded"))
    headers = {"Authorization": f"Bearer;{sandbox.api_key}"}
    busy = bare.post("/api/v1/tts", json=v1_body(), headers=headers)
    assert (busy.status_code, busy.json()["code"]) == (503, 3005)
    crowded = bare.post(V3, json=v3_body(), headers=v3_headers(sandbox))
    assert (crowded.status_code, crowded.json()["code"]) == (429, 45000000)
    assert crowded.json()["message"] == "quota exceeded for types: concurrency"


@pytest.mark.parametrize(("container", "rate"), [("mp3", 24_000), ("ogg_opus", 24_000), ("pcm", 16_000)])
def test_v3_containers(bare: httpx.Client, sandbox: Sandbox, container: str, rate: int) -> None:
    """Each format is what it says; pcm has rate x 2 bytes a second; silence can be asked for."""
    body = v3_body(audio_params={"format": container, "sample_rate": rate, "speech_rate": 100})
    text = bare.post(V3, json=body, headers=v3_headers(sandbox)).text
    sound = b"".join(base64.b64decode(json.loads(line)["data"] or "") for line in text.splitlines())
    if container == "pcm":
        assert len(sound) == pytest.approx(1.25 * rate * 2, rel=0.02)
    else:
        assert measure_sound(sound)[0] == pytest.approx(1.25, abs=0.2)
    sandbox.admin.faults.add(Route.TTS_V3, Fault(kind=Kind.MEDIA, look="silent"))
    text = bare.post(V3, json=v3_body(), headers=v3_headers(sandbox)).text
    quiet = b"".join(base64.b64decode(json.loads(line)["data"] or "") for line in text.splitlines())
    assert measure_sound(quiet)[1] < 10
