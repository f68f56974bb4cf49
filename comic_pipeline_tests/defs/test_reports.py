"""The daily report as Dagster runs it: its schedule, its partition, what the UI shows of it."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from comic_pipeline.definitions import build_definitions, defs
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.homes import opened_home


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A home with one project, begun at noon of 2026-03-10."""
    with opened_home(tmp_path / "home", a_project()) as opened:
        yield opened


def test_every_night_the_day_that_has_ended_is_reported() -> None:
    """At one o'clock in Shanghai, yesterday's partition, once however often the tick is repeated."""
    schedule = defs.resolve_schedule_def("make_reports_daily")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 1 * * *", "Asia/Shanghai")
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    night = datetime(2026, 3, 11, 1, tzinfo=ZoneInfo("Asia/Shanghai"))
    context = dg.build_schedule_context(scheduled_execution_time=night, repository_def=defs.get_repository_def())
    (request,) = schedule.evaluate_tick(context).run_requests or ()
    assert (request.partition_key, request.run_key) == ("2026-03-10", "2026-03-10")


def test_a_partition_shows_its_picture_its_file_and_its_version(workshop: Workshop) -> None:
    """The job alone makes it; equal tables give an equal data version, so nothing downstream of it would be stale."""
    job = build_definitions(lambda: workshop).resolve_job_def("make_reports")
    with dg.DagsterInstance.ephemeral() as instance:
        for _ in range(2):
            assert job.execute_in_process(instance=instance, partition_key="2026-03-10").success
        found = instance.fetch_materializations(dg.AssetKey("daily_production"), limit=2).records
    one, other = (record.asset_materialization for record in found)
    assert one is not None
    assert other is not None
    assert one.partition == "2026-03-10"
    assert one.metadata["preview"].value == "![](/logs/objects/reports/daily_production/2026-03-10/png)"
    assert one.metadata["rows_by_topic"].value == {"projects": 1}
    assert workshop.objects.exists("reports/daily_production/2026-03-10.parquet")
    assert (one.tags or {})["dagster/data_version"] == (other.tags or {})["dagster/data_version"]
