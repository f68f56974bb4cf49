"""What only the folder store can get wrong: files half written, full disks, links, rights."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline_tests.disks import fill, small_disk

KEY = "projects/p/film/final.mp4"

_PUT_64_MB = """
import sys
from pathlib import Path
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline_tests.disks import fill, small_disk
store, data = FolderStore(Path(sys.argv[1]), media_url="/logs/objects"), b"n" * 67_108_864
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
store.put(sys.argv[2], data, mime="video/mp4")
"""

_PUT_ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from comic_pipeline.model.errors import StorageFault
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline_tests.disks import fill, small_disk
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    FolderStore(Path(sys.argv[1]), media_url="/logs/objects").put(sys.argv[2], b"n" * 1_000_000, mime="video/mp4")
except StorageFault as fault:
    sys.stdout.write(fault.detail)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "files" / "objects"


@pytest.fixture
def store(root: Path) -> FolderStore:
    return FolderStore(root, media_url="/logs/objects")


def _kill_while_putting(root: Path) -> list[Path]:
    """Start a process that puts 64 MB and kill it once bytes are on their way; the files that it left half written."""
    command = [sys.executable, "-c", _PUT_64_MB, str(root), KEY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.readline()
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and writer.poll() is None:
            if any(part.stat().st_size for part in root.rglob(".*.part")):
                break
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=10)
    assert writer.returncode == -signal.SIGKILL
    return list(root.rglob(".*.part"))


def test_a_writer_killed_in_the_middle_leaves_no_half_object(store: FolderStore, root: Path) -> None:
    """A killed run must not leave a film that looks finished: new objects do not appear, old ones stay as they were."""
    store.put("projects/p/film/other.mp4", b"other", mime="video/mp4")

    left_over = _kill_while_putting(root)

    assert left_over, "the writer was killed too late to prove anything"
    assert 0 < left_over[0].stat().st_size <= 67_108_864
    assert not store.exists(KEY)
    assert [info.key for info in store.list("")] == ["projects/p/film/other.mp4"]

    store.put(KEY, b"whole", mime="video/mp4")
    _kill_while_putting(root)
    assert store.get(KEY) == b"whole"


def test_a_failed_write_leaves_nothing_and_says_what_to_do(store: FolderStore, root: Path) -> None:
    """The disk refuses in the middle (here by a limit on file sizes): no object, no rest, and the path in the message."""
    process = subprocess.run(
        [sys.executable, "-c", _PUT_ON_A_FULL_DISK, str(root), KEY], capture_output=True, text=True, check=True
    )

    assert str(root / KEY) in process.stdout
    assert [path for path in root.rglob("*") if path.is_file()] == []
    assert not store.exists(KEY)


def test_a_full_disk_is_named(store: FolderStore, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENOSPC at the flush, where delayed allocation reports it, names the path and the way out."""

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFault, match=r"final\.mp4: No space left.*free some space.*COMIC_OBJECTS"):
        store.put(KEY, b"x", mime="video/mp4")

    assert [path for path in root.rglob("*") if path.is_file()] == []


@pytest.fixture
def no_rights(root: Path) -> Iterator[None]:
    """A folder that this process may only look at; root, who may write anywhere, becomes nobody for a while."""
    root.mkdir(parents=True)
    root.chmod(0o500)
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65_534)
    yield
    if as_root:
        os.seteuid(0)


@pytest.mark.usefixtures("no_rights")
def test_a_folder_without_rights_is_named(store: FolderStore) -> None:
    """A wrong owner is the usual fault of a fresh container; it must not look like missing objects either."""
    with pytest.raises(StorageFault, match="right to it"):
        store.put(KEY, b"x", mime="video/mp4")


def test_a_root_that_is_a_file_is_named(tmp_path: Path) -> None:
    """COMIC_OBJECTS pointing at a file is said so, not reported as missing objects."""
    (tmp_path / "objects").write_text("not a folder")

    with pytest.raises(StorageFault, match="folder is needed"):
        FolderStore(tmp_path / "objects", media_url="/logs/objects").put(KEY, b"x", mime="video/mp4")


def test_symbolic_links_are_refused(store: FolderStore, root: Path, tmp_path: Path) -> None:
    """A link in the folder would let the webserver and clean-up reach files that are no objects."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(b"secret")
    root.mkdir(parents=True)
    (root / "linked").symlink_to(outside)
    (root / "secret.png").symlink_to(outside / "secret.png")

    for key in ("linked/secret.png", "secret.png"):
        for ask in (store.get, store.size, store.exists):
            with pytest.raises(StorageFault, match="symbolic link has no place"):
                ask(key)
    with pytest.raises(StorageFault, match="symbolic link has no place"):
        store.put("linked/new.png", b"x", mime="image/png")
    with pytest.raises(StorageFault, match="symbolic link has no place"):
        store.delete("linked/secret.png")

    assert list(store.list("")) == []
    assert sorted(path.name for path in outside.iterdir()) == ["secret.png"]


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    """Operators move the folder to a larger disk and leave a link."""
    root.mkdir(parents=True)
    (tmp_path / "moved").symlink_to(root)
    store = FolderStore(tmp_path / "moved", media_url="/logs/objects")

    store.put(KEY, b"x", mime="video/mp4")

    assert (root / KEY).read_bytes() == b"x"


def test_others_may_read_the_files(store: FolderStore, root: Path) -> None:
    """The webserver may run as another user: files follow the umask, not the 0600 of temporary files."""
    before = os.umask(0o022)
    try:
        store.put(KEY, b"x", mime="video/mp4")
    finally:
        os.umask(before)

    assert (root / KEY).stat().st_mode & 0o777 == 0o644


def test_the_webserver_finds_the_file_behind_the_link(store: FolderStore, root: Path) -> None:
    """The link is resolved by Dagster's own log manager the way its `/logs` route does: to this very file."""
    key = "projects/p/frames/0-abc.v2.png"
    store.put(key, b"x", mime="image/png")

    *log_key, ending = unquote(store.url(key).removeprefix("/logs/")).split("/")

    served = LocalComputeLogManager(str(root.parent)).get_captured_local_path(log_key, ending)
    assert Path(served) == root / key


def test_a_disk_that_is_nearly_full_has_no_room(tmp_path: Path) -> None:
    """Bytes left, but fewer than an answer may have: said before the answer is bought, with the way out."""
    with small_disk(tmp_path / "disk", megabytes=16) as disk:
        store = FolderStore(disk / "objects", media_url="/logs/objects")
        with pytest.raises(StorageFault, match="No space left on device; free some space"):
            store.check_room()
        store.put("small.txt", b"fits", mime="text/plain")
        fill(disk)
        with pytest.raises(StorageFault, match="No space left on device; free some space"):
            store.put("large.txt", b"x" * 100_000, mime="text/plain")
        assert [info.key for info in store.list("")] == ["small.txt"]
        assert not list(disk.rglob("*.part"))
