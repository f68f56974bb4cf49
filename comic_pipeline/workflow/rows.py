"""One row at a time: each in a transaction of its own, so that one bad row is set aside with its own code and stops nobody."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import ValidationError

from comic_pipeline.model.errors import ComicError, ErrorCode, StorageFault
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState, StageStatus
from comic_pipeline.store import projects, stages, submissions
from comic_pipeline.store.database import Connection, Database, DatabaseFault, Taken

_Key = TypeVar("_Key", int, str)

# What a single unreadable row can raise.
_ROW_FAULTS = (ComicError, ValidationError, ValueError, LookupError)
_log = logging.getLogger("comic_pipeline.workflow")


@dataclass(frozen=True)
class Rows:
    """Reading and writing the rows of a pass."""

    database: Database
    now: Callable[[], datetime]

    def needing(self, keys: Collection[_Key], look: Callable[[Connection, _Key], bool]) -> list[_Key]:
        """The keys that `look` says there is something to do about, in one read-only transaction: most have nothing."""

        def wanted(connection: Connection, key: _Key) -> bool:
            try:
                return look(connection, key)
            except StorageFault:
                raise
            except _ROW_FAULTS:
                # `each` meets the same fault in a transaction of its own and sets the row aside.
                return True

        if not keys:
            return []
        with self.database.read() as connection:
            return [key for key in keys if wanted(connection, key)]

    def each(self, keys: Collection[_Key], act: Callable[[Connection, _Key], bool]) -> tuple[int, list[str]]:
        """Do `act` for each key in a transaction of its own: one bad row is ended with its own code and stops nobody else."""
        changed, refused = 0, []
        for key in keys:
            try:
                with self.database.write() as connection:
                    changed += act(connection, key)
            except StorageFault:
                raise
            except Taken as fault:
                # A run by hand or the command line was first. The next pass looks at what is there then.
                _log.warning("row %s was changed by somebody else: %s", key, fault.orig)
            except (*_ROW_FAULTS, DatabaseFault) as fault:
                refused.append(f"{key}: {fault}")
                _log.exception("row %s cannot be handled", key)
                self._set_aside(key, fault)
        return changed, refused

    def _set_aside(self, key: object, fault: Exception) -> None:
        try:
            self._end_with(key, fault)
        except Taken:
            # What is wrong in the row breaks a constraint, so it cannot even be ended: each pass says so again, the others go on.
            _log.exception("row %s cannot be set aside", key)

    def _end_with(self, key: object, fault: Exception) -> None:
        code = fault.code if isinstance(fault, ComicError) else ErrorCode.UNKNOWN_ERROR
        message, now = f"{type(fault).__name__}: {fault}"[:2_000], self.now()
        with self.database.write() as connection:
            if isinstance(key, int):
                submissions.reject(connection, key, code=code, message=message, now=now)
                return
            owner = stages.owner_of(connection, str(key)) or str(key)
            stages.end(connection, str(key), status=StageStatus.FAILED, code=code, message=message, now=now)
            projects.move(
                connection,
                owner,
                old=ACTIVE_PROJECT_STATES,
                new=ProjectState.MANUAL_REQUIRED,
                now=now,
                error_code=code,
                error_message=message,
                finished_at=now,
            )
