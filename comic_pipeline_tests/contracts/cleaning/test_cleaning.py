"""Clean-up on a real folder and a real S3 server, on both databases: only what nothing uses goes, whenever it is interrupted."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from comic_pipeline.cleaning import Cleaner, Found
from comic_pipeline.model.alerting import Act, AlertRule, Step
from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.ledger import Finished
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.model.workflow import ProjectState, Stage, StageStatus
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import ObjectInfo, ObjectStore
from comic_pipeline.store import alerts, ledger, notifications, projects, stages
from comic_pipeline.store import attempts as books
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import attempts, reviews
from comic_pipeline.work.creating import staging_key
from comic_pipeline_tests.builders import NOW, a_frame, a_project, a_worker, later
from comic_pipeline_tests.contracts.store.acts import claimed

PROJECT = "p1"


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """An empty store of each kind."""
    if request.param == "folder":
        return FolderStore(tmp_path / "objects", media_url="/logs/objects")
    server = request.getfixturevalue("s3_variables")
    return S3Store(f"s3://{server.make_bucket()}", endpoint=server.endpoint, media_url="/logs/objects")


@pytest.fixture
def sqlite_file(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database where only objects matter."""
    opened = Database(f"sqlite:///{shutil.copyfile(migrated_sqlite, tmp_path / 'comic.db')}")
    yield opened
    opened.close()


def _cleaner(database: Database, objects: ObjectStore, *, dry_run: bool = False, days: float = 40) -> Cleaner:
    """`days` from now: objects are as old as that then, because no store lets anybody set an object's age."""
    now = datetime.now(UTC) + timedelta(days=days)
    return Cleaner(database, objects, now=now, media_days=30, history_days=90, dry_run=dry_run)


def _picture(
    objects: ObjectStore, words: str, *, piece: str = "000-", folder: str = "frames", project: str = PROJECT
) -> MediaRef:
    data = words.encode()
    digest = sha256_hex(data)
    key = f"projects/{project}/{folder}/{piece}{digest[:12]}.png"
    objects.put(key, data, mime="image/png")
    return MediaRef(key=key, sha256=digest, size=len(data), mime="image/png")


def _task(database: Database, media: MediaRef, words: str, *, seq: int = 0, at: float = 0) -> None:
    """A finished task of the ledger that gave `media`."""
    with database.write() as connection:
        ledger.claim(connection, a_frame(PROJECT, seq=seq, words=words), a_worker(), now=later(at))
        (task,) = [one for one in ledger.of_project(connection, PROJECT) if one.status == "running"]
        ledger.succeed(connection, task.task_id, media, now=later(at))


def _project(database: Database, state: ProjectState = ProjectState.APPROVED, name: str = PROJECT, **facts: Any) -> None:
    with database.write() as connection:
        projects.insert(connection, a_project(name, status=state, user_id=name, **facts))


def _keys(objects: ObjectStore) -> set[str]:
    return {one.key for one in objects.list("")}


def _document(objects: ObjectStore, asset: str, value: object) -> str:
    key = f"projects/{PROJECT}/documents/{asset}.json"
    objects.put(key, json.dumps(value).encode(), mime="application/json")
    return key


def _media(found: list[Found]) -> Found:
    return next(one for one in found if one.what == "superseded media")


