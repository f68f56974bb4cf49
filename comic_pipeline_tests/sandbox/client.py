"""The tests' side of /_admin: a small synchronous client with typed methods.

Belongs here: calling the admin routes. Does not: the vendors' routes; drive those with the adapters or SDKs under test.
"""

from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import BaseModel

from comic_pipeline_tests.sandbox.admin import Advance, Answers, Chaos, Latencies, ModelSwitch, PlanFault, Reset
from comic_pipeline_tests.sandbox.books import Charge, Report, RequestRecord
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.jobs import JobReport


class Refused(Exception):
    """The sandbox did not take an admin call: what the test asked for makes no sense."""


class Faults:
    """Plans faults."""

    def __init__(self, client: "SandboxAdmin") -> None:
        self._client = client

    def add(self, route: Route | str, fault: Fault, times: int = 1, match: str = "") -> None:
        """Let the next `times` requests of the route whose text contains `match` meet the fault. Raises Refused.

        The text is method, path, query and the body with data URIs shortened; for GET, DELETE and downloads also the job's own
        body or the result's prompt.
        """
        self._client.post("faults", PlanFault(route=Route(route), fault=fault, times=times, match=match))

    def chaos(self, seed: int, rate: float, *, kinds: frozenset[Kind] = frozenset(Kind)) -> None:
        """Let each request meet a random fault out of `kinds`; rate 0 ends it."""
        self._client.post("chaos", Chaos(seed=seed, rate=rate, kinds=kinds))


class QueuedAnswers:
    """What the chat model says next."""

    def __init__(self, client: "SandboxAdmin") -> None:
        self._client = client

    def add(self, *texts: str) -> None:
        """Say these, one a call, whatever is asked."""
        self._client.post("answers", Answers(texts=texts))


class SandboxAdmin:
    """One connection to a sandbox's admin routes; close it, or use it as a context manager."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=f"{url}/_admin/", timeout=30, trust_env=False)
        self.faults = Faults(self)
        self.answers = QueuedAnswers(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def books(self) -> Report:
        """Counts, money and rates since the last reset."""
        return Report.model_validate(self._get("books"))

    def requests(self, route: Route | str | None = None) -> list[RequestRecord]:
        """All requests, or those of one route, in order of arrival."""
        params = {} if route is None else {"route": str(Route(route))}
        return [RequestRecord.model_validate(item) for item in self._get("requests", params)]

    def charges(self) -> list[Charge]:
        """Every charge in order: what a ledger must add up to."""
        return [Charge.model_validate(item) for item in self._get("charges")]

    def jobs(self) -> list[JobReport]:
        """All video jobs, oldest first."""
        return [JobReport.model_validate(item) for item in self._get("jobs")]

    def advance(self, seconds: float) -> None:
        """Move virtual time forward."""
        self.post("advance", Advance(seconds=seconds))

    def latency(self, **seconds: float) -> None:
        """Change how long crafts take (video, image, text, voice) until the next reset."""
        self.post("latency", Latencies(values=seconds))

    def close_model(self, model: str) -> None:
        """Answer ModelNotOpen for this model."""
        self.post("models", ModelSwitch(model=model, open=False))

    def reset(self) -> None:
        """Forget everything: jobs, books, faults, answers, advanced time, closed models, changed latencies."""
        self.post("reset", Reset())

    def post(self, name: str, body: BaseModel) -> None:
        """One admin command. Raises Refused."""
        answer = self._http.post(name, content=body.model_dump_json())
        if answer.status_code != 200:
            raise Refused(f"{name}: {answer.status_code} {answer.text}")

    def _get(self, name: str, params: dict[str, str] | None = None) -> Any:
        return self._http.get(name, params=params).raise_for_status().json()
