"""The job of the reports and its schedule: every night the day that has just ended."""

import dagster as dg

make_reports = dg.define_asset_job(
    "make_reports",
    selection=dg.AssetSelection.groups("reports"),
    description="The reports of one day of Asia/Shanghai; reads the comic database, costs nothing.",
    tags={"comic/queue": "cleanup_queue", "dagster/priority": "0"},
)

# An hour after midnight: work that was sent before midnight has mostly ended, so its cost is booked.
make_reports_daily = dg.build_schedule_from_partitioned_job(
    make_reports,
    name="make_reports_daily",
    hour_of_day=1,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Yesterday's partition, at 01:00 in Shanghai.",
)
