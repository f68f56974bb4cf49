"""Faults on demand: what can go wrong on which route, the planned ones, and a seeded chaos.

Belongs here: naming, planning and drawing faults. Does not: acting them out: connection and status faults are acted out in
`server.py`, the others by the route they belong to.
"""

import random
from collections import Counter, deque
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Route(StrEnum):
    """What requests are counted by and faults are aimed at."""

    CHAT = "chat"
    IMAGE = "image"
    VIDEO_CREATE = "video_create"
    VIDEO_GET = "video_get"
    VIDEO_LIST = "video_list"
    VIDEO_DELETE = "video_delete"
    TTS_V1 = "tts_v1"
    TTS_V3 = "tts_v3"
    SPEECH = "speech"
    DOWNLOAD = "download"


CREATES = (Route.CHAT, Route.IMAGE, Route.VIDEO_CREATE, Route.TTS_V1, Route.TTS_V3, Route.SPEECH)


class Kind(StrEnum):
    """One way to misbehave."""

    HTTP = "http"
    HTML = "html"
    EMPTY = "empty"
    SLOW = "slow"
    DROP = "drop"
    DROP_AFTER = "drop_after"
    MEDIA = "media"
    TRUNCATED = "truncated"
    SHORT = "short"
    URL_EXPIRED = "url_expired"
    TASK_ERROR = "task_error"
    STUCK = "stuck"
    PROVIDER_CANCEL = "provider_cancel"
    EXPIRE = "expire"
    LOSE = "lose"
    PACE = "pace"
    WORD = "word"
    GLUED = "glued"
    SPLIT = "split"
    NO_END = "no_end"
    ERROR_LINE = "error_line"
    FENCED = "fenced"
    PROSE = "prose"
    TRAILING_COMMAS = "trailing_commas"
    CUT = "cut"
    NO_CHOICES = "no_choices"
    BLANK = "blank"
    FILTERED = "filtered"
    MISSING_TITLE = "missing_title"
    FRAMES_KEY = "frames_key"
    SYNONYMS = "synonyms"
    WRAPPED = "wrapped"


_ANYWHERE = frozenset({Kind.HTTP, Kind.HTML, Kind.EMPTY, Kind.SLOW, Kind.DROP, Kind.DROP_AFTER})
_CHAT = frozenset(
    {
        Kind.FENCED,
        Kind.PROSE,
        Kind.TRAILING_COMMAS,
        Kind.CUT,
        Kind.NO_CHOICES,
        Kind.BLANK,
        Kind.FILTERED,
        Kind.MISSING_TITLE,
        Kind.FRAMES_KEY,
        Kind.SYNONYMS,
        Kind.WRAPPED,
    }
)
_TASK = frozenset({Kind.TASK_ERROR, Kind.STUCK, Kind.PROVIDER_CANCEL, Kind.EXPIRE, Kind.LOSE, Kind.PACE, Kind.MEDIA})
_LINES = frozenset({Kind.GLUED, Kind.SPLIT, Kind.NO_END, Kind.ERROR_LINE})
_LEGAL: dict[Route, frozenset[Kind]] = {
    Route.CHAT: _ANYWHERE | _CHAT,
    Route.IMAGE: _ANYWHERE | {Kind.MEDIA, Kind.TASK_ERROR},
    Route.VIDEO_CREATE: _ANYWHERE | _TASK,
    Route.VIDEO_GET: _ANYWHERE | {Kind.WORD},
    Route.VIDEO_LIST: _ANYWHERE,
    Route.VIDEO_DELETE: _ANYWHERE,
    Route.TTS_V1: _ANYWHERE | {Kind.MEDIA},
    Route.TTS_V3: _ANYWHERE | {Kind.MEDIA} | _LINES,
    Route.SPEECH: _ANYWHERE | {Kind.MEDIA},
    Route.DOWNLOAD: _ANYWHERE | {Kind.TRUNCATED, Kind.SHORT, Kind.URL_EXPIRED},
}


