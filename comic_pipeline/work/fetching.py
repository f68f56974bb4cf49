"""From a ready result to verified bytes. A download that fails is tried again for long; it is never a reason to create again."""

import asyncio
import json
from typing import TypeVar

from comic_pipeline.model.errors import ComicError, ErrorCode, MediaFault, ProviderFault, StorageFault
from comic_pipeline.model.task import Attempt, Task
from comic_pipeline.providers.interface import JobStatus, Output, Provider, Remote
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Order, Verified

R = TypeVar("R")

# About two minutes in all: links live 24 h, so a longer outage is left to the next round, which fetches again.
_WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)


async def fetch_verified(desk: Desk, task: Task, attempt: Attempt, *, order: Order[R]) -> Verified:
    """The bytes of a succeeded attempt, decoded and measured.

    Bytes that do not verify are downloaded once more: a cut transfer looks like a broken file. Raises
    ProviderFault or StorageFault (fetch again later), MediaFault (the provider's file itself is broken), InvalidAnswer (of `order.verify`).
    """
    broken: MediaFault | None = None
    for wait in (*_WAITS, None):
        try:
            data = await _fetch(desk, attempt, order=order)
            return await asyncio.to_thread(order.verify, data)
        except MediaFault as fault:
            if broken is not None:
                raise
            broken = fault
        except (ProviderFault, StorageFault) as fault:
            if wait is None or not _worth_another_look(fault, order.provider):
                raise
        desk.checkpoint(task)
        await desk.clock.sleep(wait or 0.0)
    raise AssertionError("the loop returns or raises")


async def raw(desk: Desk, attempt: Attempt, *, order: Order[R]) -> bytes:
    """The delivered bytes as they are, for a repair round that quotes them. One try: they were there a moment ago."""
    return await _fetch(desk, attempt, order=order)


async def _fetch(desk: Desk, attempt: Attempt, *, order: Order[R]) -> bytes:
    place = json.loads(attempt.result or "{}")
    if "staged" in place:
        return await asyncio.to_thread(desk.objects.get, place["staged"])
    output: Output = Remote(url=place["url"])
    try:
        return await order.provider.fetch(output)
    except ProviderFault as fault:
        if fault.code is not ErrorCode.REF_URL_UNREACHABLE or not order.provider.asynchronous:
            raise
        return await order.provider.fetch(await _fresh_link(attempt, order=order, stale=fault))


async def _fresh_link(attempt: Attempt, *, order: Order[R], stale: ProviderFault) -> Output:
    """The job's record may carry a newer link than the one that was written down."""
    status: JobStatus = await order.provider.poll(attempt.provider_request_id or "", order.request)
    if status.done is None:
        raise stale
    return status.done.output


def _worth_another_look(fault: ComicError, provider: Provider[R]) -> bool:
    return fault.retryable or (fault.code is ErrorCode.REF_URL_UNREACHABLE and provider.asynchronous)
