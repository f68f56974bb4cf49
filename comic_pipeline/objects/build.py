"""Which object store the settings name, and making it ready for the first use."""

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


def prepare_objects(settings: Settings) -> None:
    """Make the bucket of an `s3://` address unless it is there; a folder is made when first written to.

    Raises Refused(INPUT_INVALID) as `open_objects` does, StorageFault when the service does not do it.
    """
    store = open_objects(settings)
    if isinstance(store, S3Store):
        store.make_bucket()


def open_signed(settings: Settings) -> tuple[S3Store, S3Store]:
    """The store as this process reaches it, and as browsers do: the first is asked, the second signs links.

    Raises Refused(INPUT_INVALID) when the objects are not on S3.
    """
    store = open_objects(settings)
    if not isinstance(store, S3Store):
        raise Refused(
            ErrorCode.INPUT_INVALID, "COMIC_OBJECTS must be s3://… for signed links; a folder is served by the webserver itself"
        )
    outside = settings.media_endpoint or settings.s3_endpoint
    return store, S3Store(settings.effective_objects, endpoint=outside, media_url=settings.media_url)
