"""One look at the numbers: measure, judge, and carry out what changed. Writes nothing when nothing changed."""

from collections.abc import Iterable
from datetime import datetime

from comic_pipeline.model.alerting import Reading, Step, judge
from comic_pipeline.settings import Settings
from comic_pipeline.store import alerts, readings
from comic_pipeline.store.database import Database


def look(database: Database, settings: Settings, *, space: Iterable[Reading], now: datetime) -> list[Step]:
    """The steps that this look has carried out, each with its notice in one transaction. Raises StorageFault."""
    with database.read() as connection:
        measured = [*readings.read_all(connection, now=now), *space]
        steps = judge(measured, alerts.open_alerts(connection), settings.alert_bands, now=now)
    done = []
    for step in steps:
        with database.write() as connection:
            if alerts.apply(connection, step, now=now):
                done.append(step)
    return done
