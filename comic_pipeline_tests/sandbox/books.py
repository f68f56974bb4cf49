"""What happened: every request, everything made, every charge; kept in memory and, if asked, appended to a file line by line.

Belongs here: recording and summing up. Does not: deciding what anything costs (`catalog.py`).
"""

import base64
import binascii
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel, ConfigDict

from comic_pipeline_tests.sandbox.faults import Route

_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-api-access-key", "cookie"})
_LONG = 2_000


class RequestRecord(BaseModel):
    """One request as it came in and what was answered. `at` is real unix time; `status` 0 = no answer was sent (yet)."""

    model_config = ConfigDict(frozen=True)

    number: int
    at: float
    route: str
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    key: str
    fault: str
    status: int = 0
    request_id: str = ""


class Report(BaseModel):
    """The books summed up. Money in CNY; times in real unix seconds.

    `requests` counts arrivals by route, `creates` the ones that were accepted and made something, `creates_by_key` the same by
    safety_identifier / user. `max_open_videos` counts jobs from create to end, `max_running_videos` from their start to end.
    """

    model_config = ConfigDict(frozen=True)

    requests: dict[str, int]
    creates: dict[str, int]
    creates_by_key: dict[str, dict[str, int]]
    video_jobs: int
    images: int
    chats: int
    voices: int
    spend: Decimal
    spend_by_route: dict[str, Decimal]
    spend_by_key: dict[str, Decimal]
    unpriced: int
    arrivals: dict[str, list[float]]
    max_parallel_requests: dict[str, int]
    max_open_videos: int
    max_running_videos: int
    faults_fired: dict[str, int]
    faults_waiting: int
    jobs_by_status: dict[str, int]


@dataclass(frozen=True)
class Made:
    """Something that was accepted: `units` pictures, answers, lines or jobs."""

    at: float
    route: str
    key: str
    model: str
    units: int
    reference: str


class Charge(BaseModel):
    """Money owed for something that succeeded: a job id or request id, and CNY; None = no list price is known."""

    model_config = ConfigDict(frozen=True)

    at: float
    route: str
    key: str
    reference: str
    cost: Decimal | None


class Books:
    """Everything since the last reset."""

    def __init__(self, file: Path | None = None) -> None:
        self._file: TextIO | None = file.open("a", encoding="utf-8") if file else None
        self._epoch = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything in memory; the file keeps what it has."""
        self.requests: list[RequestRecord] = []
        self.made: list[Made] = []
        self.charges: list[Charge] = []
        self._epoch += 1
        self._parallel: Counter[str] = Counter()
        self.max_parallel: dict[str, int] = {}
        self._write("reset", {})

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def arrived(
        self, *, at: float, route: Route, method: str, path: str, headers: Mapping[str, str], body: Any, fault: str
    ) -> tuple[int, int]:
        """Record a request as it comes in; answers the ticket for `answered`."""
        masked = {name: "***" if name in _SECRET_HEADERS else value for name, value in headers.items()}
        record = RequestRecord(
            number=len(self.requests),
            at=at,
            route=route,
            method=method,
            path=path,
            headers=masked,
            body=body,
            key=key_of(body),
            fault=fault,
        )
        self.requests.append(record)
        self._parallel[route] += 1
        self.max_parallel[route] = max(self.max_parallel.get(route, 0), self._parallel[route])
        self._write("request", record.model_dump())
        return self._epoch, record.number

    def answered(self, ticket: tuple[int, int], *, status: int, request_id: str) -> None:
        """Record the answer's status; 0 when the connection was broken instead."""
        epoch, number = ticket
        if epoch != self._epoch:
            # The books were reset while this request was on its way.
            return
        record = self.requests[number].model_copy(update={"status": status, "request_id": request_id})
        self.requests[number] = record
        self._parallel[record.route] -= 1
        self._write("answer", {"number": number, "status": status, "request_id": request_id})

    def accept(self, made: Made) -> None:
        """Record something accepted, before its answer is sent."""
        self.made.append(made)
        self._write("made", asdict(made))

    def charge(self, charge: Charge) -> None:
        """Record money owed."""
        self.charges.append(charge)
        self._write("charge", charge.model_dump())

    def units(self, *routes: Route) -> int:
        """How much was made on these routes."""
        return sum(made.units for made in self.made if made.route in routes)

    def spend(self, group: str = "") -> dict[str, Decimal]:
        """CNY by `route` or `key` of the charges; all under one empty name without a group."""
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for charge in self.charges:
            sums[getattr(charge, group) if group else ""] += charge.cost or Decimal(0)
        return dict(sums)

    def creates_by_key(self) -> dict[str, dict[str, int]]:
        """Accepted creates by route and key."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for made in self.made:
            counts[made.route][made.key] += 1
        return {route: dict(keys) for route, keys in counts.items()}

    def arrivals(self) -> dict[str, list[float]]:
        """Real arrival times by route, in order."""
        times: dict[str, list[float]] = defaultdict(list)
        for record in self.requests:
            times[record.route].append(record.at)
        return dict(times)

    def _write(self, event: str, values: Mapping[str, Any]) -> None:
        if self._file:
            self._file.write(json.dumps({"event": event, **values}, ensure_ascii=False, default=str) + "\n")
            # Flushed to the kernel, so the line outlives a kill of this process.
            self._file.flush()


def key_of(body: Any) -> str:
    """Whose work a request is: safety_identifier, user or user.uid; empty when it names nobody."""
    if not isinstance(body, dict):
        return ""
    user = body.get("user")
    value = body.get("safety_identifier") or (user.get("uid") if isinstance(user, dict) else user)
    return value if isinstance(value, str) else ""


def shortened(value: Any) -> Any:
    """Data URIs become `data:image/png;base64,<sha256 of the bytes, 12 digits> (n chars)`, tokens masked, long texts cut."""
    if isinstance(value, dict):
        return {key: "***" if key == "token" else shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, str) and value.startswith("data:"):
        head, _, data = value.partition(",")
        return f"{head},{_digest(data)} ({len(data)} chars)"
    if isinstance(value, str) and len(value) > _LONG:
        return f"{value[:_LONG]}… ({len(value)} chars)"
    return value


def _digest(data: str) -> str:
    """The first 12 digits of the bytes' SHA-256, as content-addressed stores name them; of the text when it is no base64."""
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error:
        raw = data.encode()
    return hashlib.sha256(raw).hexdigest()[:12]


def most_at_once(spans: Iterable[tuple[float, float]]) -> int:
    """The largest number of half-open spans that overlap."""
    edges = sorted(edge for start, end in spans if end > start for edge in ((start, 1), (end, -1)))
    most = level = 0
    for _, step in edges:
        level += step
        most = max(most, level)
    return most
