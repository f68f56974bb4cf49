"""Reading Ark's task documents (page 1521309): status words, errors, results, and which listed task is the one sought.

Pure functions over vendor JSON; the calls are in `ark_video.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from comic_pipeline.providers.envelope import VendorError, read_error, read_id, read_url
from comic_pipeline.providers.interface import FoundJob, JsonObject, Phase

STATUS: dict[str, Phase] = {
    "queued": Phase.QUEUED,
    "running": Phase.RUNNING,
    "succeeded": Phase.SUCCEEDED,
    "failed": Phase.FAILED,
    "cancelled": Phase.CANCELLED,
    "expired": Phase.EXPIRED,
}


@dataclass(frozen=True)
class Wanted:
    """What a task that this request made must look like. `since` is UTC; `facts` are fields of the create that tasks repeat."""

    identifier: str
    since: datetime
    facts: Mapping[str, Any]


def error_of_task(document: JsonObject) -> VendorError:
    """The error of a failed task: `error`, or `failure_reason` on the Go side; an unnamed one when neither says anything."""
    for key in ("error", "failure_reason"):
        error = read_error({"error": document.get(key)})
        if error is not None:
            return error
    return VendorError(code="", message="the task failed without a reason")


def video_url(document: JsonObject) -> str:
    """Where the clip of a succeeded task is; empty when the task does not say."""
    content = document.get("content")
    return read_url(content.get("video_url")) if isinstance(content, Mapping) else ""


def read_found(item: object, wanted: Wanted) -> FoundJob | None:
    """`item` of the list as a possible match, or None when it cannot be the wanted task.

    The safety identifier decides where the item has one; an item without it must at least repeat the seed. Facts that the item
    leaves out prove nothing (the Go side leaves out resolution, ratio and duration); one that differs rules it out.
    """
    if not isinstance(item, Mapping) or not read_id(item.get("id")):
        return None
    created = created_at(item)
    # A task without a time cannot be ruled out by time.
    if created is not None and created < wanted.since:
        return None
    agreeing = [key for key, value in wanted.facts.items() if _agree(item.get(key), value)]
    if any(item.get(key) is not None and key not in agreeing for key in wanted.facts):
        return None
    identifier = item.get("safety_identifier")
    if identifier != wanted.identifier and (identifier or "seed" not in agreeing):
        return None
    named = ["safety_identifier"] if identifier else []
    return FoundJob(
        job_id=item["id"],
        phase=STATUS.get(str(item.get("status") or ""), Phase.RUNNING),
        created_at=created or wanted.since,
        matches=", ".join(named + agreeing),
    )


def _agree(told: object, sent: object) -> bool:
    """A number in quotes, or a letter of another case, must not make a paid task look like a stranger's."""
    return told == sent or str(told).casefold() == str(sent).casefold()


def page_may_be_last(items: Sequence[Any], *, oldest: datetime, seen: int, total: int | None) -> bool:
    """Whether later pages can be left unread: the list is at its end, or it runs newest first and has passed `oldest`.

    The order of the list is not documented, so it is read off the page: only one that falls all the way may end the search early.
    """
    if not items or (total is not None and seen >= total):
        return True
    times = [created_at(item) for item in items]
    known = [time for time in times if time is not None]
    falling = len(known) == len(items) > 1 and known == sorted(known, reverse=True) and known[0] > known[-1]
    return falling and known[-1] < oldest


def created_at(item: object) -> datetime | None:
    """When a listed task was created (unix seconds), in UTC; None when it does not say."""
    value = item.get("created_at") if isinstance(item, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 32_503_680_000:
        return None
    return datetime.fromtimestamp(value, tz=UTC)
