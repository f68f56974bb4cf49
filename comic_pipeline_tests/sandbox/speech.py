"""Speech: OpenSpeech V1 (one JSON), V3 one-way (JSON lines, or server-sent events) and OpenAI's audio/speech (raw bytes).

Belongs here: the three protocols. Does not: sound (`voices.py`).
"""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial

from starlette.responses import JSONResponse, Response, StreamingResponse

from comic_pipeline_tests.sandbox.catalog import OPENAI_SPEECH_MODELS, VOICE_PRICE
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.pictures import HTML_PAGE
from comic_pipeline_tests.sandbox.validation import Fields, missing
from comic_pipeline_tests.sandbox.voices import MIME, speak, spoken_seconds
from comic_pipeline_tests.sandbox.wire import ApiError, Call, EventStream, JsonObject, dumps
from comic_pipeline_tests.sandbox.world import API_KEY, World

_V1_FORMATS = ("mp3", "wav", "pcm", "ogg_opus")
_V3_FORMATS = ("mp3", "ogg_opus", "pcm")
_V3_RATES = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_VOICE = re.compile(r"^(?:BV\d+|(?:zh|en|ja|multi|saturn)_|(?:S|ICL)_)\w*$")
_SPEAKABLE = re.compile(r"\w")
_PIECE = 4_096
# The vendor's V3 length limit is not published; this one is the sandbox's own.
_V3_MAX_CHARS = 5_000


@dataclass(frozen=True)
class _Line:
    """A valid wish for speech. `timed` = word times are wanted."""

    text: str
    container: str
    rate: int
    speed: float
    timed: bool = False


async def _sound(world: World, call: Call, line: _Line) -> bytes:
    """Make and book the sound; a media fault may replace it."""
    world.accept(call, model=call.route, units=1, reference=call.request_id)
    world.charge(call, cost=None if call.route is Route.SPEECH else VOICE_PRICE * len(line.text))
    await asyncio.sleep(world.latency.voice)
    fault = call.fault if call.fault and call.fault.kind is Kind.MEDIA else None
    if fault and fault.type in ("html", "empty"):
        return HTML_PAGE if fault.type == "html" else b""
    look = fault.look if fault else ""
    render = partial(speak, line.text, format=line.container, rate=line.rate, speed=line.speed, look=look)
    return await world.media.rendered(f"voice|{line}|{look}", render)


# --- V1 -------------------------------------------------------------------------------------------------------------------------


def check_v1_token(call: Call) -> None:
    """`Authorization: Bearer;<token>`, semicolon and no space. Raises ApiError 3001."""
    if call.headers.get("authorization") != f"Bearer;{API_KEY}":
        raise ApiError(401, "3001", "authenticate request: load grant: requested grant not found")


async def v1(world: World, call: Call) -> Response:
    """One text, one JSON with the whole audio. Raises ApiError with the vendor's numbers as code."""
    try:
        line, reqid = _read_v1(world, call.body)
    except ApiError as wrong:
        if wrong.code.isdigit():
            raise
        raise ApiError(400, "3001", wrong.message, param=wrong.param) from wrong
    data = await _sound(world, call, line)
    length = str(round(spoken_seconds(line.text, line.speed) * 1_000))
    body = {"reqid": reqid, "code": 3_000, "operation": "query", "message": "Success", "sequence": -1}
    return JSONResponse({**body, "data": base64.b64encode(data).decode(), "addition": {"duration": length}})


def _read_v1(world: World, body: JsonObject) -> tuple[_Line, str]:
    fields = Fields(body)
    app, audio, request = (fields.object(name, required=True) for name in ("app", "audio", "request"))
    for name in ("appid", "token", "cluster"):
        app.text(name, required=True)
    fields.object("user", required=True).text("uid", required=True)
    request.text("operation", required=True, choices=("query", "submit"))
    request.text("text_type", "plain", choices=("plain", "ssml"))
    container = audio.text("encoding", "pcm", choices=_V1_FORMATS)
    rate = audio.integer("rate", 24_000, low=8_000, high=24_000)
    speed = audio.number("speed_ratio", 1.0, low=0.2, high=3.0)
    voice, text, reqid = audio.text("voice_type", required=True), request.text("text"), request.text("reqid", required=True)
    if reqid in world.voice_requests:
        raise ApiError(400, "3006", f"duplicated reqid {reqid}")
    if len(text.encode()) > 1_024:
        raise ApiError(400, "3010", "text is longer than 1024 bytes")
    if not _SPEAKABLE.search(text):
        raise ApiError(400, "3011", "illegal input text!")
    if not _VOICE.match(voice):
        raise ApiError(400, "3050", f"unknown voice_type {voice}")
    world.voice_requests.add(reqid)
    return _Line(text, container, rate, speed), reqid


# --- V3 -------------------------------------------------------------------------------------------------------------------------


def check_v3_keys(call: Call) -> None:
    """The new console's one key or the old console's pair, never a mixture. Raises ApiError 45000010."""
    new, app, access = (call.headers.get(name) for name in ("x-api-key", "x-api-app-id", "x-api-access-key"))
    good = (new == API_KEY and not app and not access) or (new is None and bool(app) and access == API_KEY)
    if not good:
        raise ApiError(401, "45000010", "load grant: requested grant not found")


async def v3(world: World, call: Call) -> Response:
    """One text, many lines: audio pieces, a sentence, the end. Raises ApiError for errors before the stream."""
    lines = await _v3_lines(world, call)
    return StreamingResponse(_chunks(lines, call.fault), media_type="application/json")


