"""Connections and transactions on the comic database, SQLite or Postgres.

Belongs here: the engine, the two kinds of transaction, translation of driver faults. Does not: migrating (`migrate.py`), queries.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from comic_pipeline.model.errors import StorageFault

__all__ = ["Connection", "Database", "DatabaseFault", "Taken"]

# Other packages hold a connection without looking into it, and know two faults by our names: a rule of the schema said no
# (somebody else was first), and anything else that SQL can raise.
Taken = IntegrityError
DatabaseFault = SQLAlchemyError

_BUSY_MS = 30_000
_CONNECT_SECONDS = 10
# A host that vanished between two packets, found out within a minute instead of after Linux's two hours.
_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
# Our transactions take milliseconds. One whose process is frozen, or whose host is cut off, holds its project and the day's
# budget locked: the server ends it after this, and whoever waits meanwhile gets a fault that is tried again.
_IDLE_MS = 60_000


class Database:
    """The comic database. Thread-safe; one instance a process."""

    def __init__(self, url: str) -> None:
        self.engine = _make_engine(url)
        snapshot = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._read_options: dict[str, Any] = {"comic_read": True} | (snapshot if self.dialect == "postgresql" else {})

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database; None on Postgres and in memory."""
        path = self.engine.url.database if self.dialect == "sqlite" else None
        return Path(path) if path and path != ":memory:" else None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write. SQLite takes the write lock at once, so that a read inside it cannot go stale.

        Raises StorageFault when the database does not answer. IntegrityError goes through: callers expect it as an answer.
        """
        with _translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, all of it from one moment. Raises StorageFault when the database does not answer.

        Writing in it is refused: it would be rolled back without a word.
        """
        with _translated(), self.engine.connect().execution_options(**self._read_options) as connection:
            yield connection

    def server_time(self) -> datetime | None:
        """What the database server's clock says; None on SQLite, which has none of its own."""
        if self.dialect == "sqlite":
            return None
        with self.read() as connection:
            moment: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return moment

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except PoolTimeout as fault:
        raise StorageFault(f"comic database: no connection came free: {str(fault)[:300]}") from fault
    except DBAPIError as fault:
        # The driver's text names host and table, never the password; the statement's parameters are left out.
        raise StorageFault(f"comic database: {type(fault.orig).__name__}: {str(fault.orig).strip()[:300]}") from fault


def _make_engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _make_sqlite(parsed.render_as_string(hide_password=False))
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg2")
    return _make_postgres(parsed)


def _make_postgres(url: URL) -> Engine:
    # A host that is gone answers nothing at all; without a limit the driver would wait for it for ever.
    engine = create_engine(
        url,
        pool_size=5,
        max_overflow=10,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": _CONNECT_SECONDS, **_ALIVE},
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        # Not as start-up options: a connection pooler in between refuses those.
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {_BUSY_MS}")
        cursor.execute(f"SET idle_in_transaction_session_timeout = {_IDLE_MS}")
        cursor.close()
        connection.commit()

    return engine


def _make_sqlite(url: str) -> Engine:
    engine = create_engine(url, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _on_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        # The driver's own transaction handling is switched off: it would begin lazily and without the write lock.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={_BUSY_MS}", "journal_mode=WAL", "foreign_keys=ON", "synchronous=FULL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("comic_read", False)
        connection.exec_driver_sql(f"PRAGMA query_only={'ON' if reading else 'OFF'}")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine
