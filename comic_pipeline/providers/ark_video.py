"""Volcengine Ark's clip models, Seedance: create a task (page 1520757), look at it, find it in the list, cancel it.

Belongs here: the five verbs. Does not: reading a task document (`ark_tasks.py`). No `callback_url` is sent: it is unsigned, and
polling is needed anyway.

Which answers to a create leave the outcome open: a lost one (time-out, dropped connection), a success without an id, and one
without Ark's envelope from a gateway that gave up while Ark may have taken the task. Any other whole answer is known.
"""

import logging
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.adapter import HttpAdapter
from comic_pipeline.providers.ark_errors import ark_failure, ark_refusal
from comic_pipeline.providers.ark_image import SEEDS
from comic_pipeline.providers.ark_tasks import STATUS, Wanted, error_of_task, page_may_be_last, read_found, video_url
from comic_pipeline.providers.catalog import read_model_id
from comic_pipeline.providers.catalog_video import ark_video_model, check_resolution, clip_price, clip_seconds, clip_tokens
from comic_pipeline.providers.download import VIDEO_LIMITS
from comic_pipeline.providers.envelope import Reply, VendorError, read_error, read_id, read_usage
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import (
    CancelOutcome,
    ClipRequest,
    Done,
    FoundJob,
    Go,
    JobStatus,
    JsonObject,
    Phase,
    Remote,
    Submitted,
    at_once,
)
from comic_pipeline.providers.picture import check_first_frame, data_uri

logger = logging.getLogger(__name__)

CREATE_SECONDS = 60.0
_TASKS = "/contents/generations/tasks"
# 499, 598 and 599 are proxies', 52x a content network's words for an answer that did not come in time or was cut.
_GATEWAY_GAVE_UP = frozenset({408, 499, 502, 504, 520, 522, 524, 598, 599})
# ` --dur 12 --rs 1080p` behind a prompt are settings to the older models (1.3), and prompts are written by others.
_SETTING = re.compile(r"(?<!\S)--(?=[A-Za-z])")
_PAGE_SIZE = 100
_PAGES = 500
# Their clock and ours may differ, and `since` is taken before the request travels.
_SKEW = timedelta(seconds=60)


