"""The outbox: notices written with the change that they tell of, taken under a lease, sent at least once, in order of stream.

Belongs here: the rows of `notifications`. Does not: bodies (`model/notice.py`), signing and sending (`notify/`).
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.elements import ColumnElement

from comic_pipeline.model.notice import NewNotice, Notice, NoticeStatus
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import notifications

# What a driver or a server may say, cut to what a person reads.
_ERROR_MAX_CHARS = 300


def add(connection: Connection, new: NewNotice, *, now: datetime) -> None:
    """Store a notice, once: its event id is unique, and a second one is the same event."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(notifications).values(**new.model_dump(), status=NoticeStatus.NEW, created_at=now)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["event_id"]))


def due_ids(connection: Connection, *, now: datetime, limit: int) -> list[int]:
    """Ids of notices that may be sent now: the first unsent one of each stream, when it waits for nothing and nobody has it."""
    earlier = notifications.alias("earlier")
    first = ~exists().where(
        earlier.c.stream == notifications.c.stream, earlier.c.status == NoticeStatus.NEW, earlier.c.id < notifications.c.id
    )
    statement = select(notifications.c.id).where(_free(now), first).order_by(notifications.c.id).limit(limit)
    return list(connection.execute(statement).scalars())


def take(connection: Connection, notice_id: int, *, holder: str, now: datetime, seconds: float) -> Notice | None:
    """Have the notice alone for `seconds`, and count the try. None when somebody else was first."""
    row = (
        connection.execute(
            update(notifications)
            .where(notifications.c.id == notice_id, _free(now))
            .values(tries=notifications.c.tries + 1, lease_owner=holder, lease_expires_at=now + timedelta(seconds=seconds))
            .returning(notifications)
        )
        .mappings()
        .one_or_none()
    )
    return None if row is None else read_row(Notice, row)


def mark_sent(connection: Connection, notice_id: int, *, holder: str, now: datetime) -> bool:
    """The receiver has it. False when the lease was lost meanwhile: somebody else sends it again under the same event id."""
    return _settle(connection, notice_id, holder, status=NoticeStatus.SENT, sent_at=now, last_error=None)


def postpone(connection: Connection, notice_id: int, *, holder: str, not_before: datetime, error: str) -> bool:
    """This try failed; another one from `not_before` on. False when the lease was lost meanwhile."""
    return _settle(connection, notice_id, holder, not_before=not_before, last_error=error[:_ERROR_MAX_CHARS])


def bury(connection: Connection, notice_id: int, *, holder: str, error: str) -> bool:
    """Every try failed: keep it to be seen, and let those behind it pass. False when the lease was lost meanwhile."""
    return _settle(connection, notice_id, holder, status=NoticeStatus.DEAD, last_error=error[:_ERROR_MAX_CHARS])


def find(connection: Connection, *, status: NoticeStatus | None = None, limit: int = 100) -> list[Notice]:
    """Notices, newest first, of one status when given."""
    statement = select(notifications).order_by(notifications.c.id.desc()).limit(limit)
    if status is not None:
        statement = statement.where(notifications.c.status == status)
    return [read_row(Notice, row) for row in connection.execute(statement).mappings()]


def count(connection: Connection, status: NoticeStatus) -> int:
    """How many notices there are of one status."""
    statement = select(func.count()).select_from(notifications).where(notifications.c.status == status)
    return int(connection.execute(statement).scalar_one())


def count_before(connection: Connection, before: datetime) -> tuple[int, int]:
    """How many notices are older than `before`, and the bytes of their bodies."""
    size = func.coalesce(func.sum(func.length(notifications.c.body)), 0)
    statement = select(func.count(), size).where(notifications.c.created_at < before)
    number, characters = connection.execute(statement).one()
    return int(number), int(characters)


def drop_before(connection: Connection, before: datetime) -> int:
    """Delete notices older than `before`, whatever became of them."""
    return connection.execute(delete(notifications).where(notifications.c.created_at < before)).rowcount


def _free(now: datetime) -> ColumnElement[bool]:
    waits = notifications.c.not_before
    lease = notifications.c.lease_expires_at
    return (notifications.c.status == NoticeStatus.NEW) & or_(waits.is_(None), waits <= now) & or_(lease.is_(None), lease <= now)


def _settle(connection: Connection, notice_id: int, holder: str, **values: object) -> bool:
    done = connection.execute(
        update(notifications)
        .where(notifications.c.id == notice_id, notifications.c.lease_owner == holder, notifications.c.status == NoticeStatus.NEW)
        .values(lease_owner=None, lease_expires_at=None, **values)
    )
    return done.rowcount == 1
