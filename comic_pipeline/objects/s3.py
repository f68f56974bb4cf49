"""Objects in S3 or anything that speaks it.

Belongs here: calls of boto3 and what their errors mean. Does not: keys and links (`store.py`). Credentials and region come from
the usual AWS variables or the machine's role, as boto3 finds them.
"""

import io
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.objects.store import ROOM_KEY, MissingObject, ObjectInfo, check_key, check_prefix, is_key, link

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# Seconds: a dead service is known after ATTEMPTS x CONNECT_TIMEOUT, a hanging one after ATTEMPTS x READ_TIMEOUT.
_CONNECT_TIMEOUT, _READ_TIMEOUT, _ATTEMPTS = 5, 30, 3
_PART_BYTES = 8 * 1024 * 1024  # larger objects go up in parts of this size, four at a time
_CHUNK_BYTES = 1024 * 1024  # of a download to a file
_MISSING = frozenset({"NoSuchKey", "NotFound", "404", "NoSuchUpload"})
_NO_BUCKET = _MISSING | {"NoSuchBucket"}
# Regions that S3 does not want named when a bucket is made there.
_UNNAMED_REGIONS = frozenset({"", "us-east-1", "aws-global"})
_CHECK_KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and their rights to the bucket"
_WAYS_OUT = {
    "NoSuchBucket": "make the bucket or correct COMIC_OBJECTS",
    "403": _CHECK_KEYS,
    "AccessDenied": _CHECK_KEYS,
    "InvalidAccessKeyId": _CHECK_KEYS,
    "SignatureDoesNotMatch": _CHECK_KEYS,
    "RequestTimeTooSkewed": "set this machine's clock",
}


