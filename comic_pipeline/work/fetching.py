"""From a ready result to verified bytes. A download that fails is tried again for long; it is never a reason to create again."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from comic_pipeline.model.errors import ComicError, ErrorCode, InvalidAnswer, MediaFault, ProviderFault, StorageFault
from comic_pipeline.model.task import Attempt, Task
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.providers.interface import Output, Provider, Remote
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Order, Verified

R = TypeVar("R")

# About two minutes in all: a longer outage is left to the next round, which fetches again.
_WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
# Signed links live this long (Ark's pictures and clips alike); after that no retry can help.
_LINK_LIFE = timedelta(hours=24)


@dataclass(frozen=True)
class Unfit:
    """Bytes of the wrong shape, and what is wrong with them: a repair round quotes both."""

    data: bytes = field(repr=False)
    problem: InvalidAnswer


async def fetch_verified(desk: Desk, task: Task, attempt: Attempt, *, order: Order[R]) -> Verified | Unfit:
    """The bytes of a succeeded attempt, decoded and measured.

    Bytes that do not verify are downloaded once more: a cut transfer looks like a broken file. Raises ProviderFault or
    StorageFault (fetch again later), MediaFault (what was delivered is broken, or gone for good), WorkStopped.
    """
    waits = iter(_WAITS)
    broken = False
    while True:
        try:
            data = await _fetch(desk, attempt, order=order)
            return await asyncio.to_thread(_measure, order, data)
        except (MediaFault, ProviderFault, StorageFault) as fault:
            wait = next(waits, None)
            if wait is None or not _worth_another_look(fault, order.provider, broken=broken):
                raise
            broken = broken or isinstance(fault, MediaFault)
        await desk.checkpoint(task)
        await desk.clock.sleep(wait)


def _measure(order: Order[R], data: bytes) -> Verified | Unfit:
    try:
        return order.verify(data)
    except InvalidAnswer as problem:
        return Unfit(data, problem)


async def _fetch(desk: Desk, attempt: Attempt, *, order: Order[R]) -> bytes:
    place = json.loads(attempt.result or "{}")
    if "staged" in place:
        try:
            return await asyncio.to_thread(desk.objects.get, place["staged"])
        except MissingObject as gone:
            raise MediaFault(ErrorCode.STORAGE_FAILED, f"the delivered bytes are no longer in the store: {gone.detail}") from gone
    try:
        return await order.provider.fetch(Remote(url=place["url"]))
    except ProviderFault as fault:
        if fault.code is not ErrorCode.REF_URL_UNREACHABLE:
            raise
        if order.provider.asynchronous:
            return await order.provider.fetch(await _fresh_link(attempt, order=order, stale=fault))
        if attempt.finished_at is not None and desk.clock.now() - attempt.finished_at >= _LINK_LIFE:
            raise MediaFault(
                fault.code, f"{fault.detail}; it is over a day old: the result is lost, a retry pays anew"
            ) from fault
        raise


async def _fresh_link(attempt: Attempt, *, order: Order[R], stale: ProviderFault) -> Output:
    """The job's record may carry a newer link than the one that was written down."""
    status = await order.provider.poll(attempt.provider_request_id or "", order.request)
    if status.done is None:
        raise stale
    return status.done.output


def _worth_another_look(fault: ComicError, provider: Provider[R], *, broken: bool) -> bool:
    if isinstance(fault, MediaFault):
        return not broken
    return fault.retryable or (fault.code is ErrorCode.REF_URL_UNREACHABLE and provider.asynchronous)
