"""Where projects stand, as GraphQL readers and the UI see it: the external asset `project_status`.

Belongs here: the asset, its materializations, the sensor that tells what changed. Does not: computing the status (`status.py`).

Dagster's own records cannot say it: whether a failed run is followed by another round, or a film waits for review, is known to
the tables alone. A job that answers would cost a process (2.4 s of CPU, 115 MB) a look; this costs an event a change and a query
a look.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Self

import dagster as dg
from pydantic import BaseModel, ConfigDict, ValidationError

from comic_pipeline.defs.metadata import Metadata
from comic_pipeline.defs.owners import OPERATIONS
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.model.task import hash_of
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.status import ProjectReport, report_of
from comic_pipeline.store.database import Connection
from comic_pipeline.store.views import ProjectProgress, moving

# Reports in one evaluation: the first one after an upgrade finds every project there is.
TELL_AT_MOST = 100
# Clocks of several machines differ, and a transaction is seen a moment after the time that it writes.
_OVERLAP = timedelta(seconds=60)

PROJECT_STATUS = dg.AssetSpec(
    "project_status",
    partitions_def=PROJECTS,
    group_name="projects",
    owners=[OPERATIONS],
    kinds={"json"},
    code_version="1",
    description="Where each project stands: state, progress, cost, errors, film. Told by `status_sensor` and the operator jobs "
    "whenever it changes; `report` is the whole of it as JSON.",
)


class Told(BaseModel):
    """The sensor's cursor: up to when changes were told, and what was told of projects that may change without moving."""

    model_config = ConfigDict(frozen=True)

    since: datetime | None = None
    digests: dict[str, str] = {}

    @classmethod
    def read(cls, cursor: str | None) -> Self:
        """The cursor, or that of the first evaluation: anybody may set it in the UI, and telling twice does no harm."""
        try:
            return cls.model_validate_json(cursor or "{}")
        except ValidationError:
            return cls()

    def news(self, rows: Iterable[ProjectProgress]) -> list[ProjectProgress]:
        """Those of `rows` that differ from what was told."""
        return [row for row in rows if self.digests.get(row.project_id) != _digest(row)]

    def after(self, rows: list[ProjectProgress], untold: list[ProjectProgress]) -> Self:
        """The cursor once all `rows` were told but the `untold`, which come next time."""
        late = {row.project_id for row in untold}
        moments = [row.updated_at for row in untold or rows]
        reached = min(moments) if untold else max(moments, default=None)
        since = max((moment for moment in (self.since, reached) if moment is not None), default=None)
        told = {row.project_id: _digest(row) for row in rows if row.project_id not in late}
        return type(self)(since=since, digests=told)


@dg.sensor(
    name="status_sensor",
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"workshop"},
    description="Tells changes of projects to the asset project_status, for the UI and for readers over GraphQL.",
)
def status_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """One look. The cursor moves only after Dagster has stored the events."""
    workshop: Workshop = context.resources.workshop
    told = Told.read(context.cursor)
    with workshop.database.read() as connection:
        rows = moving(connection, since=None if told.since is None else told.since - _OVERLAP)
        news = told.news(rows)
        events = [status_event(workshop, connection, row.project_id) for row in news[:TELL_AT_MOST]]
    cursor = told.after(rows, news[TELL_AT_MOST:]).model_dump_json()
    return dg.SensorResult(asset_events=events, cursor=cursor)


def status_event(workshop: Workshop, connection: Connection, project_id: str) -> dg.AssetMaterialization:
    """Where a project stands now, as a materialization of its partition. Raises Refused(NOT_FOUND)."""
    report = report_of(connection, project_id, workshop.settings, link=workshop.objects.url, now=datetime.now(UTC))
    return dg.AssetMaterialization(PROJECT_STATUS.key, partition=project_id, metadata=_shown(report))


def _shown(report: ProjectReport) -> Metadata:
    film = dg.MetadataValue.md(f"[{report.film}]({report.film_url})") if report.film else dg.MetadataValue.text("none yet")
    return {
        "status": dg.MetadataValue.text(f"{report.status}: {report.words_en} / {report.words_zh}"),
        "title": dg.MetadataValue.text(report.title),
        "progress": dg.MetadataValue.int(report.progress),
        "cost_cny": dg.MetadataValue.float(float(report.cost)),
        "error": dg.MetadataValue.text(f"{report.error_code}: {report.error_message}" if report.error_code else "none"),
        "film": film,
        "report": dg.MetadataValue.json(report.model_dump(mode="json")),
    }


def _digest(row: ProjectProgress) -> str:
    return hash_of(row.model_dump(mode="json"))[:12]
