"""The job as Dagster runs it, its schedule, and what it does to Dagster's own rows, on SQLite and Postgres."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline.cleaning import Found
from comic_pipeline.defs.cleaning import clean_up, clean_up_daily
from comic_pipeline.defs.reaping import reap
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store.database import Database
from comic_pipeline.work.clock import SystemClock
from comic_pipeline_tests.postgres import PostgresServer

SOON = datetime.now(UTC) + timedelta(hours=1)


@dg.asset
def sample() -> dg.MaterializeResult[None]:
    """Something with a lineage."""
    return dg.MaterializeResult(metadata={"frames": 3})


@dg.asset_check(asset=sample)
def sample_qc() -> dg.AssetCheckResult:
    """And a verdict."""
    return dg.AssetCheckResult(passed=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """A Dagster instance with one run that has ended."""
    home = tmp_path / "dagster"
    home.mkdir()
    storage = ""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.create_database("dagster_rows").replace("postgresql+psycopg2://", "postgresql://")
        storage = f"storage: {{postgres: {{postgres_url: '{url}'}}}}"
    (home / "dagster.yaml").write_text(f"telemetry: {{enabled: false}}\n{storage}\n")
    with dg.DagsterInstance.from_config(str(home)) as opened:
        assert dg.materialize([sample, sample_qc], instance=opened).success
        yield opened


def _types(instance: dg.DagsterInstance) -> set[str | None]:
    (run,) = instance.get_runs()
    return {entry.dagster_event_type.value if entry.dagster_event_type else None for entry in instance.all_logs(run.run_id)}


def test_lineage_outlives_the_steps(instance: dg.DagsterInstance) -> None:
    """Step and log events go; materialization, check, run record and the run's states stay and are found as before."""
    before = _types(instance)
    assert {"STEP_START", "ENGINE_EVENT", "LOGS_CAPTURED"} & before
    young = reap(instance, before=datetime.now(UTC) - timedelta(hours=1), dry_run=False)
    assert young.count == 0
    said = reap(instance, before=SOON, dry_run=True)
    assert _types(instance) == before
    done = reap(instance, before=SOON, dry_run=False)
    assert done == said
    assert done.count > 5
    assert done.size > 1_000
    assert reap(instance, before=SOON, dry_run=False) == Found(done.what, 0, 0)
    kept = _types(instance)
    assert {"ASSET_MATERIALIZATION", "ASSET_CHECK_EVALUATION", "PIPELINE_START", "PIPELINE_SUCCESS"} <= kept
    assert not {"STEP_START", "STEP_OUTPUT", "ENGINE_EVENT", None} & kept
    event = instance.get_latest_materialization_event(sample.key)
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["frames"].value == 3
    history = instance.event_log_storage.get_asset_check_execution_history(sample_qc.check_key, limit=5)
    assert [one.status.value for one in history] == ["SUCCEEDED"]
    (run,) = instance.get_runs()
    assert run.status is dg.DagsterRunStatus.SUCCESS


@pytest.mark.parametrize("dry_run", [None, False])
def test_the_job_reports_until_it_is_told_to_delete(database: Database, tmp_path: Path, *, dry_run: bool | None) -> None:
    """Started with the launchpad's defaults it touches nothing; its output says what, how many and how many bytes."""
    workshop = Workshop(load_settings(), database, FolderStore(tmp_path, media_url=""), SystemClock())
    partial = tmp_path / ".0123456789abcdef.part"
    partial.write_bytes(b"half")
    long_ago = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    os.utime(partial, (long_ago, long_ago))
    config = {} if dry_run is None else {"ops": {"remove_unused": {"config": {"dry_run": dry_run}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        done = clean_up.execute_in_process(run_config=config, resources={"workshop": workshop}, instance=instance)
        (output,) = [event for event in done.all_events if event.event_type_value == "STEP_OUTPUT"]
    metadata = output.step_output_data.metadata
    assert metadata["dry_run"].value is (dry_run is None)
    table = metadata["found" if dry_run is None else "removed"]
    assert isinstance(table, dg.TableMetadataValue)
    rows = {row.data["what"]: row.data for row in table.records}
    assert rows["unfinished writes"] == {"what": "unfinished writes", "how many": 1, "bytes": 4}
    assert partial.exists() is (dry_run is None)


@pytest.mark.parametrize(("setting", "dry_run"), [("", True), ("report", True), ("delete", False)])
def test_the_schedule_deletes_only_by_the_setting(monkeypatch: pytest.MonkeyPatch, setting: str, *, dry_run: bool) -> None:
    """One run a day; the queue of the clean-up, behind all films."""
    monkeypatch.setenv("COMIC_CLEANUP", setting)
    monkeypatch.setenv("COMIC_CLEANUP_DAYS", "45")
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 3, 10, 20, 30, tzinfo=UTC))
    tick = clean_up_daily.evaluate_tick(context)
    (request,) = tick.run_requests or []
    config = {"dry_run": dry_run, "media_days": 45, "history_days": 90}
    assert request.run_config == {"ops": {"remove_unused": {"config": config}}}
    assert (clean_up.tags["comic/queue"], clean_up.tags["dagster/priority"]) == ("cleanup_queue", "0")
    assert clean_up_daily.default_status is dg.DefaultScheduleStatus.RUNNING
