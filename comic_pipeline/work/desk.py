"""Where the runner works: its collaborators in one frozen value, and the small acts that every step shares."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.ledger import Worker
from comic_pipeline.model.task import Task
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.store import attempts, limits
from comic_pipeline.store.database import Database
from comic_pipeline.work.clock import Clock
from comic_pipeline.work.orders import Rules

_LOOK_AGAIN = 0.1
_STORAGE_TRIES = 4


@dataclass(frozen=True)
class Desk:
    """Everything that paid work needs. One desk a run."""

    database: Database
    objects: ObjectStore
    clock: Clock
    worker: Worker
    rules: Rules
    jitter: Callable[[], float] = random.random
    _queues: dict[str, asyncio.Lock] = field(default_factory=dict)

    @contextmanager
    def write(self) -> Iterator[tuple[Connection, datetime]]:
        """A transaction and its time."""
        with self.database.write() as connection:
            yield connection, self.clock.now()

    def checkpoint(self, task: Task) -> None:
        """Raise WorkStopped(CANCELLED) when somebody asked to stop."""
        with self.database.read() as connection:
            attempts.check_cancel(connection, task)

    @asynccontextmanager
    async def slot(self, provider: str, task: Task) -> AsyncIterator[None]:
        """Hold one of the provider's jobs; waits for a free one. Without a limit there is nothing to hold."""
        limit = self.rules.limits.get(provider)
        if limit is None:
            yield
            return
        # Only the first in this process's line asks the database: fifty waiting shots cost as much as one.
        async with self._queues.setdefault(provider, asyncio.Lock()):
            while not self._take_slot(provider, task, jobs=limit.jobs):
                self.checkpoint(task)
                await self.clock.sleep(_LOOK_AGAIN)
        try:
            yield
        finally:
            with self.write() as (connection, _):
                limits.free_slot(connection, provider, holder=task.task_id)

    async def turn(self, provider: str) -> None:
        """Wait for this process's turn to send a create, by the provider's creates a second."""
        limit = self.rules.limits.get(provider)
        if limit is None:
            return
        with self.write() as (connection, now):
            at = limits.take_turn(connection, provider, qps=limit.qps, now=now)
        await self.clock.sleep(max(0.0, (at - now).total_seconds()))

    async def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Store bytes; a storage fault is tried again a few times before it counts."""
        for tries in range(1, _STORAGE_TRIES + 1):
            try:
                await asyncio.to_thread(self.objects.put, key, data, mime=mime)
            except StorageFault:
                if tries == _STORAGE_TRIES:
                    raise
                await self.clock.sleep(0.5 * 2**tries)
            else:
                return

    def keep_slot(self, provider: str, task: Task) -> None:
        """The job goes on: keep its slot for another lease."""
        with self.write() as (connection, now):
            limits.renew_slot(connection, provider, holder=task.task_id, now=now, seconds=self.worker.lease_seconds)

    def after(self, seconds: float) -> datetime:
        """The time in `seconds`."""
        return self.clock.now() + timedelta(seconds=seconds)

    def _take_slot(self, provider: str, task: Task, *, jobs: int) -> bool:
        with self.write() as (connection, now):
            return limits.take_slot(
                connection, provider, jobs=jobs, holder=task.task_id, now=now, seconds=self.worker.lease_seconds
            )
