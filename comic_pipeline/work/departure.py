"""The last gate of a create, right before its request leaves.

Belongs here: that the provider's creates a second hold where they count, on the wire. A turn (`Desk.turn`) was waited for before
the promise to pay was written; after it comes work (a commit, a picture in base64, a connection) that takes longer on a busy
machine than on an idle one, so that two turns a second apart once arrived 0.33 s apart.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from comic_pipeline.model.limits import ProviderLimit
from comic_pipeline.model.task import Attempt, Task
from comic_pipeline.store import attempts, limits
from comic_pipeline.store.database import Connection
from comic_pipeline.work.desk import Desk

# How far ahead a moment lies after one was missed: twice what writing it down took the last time (2 to 30 ms), within these.
_LEAST_LEAD, _MOST_LEAD = 0.03, 1.0
# Before a moment is kept the flags are read once more, so long before it that the reading does not make it late.
_LAST_LOOK = 0.1


@dataclass
class Departure:
    """One attempt's way through the gate. `passed`: the request may have left; before that it surely has not."""

    desk: Desk
    task: Task
    attempt: Attempt
    passed: bool = False

    async def go(self) -> None:
        """Wait until this create may leave.

        Raises WorkStopped: CANCELLED, or CONFLICT when the promise no longer stands; StorageFault.
        """
        limit = self.desk.rules.limits.get(self.task.provider_id)
        if limit is None:
            await self.desk.look(self._check)
        else:
            with self.desk.waiting.in_line():
                await self._wait(limit)
        self.passed = True

    def _check(self, connection: Connection) -> None:
        attempts.check_cancel(connection, self.task)
        attempts.check_promised(connection, self.attempt)

    async def _wait(self, limit: ProviderLimit) -> None:
        """Have a moment written down and keep it. Who is late by more than the margin takes another, a little ahead."""
        clock, lead, missed = self.desk.clock, 0.0, None
        while True:
            began = clock.now()
            moment = await self._take_moment(limit, earliest=began + timedelta(seconds=lead), missed=missed)
            lead = min(max(2 * (clock.now() - began).total_seconds(), _LEAST_LEAD), _MOST_LEAD)
            await self._sleep_until(moment)
            if (clock.now() - moment).total_seconds() <= limit.lateness:
                return
            missed = moment

    async def _take_moment(self, limit: ProviderLimit, *, earliest: datetime, missed: datetime | None) -> datetime:
        def take(connection: Connection, now: datetime) -> datetime:
            self._check(connection)
            provider, soonest = self.task.provider_id, max(earliest, now)
            return limits.take_departure(connection, provider, step=limit.step, earliest=soonest, missed=missed)

        return await self.desk.commit(take)

    async def _sleep_until(self, moment: datetime) -> None:
        clock = self.desk.clock
        if (wait := (moment - clock.now()).total_seconds() - _LAST_LOOK) > 0:
            await clock.sleep(wait)
            await self.desk.look(self._check)
        await clock.sleep(max(0.0, (moment - clock.now()).total_seconds()))