def test_only_superseded_media_go(database: Database, objects: ObjectStore) -> None:
    """Three versions of one shot and what names them: a dry run says what would go, the real one removes exactly that."""
    _project(database)
    old, named, reviewed = (_picture(objects, words) for words in ("old", "named", "reviewed"))
    in_ledger, manifest_film = _picture(objects, "in the ledger"), _picture(objects, "film of v1", piece="", folder="film")
    source = _picture(objects, "made from", folder="cards")
    if isinstance(objects, S3Store):
        # S3 tells whole seconds, and of two in one second both stay.
        time.sleep(1.1)
    newest, _ = _picture(objects, "newest"), _picture(objects, "newest card", folder="cards")
    newest_film = _picture(objects, "film of v2", piece="", folder="film")
    preview, by_hand = _picture(objects, "p", piece="frames-", folder="previews"), "projects/p1/frames/by-hand.png"
    manifest = f"projects/{PROJECT}/release/000000000000.json"
    objects.put(manifest, json.dumps({"film": manifest_film.key}).encode(), mime="application/json")
    objects.put(f"published/{PROJECT}/manifest-v1.json", json.dumps({"made_from": source.key}).encode(), mime="application/json")
    published = f"published/{PROJECT}/film-v1.mp4"
    for key in (by_hand, published):
        objects.put(key, b"x", mime="video/mp4")
    documents = {_document(objects, "frame_images", {"frames": [{"media": {"key": named.key}}]})}
    documents.add(_document(objects, "published_video", {"manifest": {"key": manifest}}))
    _task(database, old, "old words", at=1)
    _task(database, in_ledger, "new words", at=2)
    with database.write() as connection:
        row = {"project_id": PROJECT, "decision": "approve", "by": "op", "film_sha256": reviewed.sha256, "at": NOW}
        connection.execute(reviews.insert().values(**row))
    everything = _keys(objects)
    said = _media(_cleaner(database, objects, dry_run=True).clean())
    assert _keys(objects) == everything
    assert said == _media(_cleaner(database, objects).clean()) == Found("superseded media", 1, old.size)
    assert everything - _keys(objects) == {old.key}
    assert _keys(objects) >= documents | {newest.key, newest_film.key, preview.key, by_hand, published, manifest}


def test_a_wish_whose_media_are_gone_is_made_anew(database: Database, tmp_path: Path) -> None:
    """The old task is not found any more, its row and cost stay; the current one is still free."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(database)
    old = _picture(objects, "old")
    _task(database, old, "old words", at=1)
    _task(database, _picture(objects, "new"), "new words", at=2)
    _cleaner(database, objects).clean()
    assert not objects.exists(old.key)
    with database.write() as connection:
        again = ledger.claim(connection, a_frame(PROJECT, words="old words"), a_worker(), now=later(3))
        still = ledger.claim(connection, a_frame(PROJECT, words="new words"), a_worker(), now=later(3))
        assert not isinstance(again, Finished)
        assert isinstance(still, Finished)
        assert len(ledger.of_project(connection, PROJECT)) == 3


def test_the_same_wish_can_be_superseded_and_removed_twice(database: Database, tmp_path: Path) -> None:
    """A provider changed, changed back and changed again: the second removal met the row of the first, and failed."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(database)
    for turn in range(2):
        old = _picture(objects, "old")
        _task(database, old, "old words", at=1 + 2 * turn)
        _task(database, _picture(objects, f"new {turn}"), f"new words {turn}", at=2 + 2 * turn)
        _cleaner(database, objects).clean()
        assert not objects.exists(old.key)
    with database.read() as connection:
        hashes = [one.input_hash for one in ledger.of_project(connection, PROJECT)]
    assert len(hashes) == len(set(hashes)) == 4


class _TakenUp(FolderStore):
    """A folder in which, at the last look before the removal, somebody asks for the project to go on."""

    database: Database

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """What is published is looked at after the project was found quiet."""
        if prefix.startswith("published/"):
            with self.database.write() as connection:
                projects.move(connection, PROJECT, old=tuple(ProjectState), new=ProjectState.QUEUED, now=NOW)
        yield from super().list(prefix)


def test_a_project_taken_up_meanwhile_keeps_its_media_and_its_free_wishes(sqlite_file: Database, tmp_path: Path) -> None:
    """The ledger forgot the old pieces all the same: a wish for one of them paid again for bytes that were still there."""
    objects = _TakenUp(tmp_path / "objects", media_url="")
    objects.database = sqlite_file
    _project(sqlite_file)
    old = _picture(objects, "old")
    _task(sqlite_file, old, "old words", at=1)
    _task(sqlite_file, _picture(objects, "new"), "new words", at=2)
    assert _media(_cleaner(sqlite_file, objects).clean()) == Found("superseded media", 0, 0)
    assert objects.exists(old.key)
    with sqlite_file.write() as connection:
        again = ledger.claim(connection, a_frame(PROJECT, words="old words"), a_worker(), now=later(3))
    assert isinstance(again, Finished)


