"""Stable links to media: `COMIC_MEDIA_URL`/<key> redirects to a presigned URL that is made at each click.

Links stand in Dagster's event log and on review pages for months, presigned URLs live for minutes; this small web service, run by
`comic media`, is what lies between. It asks the store whether there is such an object, and signs. Who may come here is the
proxy's to say (`docker/Caddyfile`). Bytes never pass through it.
"""

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from comic_pipeline.model.errors import ErrorCode, Refused, StorageFault
from comic_pipeline.objects.build import open_signed
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.settings import Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# What people look at. Staged bytes of providers and Dagster's logs lie beside it in the bucket and are nobody's business.
SERVED = ("projects/", "published/")
# Seconds: long enough to load a page full of pictures and to watch a film of two minutes with pauses, too short to be passed on.
LIFE = 600
_RETRY_AFTER = "5"

_log = logging.getLogger("comic_pipeline.links")


def build_redirector(settings: Settings, *, life: int = LIFE) -> "Starlette":
    """The web service, ready for an ASGI server. `life` is that of a presigned URL in seconds.

    Answers GET and HEAD alone: 302 to the object, 404 for what is no served object, 503 while the store does not answer, 200 at
    `/healthz`. Raises Refused(INPUT_INVALID) when the objects are not on S3 or links do not point here.
    """
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse, RedirectResponse
    from starlette.routing import Route

    store, outside = open_signed(settings)
    if settings.media_url.startswith("/logs"):
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"COMIC_MEDIA_URL {settings.media_url!r} is the webserver's own folder; set it to this service",
        )

    async def redirect(request: "Request") -> "Response":
        key: str = request.path_params["key"]
        if not key.startswith(SERVED):
            return PlainTextResponse("no such media / 没有这个文件\n", status_code=404)
        try:
            await asyncio.to_thread(store.size, key)
        except (Refused, MissingObject):
            return PlainTextResponse("no such media / 没有这个文件\n", status_code=404)
        except StorageFault as fault:
            _log.warning("%s", fault)
            text = "the object store does not answer / 存储暂时不可用\n"
            return PlainTextResponse(text, status_code=503, headers={"Retry-After": _RETRY_AFTER})
        # A cached redirect would outlive what it points to.
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        url = outside.presigned(key, method=request.method, seconds=life)
        return RedirectResponse(url, status_code=302, headers=headers)

    async def healthy(_request: "Request") -> "Response":
        return PlainTextResponse("ok\n")

    base = urlsplit(settings.media_url).path.rstrip("/")
    service = Starlette(routes=[Route("/healthz", healthy), Route(f"{base}/{{key:path}}", redirect)])
    service.router.redirect_slashes = False
    return service
