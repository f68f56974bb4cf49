"""The daily report over a day made by hand: every number, midnight in Shanghai, an empty day, the same bytes again."""

import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from arro3.io import read_parquet
from PIL import Image
from sqlalchemy import Connection, update

from comic_pipeline.daily_report import draw, report_day
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.ledger import Worker
from comic_pipeline.model.production import PRODUCTION_COLUMNS, ProductionRow
from comic_pipeline.model.task import AttemptKind, TaskStatus, TaskType
from comic_pipeline.model.verdict import Severity, Verdict
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.store import attempts, ledger, projects, schema, verdicts
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_frame, a_picture, a_project, begin_project
from comic_pipeline_tests.contracts.store.acts import begin, claimed

DAY = date(2026, 3, 10)
# The day of Shanghai: from 16:00 UTC of the day before.
MIDNIGHT = datetime(2026, 3, 9, 16, tzinfo=UTC)
BEFORE, AFTER = MIDNIGHT - timedelta(microseconds=1), MIDNIGHT + timedelta(days=1)
LAST = AFTER - timedelta(microseconds=1)
BAR, CHART = (46, 106, 158), 400
NOON = MIDNIGHT + timedelta(hours=12)


@pytest.fixture
def objects(tmp_path: Path) -> FolderStore:
    """An empty store."""
    return FolderStore(tmp_path / "objects", media_url="/logs/objects")


def _project(connection: Connection, name: str, *, begun: datetime, ended: datetime | None, state: ProjectState) -> None:
    projects.insert(connection, a_project(name, user_id=name, status=state, created_at=begun, updated_at=begun))
    connection.execute(update(schema.projects).where(schema.projects.c.id == name).values(finished_at=ended))


def _make(connection: Connection, worker: Worker, seq: int, at: datetime, seconds: float, **facts: Any) -> None:
    """One task, sent `at` and finished `seconds` later, for ¥0.25."""
    sent = json.dumps({"model": "seedream"})
    task = claimed(connection, a_frame(seq=seq, input_json=sent, **facts), worker, at=at)
    end = at + timedelta(seconds=seconds)
    attempts.mark_succeeded(connection, begin(connection, task, at=at), cost=Decimal("0.25"), result="{}", now=end)
    ledger.succeed(connection, task.task_id, a_picture(), now=end)


def _judge(connection: Connection, check: str, at: datetime, *, passed: bool, by: str | None = None) -> None:
    verdict = Verdict(
        project_id="p1", asset="x", check=check, run_id="r", data_version="v", passed=passed, severity=Severity.ERROR,
        numbers="[]", override_by=by, override_reason=by, at=at,
    )  # fmt: skip
    verdicts.record(connection, verdict)


def _fill(database: Database) -> None:
    """A day with something of everything, and the same things just outside of it."""
    with database.write() as connection:
        worker = begin_project(connection, a_project("p1", created_at=MIDNIGHT))
        _project(connection, "p2", begun=LAST, ended=LAST, state=ProjectState.FAILED)
        _project(connection, "p3", begun=BEFORE, ended=MIDNIGHT, state=ProjectState.PENDING_REVIEW)
        _project(connection, "p4", begun=AFTER, ended=AFTER, state=ProjectState.FAILED)
        _project(connection, "p5", begun=BEFORE, ended=BEFORE, state=ProjectState.CANCELLED)
        for passed in (True, True, False):
            _judge(connection, "frame_images_qc", NOON, passed=passed)
        _judge(connection, "frame_images_qc", LAST, passed=True, by="ann")
        _judge(connection, "clips_qc", BEFORE, passed=False)
        _judge(connection, "clips_qc", AFTER, passed=False)
        for seq, seconds in enumerate((10, 20, 40, 100)):
            _make(connection, worker, seq, MIDNIGHT, seconds)
        _make(connection, worker, 10, BEFORE - timedelta(hours=1), 60)
        _make(connection, worker, 11, AFTER, 60)
        # Sent before midnight, done after it: its cost is of the day before, its length of this one.
        _make(connection, worker, 12, BEFORE, 30.5, task_type=TaskType.CLIP, provider_id="ark_video")
        _struggle(connection, worker)


def _struggle(connection: Connection, worker: Worker) -> None:
    """A voice that is refused, goes again, is repaired, lost, and ends without output."""
    sent = json.dumps({"model": "seed-tts"})
    wish = a_frame(seq=0, task_type=TaskType.VOICE_LINE, provider_id="openspeech_voice", input_json=sent)
    task = claimed(connection, wish, worker, at=NOON)
    attempts.mark_failed(connection, begin(connection, task, at=NOON), http_status=503, provider_code="busy", now=NOON)
    ledger.postpone(connection, task.task_id, code=ErrorCode.PROVIDER_ERROR, message="busy", not_before=NOON)
    task = claimed(connection, wish, worker, at=NOON)
    attempts.mark_succeeded(connection, begin(connection, task, at=NOON), cost=Decimal("0.000003"), result="{}", now=NOON)
    lost = begin(connection, task, at=NOON, estimate="0.1", kind=AttemptKind.REPAIR)
    attempts.mark_unknown(connection, lost, now=NOON)
    ledger.end(connection, task.task_id, status=TaskStatus.FAILED, code=ErrorCode.PROVIDER_ERROR, message="no", now=NOON)


