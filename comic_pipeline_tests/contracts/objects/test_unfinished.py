"""What killed writers leave behind is found, told apart from objects, and removed."""

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from comic_pipeline.model.errors import StorageFault
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import ObjectInfo
from comic_pipeline_tests.s3 import S3Server

SOON = datetime.now(UTC) + timedelta(hours=1)


def test_a_folders_half_written_files_go(tmp_path: Path) -> None:
    """Only files of our own naming, and only old ones: objects, foreign files and a write under way stay."""
    store = FolderStore(tmp_path, media_url="")
    store.put("projects/p1/a.part", b"object", mime="")
    partial = tmp_path / "projects" / "p1" / f".{secrets.token_hex(8)}.part"
    partial.write_bytes(b"half")
    foreign = tmp_path / "projects" / ".hidden.part"
    foreign.write_bytes(b"not ours")
    assert list(store.unfinished(before=datetime.now(UTC) - timedelta(hours=1))) == []
    (found,) = store.unfinished(before=SOON)
    assert found.size == 4
    store.discard(found)
    store.discard(found)
    assert not partial.exists()
    assert foreign.exists()
    assert store.get("projects/p1/a.part") == b"object"


@pytest.mark.parametrize("key", ["projects/p1/a.png", "../.0123456789abcdef.part"])
def test_an_object_cannot_be_discarded_by_mistake(tmp_path: Path, key: str) -> None:
    """Only what `unfinished` can name is removed."""
    store = FolderStore(tmp_path / "objects", media_url="")
    store.put("projects/p1/a.png", b"object", mime="")
    with pytest.raises(StorageFault):
        store.discard(ObjectInfo(key, 1, SOON))
    assert store.get("projects/p1/a.png") == b"object"


@pytest.mark.parametrize("prefix", ["", "/some/prefix"])
def test_a_buckets_unfinished_uploads_are_aborted(s3_variables: S3Server, prefix: str) -> None:
    """An upload in parts that was begun and never completed; objects below the same prefix stay."""
    bucket = s3_variables.make_bucket()
    store = S3Store(f"s3://{bucket}{prefix}", endpoint=s3_variables.endpoint, media_url="")
    store.put("projects/p1/a.png", b"object", mime="image/png")
    client = store._client()
    name = f"{prefix.lstrip('/')}/projects/p1/film.mp4".lstrip("/")
    upload = client.create_multipart_upload(Bucket=bucket, Key=name)["UploadId"]
    client.upload_part(Bucket=bucket, Key=name, UploadId=upload, PartNumber=1, Body=b"x" * 1_000)
    assert list(store.unfinished(before=datetime.now(UTC) - timedelta(hours=1))) == []
    (found,) = store.unfinished(before=SOON)
    store.discard(found)
    store.discard(found)
    assert list(store.unfinished(before=SOON)) == []
    assert [one.key for one in store.list("")] == ["projects/p1/a.png"]
