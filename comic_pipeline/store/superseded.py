"""What the ledger still needs of the object store, and how it lets go of the rest.

Belongs here: rows. Does not: objects, and deciding what goes (`cleaning.py`).
"""

import json
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, func, literal, select, update

from comic_pipeline.model.task import Attempt, AttemptState, TaskStatus
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import attempts, reviews, tasks

_RETIRED = "removed:"
# Of the 64 characters of the column, what prefix and task id (36) leave for the beginning of the old hash.
_KEPT = 64 - len(_RETIRED) - 36
# Postgres and SQLite both take far more; one statement stays readable in a log.
_AT_ONCE = 500


def outputs_in_use(connection: Connection, project_id: str) -> set[str]:
    """Keys that the ledger's newest finished wish for each piece gave; a retry or a redo takes them from there for free."""
    newest = func.row_number().over(
        partition_by=(tasks.c.task_type, tasks.c.shot_seq),
        order_by=(tasks.c.created_at.desc(), tasks.c.take.desc(), tasks.c.task_id),
    )
    ranked = (
        select(tasks.c.output_asset_id, newest.label("rank"))
        .where(tasks.c.project_id == project_id, tasks.c.status == TaskStatus.SUCCESS)
        .subquery()
    )
    return set(connection.execute(select(ranked.c.output_asset_id).where(ranked.c.rank == 1)).scalars())


def reviewed_films(connection: Connection, project_id: str) -> set[str]:
    """SHA-256 of the films that somebody has judged: what was judged must stay to be shown."""
    return set(connection.execute(select(reviews.c.film_sha256).where(reviews.c.project_id == project_id)).scalars())


def retire(connection: Connection, project_id: str, keys: Iterable[str]) -> int:
    """Let no later wish find the tasks that gave these outputs: it would be answered with bytes that are gone.

    Their rows, costs and attempts stay as they are; only the hash by which they are found changes. Returns how many there were.
    """
    listed, retired = list(keys), 0
    for begin in range(0, len(listed), _AT_ONCE):
        done = connection.execute(
            update(tasks)
            .where(
                tasks.c.project_id == project_id,
                tasks.c.status == TaskStatus.SUCCESS,
                tasks.c.output_asset_id.in_(listed[begin : begin + _AT_ONCE]),
                tasks.c.input_hash.not_like(f"{_RETIRED}%"),
            )
            # With the task's id in it: a wish that was made anew and superseded again must not meet its own older row here.
            .values(input_hash=literal(_RETIRED).concat(tasks.c.task_id).concat(func.substr(tasks.c.input_hash, 1, _KEPT)))
        )
        retired += done.rowcount
    return retired


def creates_without_a_word(connection: Connection) -> list[Attempt]:
    """Attempts whose answer may lie staged although no row says so: the process died, or lost the database, in between."""
    statement = select(attempts).where(attempts.c.state == AttemptState.INTENT)
    return [read_row(Attempt, row) for row in connection.execute(statement).mappings()]


def staged_in_use(connection: Connection, keys: Collection[str]) -> set[str]:
    """Which of these staged answers an attempt still points at: they are paid and not yet stored under their final names."""
    if not keys:
        return set()
    results = connection.execute(select(attempts.c.result).where(attempts.c.result.is_not(None))).scalars()
    return {staged for staged in (json.loads(result).get("staged") for result in results) if staged in keys}
