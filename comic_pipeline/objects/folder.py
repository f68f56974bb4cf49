"""Objects as files below one folder: the store of a single machine.

Belongs here: files. Does not: keys and links (`store.py`). A file being written has a name that no key can have (it begins with a
dot); one that a killed process left behind is never listed, and is cleaned up after a day.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.objects.store import ROOM_BYTES, ROOM_KEY, MissingObject, ObjectInfo, check_key, check_prefix, is_key, link

_PARTIAL = re.compile(r"\.[0-9a-f]{16}\.part", re.ASCII)
_WAYS_OUT = {
    errno.ENOSPC: "free some space on that disk, or point COMIC_OBJECTS at another one",
    errno.EDQUOT: "raise the quota of that disk, or point COMIC_OBJECTS at another one",
    errno.EACCES: "give this user the right to it, or point COMIC_OBJECTS at another folder",
    errno.EPERM: "give this user the right to it, or point COMIC_OBJECTS at another folder",
    errno.EROFS: "it is read-only; point COMIC_OBJECTS at another folder",
    errno.ELOOP: "a symbolic link has no place in the object folder; replace it by what it points to",
    errno.ENOTDIR: "an object stands where a folder is needed",
    errno.EEXIST: "an object stands where a folder is needed",
    errno.EISDIR: "a folder stands where the object should be",
}


class FolderStore:
    """`ObjectStore` below `root`, which is made when first written to. Symbolic links below it are refused, not followed."""

    def __init__(self, root: Path, *, media_url: str) -> None:
        self._root = root
        self._media_url = media_url

    def put(self, key: str, data: bytes, *, mime: str) -> None:  # noqa: ARG002 - a file's type is its ending
        """Write beside the target, flush to disk, rename over it, flush the folder."""
        self._write(self._path(key), data)

    def _write(self, path: Path, data: bytes) -> None:
        partial = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            self._refuse_links(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                _write_through(partial, data)
                partial.replace(path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)
        except OSError as refused:
            _fail("write", path, refused)

    def check_room(self) -> None:
        """Look at the disk's free space, write one byte and remove it."""
        path = self._path(ROOM_KEY)
        self._write(path, b"\0")
        try:
            free = _free_bytes(path)
            path.unlink(missing_ok=True)
        except OSError as refused:
            _fail("write", path, refused)
        if free < ROOM_BYTES:
            _fail("write", path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def get(self, key: str) -> bytes:
        """Read the file."""
        path = self._path(key)
        try:
            self._refuse_links(path.parent)
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read()
        except OSError as refused:
            _fail("read", path, refused)

    def exists(self, key: str) -> bool:
        """Look for the file."""
        try:
            self.size(key)
        except MissingObject:
            return False
        return True

    def size(self, key: str) -> int:
        """The file's length."""
        path = self._path(key)
        try:
            self._refuse_links(path.parent)
            return _file_size(path)
        except OSError as refused:
            _fail("read", path, refused)

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """The file itself."""
        self.size(key)
        yield self._path(key)

    def delete(self, key: str) -> None:
        """Remove the file; emptied folders stay."""
        path = self._path(key)
        try:
            self._refuse_links(path.parent)
            path.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as refused:
            _fail("delete", path, refused)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Walk the folder that the prefix names."""
        folder, _, _ = check_prefix(prefix).rpartition("/")
        yield from self._walk(folder, prefix)

    def unfinished(self, *, before: datetime) -> Iterator[ObjectInfo]:
        """Files that killed processes were writing; only those of our own naming."""
        for folder, _, names in os.walk(self._root):
            for name in filter(_PARTIAL.fullmatch, names):
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    found = path.lstat()
                    began = datetime.fromtimestamp(found.st_mtime, UTC)
                    if stat.S_ISREG(found.st_mode) and began < before:
                        yield ObjectInfo(path.relative_to(self._root).as_posix(), found.st_size, began)

    def discard(self, unfinished: ObjectInfo) -> None:
        """Remove the file."""
        path = self._root / unfinished.key
        if not _PARTIAL.fullmatch(path.name) or ".." in path.parts:
            raise StorageFault(f"cannot discard {path}: it is no file being written")
        try:
            path.unlink(missing_ok=True)
        except OSError as refused:
            _fail("delete", path, refused)

    def address(self, key: str) -> str:
        """The file's absolute path."""
        return str(self._path(key).absolute())

    def url(self, key: str) -> str:
        """The link below the media address."""
        return link(self._media_url, key)

    def _path(self, key: str) -> Path:
        return self._root / check_key(key)

    def _refuse_links(self, folder: Path) -> None:
        inside = os.path.realpath(self._root) / folder.relative_to(self._root)
        if Path(os.path.realpath(folder)) != inside:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))

    def _walk(self, folder: str, prefix: str) -> Iterator[ObjectInfo]:
        path = self._root / folder
        try:
            with os.scandir(path) as found:
                # With its slash a folder sorts where its keys do, so the whole walk is in order of key.
                entries = sorted(
                    (f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name, entry) for entry in found
                )
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as refused:
            _fail("list", path, refused)
        for name, entry in entries:
            key = f"{folder}/{name}" if folder else name
            if not key.startswith(prefix) or not is_key(key.rstrip("/")) or entry.is_symlink():
                continue
            if name.endswith("/"):
                yield from self._walk(key.rstrip("/"), prefix)
            else:
                # Deleted since the folder was read: then it is no object any more.
                with contextlib.suppress(FileNotFoundError):
                    found_file = entry.stat(follow_symlinks=False)
                    yield ObjectInfo(key, found_file.st_size, datetime.fromtimestamp(found_file.st_mtime, UTC))


def _file_size(path: Path) -> int:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return found.st_size


def _free_bytes(path: Path) -> int:
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize


def _write_through(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Without it a power cut can forget the rename of a file whose bytes are safe."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _fail(verb: str, path: Path, refused: OSError) -> NoReturn:
    if verb != "write" and isinstance(refused, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        raise MissingObject(f"there is no object at {path}") from refused
    way_out = _WAYS_OUT.get(refused.errno or 0, "look at the disk and the rights of that folder")
    raise StorageFault(f"cannot {verb} {path}: {refused.strerror or refused}; {way_out}") from refused
