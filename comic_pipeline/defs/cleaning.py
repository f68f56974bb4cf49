"""The job `clean_up` and its daily schedule. Both only report until they are told to delete."""

from datetime import UTC, datetime, timedelta

import dagster as dg
from pydantic import Field

from comic_pipeline.cleaning import Cleaner, Found
from comic_pipeline.defs.metadata import Metadata
from comic_pipeline.defs.reaping import reap
from comic_pipeline.settings import Cleanup, load_settings
from comic_pipeline.stages.workshop import Workshop

_TAGS = {"comic/queue": "cleanup_queue", "dagster/priority": "0"}


class CleanUpConfig(dg.Config):
    """Look first, delete then."""

    dry_run: bool = Field(default=True, description="Only say what would go. 只报告，不删除")
    media_days: int = Field(
        default=0, ge=0, description="Superseded media go after so many days; 0: COMIC_CLEANUP_DAYS. 媒体保留天数"
    )
    history_days: int = Field(
        default=0, ge=0, description="Notices and step events go after; 0: COMIC_HISTORY_DAYS. 记录保留天数"
    )


@dg.op(
    name="remove_unused",
    required_resource_keys={"workshop"},
    description="Removes superseded media, temporary files, old notices and Dagster's old step events; its output says what.",
)
def remove_unused(context: dg.OpExecutionContext, config: CleanUpConfig) -> dg.Output[None]:
    """One clean-up; safe to stop and to repeat."""
    workshop: Workshop = context.resources.workshop
    now, history_days = datetime.now(UTC), config.history_days or workshop.settings.history_days
    cleaner = Cleaner(
        workshop.database,
        workshop.objects,
        now=now,
        media_days=config.media_days or workshop.settings.cleanup_days,
        history_days=history_days,
        dry_run=config.dry_run,
    )
    before = now - timedelta(days=history_days)
    found = [*cleaner.clean(), reap(context.instance, before=before, dry_run=config.dry_run)]
    return dg.Output(None, metadata=_metadata(found, dry_run=config.dry_run))


@dg.job(
    name="clean_up",
    tags=_TAGS,
    description="Housekeeping. Reports by default; set dry_run to false to delete. Published films are never touched.",
)
def clean_up() -> None:
    """The job around the op."""
    remove_unused()


@dg.schedule(
    name="clean_up_daily",
    job=clean_up,
    cron_schedule="30 4 * * *",
    execution_timezone="Asia/Shanghai",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Before the day begins in Shanghai. Deletes only with COMIC_CLEANUP=delete.",
)
def clean_up_daily(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """One run a day, however often the tick is repeated."""
    settings = load_settings()
    day = context.scheduled_execution_time.date().isoformat()
    # With its numbers: a run in a container of its own does not know every setting.
    config = {
        "dry_run": settings.cleanup is not Cleanup.DELETE,
        "media_days": settings.cleanup_days,
        "history_days": settings.history_days,
    }
    return dg.RunRequest(run_key=day, run_config={"ops": {"remove_unused": {"config": config}}})


def _metadata(found: list[Found], *, dry_run: bool) -> Metadata:
    rows = [dg.TableRecord({"what": one.what, "how many": one.count, "bytes": one.size}) for one in found]
    return {
        "dry_run": dg.MetadataValue.bool(dry_run),
        "found" if dry_run else "removed": dg.MetadataValue.table(records=rows),
        "bytes": dg.MetadataValue.int(sum(one.size for one in found)),
    }
