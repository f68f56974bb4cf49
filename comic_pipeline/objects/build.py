"""Which object store the settings name."""

from pathlib import Path

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.settings import Settings


def open_objects(settings: Settings) -> ObjectStore:
    """The store that COMIC_OBJECTS names: `s3://bucket/prefix` or a folder. Touches nothing yet.

    Raises Refused(INPUT_INVALID) for an address of any other kind.
    """
    address = settings.effective_objects
    if address.startswith("s3://"):
        return S3Store(address, endpoint=settings.s3_endpoint, media_url=settings.media_url)
    if "://" in address:
        raise Refused(ErrorCode.INPUT_INVALID, f"COMIC_OBJECTS {address[:80]!r} must be a folder or s3://bucket/prefix")
    return FolderStore(Path(address).expanduser().absolute(), media_url=settings.media_url)
