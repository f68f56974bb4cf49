"""/_admin: how tests plan faults, queue answers, move time and read the books.

Belongs here: the server's side; the client's side is `client.py`. The bodies are the pydantic models of this module.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as HttpRoute

from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.world import World


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PlanFault(_Body):
    """Let the next `times` requests of `route` whose text contains `match` meet this fault."""

    route: Route
    fault: Fault
    times: int = Field(default=1, ge=1)
    match: str = ""


class Chaos(_Body):
    """Let each request meet a fault with probability `rate`, drawn from `kinds`; rate 0 ends it."""

    seed: int
    rate: float = Field(ge=0, le=1)
    kinds: frozenset[Kind] = frozenset(Kind)


class Answers(_Body):
    """Texts that the chat model says next, in this order, whatever it is asked."""

    texts: tuple[str, ...]


class Advance(_Body):
    """Move virtual time forward."""

    seconds: float = Field(ge=0)


class Latencies(_Body):
    """Seconds by craft (video, image, text, voice); the others stay."""

    values: dict[str, float]


class ModelSwitch(_Body):
    """Open or close a model."""

    model: str
    open: bool


class Reset(_Body):
    """Forget everything."""


_B = TypeVar("_B", bound=_Body)


class _Admin:
    """The commands and questions, each over one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def plan_fault(self, body: PlanFault) -> None:
        self._world.faults.add(body.route, body.fault, times=body.times, match=body.match)

    def chaos(self, body: Chaos) -> None:
        self._world.faults.chaos(seed=body.seed, rate=body.rate, kinds=body.kinds)

    def answers(self, body: Answers) -> None:
        self._world.answers.extend(body.texts)

    def advance(self, body: Advance) -> None:
        self._world.clock.advance(body.seconds)

    def latency(self, body: Latencies) -> None:
        self._world.latency = self._world.latency.changed(body.values)

    def switch(self, body: ModelSwitch) -> None:
        if body.open:
            self._world.closed_models.discard(body.model)
        else:
            self._world.closed_models.add(body.model)

    def reset(self, body: Reset) -> None:
        self._world.reset()

    async def books(self, request: Request) -> Response:
        return JSONResponse(self._world.report().model_dump(mode="json"))

    async def requests(self, request: Request) -> Response:
        route = request.query_params.get("route")
        return JSONResponse([record.model_dump() for record in self._world.books.requests if route in (None, record.route)])

    async def charges(self, request: Request) -> Response:
        self._world.settle()
        return JSONResponse([charge.model_dump(mode="json") for charge in self._world.books.charges])

    async def jobs(self, request: Request) -> Response:
        self._world.settle()
        return JSONResponse([job.model_dump(mode="json") for job in self._world.jobs.report(self._world.clock.now())])


def admin_routes(world: World) -> list[HttpRoute]:
    """All admin routes."""
    admin = _Admin(world)
    return [
        HttpRoute("/_admin/faults", _command(PlanFault, admin.plan_fault), methods=["POST"]),
        HttpRoute("/_admin/chaos", _command(Chaos, admin.chaos), methods=["POST"]),
        HttpRoute("/_admin/answers", _command(Answers, admin.answers), methods=["POST"]),
        HttpRoute("/_admin/advance", _command(Advance, admin.advance), methods=["POST"]),
        HttpRoute("/_admin/latency", _command(Latencies, admin.latency), methods=["POST"]),
        HttpRoute("/_admin/models", _command(ModelSwitch, admin.switch), methods=["POST"]),
        HttpRoute("/_admin/reset", _command(Reset, admin.reset), methods=["POST"]),
        HttpRoute("/_admin/books", admin.books, methods=["GET"]),
        HttpRoute("/_admin/requests", admin.requests, methods=["GET"]),
        HttpRoute("/_admin/charges", admin.charges, methods=["GET"]),
        HttpRoute("/_admin/jobs", admin.jobs, methods=["GET"]),
    ]


def _command(kind: type[_B], act: Callable[[_B], None]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads one body and does one thing; 400 with the reason when the body is nonsense."""

    async def endpoint(request: Request) -> Response:
        try:
            act(kind.model_validate_json(await request.body() or b"{}"))
        except (ValidationError, ValueError) as wrong:
            return JSONResponse({"detail": str(wrong)}, status_code=400)
        return JSONResponse({})

    return endpoint