@pytest.mark.parametrize("state", sorted(set(ProjectState)))
def test_nobodys_work_is_touched(sqlite_file: Database, tmp_path: Path, state: ProjectState) -> None:
    """Under way, under review, waiting for a person: left alone, however old. Only ended and decided projects are cleaned."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(sqlite_file, state)
    _picture(objects, "old")
    _picture(objects, "new")
    quiet = state in (ProjectState.APPROVED, ProjectState.REJECTED, ProjectState.FAILED, ProjectState.CANCELLED)
    assert _media(_cleaner(sqlite_file, objects).clean()).count == (1 if quiet else 0)


def test_a_project_with_a_run_at_work_is_left_alone(sqlite_file: Database, tmp_path: Path) -> None:
    """A release, a round by hand or one that follows a paid job: whatever runs may need what lies there."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(sqlite_file)
    _picture(objects, "old")
    _picture(objects, "new")
    with sqlite_file.write() as connection:
        stages.request(connection, PROJECT, Stage.FILM, stage_id="s1", priority=0, now=NOW, run_id="by-hand")
    assert _media(_cleaner(sqlite_file, objects).clean()).count == 0
    with sqlite_file.write() as connection:
        stages.end(connection, "s1", status=StageStatus.PASSED, code=None, message="", now=NOW)
    assert _media(_cleaner(sqlite_file, objects).clean()).count == 1


