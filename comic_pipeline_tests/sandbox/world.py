"""Everything a running sandbox holds: clock, latencies, books, jobs, faults, queued answers, results.

Belongs here: the state and its reset. Does not: routes.
"""

from collections import deque
from decimal import Decimal
from pathlib import Path

from comic_pipeline_tests.sandbox.books import Books, Charge, Made, Report, key_of
from comic_pipeline_tests.sandbox.clock import Latency, VirtualClock
from comic_pipeline_tests.sandbox.faults import FaultBoard, Route
from comic_pipeline_tests.sandbox.jobs import JobBoard
from comic_pipeline_tests.sandbox.media import MediaStore
from comic_pipeline_tests.sandbox.wire import ApiError, Call, Dialect

API_KEY = "sandbox-key-5c1d7f0a"
APP_ID = "4100000001"


class World:
    """One sandbox's state. Only the event loop touches it."""

    def __init__(self, *, latency: Latency, books_file: Path | None = None) -> None:
        self.started_with = latency
        self.clock = VirtualClock()
        self.books = Books(books_file)
        self.jobs = JobBoard()
        self.media = MediaStore()
        self.reset()

    def reset(self) -> None:
        """As if just started: nothing happened, no faults planned, real time, all models open."""
        self.latency = self.started_with
        self.clock.reset()
        self.books.reset()
        self.jobs.reset()
        self.media.reset()
        self.faults = FaultBoard()
        self.answers: deque[str] = deque()
        self.closed_models: set[str] = set()
        self.voice_requests: set[str] = set()

    def check_open(self, call: Call, model_id: str, *, known: bool) -> None:
        """Raise the vendor's 404 for a model that does not exist or is not open."""
        if not known and call.dialect is Dialect.OPENAI:
            raise ApiError(404, "model_not_found", f"The model `{model_id}` does not exist.", param="model")
        if not known:
            text = f"The model or endpoint {model_id} does not exist or you do not have access to it."
            raise ApiError(404, "InvalidEndpointOrModel.NotFound", text, param="model")
        if model_id in self.closed_models:
            text = f"Your account has not activated the model {model_id}. Please activate the model service in the Ark Console."
            raise ApiError(404, "ModelNotOpen", text, param="model")

    def accept(self, call: Call, *, model: str, units: int, reference: str) -> None:
        """Book something made for this call, before it is answered."""
        made = Made(at=self.clock.real(), route=call.route, key=key_of(call.body), model=model, units=units, reference=reference)
        self.books.accept(made)

    def charge(self, call: Call, *, cost: Decimal | None) -> None:
        """Book money owed for this call."""
        key, at = key_of(call.body), self.clock.real()
        self.books.charge(Charge(at=at, route=call.route, key=key, reference=call.request_id, cost=cost))

    def settle(self) -> None:
        """Charge the video jobs that have succeeded since the last look."""
        for job in self.jobs.unpaid(self.clock.now()):
            key, at = job.order.safety_identifier, self.clock.real()
            self.books.charge(Charge(at=at, route=Route.VIDEO_CREATE, key=key, reference=job.id, cost=job.cost))

    def report(self) -> Report:
        """The books summed up to now."""
        self.settle()
        now, books = self.clock.now(), self.books
        requests = {route: len(times) for route, times in books.arrivals().items()}
        by_key = books.creates_by_key()
        return Report(
            requests=requests,
            creates={route: sum(keys.values()) for route, keys in by_key.items()},
            creates_by_key=by_key,
            video_jobs=books.units(Route.VIDEO_CREATE),
            images=books.units(Route.IMAGE),
            chats=books.units(Route.CHAT),
            voices=books.units(Route.TTS_V1, Route.TTS_V3, Route.SPEECH),
            spend=books.spend().get("", Decimal(0)),
            spend_by_route=books.spend("route"),
            spend_by_key=books.spend("key"),
            unpriced=sum(charge.cost is None for charge in books.charges),
            arrivals=books.arrivals(),
            max_parallel_requests=books.max_parallel,
            max_open_videos=self.jobs.most_open(now, running=False),
            max_running_videos=self.jobs.most_open(now, running=True),
            faults_fired=dict(self.faults.fired),
            faults_waiting=self.faults.waiting,
            jobs_by_status=self.jobs.by_status(now),
        )
