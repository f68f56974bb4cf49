"""What the runner asks of any provider, and the typed requests of the crafts.

The same five verbs fit every vendor: submit, poll, cancel, find, fetch. Text, image and voice services answer `submit` with
`Done` at once; video services with `Submitted` and are polled.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Aspect, Language, Resolution

JsonObject = dict[str, Any]


# --- requests: what is wanted, in our words -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Picture:
    """A picture that goes into a request; its hash stands for it in keys and logs.

    `data` is None when its file is gone: what was sent before can still be followed to its end, nothing new can be sent.
    """

    media: MediaRef
    data: bytes | None = field(repr=False)

    def read(self) -> bytes:
        """Its bytes. Raises ProviderFault(INPUT_INVALID) when they are gone."""
        if self.data is None:
            raise ProviderFault(ErrorCode.INPUT_INVALID, f"the file of the picture {self.media.key} is gone; make the frame anew")
        return self.data


@dataclass(frozen=True)
class TextRequest:
    """One JSON document from a chat model. `subject` is what `user` says, structured, for providers that do not read prose.

    A repair round carries the refused answer in `repair_of` and what the model is told about it in `problems`.
    """

    system: str
    user: str
    subject: "StorySubject"
    max_tokens: int
    user_hash: str
    repair_of: str = ""
    problems: str = ""


@dataclass(frozen=True)
class StorySubject:
    """What a storyboard is about."""

    idea: str
    script: str
    style_key: str
    language: Language
    shots: int
    shot_ms: int


@dataclass(frozen=True)
class ImageRequest:
    """One picture for a film of this aspect and resolution."""

    prompt: str
    aspect: Aspect
    resolution: Resolution
    seed: int
    user_hash: str
    subject: "PanelSubject"


@dataclass(frozen=True)
class PanelSubject:
    """What a panel shows, for the artist that draws without a model. `identity` is equal for all shots of a project."""

    identity: str
    style_key: str
    title: str
    seq: int
    total: int
    scene: str
    caption: str


@dataclass(frozen=True)
class VoiceRequest:
    """One spoken line. `voice` is the provider's own voice name, or empty for its default; `speaker` names who speaks."""

    text: str
    language: Language
    speaker: str
    voice: str
    user_hash: str


@dataclass(frozen=True)
class MusicRequest:
    """One piece that can be repeated, for a film of about `length_ms`; the same seed gives the same piece."""

    mood: str
    seed: int
    length_ms: int


@dataclass(frozen=True)
class ClipRequest:
    """One silent moving picture that starts at `first_frame`."""

    prompt: str
    first_frame: Picture
    duration_ms: int
    aspect: Aspect
    resolution: Resolution
    seed: int
    user_hash: str


# --- answers ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inline:
    """The result itself."""

    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Remote:
    """Where the result can be fetched; signed and short-lived (24 h at Ark), so fetch at once and never log it whole."""

    url: str = field(repr=False)


Output = Inline | Remote


@dataclass(frozen=True)
class Done:
    """A finished result. `usage` is in the provider's units, `cost` in CNY by its own numbers (not by the estimate)."""

    output: Output
    usage: Mapping[str, int]
    cost: Decimal
    request_id: str = ""


@dataclass(frozen=True)
class Submitted:
    """The provider took the job and gave it this id."""

    job_id: str


class Phase(StrEnum):
    """Where a job stands at the provider. `lost`: it does not know the id (any more)."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    LOST = "lost"


@dataclass(frozen=True)
class JobStatus:
    """One look at a job. `done` only when succeeded, `fault` only when failed. `word` is the vendor's own status word.

    Succeeded without `done`: the vendor says so and shows nothing yet.
    """

    phase: Phase
    word: str
    done: Done | None = None
    fault: ProviderFault | None = None


@dataclass(frozen=True)
class FoundJob:
    """A job in the provider's list that may be the one whose answer was lost."""

    job_id: str
    phase: Phase
    created_at: datetime
    matches: str


class CancelOutcome(StrEnum):
    """What became of a wish to cancel a job at the provider."""

    CANCELLED = "cancelled"
    TOO_LATE = "too_late"
    UNSUPPORTED = "unsupported"


Go = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Nobody paces this create."""


RequestT_contra = TypeVar("RequestT_contra", contravariant=True)


class Provider(Protocol[RequestT_contra]):
    """One service that does one craft. `name` (`ark_video`, `offline_image`, …) keys limits, tags and the ledger.

    Every method raises `ProviderFault` with a code of ours. `submit` makes exactly one HTTP request, ever, and raises
    `OutcomeUnknown` when the answer was lost (read time-out, dropped connection).
    """

    name: str
    model: str
    base_url: str
    asynchronous: bool
    offline: bool

    def describe(self, request: RequestT_contra) -> JsonObject:
        """Every parameter that is really sent, without media bytes and secrets (hashes stand for media). Part of the input hash.

        Raises ProviderFault(INPUT_INVALID) when the request cannot be made acceptable to this model: before any spend.
        """
        ...

    def estimate(self, request: RequestT_contra) -> Decimal:
        """What `submit` of this very request will probably cost, in CNY."""
        ...

    async def submit(self, request: RequestT_contra, *, go: Go = at_once) -> Submitted | Done:
        """Make the one paid call. `go` is awaited once, when all is ready and the request is about to leave.

        What `go` raises goes through, and then nothing was sent.
        """
        ...

    async def poll(self, job_id: str, request: RequestT_contra) -> JobStatus:
        """Look at a job once. Unknown status words are reported as running."""
        ...

    async def cancel(self, job_id: str) -> CancelOutcome:
        """Ask the provider to drop a job that has not begun."""
        ...

    async def find(self, request: RequestT_contra, *, since: datetime) -> tuple[FoundJob, ...]:
        """Jobs of the provider's list that this request may have made at or after `since`, newest first."""
        ...

    async def fetch(self, output: Output) -> bytes:
        """The result's bytes, with size and time limits. One GET; the runner retries."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
