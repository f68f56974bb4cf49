"""One request and its answer on the wire: the parsed call, error envelopes, ids, server-sent events, broken connections.

Belongs here: shapes that several routes share. Does not: what any route does.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from comic_pipeline_tests.sandbox.faults import Fault, Route

JsonObject = dict[str, Any]


class Dialect(StrEnum):
    """Whose envelope an error goes into."""

    ARK = "ark"
    OPENAI = "openai"
    TTS_V1 = "tts_v1"
    TTS_V3 = "tts_v3"
    TOS = "tos"


@dataclass(frozen=True)
class Call:
    """One request as the handlers see it: nulls dropped from the body's top level, the fault that was drawn for it."""

    route: Route
    dialect: Dialect
    request_id: str
    body: JsonObject
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    path: Mapping[str, str]
    base_url: str
    fault: Fault | None

    def first(self, name: str) -> str | None:
        """The first query value of this name."""
        return next((value for key, value in self.query if key == name), None)

    def every(self, name: str) -> list[str]:
        """All query values of this name."""
        return [value for key, value in self.query if key == name]


class ApiError(Exception):
    """A refusal in the vendor's words. `param` is the field that is wrong, or empty."""

    def __init__(
        self, status: int, code: str, message: str, *, param: str = "", retry_after: str = "", shape: str = "ark"
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after
        self.shape = shape


_TYPES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
    500: "InternalServerError",
}
# What a fault named in Ark's words becomes in V1's numbers: concurrency, processing error, busy, time-out.
_V1_CODES = {429: 3_003, 500: 3_031, 503: 3_005, 504: 3_030}
_ODD_TYPES = {"InvalidSubscription": "Forbidden", "InvalidAccountStatus": "Forbidden"}
_OPENAI_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "requests"}


def new_request_id() -> str:
    """An id as the gateway mints them."""
    return "0217" + secrets.token_hex(18)


def error_response(call_dialect: Dialect, error: ApiError, request_id: str) -> Response:
    """The refusal in the envelope of that dialect."""
    headers = {"Retry-After": error.retry_after} if error.retry_after else {}
    if call_dialect is Dialect.TOS:
        text = f"<Error><Code>{error.code}</Code><Message>{error.message}</Message><RequestId>{request_id}</RequestId></Error>"
        return Response(text, status_code=error.status, media_type="application/xml", headers=headers)
    return JSONResponse(_envelope(call_dialect, error, request_id), status_code=error.status, headers=headers)


def _envelope(dialect: Dialect, error: ApiError, request_id: str) -> JsonObject:
    if dialect is Dialect.TTS_V1:
        return {
            "reqid": request_id,
            "code": int(error.code) if error.code.isdigit() else _V1_CODES.get(error.status, 3_001),
            "operation": "query",
            "message": error.message,
            "sequence": 0,
        }
    if dialect is Dialect.TTS_V3:
        busy = error.status == 429 and not error.code.isdigit()
        code = int(error.code) if error.code.isdigit() else (45_000_000 if busy else 55_000_000)
        return {"code": code, "message": "quota exceeded for types: concurrency" if busy else error.message, "data": None}
    text = f"{error.message} Request id: {request_id}"
    if error.shape == "flat":
        return {"code": error.code, "message": text}
    if error.shape == "gateway":
        inner = {"CodeN": 100_000 + error.status, "Code": error.code, "Message": text}
        return {"ResponseMetadata": {"RequestId": request_id, "Action": "Gateway", "Error": inner}}
    if dialect is Dialect.OPENAI:
        kind = _OPENAI_TYPES.get(error.status, "server_error")
        return {"error": {"message": error.message, "type": kind, "param": error.param or None, "code": error.code}}
    kind = _ODD_TYPES.get(error.code) or _TYPES.get(error.status, "InternalServerError")
    return {"error": {"code": error.code, "message": text, "param": error.param, "type": kind}}


def unauthenticated() -> ApiError:
    """Ark's 401 for a missing or unknown key."""
    return ApiError(401, "AuthenticationError", "The API key or AK/SK in the request is missing or invalid.")


def without_nulls(body: Mapping[str, Any]) -> JsonObject:
    """The same object with null members left out: Ark's SDK sends null for every argument that is not set."""
    return {key: value for key, value in body.items() if value is not None}


def dumps(value: object) -> str:
    """Compact JSON with Chinese readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class EventStream(StreamingResponse):
    """Server-sent events out of ready frames, each sent as its own chunk."""

    def __init__(self, frames: Iterable[str]) -> None:
        super().__init__(_each(frames), media_type="text/event-stream")


async def _each(frames: Iterable[str]) -> AsyncIterator[bytes]:
    for frame in frames:
        yield frame.encode()
        await asyncio.sleep(0)


class Dropped(Response):
    """No answer: the connection breaks."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Abort the transport that the server's protocol put into the scope."""
        scope["state"]["transport"].abort()
        # The protocol must see the loss before this coroutine ends, or it answers 500 itself.
        await asyncio.sleep(0.01)


class CutShort(Response):
    """Announces all bytes, sends some of them, and breaks the connection."""

    def __init__(self, data: bytes, *, media_type: str, sent: int) -> None:
        super().__init__(b"", media_type=media_type)
        self._data = data
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head and a part of the body, then close."""
        headers = [(b"content-length", str(len(self._data)).encode()), (b"content-type", str(self.media_type).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._data[: self._sent], "more_body": True})
        scope["state"]["transport"].close()
        await asyncio.sleep(0.01)
