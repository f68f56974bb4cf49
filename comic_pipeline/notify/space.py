"""How full the places are that films are written to, in percent: the disks by asking them, a bucket by adding up its objects.

Belongs here: measuring. A bucket has no size of its own: COMIC_OBJECTS_GB says how much it may hold.
"""

import json
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from comic_pipeline.model.alerting import AlertRule, Reading
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.settings import Settings

# Listing a bucket of 100,000 objects takes 100 requests: once an hour is enough for something that grows by films.
_BUCKET_EVERY = timedelta(hours=1)


class BucketSize(BaseModel):
    """The last measurement of the bucket; the sensor's cursor carries it from one evaluation to the next."""

    model_config = ConfigDict(frozen=True)

    size: int
    at: datetime


def read_cursor(cursor: str | None) -> BucketSize | None:
    """The measurement that an earlier evaluation wrote; None when there is none that can be read."""
    try:
        return BucketSize.model_validate(json.loads(cursor)) if cursor else None
    except (ValueError, ValidationError):
        return None


def bucket_size(settings: Settings, objects: ObjectStore, known: BucketSize | None, *, now: datetime) -> BucketSize | None:
    """How much the bucket holds, measured anew once an hour; None when nobody has said how much it may. Raises StorageFault."""
    if not settings.effective_objects.startswith("s3://") or settings.objects_gb <= 0:
        return None
    if known is not None and now - known.at < _BUCKET_EVERY:
        return known
    return BucketSize(size=sum(one.size for one in objects.list("")), at=now)


def read_space(settings: Settings, bucket: BucketSize | None) -> list[Reading]:
    """Percent used of each disk that we write to, and of the bucket."""
    readings = [Reading(AlertRule.SPACE_LOW, name, share) for name, share in _disks(settings)]
    if bucket is not None:
        share = 100.0 * bucket.size / (settings.objects_gb * 1e9)
        readings.append(Reading(AlertRule.SPACE_LOW, settings.effective_objects[:100], share))
    return readings


def _disks(settings: Settings) -> Iterator[tuple[str, float]]:
    places = {"COMIC_HOME": settings.home}
    if not settings.effective_objects.startswith("s3://"):
        places["COMIC_OBJECTS"] = Path(settings.effective_objects)
    seen: set[int] = set()
    for name, path in places.items():
        existing = next(folder for folder in (path, *path.parents) if folder.is_dir())
        device = existing.stat().st_dev
        if device not in seen:
            seen.add(device)
            usage = shutil.disk_usage(existing)
            # What df shows: blocks that only root may use count as used.
            yield name, 100.0 * usage.used / (usage.used + usage.free)
