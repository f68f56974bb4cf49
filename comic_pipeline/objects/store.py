"""What every object store promises, and the rules that all share: legal keys and the form of links.

Belongs here: the protocol and pure rules. Does not: files (`folder.py`), S3 (`s3.py`).
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import sha256_hex

KEY_MAX_CHARS = 512
# More than the largest answer that a provider sends inline (a 4K PNG is about 25 MB).
ROOM_BYTES = 32 * 1024 * 1024
# Where the small object that asks for room is written.
ROOM_KEY = "staging/room"
# Letters of one alphabet only: what a name looks like must be what it is, on every file system and in every URL. No part begins
# with a dot, so "..", hidden files and files being written can never be objects.
_PART = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,199}")


class MissingObject(StorageFault):
    """There is no object under this key."""


class DamagedObject(MissingObject):
    """What lies under this key is not what was stored: cut, or changed. As good as gone."""


@dataclass(frozen=True)
class ObjectInfo:
    """One listed object: `size` in bytes, `modified` in UTC."""

    key: str
    size: int
    modified: datetime


class ObjectStore(Protocol):
    """Bytes under keys. Methods block and are safe to call from many threads; async callers use `asyncio.to_thread`.

    Every method raises Refused(INPUT_INVALID) for an illegal key and StorageFault when the store does not do its part.
    """

    def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Store `data` whole or not at all; what was under `key` before is replaced in the same instant."""
        ...

    def check_room(self) -> None:
        """Raise StorageFault unless there is room for `ROOM_BYTES` now. Asked before what comes only once is bought."""
        ...

    def get(self, key: str) -> bytes:
        """The bytes. Raises MissingObject."""
        ...

    def exists(self, key: str) -> bool:
        """Whether there is an object. A store that cannot be asked raises, it never answers False."""
        ...

    def size(self, key: str) -> int:
        """Bytes. Raises MissingObject."""
        ...

    def local(self, key: str) -> AbstractContextManager[Path]:
        """A file with the object's bytes and name, valid inside the `with`; only to be read. Raises MissingObject."""
        ...

    def delete(self, key: str) -> None:
        """Remove the object; no error when there is none."""
        ...

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """All objects whose key begins with `prefix` (any text that a key can begin with; "" for all), in order of key."""
        ...

    def unfinished(self, *, before: datetime) -> Iterator[ObjectInfo]:
        """What writes that never ended have left behind, begun before that time: no objects, and in nobody's way but the disk's.

        `key` is a name for `discard` alone.
        """
        ...

    def discard(self, unfinished: ObjectInfo) -> None:
        """Remove one of `unfinished`; no error when it has gone already."""
        ...

    def address(self, key: str) -> str:
        """Where an operator finds the object without us: an absolute path, or an s3:// address."""
        ...

    def url(self, key: str) -> str:
        """A link for people, relative to the webserver or absolute. Whether the object exists is not looked at."""
        ...


def read_whole(objects: ObjectStore, media: MediaRef) -> bytes:
    """The bytes of a stored piece, surely those that were stored. Raises MissingObject, DamagedObject, StorageFault."""
    data = objects.get(media.key)
    _check_whole(media, sha256_hex(data))
    return data


@contextmanager
def local_whole(objects: ObjectStore, media: MediaRef) -> Iterator[Path]:
    """`ObjectStore.local` of a stored piece, surely as it was stored. Raises MissingObject, DamagedObject, StorageFault."""
    with objects.local(media.key) as path:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        _check_whole(media, digest)
        yield path


def _check_whole(media: MediaRef, digest: str) -> None:
    if digest != media.sha256:
        raise DamagedObject(f"object {media.key} is not what was stored any more; make it anew")


def check_key(key: str) -> str:
    """`key` if it can name an object: parts of `A-Za-z0-9._=-` joined by "/". Raises Refused(INPUT_INVALID)."""
    if len(key) > KEY_MAX_CHARS:
        raise _illegal(key, f"it has {len(key)} characters, at most {KEY_MAX_CHARS} are allowed")
    for part in key.split("/"):
        if not part:
            raise _illegal(key, "it is empty, absolute, or has an empty part")
        if not _PART.fullmatch(part):
            raise _illegal(key, f"the part {part[:80]!r} must be at most 200 of A-Z a-z 0-9 . _ = - and not begin with a dot")
    return key


def is_key(name: str) -> bool:
    """Whether `name` can name an object. What lies in a store under other names is not ours and is never listed."""
    return len(name) <= KEY_MAX_CHARS and all(map(_PART.fullmatch, name.split("/")))


def check_prefix(prefix: str) -> str:
    """`prefix` if some legal key can begin with it. Raises Refused(INPUT_INVALID)."""
    if prefix:
        check_key(f"{prefix}x" if prefix.endswith("/") else prefix)
    return prefix


def _illegal(key: str, reason: str) -> Refused:
    return Refused(ErrorCode.INPUT_INVALID, f"object key {key[:80]!r} is not possible: {reason}")


def link(media_url: str, key: str) -> str:
    """The link to `key` below the base `media_url`.

    Below a webserver's `/logs` (a base that is a path with a part `logs`) the last dot becomes a slash, because that route takes
    name and ending apart: `/logs/objects` and `p/0-abc.png` give `/logs/objects/p/0-abc/png`. Raises Refused(INPUT_INVALID) for
    an illegal key, and there for a key without an ending, which that route cannot serve.
    """
    base = media_url.rstrip("/")
    quoted = quote(check_key(key))
    if not (base.startswith("/") and "/logs/" in f"{base}/"):
        return f"{base}/{quoted}"
    stem, dot, ending = quoted.rpartition(".")
    if not dot or "/" in ending or not ending:
        raise Refused(ErrorCode.INPUT_INVALID, f"object {key!r} has no file ending, so {media_url} cannot link to it")
    return f"{base}/{stem}/{ending}"