async def v3_events(world: World, call: Call) -> Response:
    """The same lines as server-sent events: 352 audio, 351 sentence, 152 end, 153 failed. Raises ApiError."""
    return EventStream(f"event: {_event(line)}\ndata: {dumps(line)}\n\n" for line in await _v3_lines(world, call))


async def _v3_lines(world: World, call: Call) -> list[JsonObject]:
    line = _read_v3(call)
    data = await _sound(world, call, line)
    lines: list[JsonObject] = [
        {"code": 0, "message": "", "data": base64.b64encode(data[start : start + _PIECE]).decode()}
        for start in range(0, len(data), _PIECE)
    ]
    if line.timed:
        lines.append({"code": 0, "message": "", "data": None, "sentence": _sentence(line.text, line.speed)})
    end: JsonObject = {"code": 20_000_000, "message": "ok", "data": None}
    if call.headers.get("x-control-require-usage-tokens-return"):
        end["usage"] = {"text_words": len(line.text)}
    return _spoil_lines([*lines, end], call.fault)


def _read_v3(call: Call) -> _Line:
    resource = call.headers.get("x-api-resource-id")
    if not resource:
        raise missing("X-Api-Resource-Id")
    fields = Fields(call.body)
    params = fields.object("req_params", required=True)
    text = params.text("text") or params.text("ssml")
    speaker = params.text("speaker", required=True)
    audio = params.object("audio_params")
    container = audio.text("format", "mp3", choices=_V3_FORMATS)
    rate = audio.integer("sample_rate", 24_000, low=8_000, high=48_000)
    if rate not in _V3_RATES:
        raise ApiError(400, "55000000", f"sample_rate {rate} is not supported")
    speed = 1.0 + audio.integer("speech_rate", 0, low=-50, high=100) / 100
    audio.integer("loudness_rate", 0, low=-50, high=100)
    params.text("additions")
    if not _belongs(speaker, resource):
        raise ApiError(400, "55000000", "resource ID is mismatched with speaker related resource")
    if len(text) > _V3_MAX_CHARS:
        raise ApiError(400, "40402003", "TTSExceededTextLimit: text is too long")
    if not _SPEAKABLE.search(text):
        raise ApiError(400, "55000000", "illegal input text!")
    timed = audio.flag("enable_subtitle", default=False) or audio.flag("enable_timestamp", default=False)
    return _Line(text, container, rate, speed, timed)


def _belongs(speaker: str, resource: str) -> bool:
    """Whether the voice may be used with the resource: 2.0 voices are named uranus or saturn, cloned ones S_ or ICL_."""
    if not _VOICE.match(speaker):
        return False
    if resource.startswith("seed-icl-"):
        return speaker.startswith(("S_", "ICL_"))
    second = "_uranus_" in speaker or speaker.startswith("saturn_")
    return second if resource == "seed-tts-2.0" else resource.startswith("seed-tts-1.0") and not second


def _sentence(text: str, speed: float) -> JsonObject:
    words, at = [], 0.0
    for char in text:
        length = spoken_seconds(char * 8, speed) / 8
        words.append({"word": char, "startTime": round(at, 3), "endTime": round(at + length, 3), "confidence": 0.9})
        at += length
    return {"text": text, "words": words}


def _spoil_lines(lines: list[JsonObject], fault: Fault | None) -> list[JsonObject]:
    if fault and fault.kind is Kind.NO_END:
        return lines[:-1]
    if fault and fault.kind is Kind.ERROR_LINE:
        code = int(fault.code) if fault.code.isdigit() else 55_000_000
        return [*lines[: len(lines) // 2], {"code": code, "message": fault.message or "server error", "data": None}]
    return lines


def _event(line: JsonObject) -> int:
    if line["code"]:
        return 152 if line["code"] == 20_000_000 else 153
    return 351 if "sentence" in line else 352


async def _chunks(lines: list[JsonObject], fault: Fault | None) -> AsyncIterator[bytes]:
    """One chunk a line; glued: no line breaks; split: chunks that end in the middle of a line."""
    for chunk in _cut(lines, fault.kind if fault else None):
        yield chunk
        await asyncio.sleep(0.002 if fault and fault.kind is Kind.SPLIT else 0)


def _cut(lines: list[JsonObject], kind: Kind | None) -> Iterator[bytes]:
    texts = [dumps(line) for line in lines]
    if kind is Kind.SPLIT:
        whole = ("\n".join(texts) + "\n").encode()
        yield from (whole[start : start + 1_499] for start in range(0, len(whole), 1_499))
        return
    gap = "" if kind is Kind.GLUED else "\n"
    yield from ((text + gap).encode() for text in texts)


# --- OpenAI ---------------------------------------------------------------------------------------------------------------------


async def openai_speech(world: World, call: Call) -> Response:
    """The audio itself as the body. Raises ApiError."""
    fields = Fields(call.body)
    model = fields.text("model", required=True)
    world.check_open(call, model, known=model in OPENAI_SPEECH_MODELS)
    text = fields.text("input", required=True)
    fields.raw("voice") or fields.text("voice", required=True)
    container = fields.text("response_format", "mp3", choices=("mp3", "opus", "aac", "flac", "wav", "pcm"))
    speed = fields.number("speed", 1.0, low=0.25, high=4.0)
    if len(text) > 4_096:
        raise ApiError(400, "string_above_max_length", "input is longer than 4096 characters", param="input")
    data = await _sound(world, call, _Line(text, container, 24_000, speed))
    return Response(data, media_type=MIME[container])
