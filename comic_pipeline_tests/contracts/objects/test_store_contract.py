"""What every object store promises, asked of each of them."""

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.objects.store import DamagedObject, MissingObject, ObjectStore, local_whole, read_whole

KEY = "projects/moon-cat/frames/0-1a2b3c4d5e6f.png"

HOSTILE_KEYS = [
    "",
    "/etc/passwd",
    "..",
    "../secret.png",
    "projects/../../secret.png",
    "projects/./a.png",
    "projects//a.png",
    "projects/",
    "projects\\a.png",
    "projects/a\n.png",
    "projects/a\x00.png",
    "projects/\x7f.png",
    "projects/.hidden.png",
    "projects/a b.png",
    "projects/a?b.png",
    "projects/a%2e.png",
    "projects/月亮.png",
    "projects/cafe\u0301.png",
    "projects/\u202egnp.exe",
    "projects/\ud800.png",
    "projects/a.png\n",
    "s3://bucket/a.png",
    "a" * 201 + ".png",
    "/".join(["abcdefg"] * 65),
]


def test_what_is_put_comes_back(store: ObjectStore) -> None:
    """Bytes of any value come back unchanged, with their size."""
    data = bytes(range(256)) * 3

    store.put(KEY, data, mime="image/png")

    assert store.get(KEY) == data
    assert store.size(KEY) == len(data)
    assert store.exists(KEY)


def test_a_piece_that_is_not_what_was_stored_is_as_good_as_gone(store: ObjectStore) -> None:
    """A file that a full disk cut, or that somebody changed: noticed before anything is paid, rendered or published from it."""
    whole = b"a picture"
    piece = MediaRef(key=KEY, sha256=sha256_hex(whole), size=len(whole), mime="image/png")
    store.put(KEY, whole, mime="image/png")
    with local_whole(store, piece) as path:
        assert path.read_bytes() == read_whole(store, piece) == whole

    store.put(KEY, whole[:-1], mime="image/png")

    with pytest.raises(DamagedObject, match="make it anew"):
        read_whole(store, piece)
    with pytest.raises(DamagedObject), local_whole(store, piece):
        pass


def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    """Nothing in it is not the same as not there."""
    store.put(KEY, b"", mime="image/png")

    assert store.exists(KEY)
    assert store.get(KEY) == b""
    assert store.size(KEY) == 0


def test_putting_again_replaces(store: ObjectStore) -> None:
    """Equal bytes are put again by resumed runs, other bytes by corrected ones; neither leaves anything of the old object."""
    store.put(KEY, b"first and longer", mime="image/png")
    store.put(KEY, b"first and longer", mime="image/png")
    store.put(KEY, b"second", mime="image/png")

    assert store.get(KEY) == b"second"
    assert [info.size for info in store.list("")] == [6]


def test_a_missing_object_is_named(store: ObjectStore) -> None:
    """A missing object has an error of its own, so that nobody takes it for a broken store, and the message names it."""
    store.put("projects/other/a.png", b"x", mime="image/png")

    assert not store.exists(KEY)
    for ask in (store.get, store.size):
        with pytest.raises(MissingObject, match=r"0-1a2b3c4d5e6f\.png"):
            ask(KEY)
    with pytest.raises(MissingObject, match="0-1a2b3c4d5e6f"), store.local(KEY):
        pytest.fail("there is nothing to open")


def test_a_folder_is_not_an_object(store: ObjectStore) -> None:
    """What other keys lie below is no object itself."""
    store.put(KEY, b"x", mime="image/png")

    assert not store.exists("projects/moon-cat")
    with pytest.raises(MissingObject):
        store.get("projects/moon-cat")


def test_list_gives_what_begins_with_the_prefix_in_order(store: ObjectStore) -> None:
    """The prefix is text, not a folder, and the order is that of the keys: '-' sorts before '/', as S3 has it."""
    keys = ["a-b/x.png", "a/b/0.png", "a/b/1.png", "a/b2/0.png", "a/c.png", "b/a.png"]
    for key in reversed(keys):
        store.put(key, key.encode(), mime="image/png")

    listed = {
        prefix: [info.key for info in store.list(prefix)] for prefix in ("", "a", "a/", "a/b", "a/b/", "a/b/1.png", "c", "a/b/x/")
    }

    assert listed == {
        "": keys,
        "a": keys[:5],
        "a/": keys[1:5],
        "a/b": keys[1:4],
        "a/b/": keys[1:3],
        "a/b/1.png": keys[2:3],
        "c": [],
        "a/b/x/": [],
    }