EXPECTED = {
    ("projects", "started", None, None, "count"): ("2", "projects"),
    ("projects", "PENDING_REVIEW", None, None, "count"): ("1", "projects"),
    ("projects", "FAILED", None, None, "count"): ("1", "projects"),
    ("gates", "frame_images_qc", None, None, "given"): ("3", "verdicts"),
    ("gates", "frame_images_qc", None, None, "passed"): ("2", "verdicts"),
    ("gates", "frame_images_qc", None, None, "pass_rate"): ("0.666667", "share"),
    ("gates", "frame_images_qc", None, None, "overridden"): ("1", "verdicts"),
    ("costs", "frame_image", "ark_image", "seedream", "creates"): ("4", "creates"),
    ("costs", "frame_image", "ark_image", "seedream", "failed"): ("0", "creates"),
    ("costs", "frame_image", "ark_image", "seedream", "lost"): ("0", "creates"),
    ("costs", "frame_image", "ark_image", "seedream", "cost"): ("1", "CNY"),
    ("costs", "voice_line", "openspeech_voice", "seed-tts", "creates"): ("3", "creates"),
    ("costs", "voice_line", "openspeech_voice", "seed-tts", "failed"): ("1", "creates"),
    ("costs", "voice_line", "openspeech_voice", "seed-tts", "lost"): ("1", "creates"),
    ("costs", "voice_line", "openspeech_voice", "seed-tts", "cost"): ("0.100003", "CNY"),
    ("latencies", "clip", None, None, "count"): ("1", "tasks"),
    ("latencies", "clip", None, None, "median"): ("30.5", "s"),
    ("latencies", "clip", None, None, "p95"): ("30.5", "s"),
    ("latencies", "frame_image", None, None, "count"): ("4", "tasks"),
    ("latencies", "frame_image", None, None, "median"): ("30", "s"),
    ("latencies", "frame_image", None, None, "p95"): ("100", "s"),
    ("retries", "clip", None, None, "tasks"): ("1", "tasks"),
    ("retries", "clip", None, None, "without_output"): ("0", "tasks"),
    ("retries", "clip", None, None, "rounds"): ("0", "rounds"),
    ("retries", "clip", None, None, "creates_again"): ("0", "creates"),
    ("retries", "clip", None, None, "repairs"): ("0", "creates"),
    ("retries", "frame_image", None, None, "tasks"): ("4", "tasks"),
    ("retries", "frame_image", None, None, "without_output"): ("0", "tasks"),
    ("retries", "frame_image", None, None, "rounds"): ("0", "rounds"),
    ("retries", "frame_image", None, None, "creates_again"): ("0", "creates"),
    ("retries", "frame_image", None, None, "repairs"): ("0", "creates"),
    ("retries", "voice_line", None, None, "tasks"): ("1", "tasks"),
    ("retries", "voice_line", None, None, "without_output"): ("1", "tasks"),
    ("retries", "voice_line", None, None, "rounds"): ("1", "rounds"),
    ("retries", "voice_line", None, None, "creates_again"): ("1", "creates"),
    ("retries", "voice_line", None, None, "repairs"): ("1", "creates"),
}


def test_every_number_of_a_day_is_right_to_the_border(database: Database, objects: FolderStore) -> None:
    """Read back from the Parquet file: what was at midnight in Shanghai belongs to the day that begins, and to no other."""
    _fill(database)
    table = read_parquet(objects.get(report_day(database, objects, DAY).table.key)).read_all()
    meanings = {name: table.schema.field(name).metadata_str["meaning"] for name in table.column_names}
    assert list(meanings.items()) == [(name, meaning) for name, _, meaning in PRODUCTION_COLUMNS]
    rows = list(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))
    assert {row[0] for row in rows} == {DAY}
    found = {row[1:6]: (row[6], row[7]) for row in rows}
    assert len(found) == len(rows)
    assert found == {key: (Decimal(value), unit) for key, (value, unit) in EXPECTED.items()}


def test_the_same_day_gives_the_same_bytes(database: Database, objects: FolderStore) -> None:
    """A partition that is made again replaces its files by equal ones; another day leaves them alone."""
    _fill(database)
    first = report_day(database, objects, DAY)
    report_day(database, objects, DAY + timedelta(days=1))
    second = report_day(database, objects, DAY)
    assert (first.table, first.chart) == (second.table, second.chart)
    assert len([one.key for one in objects.list("reports/")]) == 4


def test_an_empty_day_has_an_empty_table_and_a_chart_that_says_so(database: Database, objects: FolderStore) -> None:
    """No rows is an answer: all columns are there, the picture opens and is smaller than that of a day with numbers."""
    empty = report_day(database, objects, DAY)
    table = read_parquet(objects.get(empty.table.key)).read_all()
    assert table.column_names == [name for name, _, _ in PRODUCTION_COLUMNS]
    assert table.num_rows == 0
    blank = Image.open(io.BytesIO(objects.get(empty.chart.key)))
    _fill(database)
    full = Image.open(io.BytesIO(objects.get(report_day(database, objects, DAY).chart.key)))
    assert (blank.format, blank.width, full.width) == ("PNG", 960, 960)
    assert blank.height < full.height


def test_bars_are_as_long_as_their_numbers() -> None:
    """Two projects begun and one failed: half as long. A share is measured against the whole: 0.75 fills three quarters."""
    numbers = (("projects", "started", 2), ("projects", "FAILED", 1), ("gates", "clips_qc", "0.75"))
    measures = {"projects": "count", "gates": "pass_rate"}
    rows = [ProductionRow(DAY, topic, name, None, None, measures[topic], Decimal(value), "") for topic, name, value in numbers]
    chart = Image.open(io.BytesIO(draw(DAY, rows))).convert("RGB")
    lines = [chart.crop((0, y, chart.width, y + 1)).getcolors(chart.width) or [] for y in range(chart.height)]
    lengths = [number for line in lines for number, colour in line if colour == BAR]
    assert sorted(set(lengths)) == [CHART // 2, CHART * 3 // 4, CHART]