class S3Store:
    """`ObjectStore` in the bucket and below the prefix of `address` (`s3://bucket/prefix`), at `endpoint` or at AWS when empty.

    Nothing is asked of the service before the first use; then the bucket must exist. Raises Refused(INPUT_INVALID) for an address
    that is none.
    """

    def __init__(self, address: str, *, endpoint: str, media_url: str) -> None:
        bucket, _, prefix = address.removeprefix("s3://").rstrip("/").partition("/")
        if not address.startswith("s3://") or not bucket:
            raise Refused(ErrorCode.INPUT_INVALID, f"COMIC_OBJECTS {address[:80]!r} must be s3://bucket or s3://bucket/prefix")
        self._bucket = bucket
        self._prefix = f"{check_key(prefix)}/" if prefix else ""
        self._endpoint = endpoint
        self._media_url = media_url
        self._lock = threading.Lock()
        self._opened: S3Client | None = None

    def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Upload, in parts when large; S3 shows an object only once it is complete."""
        from boto3.s3.transfer import TransferConfig

        name = self._name(key)
        config = TransferConfig(multipart_threshold=_PART_BYTES, multipart_chunksize=_PART_BYTES, max_concurrency=4)
        with self._calling("write", name) as client:
            client.upload_fileobj(io.BytesIO(data), self._bucket, name, ExtraArgs={"ContentType": mime}, Config=config)

    def check_room(self) -> None:
        """Upload one byte and delete it: the service answers, the keys are right, the quota is not used up."""
        self.put(ROOM_KEY, b"\0", mime="application/octet-stream")
        self.delete(ROOM_KEY)

    def get(self, key: str) -> bytes:
        """Download."""
        name = self._name(key)
        with self._calling("read", name) as client:
            return client.get_object(Bucket=self._bucket, Key=name)["Body"].read()

    def exists(self, key: str) -> bool:
        """Ask for the object's head."""
        try:
            self.size(key)
        except MissingObject:
            return False
        return True

    def size(self, key: str) -> int:
        """Ask for the object's head."""
        name = self._name(key)
        with self._calling("read", name) as client:
            return client.head_object(Bucket=self._bucket, Key=name)["ContentLength"]

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """A temporary download."""
        name = self._name(key)
        with ExitStack() as until_used:
            with self._calling("read", name) as client:
                folder = until_used.enter_context(tempfile.TemporaryDirectory(prefix="comic-object-"))
                path = Path(folder, name.rpartition("/")[2])
                # One plain GET: the ranges that boto3's own download asks for are refused by some services.
                body = client.get_object(Bucket=self._bucket, Key=name)["Body"]
                with path.open("wb") as file:
                    file.writelines(body.iter_chunks(_CHUNK_BYTES))
            yield path

    def delete(self, key: str) -> None:
        """Delete; S3 does not mind when there is nothing."""
        name = self._name(key)
        with self._calling("delete", name) as client:
            client.delete_object(Bucket=self._bucket, Key=name)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Page by page, 1,000 objects each."""
        name = self._prefix + check_prefix(prefix)
        with self._calling("list", name) as client:
            pages = iter(client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=name))
        while True:
            with self._calling("list", name):
                page = next(pages, None)
            if page is None:
                return
            for entry in page.get("Contents", []):
                key = entry["Key"].removeprefix(self._prefix)
                if is_key(key):
                    yield ObjectInfo(key, entry["Size"], entry["LastModified"].astimezone(UTC))

    def unfinished(self, *, before: datetime) -> Iterator[ObjectInfo]:
        """Uploads in parts that nobody completed; their size is not told by the service (0)."""
        with self._calling("list", self._prefix) as client:
            pages = client.get_paginator("list_multipart_uploads").paginate(Bucket=self._bucket, Prefix=self._prefix)
            for page in pages:
                for upload in page.get("Uploads", []):
                    began = upload["Initiated"].astimezone(UTC)
                    if began < before:
                        yield ObjectInfo(f"{upload['Key']}?{upload['UploadId']}", 0, began)

    def discard(self, unfinished: ObjectInfo) -> None:
        """Abort the upload."""
        name, _, upload = unfinished.key.rpartition("?")
        try:
            with self._calling("abort the upload of", name) as client:
                client.abort_multipart_upload(Bucket=self._bucket, Key=name, UploadId=upload)
        except MissingObject:
            return

    def address(self, key: str) -> str:
        """The object's s3:// address."""
        return f"s3://{self._bucket}/{self._name(key)}"

    def url(self, key: str) -> str:
        """The link below the media address."""
        return link(self._media_url, key)

    def presigned(self, key: str, *, method: str, seconds: int) -> str:
        """A URL at which anybody may `GET` or `HEAD` (not both) the object for so long.

        Computed here: the service is not asked, and whether the object exists is not looked at.
        """
        name = self._name(key)
        with self._faults("link", name):
            verb = {"GET": "get_object", "HEAD": "head_object"}[method]
            return self._signer.generate_presigned_url(verb, Params={"Bucket": self._bucket, "Key": name}, ExpiresIn=seconds)

    def make_bucket(self) -> None:
        """Make the bucket unless it is there."""
        from botocore.exceptions import ClientError

        with self._faults("make", ""):
            client = self._connect()
            try:
                client.head_bucket(Bucket=self._bucket)
            except ClientError as answered:
                if answered.response["Error"]["Code"] not in _NO_BUCKET:
                    raise
                _create_bucket(client, self._bucket)

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)

    @contextmanager
    def _calling(self, verb: str, name: str) -> "Iterator[S3Client]":
        with self._faults(verb, name):
            yield self._client()

    @contextmanager
    def _faults(self, verb: str, name: str) -> Iterator[None]:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        what = f"cannot {verb} s3://{self._bucket}/{name}"
        try:
            yield
        except ClientError as answered:
            code = answered.response["Error"]["Code"]
            if code in _MISSING:
                raise MissingObject(f"there is no object s3://{self._bucket}/{name}") from answered
            raise StorageFault(f"{what}: {answered}; {_WAYS_OUT.get(code, 'look at the service')}") from answered
        except (BotoCoreError, Boto3Error) as unanswered:
            where = self._endpoint or "AWS"
            raise StorageFault(f"{what}: {unanswered}; is {where} up, and are the AWS_* variables set?") from unanswered
        except OSError as refused:
            raise StorageFault(f"{what}: {refused}; is the temporary folder full?") from refused

    @cached_property
    def _signer(self) -> "S3Client":
        return self._connect()

    def _client(self) -> "S3Client":
        """The shared client, made once: making one is not thread-safe, using it is."""
        with self._lock:
            if self._opened is None:
                client = self._connect()
                self._check_bucket(client)
                self._opened = client
            return self._opened

    def _connect(self) -> "S3Client":
        import boto3
        from botocore.config import Config

        return boto3.session.Session().client(
            "s3",
            endpoint_url=self._endpoint or None,
            config=Config(
                connect_timeout=_CONNECT_TIMEOUT,
                read_timeout=_READ_TIMEOUT,
                # Links would be signed the old way otherwise, which most services but AWS have given up.
                signature_version="s3v4",
                retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
                s3={"addressing_style": "path"},
                # The checksums that newer clients add unasked are refused by many services that speak S3.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _check_bucket(self, client: "S3Client") -> None:
        """A missing bucket answers like a missing object when asked for a head; this tells them apart once and for all."""
        from botocore.exceptions import ClientError

        try:
            client.head_bucket(Bucket=self._bucket)
        except ClientError as answered:
            if answered.response["Error"]["Code"] not in _NO_BUCKET:
                raise
            raise StorageFault(f"there is no bucket {self._bucket!r}; {_WAYS_OUT['NoSuchBucket']}") from answered


def _create_bucket(client: "S3Client", bucket: str) -> None:
    from botocore.exceptions import ClientError

    region = client.meta.region_name or ""
    named = region not in _UNNAMED_REGIONS
    try:
        if named:
            # The stubs list the regions of the day that they were made on.
            place: Any = {"LocationConstraint": region}
            client.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
        else:
            client.create_bucket(Bucket=bucket)
    except ClientError as answered:
        # Another `comic init` was first.
        if answered.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
            raise
