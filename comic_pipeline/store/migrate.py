"""Bringing the comic database to the version that this code is written for, and refusing to work with any other.

Belongs here: the way into Alembic and the version check. Does not: the revisions (`migrations/versions/`), making folders.
Only `comic init`, `comic dev` and `comic demo` migrate (`home.py`); every other process checks.
"""

from sqlalchemy import Connection, inspect, text

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.store.database import Database

# The last revision, written down because a run process checks it at every start and Alembic is slow to import.
HEAD = "0008"
# Any number that nothing else in the database locks.
_MIGRATION_LOCK = 7_262_002
_NEWER = "this code is older than the database: run the version that migrated it, or restore the backup from before"


def migrate(url: str) -> str:
    """Upgrade the database at `url` to the newest version, in one transaction, and return that version.

    Two processes may do it at once: the second waits and finds it done. The folder of an SQLite file must exist. Raises
    StorageFault when the database does not answer, Refused(CONFLICT) when it is newer than this code; it is then as it was.
    """
    database = Database(url)
    try:
        with database.write() as connection:
            # SQLite has taken its write lock already, when the transaction began.
            if database.dialect == "postgresql":
                # The first one may build an index over millions of rows; its second waits as long as that takes.
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
            found = _versions(connection)
            if _is_newer(found):
                raise Refused(ErrorCode.CONFLICT, f"comic database: cannot go from version {_spell(found)} to {HEAD}; {_NEWER}")
            if found != [HEAD]:
                _upgrade(connection, found)
    finally:
        database.close()
    return HEAD


def check_version(database: Database) -> None:
    """Return if the database is ready for this code. Makes nothing, also no empty SQLite file.

    Raises Refused(CONFLICT) naming the version found and the one wanted, StorageFault when the database does not answer.
    """
    file = database.file
    if file is not None and not file.is_file():
        raise Refused(ErrorCode.CONFLICT, f"comic database: {file} does not exist; run `comic init` first")
    with database.read() as connection:
        found = _versions(connection)
    if found != [HEAD]:
        way_out = _NEWER if _is_newer(found) else "run `comic init`"
        raise Refused(ErrorCode.CONFLICT, f"comic database: found version {_spell(found)}, wanted {HEAD}; {way_out}")


def _versions(connection: Connection) -> list[str]:
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.execute(text("SELECT version_num FROM alembic_version ORDER BY version_num")).scalars())


def _upgrade(connection: Connection, found: list[str]) -> None:
    from alembic import command  # 0.2 s that only `comic init` needs to spend
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "comic_pipeline.store:migrations")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, HEAD)
    except CommandError as fault:
        raise StorageFault(f"comic database: cannot go from version {_spell(found)} to {HEAD}: {fault}") from fault


def _is_newer(found: list[str]) -> bool:
    return any(version > HEAD for version in found)


def _spell(found: list[str]) -> str:
    return ", ".join(found) or "none"
