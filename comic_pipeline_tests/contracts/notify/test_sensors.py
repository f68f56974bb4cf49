"""The two sensors as Dagster runs them, and the space that they measure."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline.defs.telling import alerts_sensor, notification_sensor
from comic_pipeline.model.alerting import AlertRule
from comic_pipeline.model.errors import Refused
from comic_pipeline.notify.space import BucketSize, bucket_size, read_cursor, read_space
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import alerts, notifications
from comic_pipeline.store.database import Database
from comic_pipeline.work.clock import SystemClock
from comic_pipeline_tests.builders import NOW, later
from comic_pipeline_tests.contracts.notify.receiver import SECRET, Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server that takes everything."""
    with receiving() as server:
        yield server


def _workshop(home: Path, database: Database, **variables: str) -> Workshop:
    settings = load_settings(COMIC_HOME=str(home), **variables)
    return Workshop(settings, database, FolderStore(home / "objects", media_url="/logs/objects"), SystemClock())


def _evaluate(sensor: dg.SensorDefinition, workshop: Workshop) -> str:
    """One tick; what it says for itself."""
    with dg.build_sensor_context(resources={"workshop": workshop}, sensor_name=sensor.name) as context:
        tick = sensor.evaluate_tick(context)
    assert not tick.run_requests
    return tick.skip_message or ""


def test_an_alert_goes_from_the_disk_to_the_receiver(database: Database, receiver: Receiver, tmp_path: Path) -> None:
    """A disk that is fuller than the threshold: one alert, one signed message, and nothing more however often one looks."""
    variables = {
        "COMIC_WEBHOOK_URL": receiver.url,
        "COMIC_WEBHOOK_HTTP": "true",
        "COMIC_WEBHOOK_SECRET": SECRET,
        "COMIC_ALERTS": "space_low=0.001/0",
    }
    workshop = _workshop(tmp_path, database, **variables)
    for _ in range(2):
        _evaluate(alerts_sensor, workshop)
        _evaluate(notification_sensor, workshop)
    (_, body), *more = receiver.got
    assert more == []
    assert (body["event"], body["alert"]["rule"], body["alert"]["subject"]) == ("alert.raised", "space_low", "COMIC_HOME")
    assert "COMIC_HOME" in body["text"]["zh"]
    assert receiver.forged == 0


def test_a_quiet_house_writes_and_asks_nothing(database: Database, tmp_path: Path) -> None:
    """Without an address the outbox is not even read; without news the alerts write nothing."""
    workshop = _workshop(tmp_path, database, COMIC_ALERTS="failed_tasks=1/0")
    assert _evaluate(alerts_sensor, workshop) == "nothing changed"
    with database.read() as connection:
        assert alerts.open_alerts(connection) == []
        assert notifications.find(connection) == []
    unreachable = Database("postgresql://nobody:x@127.0.0.1:1/none")
    assert _evaluate(notification_sensor, replace(workshop, database=unreachable)) == "COMIC_WEBHOOK_URL is not set"
    unreachable.close()


def test_a_wrong_address_fails_the_tick_and_nothing_else(database: Database, tmp_path: Path) -> None:
    """Operators see it in the sensor's ticks; films go on."""
    with pytest.raises(Refused, match="COMIC_WEBHOOK_URL"):
        _evaluate(notification_sensor, _workshop(tmp_path, database, COMIC_WEBHOOK_URL="http://hook.example"))


def test_one_disk_is_measured_once(tmp_path: Path) -> None:
    """Home and objects on one disk are one alert; a home that does not exist yet is measured where it will be."""
    (reading,) = read_space(load_settings(COMIC_HOME=str(tmp_path / "not" / "yet")), None)
    assert (reading.rule, reading.subject) == (AlertRule.SPACE_LOW, "COMIC_HOME")
    assert 0 < reading.value < 100


def test_a_bucket_is_added_up_once_an_hour(tmp_path: Path) -> None:
    """By what COMIC_OBJECTS_GB says it may hold; without that, and on a disk, nobody lists anything."""
    store = FolderStore(tmp_path, media_url="")
    store.put("projects/p1/a.png", b"x" * 500_000, mime="image/png")
    settings = load_settings(COMIC_HOME=str(tmp_path), COMIC_OBJECTS="s3://bucket", COMIC_OBJECTS_GB="0.001")
    size = bucket_size(settings, store, None, now=NOW)
    assert size == BucketSize(size=500_000, at=NOW)
    store.put("projects/p1/b.png", b"x", mime="image/png")
    assert bucket_size(settings, store, size, now=later(3_599)) == size
    assert bucket_size(settings, store, size, now=NOW + timedelta(hours=1)) == BucketSize(size=500_001, at=later(3_600))
    shares = {reading.subject: reading.value for reading in read_space(settings, size)}
    assert shares["s3://bucket"] == pytest.approx(50)
    assert bucket_size(load_settings(COMIC_OBJECTS="s3://bucket"), store, None, now=NOW) is None
    assert bucket_size(load_settings(COMIC_OBJECTS_GB="1"), store, None, now=NOW) is None


@pytest.mark.parametrize("cursor", [None, "", "{", "3", '{"size": 1}'])
def test_a_cursor_that_cannot_be_read_is_measured_anew(cursor: str | None) -> None:
    """The cursor is a text that anybody may set in the UI."""
    assert read_cursor(cursor) is None
    assert read_cursor(BucketSize(size=3, at=NOW).model_dump_json()) == BucketSize(size=3, at=NOW)
