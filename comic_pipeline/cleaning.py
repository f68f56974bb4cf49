"""Removing what nothing uses any more, in an order in which a crash at any moment does no harm.

Belongs here: which objects and rows go. Does not: Dagster's own rows (`defs/reaping.py`), when it runs (`defs/cleaning.py`).

Never touched: `published/`, documents, projects that are under way, under review or waiting for anybody, the newest version of
each piece, whatever a document, a published manifest, the ledger's newest wish or a review names, and anything younger than
COMIC_CLEANUP_DAYS.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from comic_pipeline.model.errors import Refused
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.objects.store import ObjectInfo, ObjectStore
from comic_pipeline.store import alerts, notifications, projects, stages, superseded
from comic_pipeline.store.database import Connection, Database
from comic_pipeline.work.creating import staging_key

# Where nobody works and nobody is expected to decide.
_QUIET = (ProjectState.APPROVED, ProjectState.REJECTED, ProjectState.FAILED, ProjectState.CANCELLED)
_DOCUMENTS = "documents"
# Only what is named after its own bytes: `000-0123456789ab.png`, `0123456789ab.mp4`.
_NAMED_BY_HASH = re.compile(r"(?:(?P<piece>.+)-)?[0-9a-f]{12}\.\w+", re.ASCII)
_MANIFEST_MAX_BYTES = 5_000_000
_TEMPORARY_AGE = timedelta(days=1)
# Objects deleted while the project is held, so that nothing begins in the middle: 20 take a few ms in a folder, 0.2 s in S3.
_BATCH = 20


@dataclass(frozen=True)
class Found:
    """One kind of thing that goes: how many, and bytes as far as they are known."""

    what: str
    count: int
    size: int


@dataclass(frozen=True)
class Cleaner:
    """One clean-up. Media go after `media_days`, rows after `history_days`. With `dry_run` it only looks."""

    database: Database
    objects: ObjectStore
    now: datetime
    media_days: int
    history_days: int
    dry_run: bool

    def clean(self) -> list[Found]:
        """Everything, kind by kind. Raises StorageFault; what was removed until then stays removed, and a next run goes on."""
        return [
            self._media(),
            self._temporary("staged answers", "staging/"),
            self._temporary("probes of comic doctor", "doctor/"),
            self._unfinished(),
            self._notices(),
            self._alerts(),
        ]

    # --- media --------------------------------------------------------------------------------------------------------

    def _media(self) -> Found:
        count, size = 0, 0
        listed = self.objects.list("projects/")
        for project_id, group in groupby(listed, key=lambda one: one.key.split("/")[1]):
            gone = self._media_of(project_id, list(group))
            count, size = count + len(gone), size + sum(one.size for one in gone)
        return Found("superseded media", count, size)

    def _media_of(self, project_id: str, found: list[ObjectInfo]) -> list[ObjectInfo]:
        before = self.now - timedelta(days=self.media_days)
        candidates = [one for one in _superseded(found) if one.modified < before]
        if not candidates:
            return []
        with self.database.read() as connection:
            if not _is_quiet(connection, project_id, before):
                return []
        kept = self._kept(project_id, found)
        if kept is None:
            return []
        doomed = [one for one in candidates if one.key not in kept]
        return self._remove(project_id, doomed, before) if doomed and not self.dry_run else doomed

    def _kept(self, project_id: str, found: Iterable[ObjectInfo]) -> set[str] | None:
        """Keys that something names; None when a document cannot be read: then nothing of the project is judged."""
        published = [one for one in self.objects.list(f"published/{project_id}/") if one.key.endswith(".json")]
        by_key = {one.key: one for one in (*found, *published)}
        with self.database.read() as connection:
            kept = superseded.outputs_in_use(connection, project_id)
            films = superseded.reviewed_films(connection, project_id)
        kept |= {key for key in by_key if any(sha[:12] in key for sha in films)}
        kept |= {key for key in by_key if key.split("/")[2] == _DOCUMENTS} | {one.key for one in published}
        unread = [key for key in kept if key.endswith(".json") and key in by_key]
        while unread:
            one = by_key[unread.pop()]
            named = None if one.size > _MANIFEST_MAX_BYTES else self._names_in(one.key, by_key)
            if named is None:
                return None
            unread += [key for key in named - kept if key.endswith(".json")]
            kept |= named
        return kept

    def _names_in(self, key: str, known: Collection[str]) -> set[str] | None:
        try:
            return {text for text in _texts(json.loads(self.objects.get(key))) if text in known}
        except ValueError:
            return None

    def _remove(self, project_id: str, doomed: list[ObjectInfo], before: datetime) -> list[ObjectInfo]:
        """Those of the doomed that have gone: not all, when somebody takes the project up again meanwhile."""
        # The ledger first: after a crash in between, bytes lie about for one more day, but no task promises bytes that are gone.
        with self.database.write() as connection:
            projects.lock(connection, project_id)
            if not _is_quiet(connection, project_id, before):
                return []
            superseded.retire(connection, project_id, (one.key for one in doomed))
        for begin in range(0, len(doomed), _BATCH):
            with self.database.write() as connection:
                projects.lock(connection, project_id)
                if not _is_quiet(connection, project_id, before):
                    return doomed[:begin]
                for one in doomed[begin : begin + _BATCH]:
                    self.objects.delete(one.key)
        return doomed

    # --- the rest ------------------------------------------------------------------------------------------------------

    def _temporary(self, what: str, prefix: str) -> Found:
        old = {one.key: one for one in self.objects.list(prefix) if one.modified < self.now - _TEMPORARY_AGE}
        with self.database.read() as connection:
            in_use = superseded.staged_in_use(connection, old.keys())
            # A retry, days later too, takes such an answer from there instead of paying again.
            in_use |= {staging_key(one) for one in superseded.creates_without_a_word(connection)}
        doomed = [one for key, one in old.items() if key not in in_use]
        if not self.dry_run:
            for one in doomed:
                self.objects.delete(one.key)
        return Found(what, len(doomed), sum(one.size for one in doomed))

    def _unfinished(self) -> Found:
        doomed = list(self.objects.unfinished(before=self.now - _TEMPORARY_AGE))
        if not self.dry_run:
            for one in doomed:
                self.objects.discard(one)
        return Found("unfinished writes", len(doomed), sum(one.size for one in doomed))

    def _notices(self) -> Found:
        before = self.now - timedelta(days=self.history_days)
        with self.database.read() as connection:
            count, size = notifications.count_before(connection, before)
        if count and not self.dry_run:
            with self.database.write() as connection:
                count = notifications.drop_before(connection, before)
        return Found("old notices", count, size)

    def _alerts(self) -> Found:
        before = self.now - timedelta(days=self.history_days)
        with self.database.read() as connection:
            count = alerts.count_cleared(connection, before)
        if count and not self.dry_run:
            with self.database.write() as connection:
                count = alerts.drop_cleared(connection, before)
        return Found("cleared alerts", count, 0)


def _is_quiet(connection: Connection, project_id: str, before: datetime) -> bool:
    """Ended or decided, unchanged since then, and no run at work: a release, a settle round or one by hand."""
    try:
        project, rounds = projects.get(connection, project_id), stages.latest(connection, project_id)
    except (Refused, ValueError):
        # No project of this database, or a row that cannot be read: not ours to judge.
        return False
    at_work = any(row.ended_at is None for row in rounds.values())
    return project.status in _QUIET and project.updated_at < before and not at_work


def _superseded(found: Iterable[ObjectInfo]) -> Iterator[ObjectInfo]:
    """All but the newest version of each piece (a shot's picture, a film, a preview), and only what is named after its bytes."""
    versions: defaultdict[tuple[str, str], list[ObjectInfo]] = defaultdict(list)
    for one in found:
        folder, _, name = one.key.rpartition("/")
        match = _NAMED_BY_HASH.fullmatch(name)
        if match is not None and folder.count("/") == 2 and not folder.endswith(f"/{_DOCUMENTS}"):
            versions[folder, f"{match['piece'] or ''}.{name.rpartition('.')[2]}"].append(one)
    for pieces in versions.values():
        # S3 tells whole seconds: of two in one second either may be the newer one, so both stay.
        newest = max(one.modified for one in pieces)
        yield from (one for one in pieces if one.modified < newest)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
