"""What only the S3 store can get wrong: a service that is down, deaf, or refuses."""

import secrets
import socket
import threading

import boto3
import pytest

from comic_pipeline.model.errors import Refused, StorageFault
from comic_pipeline.objects import s3
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import MissingObject
from comic_pipeline_tests.cutting import cutting
from comic_pipeline_tests.ports import free_port
from comic_pipeline_tests.s3 import S3Server

KEY = "projects/p/frames/0-abc.png"


@pytest.mark.timeout(60)
def test_a_dead_service_is_named_in_bounded_time(s3_variables: S3Server) -> None:
    """A stopped S3 must neither hang a run nor look like missing objects."""
    endpoint = f"http://127.0.0.1:{free_port()}"
    store = S3Store("s3://films", endpoint=endpoint, media_url="/logs/objects")

    asks = (
        lambda: store.get(KEY),
        lambda: store.exists(KEY),
        lambda: store.put(KEY, b"x", mime="image/png"),
        lambda: list(store.list("")),
    )
    for ask in asks:
        with pytest.raises(StorageFault, match=f"{endpoint}.*is .* up") as fault:
            ask()
        assert not isinstance(fault.value, MissingObject)


@pytest.mark.timeout(30)
def test_a_service_that_accepts_and_never_answers_is_given_up(s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The read time-out bounds each try. Shortened here from 30 s; the tries stay as many."""
    monkeypatch.setattr(s3, "_READ_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        store = S3Store("s3://films", endpoint=f"http://127.0.0.1:{deaf.getsockname()[1]}", media_url="/logs/objects")

        with pytest.raises(StorageFault, match="cannot read"):
            store.get(KEY)


def test_a_dropped_connection_in_the_middle_of_a_download_is_a_fault(s3_variables: S3Server) -> None:
    """Half a picture must never be taken for a picture."""
    with socket.create_server(("127.0.0.1", 0)) as half:
        answering = threading.Thread(target=_answer_half, args=(half,))
        answering.start()
        store = S3Store("s3://films", endpoint=f"http://127.0.0.1:{half.getsockname()[1]}", media_url="/logs/objects")

        with pytest.raises(StorageFault, match="cannot read"):
            store.get(KEY)
        answering.join(timeout=10)


def _answer_half(server: socket.socket) -> None:
    """One HEAD of the bucket answered well, one GET with 10 of 1,000 bytes."""
    for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", _HALF):
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(answer)


_HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n0123456789"


def test_wrong_keys_are_named_without_being_shown(s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variables to check, and no secret."""
    wrong = secrets.token_hex(16)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", wrong)
    store = S3Store(f"s3://{s3_variables.make_bucket()}", endpoint=s3_variables.endpoint, media_url="/logs/objects")

    with pytest.raises(StorageFault, match="AWS_SECRET_ACCESS_KEY") as fault:
        store.exists(KEY)

    assert wrong not in str(fault.value)


def test_no_keys_at_all_are_named(s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment without keys says what to set."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    store = S3Store("s3://films", endpoint=s3_variables.endpoint, media_url="/logs/objects")

    with pytest.raises(StorageFault, match="AWS_"):
        store.get(KEY)


def test_a_missing_bucket_is_not_a_missing_object(s3_variables: S3Server) -> None:
    """A HEAD answers 404 for both; taking one for the other would make every stored film disappear silently."""
    store = S3Store("s3://no-such-bucket", endpoint=s3_variables.endpoint, media_url="/logs/objects")

    for ask in (store.exists, store.get, store.size):
        with pytest.raises(StorageFault, match="no bucket 'no-such-bucket'") as fault:
            ask(KEY)
        assert not isinstance(fault.value, MissingObject)


def test_a_bucket_is_made_once_and_keeps_what_is_in_it(s3_variables: S3Server) -> None:
    """`comic init` may run again and again, also twice at once."""
    name = f"made-{secrets.token_hex(4)}"
    first, second = (S3Store(f"s3://{name}/films", endpoint=s3_variables.endpoint, media_url="/media") for _ in range(2))

    first.make_bucket()
    first.put(KEY, b"x", mime="image/png")
    second.make_bucket()

    assert second.get(KEY) == b"x"


def test_a_bucket_that_cannot_be_made_is_a_fault(s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong keys at `comic init` are named there, and not found by the first film."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secrets.token_hex(16))
    store = S3Store(f"s3://made-{secrets.token_hex(4)}", endpoint=s3_variables.endpoint, media_url="/media")

    with pytest.raises(StorageFault, match="AWS_SECRET_ACCESS_KEY"):
        store.make_bucket()


def test_objects_carry_their_type(s3_variables: S3Server) -> None:
    """Browsers show a picture only when S3 serves it as one."""
    bucket = s3_variables.make_bucket()
    store = S3Store(f"s3://{bucket}/films", endpoint=s3_variables.endpoint, media_url="/logs/objects")

    store.put(KEY, b"x", mime="image/png")
    store.put("big.mp4", b"x" * 9_000_000, mime="video/mp4")

    client = boto3.client("s3", endpoint_url=s3_variables.endpoint, region_name="us-east-1")
    heads = [client.head_object(Bucket=bucket, Key=f"films/{key}")["ContentType"] for key in (KEY, "big.mp4")]
    assert heads == ["image/png", "video/mp4"]


def test_objects_of_others_are_not_listed(s3_variables: S3Server) -> None:
    """The bucket may hold other things beside the prefix, and names that no key can have."""
    bucket = s3_variables.make_bucket()
    store = S3Store(f"s3://{bucket}/films", endpoint=s3_variables.endpoint, media_url="/logs/objects")
    store.put("a.png", b"x", mime="image/png")
    for name in ("films/b c.png", "films-2.png"):
        (s3_variables.data / bucket / name).write_bytes(b"not ours")

    assert [info.key for info in store.list("")] == ["a.png"]


def test_list_goes_past_one_page(s3_variables: S3Server) -> None:
    """S3 answers with at most 1,000 objects at once; the rest must not get lost."""
    bucket = s3_variables.make_bucket()
    keys = [f"many/{number:04}.txt" for number in range(1_010)]
    (s3_variables.data / bucket / "many").mkdir()
    for key in keys:
        (s3_variables.data / bucket / key).write_bytes(b"")
    store = S3Store(f"s3://{bucket}", endpoint=s3_variables.endpoint, media_url="/logs/objects")

    assert [info.key for info in store.list("many/")] == keys


@pytest.mark.parametrize("address", ["films", "s3://", "s3:///films", "https://bucket/films", "s3://bucket/a/../b"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    """A typing error in COMIC_OBJECTS is found at start, not at the first film."""
    with pytest.raises(Refused):
        S3Store(address, endpoint="", media_url="/logs/objects")


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
def test_an_upload_that_is_cut_is_whole_or_not_there(s3_variables: S3Server, size: int) -> None:
    """Twice the connection breaks in mid upload and the retries bring it through; for ever, and there is no object at all."""
    with cutting(int(s3_variables.endpoint.rpartition(":")[2])) as way:
        store = S3Store(f"s3://{s3_variables.make_bucket()}", endpoint=way.endpoint, media_url="/media")
        data = secrets.token_bytes(size)
        way.cuts = 2

        store.put("whole.mp4", data, mime="video/mp4")

        assert (way.done, store.get("whole.mp4") == data) == (2, True)
        way.cuts = 1_000
        with pytest.raises(StorageFault, match="cannot write"):
            store.put("never.mp4", data, mime="video/mp4")
        way.cuts = 0
        assert [info.key for info in store.list("")] == ["whole.mp4"]


def test_a_store_that_takes_nothing_has_no_room(s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong keys or a dead service are found before something is bought that could not be kept."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secrets.token_hex(16))
    with pytest.raises(StorageFault):
        S3Store(f"s3://{s3_variables.make_bucket()}", endpoint=s3_variables.endpoint, media_url="/media").check_room()
