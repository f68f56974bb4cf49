"""The report of one day: its numbers as Parquet and as a picture on the object store.

Belongs here: putting reading, counting, writing and drawing together. Does not: what is counted (`model/production.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import date

from comic_pipeline.media.chart import Bar, Panel, bar_chart
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.production import PRODUCTION_COLUMNS, ProductionRow, rows_of
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.objects.parquet import write_parquet
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.store.database import Database
from comic_pipeline.store.production import facts_of_day

FOLDER = "reports/daily_production"


@dataclass(frozen=True)
class DailyReport:
    """One day's numbers and where they lie. A day that is reported again replaces its two files."""

    day: date
    rows: tuple[ProductionRow, ...]
    table: MediaRef
    chart: MediaRef


def report_day(database: Database, objects: ObjectStore, day: date) -> DailyReport:
    """Count the day (of Asia/Shanghai) and store it; the same tables give the same bytes. Raises StorageFault."""
    with database.read() as connection:
        rows = rows_of(facts_of_day(connection, day))
    table = write_parquet(PRODUCTION_COLUMNS, [astuple(row) for row in rows])
    return DailyReport(
        day=day,
        rows=rows,
        table=_stored(objects, f"{FOLDER}/{day.isoformat()}.parquet", table, mime="application/vnd.apache.parquet"),
        chart=_stored(objects, f"{FOLDER}/{day.isoformat()}.png", draw(day, rows), mime="image/png"),
    )


def draw(day: date, rows: Sequence[ProductionRow]) -> bytes:
    """The day as a PNG: projects, gates, costs, latencies, retries."""
    panels = (
        _panel("作品 / Projects", rows, ("projects", "count"), lambda row: f"{row.value:.0f}"),
        _panel("质检通过率 / Pass rate by gate", rows, ("gates", "pass_rate"), lambda row: f"{100 * row.value:.1f} %", full=1),
        _panel("花费 / Cost by provider and model, CNY", rows, ("costs", "cost"), lambda row: f"{row.value:.2f}"),
        _panel("耗时中位数 / Median of task times, s", rows, ("latencies", "median"), lambda row: f"{row.value:.1f} s"),
        _panel("耗时 P95 / 95th percentile, s", rows, ("latencies", "p95"), lambda row: f"{row.value:.1f} s"),
        _panel("重试 / Creates made again", rows, ("retries", "creates_again"), lambda row: f"{row.value:.0f}"),
    )
    return bar_chart(f"{day.isoformat()} 产量日报 / Daily production", panels, nothing="无 / nothing")


def _panel(
    heading: str, rows: Sequence[ProductionRow], of: tuple[str, str], words: Callable[[ProductionRow], str], *, full: float = 0.0
) -> Panel:
    shown = [row for row in rows if (row.topic, row.measure) == of]
    return Panel(heading, tuple(Bar(_label(row), float(row.value), words(row)) for row in shown), full)


def _label(row: ProductionRow) -> str:
    return row.subject if row.provider is None else f"{row.provider} · {row.model}"


def _stored(objects: ObjectStore, key: str, data: bytes, *, mime: str) -> MediaRef:
    objects.put(key, data, mime=mime)
    return MediaRef(key=key, sha256=sha256_hex(data), size=len(data), mime=mime)
