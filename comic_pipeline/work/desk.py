"""Where the runner works: its collaborators in one frozen value, and the small acts that every step shares."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.ledger import Worker
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import Attempt, Task, sha256_hex
from comic_pipeline.objects.store import MissingObject, ObjectStore, read_whole
from comic_pipeline.store import attempts, ledger, limits, stages
from comic_pipeline.store.database import Connection, Database
from comic_pipeline.work.clock import Clock
from comic_pipeline.work.orders import Rules, Verified
from comic_pipeline.work.waiting import Waiting

T = TypeVar("T")

# Seconds of waiting; less is not worth a statement.
_WORTH_NOTING = 1.0
_FIRST_LOOK, _LAST_LOOK, _LOOK_GROWTH = 0.1, 1.0, 1.5
# Half a minute: a database that restarts, or a store that fails over, is back by then.
_STORAGE_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
# Five minutes: what is held in memory alone is bought again when it is let go.
_DEAR_WAITS = (*_STORAGE_WAITS, *[30.0] * 9)
_log = logging.getLogger("comic_pipeline.work")


@dataclass(frozen=True)
class Desk:
    """Everything that paid work needs. One desk a run."""

    database: Database
    objects: ObjectStore
    clock: Clock
    worker: Worker
    rules: Rules
    jitter: Callable[[], float] = random.random  # noqa: S311  # spreads retries; no secret
    waiting: Waiting = field(init=False)
    _queues: dict[str, asyncio.Lock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to count what this run waits."""
        object.__setattr__(self, "waiting", Waiting(self.clock.now))

    @contextmanager
    def write(self) -> Iterator[tuple[Connection, datetime]]:
        """A transaction and its time."""
        with self.database.write() as connection:
            yield connection, self.clock.now()

    async def commit(self, act: Callable[[Connection, datetime], T]) -> T:
        """Run `act` in a transaction of its own; while the database is away, again and again for half a minute.

        `act` must bear being done twice: a connection that breaks during the commit does not say whether it went through.
        Raises StorageFault.
        """

        async def transaction() -> T:
            with self.write() as (connection, now):
                return act(connection, now)

        return await self._patiently(transaction)

    async def move(
        self, attempt: Attempt, change: Callable[[Connection, datetime], Attempt], *, there: Callable[[Attempt], bool]
    ) -> Attempt:
        """Move an attempt on, by `change`, unless it is `there`: another process that follows the same job may have been first.

        Raises WorkStopped(CONFLICT) when the attempt has gone elsewhere, StorageFault.
        """

        def act(connection: Connection, now: datetime) -> Attempt:
            standing = attempts.get(connection, attempt.task_id, attempt.number)
            return standing if there(standing) else change(connection, now)

        return await self.commit(act)

    async def look(self, act: Callable[[Connection], T]) -> T:
        """What `act` reads, all of it from one moment; as patient as `commit`. Raises StorageFault."""

        async def transaction() -> T:
            with self.database.read() as connection:
                return act(connection)

        return await self._patiently(transaction)

    async def checkpoint(self, task: Task) -> None:
        """Raise WorkStopped(CANCELLED) when somebody asked to stop."""
        await self.look(lambda connection: attempts.check_cancel(connection, task))

    @asynccontextmanager
    async def slot(self, provider: str, task: Task) -> AsyncIterator[None]:
        """Hold one of the provider's jobs; waits for a free one. Without a limit there is nothing to hold.

        Wrap it in `keeping`, which renews it.
        """
        limit = self.rules.limits.get(provider)
        if limit is None:
            yield
            return
        # Only the first in this process's line asks the database: fifty waiting shots cost as much as one.
        with self.waiting.in_line():
            async with self._queues.setdefault(provider, asyncio.Lock()):
                wait = _FIRST_LOOK
                while not await self._take_slot(provider, task, jobs=limit.jobs):
                    await self.checkpoint(task)
                    await self.clock.sleep(wait)
                    wait = min(wait * _LOOK_GROWTH, _LAST_LOOK)
        try:
            yield
        finally:
            self._leave(lambda connection: self._free_slot(connection, provider, task), what="slot", of=task)

    async def turn(self, provider: str) -> None:
        """Wait in line for a create, by the provider's creates a second. Nothing is promised yet; `Departure` keeps the pace."""
        limit = self.rules.limits.get(provider)
        if limit is None:
            return

        def take(connection: Connection, now: datetime) -> float:
            return (limits.take_turn(connection, provider, step=limit.step, now=now) - now).total_seconds()

        wait = await self.commit(take)
        with self.waiting.in_line():
            await self.clock.sleep(max(0.0, wait))

    async def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Store bytes; a store that is away is tried again for half a minute. Raises StorageFault."""
        await self._patiently(lambda: asyncio.to_thread(self.objects.put, key, data, mime=mime))

    async def put_media(self, verified: Verified, *, project_id: str, folder: str, name: str = "") -> MediaRef:
        """Store media under a name that ends in their own hash, so that nothing is ever overwritten. Raises StorageFault."""
        digest = sha256_hex(verified.data)
        stem = f"{name}-{digest[:12]}" if name else digest[:12]
        key = f"projects/{project_id}/{folder}/{stem}.{verified.ending}"
        await self.put(key, verified.data, mime=verified.mime)
        return MediaRef(
            key=key,
            sha256=digest,
            size=len(verified.data),
            mime=verified.mime,
            width=verified.width,
            height=verified.height,
            duration_ms=verified.duration_ms,
        )

    async def put_dear(self, key: str, data: bytes, *, mime: str) -> None:
        """Store bytes that are paid and cannot be had again: tried for five minutes before they are lost. Raises StorageFault."""
        await self._patiently(lambda: asyncio.to_thread(self.objects.put, key, data, mime=mime), waits=_DEAR_WAITS)

    async def read(self, media: MediaRef) -> bytes:
        """The bytes of a stored piece as they were stored; as patient as `put`, but not with what is gone.

        Raises MissingObject, DamagedObject, StorageFault.
        """
        return await self._patiently(lambda: asyncio.to_thread(read_whole, self.objects, media))

    async def check_room(self) -> None:
        """Wait until the store takes objects; as patient as `put`. Raises StorageFault."""
        await self._patiently(lambda: asyncio.to_thread(self.objects.check_room))

    async def has(self, key: str) -> bool:
        """Whether there is an object; as patient as `put`. Raises StorageFault."""
        return await self._patiently(lambda: asyncio.to_thread(self.objects.exists, key))

    @asynccontextmanager
    async def keeping(self, task: Task) -> AsyncIterator[None]:
        """Renew the task's lease, and the slot that it may hold, for as long as the work in the block goes on.

        What the run has waited in line is written down as well.
        """
        renewing = asyncio.create_task(self._renew(task))
        try:
            with self.waiting.working():
                yield
        finally:
            if self.waiting.seconds() >= _WORTH_NOTING:
                self._leave(self._note_waiting, what="waiting time", of=task)
            renewing.cancel()
            await asyncio.wait({renewing})
            if not renewing.cancelled():
                renewing.result()

    def let_go(self, task: Task) -> None:
        """Give the lease back, so that whoever goes on need not wait until it runs out."""
        self._leave(lambda connection: ledger.put_back(connection, task.task_id, self.worker), what="lease", of=task)

    async def _renew(self, task: Task) -> None:
        while True:
            await self.clock.sleep(self.worker.lease_seconds / 3)
            try:
                with self.write() as (connection, now):
                    ledger.renew_lease(connection, task.task_id, self.worker, now=now)
                    limits.renew_slot(
                        connection, task.provider_id, holder=task.task_id, now=now, seconds=self.worker.lease_seconds
                    )
                    self._note_waiting(connection)
            except StorageFault as fault:
                # The work itself meets the same fault and decides; a missed renewal alone is made up by the next.
                _log.warning("lease of task %s not renewed: %s", task.task_id, fault)

    def _note_waiting(self, connection: Connection) -> None:
        seconds = self.waiting.seconds()
        if seconds < _WORTH_NOTING:
            return
        # A commit that fails loses at most a third of a lease of it.
        stages.add_waited(connection, self.worker.stage_id, seconds=seconds)
        self.waiting.forget(seconds)

    def _leave(self, act: Callable[[Connection], None], *, what: str, of: Task) -> None:
        try:
            with self.write() as (connection, _):
                act(connection)
        except StorageFault as fault:
            # It runs out by itself; an error here would hide what became of the work.
            _log.warning("%s of task %s not given back: %s", what, of.task_id, fault)

    async def _take_slot(self, provider: str, task: Task, *, jobs: int) -> bool:
        return await self.commit(
            lambda connection, now: limits.take_slot(
                connection, provider, jobs=jobs, holder=task.task_id, now=now, seconds=self.worker.lease_seconds
            )
        )

    def _free_slot(self, connection: Connection, provider: str, task: Task) -> None:
        # The slot is the task's: whoever took the task over while this process slept holds it now, for a job under way.
        if not ledger.taken_over(connection, task.task_id, self.worker):
            limits.free_slot(connection, provider, holder=task.task_id)

    async def _patiently(self, act: Callable[[], Awaitable[T]], *, waits: tuple[float, ...] = _STORAGE_WAITS) -> T:
        for wait in waits:
            try:
                return await act()
            except MissingObject:
                raise
            except StorageFault as fault:
                _log.warning("storage fault, trying again in %.1f s: %s", wait, fault)
            await self.clock.sleep(wait)
        return await act()
