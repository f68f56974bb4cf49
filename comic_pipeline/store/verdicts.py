"""Verdicts of checks. Append-only; the latest for a check holds, and an override is a verdict of its own."""

from sqlalchemy import Connection, select

from comic_pipeline.model.verdict import Verdict
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import verdicts


def record(connection: Connection, verdict: Verdict) -> None:
    """Store one verdict."""
    connection.execute(verdicts.insert().values(**verdict.model_dump()))


def of_run(connection: Connection, project_id: str, *, run_id: str) -> dict[tuple[str, str], Verdict]:
    """The verdicts that one run gave, by (asset, check); the latest where a check ran twice."""
    statement = select(verdicts).where(verdicts.c.project_id == project_id, verdicts.c.run_id == run_id).order_by(verdicts.c.id)
    rows = (read_row(Verdict, row) for row in connection.execute(statement).mappings())
    return {(row.asset, row.check): row for row in rows}


def of_version(connection: Connection, project_id: str, *, check: str, data_version: str) -> Verdict | None:
    """The verdict in force about one version of the data."""
    statement = (
        select(verdicts)
        .where(verdicts.c.project_id == project_id, verdicts.c["check"] == check, verdicts.c.data_version == data_version)
        .order_by(verdicts.c.id.desc())
        .limit(1)
    )
    row = connection.execute(statement).mappings().one_or_none()
    return None if row is None else read_row(Verdict, row)


def latest(connection: Connection, project_id: str) -> list[Verdict]:
    """The verdict in force of every check of a project, oldest check first."""
    statement = select(verdicts).where(verdicts.c.project_id == project_id).order_by(verdicts.c.id)
    rows = (read_row(Verdict, row) for row in connection.execute(statement).mappings())
    return list({(row.asset, row.check): row for row in rows}.values())
