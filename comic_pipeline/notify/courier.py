"""Sends what the outbox holds: at least once, in order of each stream, in short batches that block nobody.

Belongs here: taking, sending, and what an answer means for the notice. Does not: what a request looks like (`target.py`).
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

import httpx

from comic_pipeline.model.errors import Refused
from comic_pipeline.model.notice import Notice
from comic_pipeline.notify.target import Target, posting_of, refusal_of
from comic_pipeline.providers.download import check_encoding
from comic_pipeline.providers.envelope import parse_retry_after
from comic_pipeline.providers.http import open_client
from comic_pipeline.store import notifications
from comic_pipeline.store.database import Database

# Seconds before the second, third … try; the last one repeats. Eight tries reach over about two hours.
BACK_OFF = (5.0, 30.0, 120.0, 600.0, 1_800.0, 3_600.0)
CALL_SECONDS = 5.0
_AT_ONCE = 8
# Longer than a call can take, short enough that a killed sender's notices wait no longer than this.
_LEASE_SECONDS = 30.0
_ANSWER_BYTES = 16_384
# Older news helps nobody: a receiver that is named for the first time is not told of last month's films.
_NEWS = timedelta(days=1)
_log = logging.getLogger("comic_pipeline.notify")


@dataclass(frozen=True)
class Delivered:
    """What one batch did. `faults` are sentences for the tick's log."""

    sent: int = 0
    postponed: int = 0
    dead: int = 0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Refused:
    """The receiver has not taken it. `retry_after`: seconds that it asked for."""

    why: str
    retry_after: float = 0.0


@dataclass
class Courier:
    """One sender; any number may run at once, here or on other machines."""

    database: Database
    target: Target
    tries: int
    now: Callable[[], datetime]
    call_seconds: float = CALL_SECONDS
    holder: str = field(default_factory=lambda: f"courier:{uuid4()}")

    def deliver(self, *, seconds: float) -> Delivered:
        """Send what is due, for about `seconds` (one call more at most). Nothing is asked of the receiver when nothing is due."""
        if not self._due():
            return Delivered()
        with asyncio.Runner() as runner:
            return runner.run(self._deliver(time.monotonic() + seconds))

    def _due(self) -> list[int]:
        with self.database.read() as connection:
            return notifications.due_ids(connection, now=self.now(), limit=_AT_ONCE)

    async def _deliver(self, until: float) -> Delivered:
        # httpx logs every URL at INFO, a robot's token and all.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        outcomes: list[str] = []
        faults: list[str] = []
        try:
            opened = open_client(self.target.url, timeout=self.call_seconds)
        except Refused as refused:
            _log.warning("%s", refused.detail)
            return Delivered(faults=(refused.detail,))
        async with opened as client:
            while (due := self._due()) and time.monotonic() < until:
                for outcome, fault in await asyncio.gather(*(self._handle(client, notice_id) for notice_id in due)):
                    outcomes.append(outcome)
                    faults += [fault] if fault else []
        return Delivered(outcomes.count("sent"), outcomes.count("postponed"), outcomes.count("dead"), tuple(faults))

    async def _handle(self, client: httpx.AsyncClient, notice_id: int) -> tuple[str, str]:
        with self.database.write() as connection:
            notice = notifications.take(
                connection, notice_id, holder=self.holder, now=self.now(), seconds=_LEASE_SECONDS + self.call_seconds
            )
        if notice is None:
            return "taken by another", ""
        old = self.now() - notice.created_at > _NEWS
        answer = _Refused("it was a day old before it could be sent") if old else await self._call(client, notice)
        with self.database.write() as connection:
            if answer is None:
                notifications.mark_sent(connection, notice.id, holder=self.holder, now=self.now())
                return "sent", ""
            fault = f"notice {notice.event_id}, try {notice.tries} of {self.tries}: {answer.why}"
            _log.warning("%s", fault)
            if old or notice.tries >= self.tries:
                notifications.bury(connection, notice.id, holder=self.holder, error=answer.why)
                return "dead", fault
            wait = max(BACK_OFF[min(notice.tries, len(BACK_OFF)) - 1], min(answer.retry_after, BACK_OFF[-1]))
            not_before = self.now() + timedelta(seconds=wait)
            notifications.postpone(connection, notice.id, holder=self.holder, not_before=not_before, error=answer.why)
            return "postponed", fault

    async def _call(self, client: httpx.AsyncClient, notice: Notice) -> _Refused | None:
        posting = posting_of(notice, self.target, now=self.now())
        try:
            # The read time-out of httpx starts anew with every byte; the outer one ends an answer that only drips.
            async with (
                asyncio.timeout(self.call_seconds),
                client.stream("POST", posting.url, content=posting.body, headers=posting.headers) as response,
            ):
                body = await _beginning(response)
        except TimeoutError:
            return _Refused(f"no answer within {self.call_seconds:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as fault:
            # Only the kind: its text may hold the address, which is a secret.
            return _Refused(f"not delivered ({type(fault).__name__})")
        why = refusal_of(self.target.style, response.status_code, body)
        if why is None:
            return None
        return _Refused(why, parse_retry_after(response.headers.get("retry-after"), now=self.now()) or 0.0)


async def _beginning(response: httpx.Response) -> bytes:
    check_encoding(response)
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= _ANSWER_BYTES:
            break
    return bytes(body)
