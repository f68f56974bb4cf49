"""Time as the runner sees it, so that tests need not wait."""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Now, and waiting."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the loop."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait; a stop signal ends the wait at once."""
        await asyncio.sleep(seconds)
