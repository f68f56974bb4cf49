"""What the runner is asked for, and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

from comic_pipeline.model.errors import (
    ComicError,
    ErrorCode,
    InvalidAnswer,
    RoundIncomplete,
    ShotFailure,
    ShotsFailed,
    WorkStopped,
)
from comic_pipeline.model.ledger import NewTask, SpendLimits
from comic_pipeline.model.limits import ProviderLimit
from comic_pipeline.model.media import MediaRef, Production
from comic_pipeline.model.task import Task, TaskType, canonical_json, hash_of
from comic_pipeline.providers.interface import Provider

R = TypeVar("R")


@dataclass(frozen=True)
class Verified:
    """Bytes that were decoded and measured, with the ending that fits what they are. `data` may be normalised text."""

    data: bytes = field(repr=False)
    mime: str
    ending: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True)
class Order(Generic[R]):
    """One unit of paid work.

    `template_hash` and `inputs` (SHA-256 of media that go in) are part of the key with every parameter really sent. `verify`
    decodes and measures the delivered bytes; it raises MediaFault for broken media and InvalidAnswer for an answer of the wrong
    shape, which `repair` turns into a second request, once.
    """

    project_id: str
    task_type: TaskType
    queue: str
    deadline: float
    shot_seq: int | None
    take: int
    provider: Provider[R]
    request: R
    template_hash: str
    inputs: tuple[str, ...]
    folder: str
    verify: Callable[[bytes], Verified]
    repair: Callable[[R, bytes, InvalidAnswer], R] | None = None

    def described(self) -> dict[str, Any]:
        """Everything that decides the result: the task's key is the hash of this."""
        return {
            "task_type": self.task_type,
            "shot_seq": self.shot_seq,
            "take": self.take,
            "provider": self.provider.name,
            "model": self.provider.model,
            "sent": self.provider.describe(self.request),
            "template": self.template_hash,
            "inputs": list(self.inputs),
        }

    def new_task(self, *, max_retry: int) -> NewTask:
        """The ledger row that this order stands for."""
        described = self.described()
        return NewTask(
            project_id=self.project_id,
            task_type=self.task_type,
            queue=self.queue,
            shot_seq=self.shot_seq,
            take=self.take,
            provider_id=self.provider.name,
            input_json=canonical_json(described),
            input_hash=hash_of(described),
            max_retry=max_retry,
            deadline=self.deadline,
            estimate=self.provider.estimate(self.request),
        )


@dataclass(frozen=True)
class Rules:
    """The numbers of paid work. Seconds, CNY, counts."""

    max_retry: int
    retry_delays: tuple[float, ...]
    poll_seconds: float
    lost_recreates: int
    lost_grace: float
    limits: Mapping[str, ProviderLimit]
    spend: SpendLimits


@dataclass(frozen=True)
class Delivered:
    """A finished order. `made` tells how, at what cost, and whether it was there before."""

    seq: int | None
    media: MediaRef
    made: Production


@dataclass(frozen=True)
class Postponed:
    """An order that goes again from `not_before` on."""

    seq: int | None
    code: ErrorCode
    detail: str
    not_before: datetime


@dataclass(frozen=True)
class Round:
    """What became of several orders in one go. Everything delivered is stored and paid only once, whatever the others did."""

    delivered: tuple[Delivered, ...]
    postponed: tuple[Postponed, ...]
    failures: tuple[ShotFailure, ...]
    stopped: WorkStopped | None

    def settle(self, *, now: datetime) -> tuple[Delivered, ...]:
        """All orders, if all were delivered.

        Raises WorkStopped when a checkpoint said stop, RoundIncomplete when some may still succeed, else ShotsFailed.
        """
        self.check_open(now=now)
        if self.failures:
            raise ShotsFailed(self.failures)
        return self.delivered

    def check_open(self, *, now: datetime) -> None:
        """Raise when the round is not over: stopped, or with orders to be tried again."""
        if self.stopped is not None:
            raise self.stopped
        if self.postponed:
            latest = max(self.postponed, key=lambda order: order.not_before)
            listed = "; ".join(f"{_name(order.seq)}: {order.code} {order.detail}" for order in self.postponed)
            raise RoundIncomplete(latest.code, listed, delay=max(0.0, (latest.not_before - now).total_seconds()))


class PostponedError(ComicError):
    """Inside the runner: the order goes again later."""

    def __init__(self, postponed: Postponed) -> None:
        super().__init__(postponed.code, postponed.detail)
        self.postponed = postponed


def delivered(task: Task, *, model: str, template_hash: str, cost: Decimal, seconds: float, reused: bool) -> Delivered:
    """What a successful task gives back."""
    if task.output is None:
        raise LookupError(f"task {task.task_id} is {task.status} without an output")
    made = Production(
        task_id=task.task_id,
        provider=task.provider_id,
        model=model,
        cost=cost,
        template_hash=template_hash,
        seconds=round(seconds, 3),
        reused=reused,
    )
    return Delivered(seq=task.shot_seq, media=task.output, made=made)


def _name(seq: int | None) -> str:
    return "work" if seq is None else f"shot {seq}"
