"""Where results are served: objects that are rendered when first fetched, under signed URLs that expire by virtual time.

Belongs here: names, signatures, the cache of rendered bytes. Does not: making them (`pictures.py`, `clips.py`, `voices.py`).
"""

import asyncio
import calendar
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from comic_pipeline_tests.sandbox.wire import ApiError

URL_LIFE_SECONDS = 86_400
_STAMP = "%Y%m%dT%H%M%SZ"
_CACHE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class MediaObject:
    """A result that can be fetched. `content` names equal content, so that it is rendered once."""

    name: str
    mime: str
    content: str
    render: Callable[[], bytes]
    about: str


class MediaStore:
    """All results since the last reset. Rendering happens in worker threads, two at a time."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._rendering = asyncio.Semaphore(2)
        self.reset()

    def reset(self) -> None:
        """Forget all objects."""
        self._objects: dict[str, MediaObject] = {}
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    def put(self, *, suffix: str, mime: str, content: str, render: Callable[[], bytes], about: str) -> str:
        """Announce a result; answers its name. `about` is text that download faults can be matched with."""
        name = f"{secrets.token_hex(16)}.{suffix}"
        digest = hashlib.sha256(content.encode()).hexdigest()
        self._objects[name] = MediaObject(name, mime, digest, render, about)
        return name

    def find(self, name: str) -> MediaObject | None:
        """The object of this name."""
        return self._objects.get(name)

    async def data(self, name: str) -> bytes:
        """The object's bytes. Raises KeyError."""
        item = self._objects[name]
        return await self.rendered(item.content, item.render)

    async def rendered(self, content: str, render: Callable[[], bytes]) -> bytes:
        """What `render` makes, from the cache if that content was made before."""
        async with self._locks.setdefault(content, asyncio.Lock()):
            if content not in self._cache:
                async with self._rendering:
                    self._cache[content] = await asyncio.to_thread(render)
            self._cache.move_to_end(content)
            data = self._cache[content]
            while sum(map(len, self._cache.values())) > _CACHE_BYTES and len(self._cache) > 1:
                self._cache.popitem(last=False)
            return data

    def url(self, base_url: str, name: str, now: float) -> str:
        """A signed URL, good for 24 virtual hours."""
        query = {
            "X-Tos-Algorithm": "TOS4-HMAC-SHA256",
            "X-Tos-Credential": f"AKLTsandbox/{time.strftime('%Y%m%d', time.gmtime(now))}/cn-beijing/tos/request",
            "X-Tos-Date": time.strftime(_STAMP, time.gmtime(now)),
            "X-Tos-Expires": str(URL_LIFE_SECONDS),
            "X-Tos-SignedHeaders": "host",
        }
        query["X-Tos-Signature"] = self._sign(name, query)
        return f"{base_url}/media/{name}?{urlencode(query)}"

    def check(self, name: str, query: Mapping[str, str], now: float) -> MediaObject:
        """The object a signed request asks for. Raises ApiError 403 or 404."""
        given = dict(query)
        signature = given.pop("X-Tos-Signature", "")
        if not hmac.compare_digest(signature, self._sign(name, given)):
            raise ApiError(403, "SignatureDoesNotMatch", "The request signature we calculated does not match.")
        signed_at = calendar.timegm(time.strptime(given["X-Tos-Date"], _STAMP))
        if now >= signed_at + int(given["X-Tos-Expires"]):
            raise ApiError(403, "AccessDenied", "Request has expired.")
        item = self._objects.get(name)
        if item is None:
            raise ApiError(404, "NoSuchKey", "The specified key does not exist.")
        return item

    async def resolve(self, url: str, base_url: str, now: float) -> bytes | None:
        """The bytes behind one of our own URLs, None for any other. Raises ApiError 400 when ours cannot be read any more."""
        parts = urlsplit(url)
        if not url.startswith(f"{base_url}/media/"):
            return None
        name = parts.path.removeprefix("/media/")
        try:
            self.check(name, dict(parse_qsl(parts.query)), now)
        except ApiError as refused:
            text = f"The specified URL cannot be read: {refused.status} {refused.message}"
            raise ApiError(400, "InvalidParameter.TosURLInvalid", text, param="content") from refused
        return await self.data(name)

    def _sign(self, name: str, query: Mapping[str, str]) -> str:
        text = name + "\n" + "\n".join(f"{key}={query[key]}" for key in sorted(query))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