def test_young_unknown_and_unreadable_projects_are_left_alone(sqlite_file: Database, tmp_path: Path) -> None:
    """Too young by its objects or its last change, of no project of ours, or with a document that cannot be read."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(sqlite_file, name="changed", updated_at=datetime.now(UTC) + timedelta(days=20))
    _project(sqlite_file, name="broken")
    for name in ("changed", "broken", "unknown"):
        _picture(objects, "old", project=name)
        _picture(objects, "new", project=name)
    objects.put("projects/broken/documents/clips.json", b"{half", mime="application/json")
    _project(sqlite_file)
    _picture(objects, "old")
    _picture(objects, "new")
    assert _media(_cleaner(sqlite_file, objects, days=29).clean()).count == 0
    assert _media(_cleaner(sqlite_file, objects).clean()).count == 1
    assert len(_keys(objects)) == 8


def _nothing_gone_is_promised(database: Database, objects: ObjectStore, *, versions: int) -> None:
    """Every wish that the ledger answers for free is answered with bytes that are there."""
    with database.write() as connection:
        for number in range(versions):
            claim = ledger.claim(connection, a_frame(PROJECT, words=f"words {number}"), a_worker(), now=later(9))
            assert not isinstance(claim, Finished) or objects.exists(claim.task.output_asset_id or "")
        connection.exec_driver_sql("DELETE FROM tasks WHERE status = 'running'")


def test_a_killed_clean_up_is_taken_up_by_the_next_one(
    database: Database, database_url: str, objects: ObjectStore, request: pytest.FixtureRequest
) -> None:
    """SIGKILL after two of four deletes, while the project is held: nobody waits for it, nothing that is gone is promised."""
    _project(database)
    for number in range(4):
        _task(database, _picture(objects, f"version {number}"), f"words {number}", at=number)
    endpoint = ""
    address = objects.address("x").removesuffix("/x")
    if isinstance(objects, S3Store):
        endpoint = request.getfixturevalue("s3_variables").endpoint
        time.sleep(1.1)
    _task(database, _picture(objects, "version 4"), "words 4", at=4)
    arguments = [database_url, address, endpoint, "40"]
    child = subprocess.Popen(
        [sys.executable, "-m", "comic_pipeline_tests.contracts.cleaning.crash", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "deleted\n"
    child.kill()
    child.wait(timeout=10)
    child.stdout.close()
    assert len(_keys(objects)) == 3
    _nothing_gone_is_promised(database, objects, versions=5)
    assert _media(_cleaner(database, objects).clean()).count == 2
    assert len(_keys(objects)) == 1


class _Dies(FolderStore):
    """A folder that is pulled away after some deletes."""

    deletes = 0

    def delete(self, key: str) -> None:
        type(self).deletes -= 1
        if self.deletes < 0:
            raise StorageFault("the disk is gone")
        super().delete(key)


@pytest.mark.parametrize("deletes", [0, 1, 3])
def test_a_crash_in_the_middle_leaves_no_promise_of_bytes_that_are_gone(
    sqlite_file: Database, tmp_path: Path, deletes: int
) -> None:
    """Wherever it stops, no task of the ledger that a wish can find names a missing object; the next run finishes the work."""
    _Dies.deletes = deletes
    objects = _Dies(tmp_path / "objects", media_url="")
    _project(sqlite_file)
    for number in range(5):
        _task(sqlite_file, _picture(objects, f"version {number}"), f"words {number}", at=number)
    with pytest.raises(StorageFault):
        _cleaner(sqlite_file, objects).clean()
    _nothing_gone_is_promised(sqlite_file, objects, versions=5)
    _Dies.deletes = 100
    _cleaner(sqlite_file, objects).clean()
    assert len(_keys(objects)) == 1


def test_temporary_things_go_after_a_day_unless_they_are_paid_and_waiting(database: Database, objects: ObjectStore) -> None:
    """A staged answer that an attempt names is money; the others, and probes of the doctor, are rubbish."""
    _project(database, ProjectState.IMAGE)
    for key in ("staging/t-1", "staging/t-2", "doctor/probe.txt"):
        objects.put(key, b"12345", mime="text/plain")
    with database.write() as connection:
        task = claimed(connection, a_frame(PROJECT), a_worker())
        row = {"task_id": task.task_id, "number": 1, "kind": "create", "provider_id": "p", "provider_base_url": ""}
        values = row | {"request_hash": "", "state": "succeeded", "estimate": 0, "cost": 1, "started_at": NOW}
        connection.execute(attempts.insert().values(**values, result=json.dumps({"staged": "staging/t-1"})))
    assert [one.count for one in _cleaner(database, objects, days=0.9).clean()] == [0] * 6
    found = {one.what: one for one in _cleaner(database, objects, days=2).clean()}
    assert (found["staged answers"].count, found["staged answers"].size) == (1, 5)
    assert found["probes of comic doctor"].count == 1
    assert _keys(objects) == {"staging/t-1"}


def test_a_paid_answer_that_no_row_names_yet_stays_for_the_retry(database: Database, tmp_path: Path) -> None:
    """The run died between keeping the answer and booking it, and the project stopped: after a day the retry paid anew."""
    objects = FolderStore(tmp_path / "objects", media_url="")
    _project(database, ProjectState.FAILED)
    with database.write() as connection:
        task = claimed(connection, a_frame(PROJECT), a_worker(), at=NOW)
        row = {"task_id": task.task_id, "number": 1, "kind": "create", "provider_id": "p", "provider_base_url": ""}
        values = row | {"request_hash": "", "state": "intent", "estimate": 0, "started_at": NOW}
        connection.execute(attempts.insert().values(**values))
        attempt = books.get(connection, task.task_id, 1)
    objects.put(staging_key(attempt), b"paid", mime="image/png")
    objects.put("staging/another-1", b"rubbish", mime="image/png")
    _cleaner(database, objects, days=2).clean()
    assert _keys(objects) == {staging_key(attempt)}
    with database.write() as connection:
        books.mark_unknown(connection, attempt, now=NOW)
    _cleaner(database, objects, days=2).clean()
    assert _keys(objects) == set()


def test_old_notices_and_cleared_alerts_go(database: Database, tmp_path: Path) -> None:
    """Open alerts stay, however old; a dry run deletes neither."""
    objects = FolderStore(tmp_path, media_url="")
    _project(database, ProjectState.IMAGE)

    def step(act: Act, rule: AlertRule, alert_id: int | None = None) -> Step:
        return Step(act=act, rule=rule, subject="all", value=1, limit=1, zh="", en="", alert_id=alert_id)

    with database.write() as connection:
        alerts.apply(connection, step(Act.RAISE, AlertRule.SPACE_LOW), now=NOW)
        alerts.apply(connection, step(Act.RAISE, AlertRule.FAILED_TASKS), now=NOW)
        over = next(one for one in alerts.open_alerts(connection) if one.rule is AlertRule.SPACE_LOW)
        alerts.apply(connection, step(Act.CLEAR, AlertRule.SPACE_LOW, over.id), now=later(1))
    for dry_run in (True, False):
        found = {one.what: one.count for one in _cleaner(database, objects, dry_run=dry_run, days=400).clean()}
        assert (found["old notices"], found["cleared alerts"]) == (3, 1)
    with database.read() as connection:
        assert [one.rule for one in alerts.open_alerts(connection)] == [AlertRule.FAILED_TASKS]
        assert notifications.find(connection) == []
        assert alerts.count_cleared(connection, later(10_000)) == 0
