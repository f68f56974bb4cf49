"""Dagster's old event rows, by way of its own storage: one table on Postgres, one file a run on SQLite."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg

# Dagster prunes no event rows and exports no storage class: this is the only way to its tables that follows its own schema.
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from comic_pipeline.cleaning import Found
from comic_pipeline.store.dagster_events import compact, count_old, drop_old
from comic_pipeline.store.database import Connection

_WHAT = "Dagster's old step and log events"


def reap(instance: dg.DagsterInstance, *, before: datetime, dry_run: bool) -> Found:
    """Remove log lines and step events from before that time, and nothing that lineage or run history is made of."""
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):
        parts = [_reap_file(storage, run_id, before, dry_run=dry_run) for run_id in _old_runs(instance, before)]
        return Found(_WHAT, sum(part.count for part in parts), sum(part.size for part in parts))
    if isinstance(storage, SqlEventLogStorage):
        return _reap(storage.index_connection, before, dry_run=dry_run)
    return Found(f"{_WHAT}: not in SQL", 0, 0)


def _old_runs(instance: dg.DagsterInstance, before: datetime) -> list[str]:
    # Files of runs that may still write are left alone.
    old = dg.RunsFilter(statuses=FINISHED_STATUSES, updated_before=before)
    return [run.run_id for run in instance.get_runs(filters=old)]


def _reap_file(storage: SqliteEventLogStorage, run_id: str, before: datetime, *, dry_run: bool) -> Found:
    path = Path(storage.path_for_shard(run_id))
    if not path.is_file():
        return Found(_WHAT, 0, 0)
    found = _reap(lambda: storage.run_connection(run_id), before, dry_run=dry_run)
    if found.count and not dry_run:
        compact(path)
    return found


def _reap(connect: Callable[[], AbstractContextManager[Any]], before: datetime, *, dry_run: bool) -> Found:
    with _transaction(connect) as connection:
        count, size = count_old(connection, before)
    gone = 0
    while count and not dry_run:
        # Short transactions: Dagster goes on writing to the same table.
        with _transaction(connect) as connection:
            dropped = drop_old(connection, before)
        gone += dropped
        if not dropped:
            return Found(_WHAT, gone, size)
    return Found(_WHAT, count, size)


@contextmanager
def _transaction(connect: Callable[[], AbstractContextManager[Any]]) -> Iterator[Connection]:
    with connect() as connection:
        if connection.in_transaction():
            yield connection
        else:
            with connection.begin():
                yield connection
