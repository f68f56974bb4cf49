"""Alerts: watched, raised and cleared, each at most once, and told about in the same transaction.

Belongs here: the rows of `alerts`. Does not: deciding (`model/alerting.py`), measuring (`readings.py`).
"""

from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from comic_pipeline.model.alerting import Act, Alert, Step
from comic_pipeline.model.notice import NoticeEvent, notice_of_alert
from comic_pipeline.store import notifications
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import alerts


def open_alerts(connection: Connection) -> list[Alert]:
    """Alerts that are raised or watched, oldest first."""
    return _found(connection, select(alerts).where(alerts.c.cleared_at.is_(None)).order_by(alerts.c.id))


def apply(connection: Connection, step: Step, *, now: datetime) -> bool:
    """Carry out one step. False when another evaluation has done it already: then nothing is said twice."""
    if step.act is Act.FORGET:
        gone = delete(alerts).where(alerts.c.id == step.alert_id, alerts.c.raised_at.is_(None))
        return connection.execute(gone).rowcount == 1
    if step.act is Act.CLEAR:
        return _change(connection, step, now=now, event=NoticeEvent.ALERT_CLEARED)
    if step.alert_id is None:
        return _begin(connection, step, now=now)
    return _change(connection, step, now=now, event=NoticeEvent.ALERT_RAISED)


def count_cleared(connection: Connection, before: datetime) -> int:
    """How many alerts were cleared before that time."""
    return int(connection.execute(select(func.count()).select_from(alerts).where(alerts.c.cleared_at < before)).scalar_one())


def drop_cleared(connection: Connection, before: datetime) -> int:
    """Delete alerts that were cleared before that time."""
    return connection.execute(delete(alerts).where(alerts.c.cleared_at < before)).rowcount


def _begin(connection: Connection, step: Step, *, now: datetime) -> bool:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(alerts).values(
        rule=step.rule, subject=step.subject, since=now, raised_at=now if step.act is Act.RAISE else None, **_measured(step)
    )
    free = {"index_elements": ["rule", "subject"], "index_where": alerts.c.cleared_at.is_(None)}
    row = connection.execute(statement.on_conflict_do_nothing(**free).returning(alerts)).mappings().one_or_none()
    if row is not None and step.act is Act.RAISE:
        _tell(connection, read_row(Alert, row), NoticeEvent.ALERT_RAISED, now=now)
    return row is not None


def _change(connection: Connection, step: Step, *, now: datetime, event: NoticeEvent) -> bool:
    raising = event is NoticeEvent.ALERT_RAISED
    was = alerts.c.raised_at.is_(None) if raising else alerts.c.raised_at.is_not(None)
    row = (
        connection.execute(
            update(alerts)
            .where(alerts.c.id == step.alert_id, alerts.c.cleared_at.is_(None), was)
            .values(**{"raised_at" if raising else "cleared_at": now}, **_measured(step))
            .returning(alerts)
        )
        .mappings()
        .one_or_none()
    )
    if row is not None:
        _tell(connection, read_row(Alert, row), event, now=now)
    return row is not None


def _tell(connection: Connection, alert: Alert, event: NoticeEvent, *, now: datetime) -> None:
    notifications.add(connection, notice_of_alert(alert, event, now=now), now=now)


def _measured(step: Step) -> dict[str, object]:
    return {"value": step.value, "limit": step.limit, "message_zh": step.zh, "message_en": step.en}


def _found(connection: Connection, statement: object) -> list[Alert]:
    return [read_row(Alert, row) for row in connection.execute(statement).mappings()]  # type: ignore[call-overload]  # a Select
