"""Handwritten doubles: a clock that jumps, and a provider that does what its script says and keeps its own books.

Belongs here: what more than one test folder needs. Does not: expectations. `contracts/work/test_fakes.py` holds them to it.
"""

import asyncio
import inspect
import selectors
from collections import defaultdict, deque
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, TypeVar

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.interface import (
    CancelOutcome,
    Done,
    FoundJob,
    Go,
    Inline,
    JobStatus,
    JsonObject,
    Output,
    Phase,
    Remote,
    Submitted,
    at_once,
)
from comic_pipeline.work.clock import Clock
from comic_pipeline_tests.builders import NOW

T = TypeVar("T")

# Seconds of real time without anything happening after which a test that waits for nothing is told so.
_DEADLOCK = 5.0


class FakeClock:
    """Time that stands still while anybody works and jumps to the next wake-up when all wait.

    Everything that waits runs inside `run`, whose event loop lives in this time: `asyncio.sleep`, time-outs and timers too.
    Time goes on from run to run.
    """

    def __init__(self, start: datetime = NOW) -> None:
        self._start = start
        self.elapsed = 0.0

    def now(self) -> datetime:
        """The time it is."""
        return self._start + timedelta(seconds=self.elapsed)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait in this clock's time. Raises RuntimeError outside `run`, where nothing would move it."""
        if not isinstance(asyncio.get_running_loop(), _JumpingLoop):
            raise RuntimeError(  # noqa: TRY004  # the place is wrong, not the type of an argument
                "a FakeClock stands still outside FakeClock.run"
            )
        await asyncio.sleep(seconds)

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run `main` to its end in this clock's time, as `asyncio.run` does in real time."""
        with asyncio.Runner(loop_factory=lambda: _JumpingLoop(self)) as runner:
            return runner.run(main)


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits for a timer: when there is nothing else to wait for, the clock jumps to it."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock
        self.threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; time passes only while no thread of the loop works."""
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.threads:
            return super().select(0.01)
        if timeout is not None:
            self._clock.advance(timeout)
            return []
        ready = super().select(_DEADLOCK)
        if not ready:
            raise RuntimeError("everybody waits, and nothing will ever happen")
        return ready


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._jumping = _JumpingSelector(clock)
        super().__init__(self._jumping)

    def time(self) -> float:
        """Seconds since the clock's start."""
        return self._clock.elapsed

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> "asyncio.Future[Any]":  # type: ignore[override]  # less generic
        """As usual, and counted: time stands still until it is done."""
        self._jumping.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: Any) -> None:
        self._jumping.threads -= 1


@dataclass(frozen=True)
class Wish:
    """A request to a ScriptedProvider: `words` decide what it delivers."""

    words: str
    size: str = "720p"


@dataclass(frozen=True)
class Dropped:
    """A step of `submit`: the connection breaks before the answer. `accepted`: the provider has the request all the same."""

    accepted: bool


@dataclass(frozen=True)
class Sent:
    """One create that reached the provider, and when."""

    wish: Wish
    at: datetime


Verb = Literal["build", "submit", "poll", "cancel", "find", "fetch"]


def delivery(words: str) -> bytes:
    """The file that a wish for `words` is given. A file that does not end like this was cut."""
    return f"FILE {words} END".encode()