class Fault(BaseModel):
    """One misbehaviour and its settings; a setting that a kind does not use is ignored.

    http: status, code, message, retry_after, shape (ark | gateway | flat). html: status. slow: seconds, accept_first (whether the
    work is done before the wait). media: type (jpeg | png | webp | html | empty), look (black | white | flat | silent), width,
    height, seconds. stuck: word (queued | running). task_error, error_line: code, message. lose: seconds until GET says 404.
    pace: seconds from create to end. word: a status word to answer instead of the true one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    status: int = Field(default=500, ge=200, le=599)
    code: str = ""
    message: str = ""
    retry_after: str = ""
    shape: str = Field(default="ark", pattern="^(ark|gateway|flat)$")
    seconds: float = Field(default=0.0, ge=0)
    accept_first: bool = True
    type: str = Field(default="", pattern="^(jpeg|png|webp|html|empty|)$")
    look: str = Field(default="", pattern="^(black|white|flat|silent|)$")
    width: int = Field(default=0, ge=0)
    height: int = Field(default=0, ge=0)
    word: str = ""


# Codes of Ark's page 1299023 and the status each comes with.
_STATUS: dict[str, int] = {
    "InvalidAccountStatus": 401,
    "AuthenticationError": 401,
    "AccountOverdueError": 403,
    "AccessDenied": 403,
    "ModelNotOpen": 404,
    "UnsupportedModel": 404,
    "InvalidEndpointOrModel": 404,
    "NotFound": 404,
    "ResourceNotFound": 404,
    "InvalidAction": 409,
    "OperationDenied": 403,
    "RateLimitExceeded": 429,
    "ModelAccountRpmRateLimitExceeded": 429,
    "ModelAccountTpmRateLimitExceeded": 429,
    "ModelAccountFlexTpmRateLimitExceeded": 429,
    "ModelAccountIpmRateLimitExceeded": 429,
    "APIAccountRpmRateLimitExceeded": 429,
    "AccountRateLimitExceeded": 429,
    "ServerOverloaded": 429,
    "RequestBurstTooFast": 429,
    "InflightBatchsizeExceeded": 429,
    "QuotaExceeded": 429,
    "SetLimitExceeded": 429,
    "AccountQuotaExceeded": 429,
    "InternalServiceError": 500,
}


def api_error(code: str, *, status: int | None = None, message: str = "", retry_after: str = "", shape: str = "ark") -> Fault:
    """An HTTP error with the status this code has in the vendor's table (400 for codes of that large family)."""
    known = _STATUS.get(code.split(".", maxsplit=1)[0], 400)
    return Fault(
        kind=Kind.HTTP,
        status=status or known,
        code=code,
        message=message or f"The request failed: {code}.",
        retry_after=retry_after,
        shape=shape,
    )


@dataclass
class _Planned:
    fault: Fault
    route: Route
    times: int
    match: str


@dataclass(frozen=True)
class _Chaos:
    seed: int
    rate: float
    kinds: frozenset[Kind]


_TRANSIENT = (
    api_error("ServerOverloaded"),
    api_error("InternalServiceError"),
    Fault(kind=Kind.HTML, status=502),
    Fault(kind=Kind.SLOW, seconds=0.3),
    Fault(kind=Kind.DROP),
    Fault(kind=Kind.DROP_AFTER),
)
_CHAOS_EXTRA: dict[Route, tuple[Fault, ...]] = {
    Route.CHAT: (Fault(kind=Kind.FENCED), Fault(kind=Kind.TRAILING_COMMAS), Fault(kind=Kind.FRAMES_KEY), Fault(kind=Kind.PROSE)),
    Route.VIDEO_CREATE: (
        Fault(kind=Kind.TASK_ERROR, code="InternalServiceError", message="The service encountered an internal error."),
        Fault(kind=Kind.MEDIA, look="black"),
    ),
    Route.VIDEO_GET: (Fault(kind=Kind.WORD, word="postprocessing"),),
    Route.TTS_V3: (Fault(kind=Kind.GLUED), Fault(kind=Kind.SPLIT), Fault(kind=Kind.NO_END)),
    Route.DOWNLOAD: (Fault(kind=Kind.TRUNCATED),),
}


class FaultBoard:
    """Planned faults in the order they were added, then chaos if it is on."""

    def __init__(self) -> None:
        self._planned: deque[_Planned] = deque()
        self._chaos: _Chaos | None = None
        self._drawn: Counter[Route] = Counter()
        self.fired: Counter[str] = Counter()

    def add(self, route: Route, fault: Fault, *, times: int, match: str) -> None:
        """Plan a fault for the next `times` requests of that route whose text contains `match`. Raises ValueError."""
        if fault.kind not in _LEGAL[route]:
            raise ValueError(f"{fault.kind} cannot happen on {route}; legal: {', '.join(sorted(_LEGAL[route]))}")
        if times < 1:
            raise ValueError(f"times must be at least 1, not {times}")
        self._planned.append(_Planned(fault, route, times, match))

    def chaos(self, *, seed: int, rate: float, kinds: frozenset[Kind]) -> None:
        """Let each request fail with probability `rate`; the nth request of a route meets the same fault for the same seed."""
        self._chaos = _Chaos(seed, rate, kinds) if rate > 0 else None
        self._drawn.clear()

    def draw(self, route: Route, text: str) -> Fault | None:
        """The fault for this request, used up, or None."""
        fault = self._planned_fault(route, text) or self._chaos_fault(route)
        if fault:
            self.fired[f"{route}:{fault.kind}"] += 1
        return fault

    @property
    def waiting(self) -> int:
        """How many planned faults have not happened yet."""
        return sum(planned.times for planned in self._planned)

    def _planned_fault(self, route: Route, text: str) -> Fault | None:
        for planned in self._planned:
            if planned.route is route and planned.match in text:
                planned.times -= 1
                if not planned.times:
                    self._planned.remove(planned)
                return planned.fault
        return None

    def _chaos_fault(self, route: Route) -> Fault | None:
        if self._chaos is None:
            return None
        self._drawn[route] += 1
        dice = random.Random(f"{self._chaos.seed}:{route}:{self._drawn[route]}")
        menu = [fault for fault in _TRANSIENT + _CHAOS_EXTRA.get(route, ()) if fault.kind in self._chaos.kinds]
        if not menu or dice.random() >= self._chaos.rate:
            return None
        return dice.choice(menu)
