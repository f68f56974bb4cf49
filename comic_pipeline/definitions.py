"""The code location `comic`: assets, checks, jobs, schedules, sensors and their resources, put together. No logic here."""

from collections.abc import Callable

import dagster as dg

from comic_pipeline.defs.assets import ASSETS
from comic_pipeline.defs.checks import CHECKS
from comic_pipeline.defs.cleaning import clean_up, clean_up_daily
from comic_pipeline.defs.io import document_io_manager
from comic_pipeline.defs.jobs import STAGE_JOBS
from comic_pipeline.defs.operations import OPERATOR_JOBS
from comic_pipeline.defs.reporting import PROJECT_STATUS, status_sensor
from comic_pipeline.defs.reports import make_reports, make_reports_daily
from comic_pipeline.defs.resources import open_from_environment, workshop_resource
from comic_pipeline.defs.sensors import workflow_sensor
from comic_pipeline.defs.sources import source_specs, view_specs
from comic_pipeline.defs.telling import alerts_sensor, notification_sensor
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop


def build_definitions(opener: Callable[[], Workshop]) -> dg.Definitions:
    """All definitions over the workshop that `opener` opens; tests give their own."""
    return dg.Definitions(
        assets=[*source_specs(load_settings()), *ASSETS, *view_specs(), PROJECT_STATUS],
        asset_checks=CHECKS,
        jobs=[*STAGE_JOBS, *OPERATOR_JOBS, clean_up, make_reports],
        schedules=[clean_up_daily, make_reports_daily],
        sensors=[workflow_sensor, status_sensor, notification_sensor, alerts_sensor],
        resources={"workshop": workshop_resource(opener), "documents": document_io_manager},
        # One process a run: a multiprocess step costs 2.4 s and 110 MB on dagster 1.13.27, and shots fan out by asyncio.
        executor=dg.in_process_executor,
    )


defs = build_definitions(open_from_environment)
