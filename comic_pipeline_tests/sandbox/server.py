"""The HTTP server: every vendor route, and the one path that each request takes through authentication, faults and the books.

Belongs here: routing and the exchange. Does not: what a route answers (`chat.py`, `ark_image.py`, `ark_video.py`,
`speech.py`), the admin calls (`admin.py`), starting as a process (`__main__.py`, `process.py`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute
from uvicorn.protocols.http.h11_impl import H11Protocol

from comic_pipeline_tests.sandbox import ark_image, ark_video, chat, speech
from comic_pipeline_tests.sandbox.admin import admin_routes
from comic_pipeline_tests.sandbox.books import shortened
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.pictures import HTML_PAGE
from comic_pipeline_tests.sandbox.validation import MIB
from comic_pipeline_tests.sandbox.wire import (
    ApiError,
    Call,
    CutShort,
    Dialect,
    Dropped,
    dumps,
    error_response,
    new_request_id,
    unauthenticated,
    without_nulls,
)
from comic_pipeline_tests.sandbox.world import API_KEY, World

Handler = Callable[[World, Call], Awaitable[Response]]
Authenticator = Callable[[Call], None]
_MAX_BODY = 64 * MIB


class DroppableProtocol(H11Protocol):
    """uvicorn's protocol, with its transport in the request's state, so that an answer can be a broken connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember the transport for this connection's requests."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


def build_app(world: World) -> Starlette:
    """The whole application."""
    ark, openai = "/api/v3", "/v1"
    tasks = f"{ark}/contents/generations/tasks"
    routes = [
        _route(world, f"{ark}/chat/completions", ["POST"], Route.CHAT, chat.complete),
        _route(world, f"{ark}/images/generations", ["POST"], Route.IMAGE, ark_image.generate),
        _route(world, tasks, ["POST"], Route.VIDEO_CREATE, ark_video.create),
        # There is no cancel route: a POST below the tasks is taken for a create.
        _route(world, tasks + "/{rest:path}", ["POST"], Route.VIDEO_CREATE, ark_video.create),
        _route(world, tasks, ["GET"], Route.VIDEO_LIST, ark_video.listing),
        _route(world, tasks + "/{id}", ["GET"], Route.VIDEO_GET, ark_video.get),
        _route(world, tasks + "/{id}", ["DELETE"], Route.VIDEO_DELETE, ark_video.delete),
        _route(world, f"{openai}/chat/completions", ["POST"], Route.CHAT, chat.complete, dialect=Dialect.OPENAI),
        _route(world, f"{openai}/images/generations", ["POST"], Route.IMAGE, ark_image.generate, dialect=Dialect.OPENAI),
        _route(world, f"{openai}/audio/speech", ["POST"], Route.SPEECH, speech.openai_speech, dialect=Dialect.OPENAI),
        _route(world, f"{ark}/audio/speech", ["POST"], Route.SPEECH, speech.openai_speech, dialect=Dialect.OPENAI),
        _route(world, "/api/v1/tts", ["POST"], Route.TTS_V1, speech.v1, dialect=Dialect.TTS_V1),
        _route(world, f"{ark}/tts/unidirectional", ["POST"], Route.TTS_V3, speech.v3, dialect=Dialect.TTS_V3),
        _route(world, f"{ark}/tts/unidirectional/sse", ["POST"], Route.TTS_V3, speech.v3_events, dialect=Dialect.TTS_V3),
        _route(world, "/media/{name}", ["GET", "HEAD"], Route.DOWNLOAD, _download, dialect=Dialect.TOS),
        *admin_routes(world),
    ]
    return Starlette(routes=routes)


