"""The stores under test."""

from pathlib import Path

import pytest

from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline_tests.s3 import S3Server

MEDIA_URL = "/logs/objects"


@pytest.fixture(params=["folder", "s3", "s3_prefix"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """An empty store of each kind."""
    if request.param == "folder":
        return FolderStore(tmp_path / "files" / "objects", media_url=MEDIA_URL)
    server: S3Server = request.getfixturevalue("s3_variables")
    prefix = "/some/prefix" if request.param == "s3_prefix" else ""
    return S3Store(f"s3://{server.make_bucket()}{prefix}", endpoint=server.endpoint, media_url=MEDIA_URL)
