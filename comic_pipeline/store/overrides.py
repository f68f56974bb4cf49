"""What operators changed in single shots. Append-only: the latest value of a field holds, the older ones are history."""

from datetime import datetime

from sqlalchemy import Connection, select

from comic_pipeline.model.storyboard import OverrideField, Overrides, ShotOverride
from comic_pipeline.store.schema import shot_overrides


def add(  # one argument a column
    connection: Connection, project_id: str, *, seq: int, field: OverrideField, value: str, by: str, now: datetime
) -> None:
    """Override one field of one shot from now on."""
    connection.execute(shot_overrides.insert().values(project_id=project_id, seq=seq, field=field, value=value, by=by, at=now))


def load(connection: Connection, project_id: str) -> Overrides:
    """The overrides in force."""
    statement = select(shot_overrides).where(shot_overrides.c.project_id == project_id).order_by(shot_overrides.c.id)
    latest: dict[tuple[int, OverrideField], ShotOverride] = {}
    for row in connection.execute(statement).mappings():
        field = OverrideField(row["field"])
        latest[row["seq"], field] = ShotOverride(seq=row["seq"], field=field, value=row["value"])
    return Overrides(items=tuple(latest.values()))