class ArkVideo(HttpAdapter):
    """A Seedance model."""

    asynchronous = True

    def __init__(self, service: Service, *, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=CREATE_SECONDS, limits=VIDEO_LIMITS, transport=transport)
        self._noted: set[str] = set()

    def describe(self, request: ClipRequest) -> JsonObject:
        """The body of the call, with the first frame's hash in place of its bytes.

        Raises ProviderFault(INPUT_INVALID): resolution, or size, shape or kind of the first frame.
        """
        entry = ark_video_model(self.model)
        check_resolution(entry, request.resolution)
        check_first_frame(request.first_frame, prompt=request.prompt)
        body: JsonObject = {
            "model": self.model,
            "content": _content(request.prompt, f"sha256:{request.first_frame.media.sha256}"),
            "resolution": request.resolution.value,
            "ratio": "adaptive" if entry.follows_frame else request.aspect.value,
            "duration": clip_seconds(entry, request.duration_ms),
            "seed": request.seed % SEEDS,
            "watermark": False,
            # Opaque and echoed in the task: what a lost create is found by.
            "safety_identifier": request.user_hash,
        }
        if entry.sound:
            # The vendor's default is true.
            body["generate_audio"] = False
        return body

    def estimate(self, request: ClipRequest) -> Decimal:
        """CNY for the tokens of a clip of the seconds and size that are asked for."""
        entry = ark_video_model(self.model)
        check_resolution(entry, request.resolution)
        seconds = clip_seconds(entry, request.duration_ms)
        tokens = clip_tokens(entry, seconds=seconds, aspect=request.aspect, resolution=request.resolution)
        return clip_price(entry, tokens=tokens, resolution=request.resolution)

    async def submit(self, request: ClipRequest, *, go: Go = at_once) -> Submitted:
        """Create one task. Raises ProviderFault as Ark's codes say, OutcomeUnknown when a task may exist all the same."""
        body = self.describe(request) | {"content": _content(request.prompt, data_uri(request.first_frame))}
        reply = await self._wire.create(_TASKS, body, go=go)
        document = reply.document()
        job_id = read_id(document.get("id")) if document and reply.ok else ""
        if job_id:
            # Also beside an error: the task exists, and looking at it will tell what became of it.
            return Submitted(job_id)
        error = read_error(document)
        if error is None and reply.status in _GATEWAY_GAVE_UP:
            raise self._unknown(reply, f"a gateway answered HTTP {reply.status} ({reply.shape})")
        if not reply.ok or error is not None:
            raise self._refused(reply, error)
        raise self._unknown(reply, f"HTTP {reply.status} without a task id ({reply.shape})")

    async def poll(self, job_id: str, request: ClipRequest) -> JobStatus:
        """Look at a task once. `request` gives the price where the task names no tokens. Raises ProviderFault."""
        reply, document = await self._look("GET", _path(job_id))
        if document is None:
            return JobStatus(Phase.LOST, word=str(reply.status))
        word = str(document.get("status") or "")
        phase = STATUS.get(word)
        if phase is None:
            self._note(f"status {word[:60]!r} is unknown and taken as running")
            return JobStatus(Phase.RUNNING, word=word)
        if phase is Phase.FAILED:
            fault = ark_failure(error_of_task(document), service=self.name, secrets=self._secrets)
            return JobStatus(phase, word=word, fault=fault)
        if phase is not Phase.SUCCEEDED:
            return JobStatus(phase, word=word)
        url = video_url(document)
        if not url:
            # It is billed and may show its link later: calling it failed would pay for another one.
            self._note("a task that succeeded has no video; it is looked at again")
            return JobStatus(phase, word=word)
        usage = read_usage(document.get("usage"))
        done = Done(output=Remote(url), usage=usage, cost=self._cost(usage, request), request_id=job_id)
        return JobStatus(phase, word=word, done=done)

    async def cancel(self, job_id: str) -> CancelOutcome:
        """Drop a task that is still queued. Raises ProviderFault.

        Looked at first, because DELETE of a finished task deletes its record and with it a paid result (page 1521720).
        """
        _, document = await self._look("GET", _path(job_id))
        word = str(document.get("status") or "") if document else ""
        if STATUS.get(word) is Phase.CANCELLED:
            return CancelOutcome.CANCELLED
        if STATUS.get(word) is not Phase.QUEUED:
            return CancelOutcome.TOO_LATE
        reply = await self._wire.look("DELETE", _path(job_id))
        if reply.status in (404, 409):
            return CancelOutcome.TOO_LATE
        if not reply.ok:
            raise self._refused(reply, read_error(reply.document()))
        return CancelOutcome.CANCELLED

    async def find(self, request: ClipRequest, *, since: datetime) -> tuple[FoundJob, ...]:
        """Tasks of the list that this request may have made, newest first; the list reaches 7 days back (page 1521675).

        Raises ProviderFault when the list cannot be read to its end: a failed read must not look like "no such task".
        """
        wanted = self._wanted(request, since=since)
        # By id: a task created while we read pushes others onto the next page, where they are met again.
        found: dict[str, FoundJob] = {}
        seen = 0
        for page in range(1, _PAGES + 1):
            items, total = await self._page(page)
            seen += len(items)
            found |= {job.job_id: job for item in items if (job := read_found(item, wanted)) is not None}
            if page_may_be_last(items, oldest=wanted.since, seen=seen, total=total):
                return tuple(sorted(found.values(), key=lambda job: job.created_at, reverse=True))
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{self.name}: the task list has more than {_PAGES} pages")

    async def _page(self, page: int) -> tuple[list[Any], int | None]:
        params = [("page_num", str(page)), ("page_size", str(_PAGE_SIZE))]
        # An endpoint id is not the model that tasks name, so its tasks are picked out of the whole list.
        if read_model_id(self.model) is not None:
            params.append(("filter.model", self.model))
        reply, document = await self._look("GET", _TASKS, params)
        items = document.get("items") if document else None
        total = document.get("total") if document else None
        # An empty list may come as null from a Go server; anything else is not the list.
        if document is None or not (isinstance(items, list) or (items is None and total == 0)):
            raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{self.name}: the task list cannot be read ({reply.shape})")
        return items or [], total if isinstance(total, int) else None

    async def _look(self, method: str, path: str, params: list[tuple[str, str]] | None = None) -> tuple[Reply, JsonObject | None]:
        """The answer and its document; no document for a 404. Raises ProviderFault for anything else that is not a success."""
        reply = await self._wire.look(method, path, params=params or ())
        if reply.status == 404:
            return reply, None
        document = reply.document()
        error = read_error(document)
        # A relay fails inside a 200: that is neither a task, whose own error stands beside its status, nor a list.
        if not reply.ok or (document and error and not document.keys() & {"status", "items"}):
            raise self._refused(reply, error)
        if document is None:
            raise ProviderFault(
                ErrorCode.PROVIDER_ERROR, f"{self.name}: an answer that is not JSON ({reply.shape})", http_status=reply.status
            )
        return reply, document

    def _note(self, what: str) -> None:
        """Log it once: a task is looked at every few seconds."""
        if what not in self._noted:
            self._noted.add(what)
            logger.warning("%s: %s", self.name, what)

    def _wanted(self, request: ClipRequest, *, since: datetime) -> Wanted:
        body = self.describe(request)
        facts = {key: body[key] for key in ("duration", "ratio", "resolution", "seed") if body[key] != "adaptive"}
        return Wanted(identifier=request.user_hash, since=since.astimezone(UTC) - _SKEW, facts=facts)

    def _cost(self, usage: dict[str, int], request: ClipRequest) -> Decimal:
        tokens = usage.get("completion_tokens") or usage.get("total_tokens")
        if not tokens:
            logger.warning("%s reported no tokens; the clip is booked at its estimate", self.name)
            return self.estimate(request)
        return clip_price(ark_video_model(self.model), tokens=tokens, resolution=request.resolution)

    def _refused(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        return ark_refusal(reply, error, service=self.name, secrets=self._secrets)

    def _unknown(self, reply: Reply, what: str) -> OutcomeUnknown:
        return OutcomeUnknown(
            ErrorCode.OUTCOME_UNKNOWN,
            f"{self.name}: the task may exist: {what}",
            http_status=reply.status,
            request_id=reply.request_id,
        )


def _content(prompt: str, url: str) -> list[JsonObject]:
    return [
        {"type": "text", "text": _SETTING.sub("—", prompt)},
        {"type": "image_url", "image_url": {"url": url}, "role": "first_frame"},
    ]


def _path(job_id: str) -> str:
    return f"{_TASKS}/{quote(job_id, safe='')}"
