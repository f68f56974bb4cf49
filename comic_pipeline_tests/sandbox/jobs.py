"""Video jobs by virtual time: queued, running, then an end; what can be seen, listed, deleted; and the sums over them.

Belongs here: a job's life. Does not: HTTP (`ark_video.py`), checking requests (`video_rules.py`).
"""

import math
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from comic_pipeline_tests.sandbox.books import most_at_once
from comic_pipeline_tests.sandbox.catalog import MILLION
from comic_pipeline_tests.sandbox.clock import DAY
from comic_pipeline_tests.sandbox.video_rules import VideoOrder

_BEIJING_SECONDS = 8 * 3_600
RECORD_LIFE = 7 * DAY
CANCELLED_LIFE = DAY


class JobReport(BaseModel):
    """One job as tests see it. `visible` = GET would find it; `cost` in CNY once charged; times are virtual unix seconds."""

    model_config = ConfigDict(frozen=True)

    id: str
    status: str
    model: str
    key: str
    prompt: str
    created_at: float
    ended_at: float | None
    tokens: int
    cost: Decimal | None
    visible: bool
    body: Any


@dataclass
class Job:
    """One accepted create. `ends_at` infinite = it never ends by itself; `end` is the word it ends with."""

    id: str
    order: VideoOrder
    body: Any
    created_at: float
    starts_at: float
    ends_at: float
    seconds: int
    ratio: str
    size: tuple[int, int]
    seed: int
    video: str
    last_frame: str
    end: str = "succeeded"
    error: tuple[str, str] | None = None
    hidden_from: float = math.inf
    cancelled_at: float = math.inf
    charged: bool = False
    deleted: bool = False
    number: int = field(default=0)

    @property
    def tokens(self) -> int:
        """Billed tokens, by what was asked for."""
        width, height = self.order.model.size(self.order.resolution, self.ratio)
        return self.order.model.tokens(seconds=self.seconds, frames=self.order.frames, width=width, height=height)

    @property
    def cost(self) -> Decimal | None:
        """CNY if it succeeds; None when there is no list price."""
        price = self.order.model.price(
            resolution=self.order.resolution, video_input="reference_video" in self.order.inputs.roles, audio=self.order.audio
        )
        return None if price is None else price * self.tokens / MILLION

    def _end(self) -> tuple[float, str]:
        """When and how it ends, whichever comes first."""
        expires = self.created_at + self.order.expires_after
        own = (self.ends_at, self.end) if self.ends_at <= expires else (expires, "expired")
        return min(own, (self.cancelled_at, "cancelled"))

    def status(self, now: float) -> str:
        """The status word at that time."""
        ends_at, word = self._end()
        if now >= ends_at:
            return word
        return "running" if now >= self.starts_at else "queued"

    def ended_at(self, now: float) -> float | None:
        """When it ended, None while it has not."""
        ends_at, _ = self._end()
        return ends_at if now >= ends_at else None

    def updated_at(self, now: float) -> float:
        """The last change of status: it does not move while a job runs."""
        return max(moment for moment in (self.created_at, self.starts_at, self._end()[0]) if moment <= now)

    def visible(self, now: float) -> bool:
        """Whether the vendor still knows it."""
        alive = not self.deleted and now < self.hidden_from and now < self.created_at + RECORD_LIFE
        return alive and now < self.cancelled_at + CANCELLED_LIFE


class JobBoard:
    """All jobs since the last reset, oldest first."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def reset(self) -> None:
        """Forget all jobs."""
        self._jobs.clear()

    def add(self, job: Job) -> None:
        """Take a job in."""
        job.number = len(self._jobs)
        self._jobs[job.id] = job

    def known(self, job_id: str) -> Job | None:
        """The job, even if the vendor would deny it."""
        return self._jobs.get(job_id)

    def find(self, job_id: str, now: float) -> Job | None:
        """The job if the vendor still knows it."""
        job = self._jobs.get(job_id)
        return job if job and job.visible(now) else None

    def listed(self, now: float) -> list[Job]:
        """What the vendor still knows, newest first."""
        return sorted((job for job in self._jobs.values() if job.visible(now)), key=lambda job: -job.number)

    def unpaid(self, now: float) -> list[Job]:
        """Jobs that have succeeded and are not charged yet; they count as charged from now on."""
        due = [job for job in self._jobs.values() if not job.charged and job.status(now) == "succeeded"]
        for job in due:
            job.charged = True
        return due

    def report(self, now: float) -> list[JobReport]:
        """All jobs, oldest first."""
        return [
            JobReport(
                id=job.id,
                status=job.status(now),
                model=job.order.model.id,
                key=job.order.safety_identifier,
                prompt=job.order.inputs.text,
                created_at=job.created_at,
                ended_at=job.ended_at(now),
                tokens=job.tokens,
                cost=job.cost if job.charged else None,
                visible=job.visible(now),
                body=job.body,
            )
            for job in self._jobs.values()
        ]

    def by_status(self, now: float) -> dict[str, int]:
        """How many jobs have which status word."""
        return dict(Counter(job.status(now) for job in self._jobs.values()))

    def most_open(self, now: float, *, running: bool) -> int:
        """The most jobs at once between create (or start of running) and end."""
        spans = []
        for job in self._jobs.values():
            ended = job.ended_at(now)
            spans.append((job.starts_at if running else job.created_at, now if ended is None else ended))
        return most_at_once(spans)


def new_job_id(now: float) -> str:
    """An id like Ark's: cgt-<Beijing time>-<5 letters or digits>."""
    stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(now + _BEIJING_SECONDS))
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    return f"cgt-{stamp}-" + "".join(secrets.choice(alphabet) for _ in range(5))
