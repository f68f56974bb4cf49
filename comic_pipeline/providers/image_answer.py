"""Reading the answer of `POST /images/generations`, which Ark and OpenAI-compatible services share."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Frame
from comic_pipeline.providers.envelope import Reply, VendorError, read_error, read_url, read_usage
from comic_pipeline.providers.interface import Done, Inline, JsonObject, Output, Remote

_SIZE = re.compile(r"^(\d{1,5})x(\d{1,5})$")
_DATA_URI = re.compile(r"data:[\w/+.-]{0,80};base64,")


@dataclass(frozen=True)
class Made:
    """What was drawn: how many pictures, and the size that the vendor tells, which need not be what was asked for."""

    images: int
    size: Frame | None
    usage: Mapping[str, int]


def read_image(
    reply: Reply,
    document: JsonObject | None,
    *,
    service: str,
    failure: Callable[[VendorError], ProviderFault],
    price: Callable[[Made], Decimal],
) -> Done:
    """The first picture of a successful answer. `failure` says what an error in its place means (`data[i].error`).

    Raises ProviderFault: EMPTY_RESPONSE when there is none, PROVIDER_ERROR when it cannot be read. One that was drawn and did not
    arrive costs.
    """
    found = document.get("data") if document else None
    items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
    if document is None or not items:
        raise ProviderFault(
            ErrorCode.EMPTY_RESPONSE,
            f"{service} gave no picture ({reply.shape})",
            http_status=reply.status,
            request_id=reply.request_id,
        )
    item = items[0]
    error = read_error({"error": item.get("error")})
    if error is not None:
        raise failure(error)
    usage = read_usage(document.get("usage"))
    # One was asked for; whoever draws more bills more.
    images = max(usage.get("generated_images", 0), sum(not one.get("error") for one in items))
    cost = price(Made(images=images, size=_read_size(item.get("size")), usage=usage))
    return Done(output=_read_output(item, service=service, cost=cost), usage=usage, cost=cost, request_id=reply.request_id)


def _read_output(item: Mapping[str, object], *, service: str, cost: Decimal) -> Output:
    url, encoded = read_url(item.get("url")), item.get("b64_json")
    if url:
        return Remote(url)
    if isinstance(encoded, str) and encoded:
        return Inline(decode_base64(encoded, service=service, cost=cost))
    raise ProviderFault(ErrorCode.EMPTY_RESPONSE, f"{service} gave a picture without bytes", cost=cost)


def decode_base64(text: str, *, service: str, cost: Decimal) -> bytes:
    """The bytes of `text`, also of a data URI, on many lines, or without its padding.

    Raises ProviderFault(PROVIDER_ERROR) when it is not base64; `cost` is what was made and is lost with it.
    """
    packed = "".join(_DATA_URI.sub("", text.lstrip(), count=1).split()).rstrip("=")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{service} sent base64 that cannot be decoded", cost=cost) from None


def _read_size(told: object) -> Frame | None:
    match = _SIZE.match(told) if isinstance(told, str) else None
    return Frame(width=int(match[1]), height=int(match[2])) if match else None
