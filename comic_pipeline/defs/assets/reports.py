"""Group reports: numbers for the data team, one partition a day of Asia/Shanghai."""

from collections import Counter
from datetime import date

import dagster as dg

from comic_pipeline.daily_report import DailyReport, report_day
from comic_pipeline.defs.columns import PRODUCTION, described
from comic_pipeline.defs.failing import failure_of
from comic_pipeline.defs.metadata import link, picture
from comic_pipeline.defs.owners import DATA
from comic_pipeline.defs.partitions import DAYS
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.errors import ComicError
from comic_pipeline.store.catalog import VIEWS


@dg.asset(
    partitions_def=DAYS,
    deps=[view.name for view in VIEWS],
    group_name="reports",
    owners=[DATA],
    kinds={"parquet", "image"},
    tags={"comic/craft": "report"},
    code_version=code_version(1),
    # A short absence of the database or the object store; its waits block nobody's work.
    retry_policy=dg.RetryPolicy(max_retries=3, delay=30, backoff=dg.Backoff.EXPONENTIAL),
    required_resource_keys={"workshop"},
    metadata=described(PRODUCTION),
)
def daily_production(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """What a day has produced: projects by outcome, pass rates by gate, cost by provider and model, task times, retries.

    One Parquet file, one row a number, and a picture of it. It says what the tables hold when it is made; a day is made again
    by materializing its partition, and replaces both files.
    """
    workshop = context.resources.workshop
    try:
        report = report_day(workshop.database, workshop.objects, date.fromisoformat(context.partition_key))
    except ComicError as error:
        raise failure_of(context, error, allow_retries=True) from error
    return _show(context, report)


def _show(context: dg.AssetExecutionContext, report: DailyReport) -> dg.MaterializeResult[None]:
    objects = context.resources.workshop.objects
    topics = Counter(row.topic for row in report.rows)
    cost = sum(row.value for row in report.rows if (row.topic, row.measure) == ("costs", "cost"))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(report.table.sha256[:32]),
        metadata={
            "preview": picture(objects, report.chart),
            "parquet": link(objects, report.table),
            "address": objects.address(report.table.key),
            "dagster/row_count": len(report.rows),
            "cost_cny": float(cost),
            "rows_by_topic": dict(topics),
        },
    )