class ScriptedProvider:
    """`Provider[Wish]`: each call takes the next step of its verb's script; without one it behaves as a good provider does.

    A step is an exception (raised), a value (returned), `Dropped`, or a function without arguments: called, and awaited if need
    be; what it returns is the answer, None lets the good provider answer.

    The books say what the provider saw: `sent` (creates), `looked` (job ids), `dropped`, `searched`, `served` (what was fetched),
    `accepted` (what it charges for) and `jobs`.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        asynchronous: bool = False,
        offline: bool = False,
        linked: bool = False,
        name: str = "scripted",
        model: str = "model-1",
        looks: int = 2,
    ) -> None:
        """`linked`: a synchronous answer is a link, not bytes. `looks`: a job is done at this look."""
        self.name = name
        self.model = model
        self.base_url = "https://scripted.example/v1"
        self.asynchronous = asynchronous
        self.offline = offline
        self.price = Decimal(0) if offline else Decimal("0.22")
        self.estimated = Decimal(0) if offline else Decimal("0.25")
        self.unacceptable: set[str] = set()
        self.most_at_once = 0
        self.sent: list[Sent] = []
        self.looked: list[str] = []
        self.dropped: list[str] = []
        self.searched: list[datetime] = []
        self.served: list[Output] = []
        self.accepted: list[Wish] = []
        self.jobs: dict[str, Sent] = {}
        self._clock = clock
        self._linked = linked
        self._looks = looks
        self._under_way = 0
        self._script: dict[Verb, deque[Any]] = defaultdict(deque)
        self._always: dict[Verb, Any] = {}

    def plan(self, verb: Verb, *steps: Any) -> None:
        """Add steps to the script of `verb`."""
        self._script[verb].extend(steps)

    def always(self, verb: Verb, step: Any) -> None:
        """What `verb` does when its script has ended; None: behave again."""
        self._always[verb] = step

    @property
    def charged(self) -> Decimal:
        """What the provider will put on its bill."""
        return self.price * len(self.accepted)

    def describe(self, request: Wish) -> JsonObject:
        """All of the wish. Raises ProviderFault(INPUT_INVALID) for `unacceptable` words."""
        if request.words in self.unacceptable:
            raise ProviderFault(ErrorCode.INPUT_INVALID, f"{request.words!r} is not acceptable")
        return {"words": request.words, "size": request.size}

    def estimate(self, request: Wish) -> Decimal:
        """A little more than the price, so that the two can be told apart in the books."""
        return self.estimated

    async def submit(self, request: Wish, *, go: Go = at_once) -> Submitted | Done:
        """Build the request (the script's `build`), count the create once it may leave, then do as the script says."""
        await self._next("build")
        await go()
        self.sent.append(Sent(request, self._clock.now()))
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            answer: Submitted | Done | Dropped | None = await self._next("submit")
            if isinstance(answer, Dropped):
                if answer.accepted:
                    self.accept(request)
                raise OutcomeUnknown(ErrorCode.OUTCOME_UNKNOWN, "the connection was dropped")
            if answer is not None:
                return answer
            return self.accept(request)
        finally:
            self._under_way -= 1

    def accept(self, request: Wish) -> Submitted | Done:
        """Charge for `request`: one more job, or the finished work itself."""
        self.accepted.append(request)
        if self.asynchronous:
            job_id = f"job-{len(self.accepted)}"
            self.jobs[job_id] = Sent(request, self._clock.now())
            return Submitted(job_id)
        return self._done(request, request_id=f"call-{len(self.accepted)}")

    async def poll(self, job_id: str, request: Wish) -> JobStatus:
        """RUNNING until enough looks were had, then SUCCEEDED with a link; LOST for an unknown id."""
        self.looked.append(job_id)
        answer: JobStatus | None = await self._next("poll")
        if answer is not None:
            return answer
        job = self.jobs.get(job_id)
        if job is None:
            return JobStatus(Phase.LOST, word="404")
        if self.looked.count(job_id) < self._looks:
            return JobStatus(Phase.RUNNING, word="running")
        return JobStatus(Phase.SUCCEEDED, word="succeeded", done=self._done(job.wish, request_id=job_id))

    async def cancel(self, job_id: str) -> CancelOutcome:
        """TOO_LATE: jobs begin at once."""
        self.dropped.append(job_id)
        return await self._next("cancel") or CancelOutcome.TOO_LATE

    async def find(self, request: Wish, *, since: datetime) -> tuple[FoundJob, ...]:
        """Jobs for equal words, newest first."""
        self.searched.append(since)
        answer: tuple[FoundJob, ...] | None = await self._next("find")
        if answer is not None:
            return answer
        found = [
            FoundJob(job_id, Phase.RUNNING, created_at=job.at, matches="words")
            for job_id, job in self.jobs.items()
            if job.wish == request and job.at >= since
        ]
        return tuple(reversed(found))

    async def fetch(self, output: Output) -> bytes:
        """What was delivered."""
        self.served.append(output)
        answer: bytes | None = await self._next("fetch")
        if answer is not None:
            return answer
        if isinstance(output, Inline):
            return output.data
        return delivery(output.url.rpartition("/")[2].replace("%20", " "))

    async def close(self) -> None:
        """Nothing to let go of."""

    def _done(self, wish: Wish, *, request_id: str) -> Done:
        link = Remote(f"https://results.example/{wish.words.replace(' ', '%20')}")
        linked = self.asynchronous or self._linked
        usage: Mapping[str, int] = {"files": 1}
        return Done(link if linked else Inline(delivery(wish.words)), usage=usage, cost=self.price, request_id=request_id)

    async def _next(self, verb: Verb) -> Any:
        # One turn of the loop, as any call over a network takes.
        await asyncio.sleep(0)
        step = self._script[verb].popleft() if self._script[verb] else self._always.get(verb)
        if callable(step):
            step = step()
            if inspect.isawaitable(step):
                step = await step
        if isinstance(step, BaseException):
            raise step
        return step