def build_server(world: World) -> uvicorn.Server:
    """A server for that world, to be run with ready sockets."""
    config = uvicorn.Config(
        build_app(world),
        http=DroppableProtocol,
        loop="asyncio",
        lifespan="off",
        log_level="critical",
        access_log=False,
        # Longer than any test, or an idle connection would close under a create and look like a lost answer.
        timeout_keep_alive=600,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def _route(
    world: World, path: str, methods: list[str], route: Route, handler: Handler, *, dialect: Dialect = Dialect.ARK
) -> HttpRoute:
    async def endpoint(request: Request) -> Response:
        return await _exchange(world, request, route, dialect, handler)

    return HttpRoute(path, endpoint, methods=methods)


async def _exchange(world: World, request: Request, route: Route, dialect: Dialect, handler: Handler) -> Response:
    """Record, draw a fault, answer, record the answer."""
    raw = await request.body()
    parsed = _parse(raw)
    short = shortened(parsed)
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    fault = world.faults.draw(route, f"{request.method} {path}\n{dumps(short)}\n{_background(world, route, request)}")
    ticket = world.books.arrived(
        at=world.clock.real(),
        route=route,
        method=request.method,
        path=path,
        headers=dict(request.headers),
        body=short,
        fault=fault.kind if fault else "",
    )
    call = Call(
        route=route,
        dialect=dialect,
        request_id=new_request_id(),
        body=without_nulls(parsed) if isinstance(parsed, dict) else {},
        query=tuple(request.query_params.multi_items()),
        headers={**request.headers, ":method": request.method},
        path=request.path_params,
        base_url=str(request.base_url).rstrip("/"),
        fault=fault,
    )
    response = await _early(call) or await _handle(world, call, handler, raw, parsed)
    response = await _late(call, response)
    _sign(call, response)
    status = 0 if isinstance(response, Dropped) else response.status_code
    world.books.answered(ticket, status=status, request_id=call.request_id)
    return response


def _background(world: World, route: Route, request: Request) -> str:
    """Text that belongs to the request without being in it, for matching faults: the job's own body, the picture's prompt."""
    if route in (Route.VIDEO_GET, Route.VIDEO_DELETE):
        job = world.jobs.known(request.path_params["id"])
        return dumps(job.body) if job else ""
    item = world.media.find(request.path_params["name"]) if route is Route.DOWNLOAD else None
    return f"{item.mime} {item.about}" if item else ""


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except (json.JSONDecodeError, UnicodeDecodeError):
        return raw[:200].decode("utf-8", "replace")


async def _early(call: Call) -> Response | None:
    """Faults that strike before the request is looked at."""
    fault = call.fault
    if fault is None:
        return None
    if fault.kind is Kind.SLOW and not fault.accept_first:
        await asyncio.sleep(fault.seconds)
    answers: dict[Kind, Callable[[], Response]] = {
        Kind.DROP: Dropped,
        Kind.EMPTY: lambda: Response(b"", status_code=200, media_type="application/json"),
        Kind.HTML: lambda: Response(HTML_PAGE, status_code=fault.status, media_type="text/html"),
        Kind.HTTP: lambda: error_response(call.dialect, _as_error(fault), call.request_id),
    }
    return answers[fault.kind]() if fault.kind in answers else None


def _as_error(fault: Fault) -> ApiError:
    return ApiError(
        fault.status,
        fault.code or "InternalServiceError",
        fault.message or "The service encountered an unexpected internal error.",
        retry_after=fault.retry_after,
        shape=fault.shape,
    )


async def _handle(world: World, call: Call, handler: Handler, raw: bytes, parsed: Any) -> Response:
    try:
        _AUTHENTICATORS[call.dialect](call)
        _check_body(raw, parsed)
        return await handler(world, call)
    except ApiError as refused:
        return error_response(call.dialect, refused, call.request_id)


def _check_body(raw: bytes, parsed: Any) -> None:
    if raw and not isinstance(parsed, dict):
        raise ApiError(400, "InvalidParameter", "The request body is not a JSON object.")
    if len(raw) > _MAX_BODY:
        raise ApiError(400, "InvalidParameter", f"The request body has {len(raw)} bytes, more than {_MAX_BODY}.")


async def _late(call: Call, response: Response) -> Response:
    """Faults that strike after the work was accepted."""
    fault = call.fault
    if fault is None:
        return response
    if fault.kind is Kind.SLOW and fault.accept_first:
        await asyncio.sleep(fault.seconds)
    if fault.kind is Kind.DROP_AFTER:
        return Dropped()
    return response


def _sign(call: Call, response: Response) -> None:
    response.headers["X-Request-Id"] = call.request_id
    if "x-client-request-id" in call.headers:
        response.headers["X-Client-Request-Id"] = call.headers["x-client-request-id"]
    if call.dialect in (Dialect.TTS_V1, Dialect.TTS_V3):
        response.headers["X-Tt-Logid"] = call.request_id


def _check_bearer(call: Call) -> None:
    if call.headers.get("authorization") != f"Bearer {API_KEY}":
        if call.dialect is Dialect.OPENAI:
            raise ApiError(401, "invalid_api_key", "Incorrect API key provided.")
        raise unauthenticated()


_AUTHENTICATORS: dict[Dialect, Authenticator] = {
    Dialect.ARK: _check_bearer,
    Dialect.OPENAI: _check_bearer,
    Dialect.TTS_V1: speech.check_v1_token,
    Dialect.TTS_V3: speech.check_v3_keys,
    Dialect.TOS: lambda _: None,
}


async def _download(world: World, call: Call) -> Response:
    """A result's bytes. The URL is signed for GET alone."""
    if call.headers[":method"] != "GET":
        raise ApiError(403, "SignatureDoesNotMatch", "The request signature we calculated does not match.")
    kind = call.fault.kind if call.fault else None
    if kind is Kind.URL_EXPIRED:
        raise ApiError(403, "AccessDenied", "Request has expired.")
    item = world.media.check(call.path["name"], dict(call.query), world.clock.now())
    data = await world.media.data(item.name)
    if kind is Kind.TRUNCATED:
        return CutShort(data, media_type=item.mime, sent=len(data) // 2)
    return Response(data[: len(data) // 2] if kind is Kind.SHORT else data, media_type=item.mime)
