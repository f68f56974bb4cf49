"""A vendor made of recorded-style answers, and example requests. Hand-written; every request that reaches it is kept."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, TypeVar

import httpx

from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Aspect, Language, Resolution
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import (
    ClipRequest,
    ImageRequest,
    PanelSubject,
    Picture,
    StorySubject,
    TextRequest,
    VoiceRequest,
)

KEY = "k-7f3a9c51-secret"
BASE = "https://ark.cn-beijing.volces.com/api/v3"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
JPEG = b"\xff\xd8\xff\xe0" + bytes(64)
MP3 = b"ID3\x04\x00" + bytes(32)

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]
T = TypeVar("T")


class _Line(httpx.MockTransport):
    """Tells the `trace` extension that a request is about to leave, as httpcore does when its connection stands."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        trace = request.extensions.get("trace")
        if trace is not None:
            told = SimpleNamespace(method=request.method.encode())
            await trace("http11.send_request_headers.started", {"request": told})
        return await super().handle_async_request(request)


class Vendor:
    """Answers in the order given, the last one for ever. `requests` is everything that was sent to it."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.transport = _Line(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON body of the last request."""
        sent = json.loads(self.requests[-1].content)
        assert isinstance(sent, dict)
        return sent

    @property
    def methods(self) -> list[str]:
        """The methods of all requests, in order."""
        return [request.method for request in self.requests]


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine to its end."""
    return asyncio.run(work)


def service(name: str = "ark_video", *, base_url: str = BASE, allowed: frozenset[str] = frozenset()) -> Service:
    """An account with KEY as its key."""
    return Service(
        name=name,
        base_url=base_url,
        headers={"Authorization": f"Bearer {KEY}"},
        secrets=(KEY,),
        own_hosts=(".volces.com", ".bytepluses.com", ".byteimg.com"),
        allowed_hosts=allowed,
    )


def ark_error(status: int, code: str, message: str = "it did not work", **headers: str) -> httpx.Response:
    """Ark's error envelope."""
    error = {"code": code, "message": f"{message} Request id: 0217", "param": "", "type": "BadRequest"}
    return httpx.Response(status, json={"error": error}, headers=headers)


def html(status: int) -> httpx.Response:
    """What a gateway answers that never heard of JSON."""
    return httpx.Response(status, html=f"<html><body><h1>{status} Bad Gateway</h1></body></html>")


def text_request(**changes: Any) -> TextRequest:
    """A storyboard to be written."""
    subject = StorySubject(idea="猫", script="", style_key="healing", language=Language.ZH, shots=3, shot_ms=5_000)
    fields: dict[str, Any] = {
        "system": "Answer in JSON.",
        "user": "写一个分镜",
        "subject": subject,
        "max_tokens": 4_000,
        "user_hash": "u" * 32,
    }
    return TextRequest(**(fields | changes))


def image_request(**changes: Any) -> ImageRequest:
    """A 16:9 picture for a 720p film."""
    subject = PanelSubject(identity="p", style_key="healing", title="t", seq=0, total=3, scene="s", caption="c")
    fields: dict[str, Any] = {
        "prompt": "a cat on the moon",
        "aspect": Aspect.WIDE,
        "resolution": Resolution.HD,
        "seed": 7,
        "user_hash": "u" * 32,
        "subject": subject,
    }
    return ImageRequest(**(fields | changes))


def voice_request(**changes: Any) -> VoiceRequest:
    """A short Chinese line."""
    fields: dict[str, Any] = {"text": "你好，月亮", "language": Language.ZH, "speaker": "", "voice": "", "user_hash": "u" * 32}
    return VoiceRequest(**(fields | changes))


def picture(data: bytes = PNG, *, width: int | None = 2560, height: int | None = 1440, key: str = "p/frame/0.png") -> Picture:
    """A first frame; its name says png whatever its bytes are."""
    media = MediaRef(key=key, sha256="ab" * 32, size=len(data), mime="image/png", width=width, height=height)
    return Picture(media=media, data=data)


def clip_request(**changes: Any) -> ClipRequest:
    """Five seconds of 16:9 at 720p."""
    fields: dict[str, Any] = {
        "prompt": "the cat waves",
        "first_frame": picture(),
        "duration_ms": 5_000,
        "aspect": Aspect.WIDE,
        "resolution": Resolution.HD,
        "seed": 7,
        "user_hash": "u" * 32,
    }
    return ClipRequest(**(fields | changes))