def test_list_tells_size_and_time(store: ObjectStore) -> None:
    """Housekeeping decides by age: the time is in UTC and of now."""
    store.put(KEY, b"12345", mime="image/png")

    (info,) = store.list("projects/")

    assert (info.key, info.size) == (KEY, 5)
    assert info.modified.tzinfo is UTC
    assert abs(datetime.now(UTC) - info.modified) < timedelta(minutes=1)


def test_an_empty_store_lists_nothing(store: ObjectStore) -> None:
    """A store that was never written to is empty, not broken."""
    assert list(store.list("")) == []


def test_delete_removes_one_object(store: ObjectStore) -> None:
    """Only that one; deleting again, or what never was, is no error, so clean-up can be repeated."""
    store.put("a/b.png", b"x", mime="image/png")
    store.put("a/b.png.json", b"y", mime="application/json")

    for key in ("a/b.png", "a/b.png", "never/was.png"):
        store.delete(key)

    assert [info.key for info in store.list("")] == ["a/b.png.json"]


def test_local_gives_a_file_with_the_same_ending(store: ObjectStore) -> None:
    """Readers of media want a path, and guess the type by its ending."""
    store.put(KEY, b"picture", mime="image/png")

    with store.local(KEY) as path:
        assert (path.read_bytes(), path.suffix) == (b"picture", ".png")

    assert store.get(KEY) == b"picture"


@pytest.mark.parametrize("key", HOSTILE_KEYS)
def test_hostile_keys_are_refused_everywhere(store: ObjectStore, key: str) -> None:
    """Keys are built from ids and titles: none may leave the store, hide in it, or look like another one."""
    asks = (store.get, store.exists, store.size, store.delete, store.url, lambda k: store.local(k).__enter__())
    for ask in (*asks, lambda k: store.put(k, b"x", mime="image/png")):
        with pytest.raises(Refused) as refused:
            ask(key)
        assert refused.value.code is ErrorCode.INPUT_INVALID

    assert list(store.list("")) == []


@pytest.mark.parametrize("prefix", ["/", "../", "a/../", "a//", "a\\", "月"])
def test_hostile_prefixes_are_refused(store: ObjectStore, prefix: str) -> None:
    """A clean-up by prefix must not wander out of the store."""
    with pytest.raises(Refused):
        list(store.list(prefix))


def test_a_big_object_comes_back_whole(store: ObjectStore) -> None:
    """A film is larger than one upload part."""
    data = secrets.token_bytes(16 * 1024 * 1024)

    store.put("projects/p/film/final.mp4", data, mime="video/mp4")

    assert store.size("projects/p/film/final.mp4") == len(data)
    assert store.get("projects/p/film/final.mp4") == data
    with store.local("projects/p/film/final.mp4") as path:
        assert path.read_bytes() == data


def test_readers_never_see_half_an_object(store: ObjectStore) -> None:
    """While an object is replaced again and again every read gives one whole version."""
    versions = [bytes([letter]) * 300_000 for letter in b"ab"]
    store.put(KEY, versions[0], mime="image/png")
    done = threading.Event()

    def replace() -> None:
        for number in range(40):
            store.put(KEY, versions[number % 2], mime="image/png")
        done.set()

    reads = 0
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(replace)
        while not done.is_set() and not writing.done():
            assert store.get(KEY) in versions
            reads += 1
        writing.result()
    assert reads > 0


def test_many_threads_share_a_fresh_store(store: ObjectStore) -> None:
    """Shots are stored from many threads at once, the first use included (making a client of boto3 is not thread-safe)."""

    def round_trip(number: int) -> bytes:
        store.put(f"p/{number}.txt", str(number).encode(), mime="text/plain")
        return store.get(f"p/{number}.txt")

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(round_trip, range(48))) == [str(number).encode() for number in range(48)]


def test_a_missing_object_is_a_storage_fault(store: ObjectStore) -> None:
    """Callers that only know 'the store failed' catch it as such, with the code for it."""
    with pytest.raises(StorageFault) as missing:
        store.get(KEY)
    assert missing.value.code is ErrorCode.STORAGE_FAILED


def test_url_names_the_object(store: ObjectStore) -> None:
    """The link follows the media address that the store was opened with."""
    assert store.url(KEY) == "/logs/objects/projects/moon-cat/frames/0-1a2b3c4d5e6f/png"


def test_asking_for_room_leaves_nothing(store: ObjectStore) -> None:
    """Asked before every purchase: it must not fill the store by asking."""
    store.check_room()
    assert list(store.list("")) == []
