"""Reading the answer of `POST /images/generations`, which Ark and OpenAI-compatible services share (docs/providers.md 1.2, 3)."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Frame
from comic_pipeline.providers.envelope import Reply, VendorError, read_error, read_usage
from comic_pipeline.providers.interface import Inline, JsonObject, Output, Remote

_SIZE = re.compile(r"^(\d{1,5})x(\d{1,5})$")


@dataclass(frozen=True)
class ImageAnswer:
    """The one picture of an answer. `size` is what the vendor says it made, which need not be what was asked for (1.2)."""

    output: Output
    size: Frame | None
    usage: dict[str, int]


def read_image(
    reply: Reply, document: JsonObject | None, *, service: str, failure: Callable[[VendorError], ProviderFault]
) -> ImageAnswer:
    """The picture in a successful answer. `failure` says what an error beside the picture means (1.2: `data[i].error`).

    Raises ProviderFault: EMPTY_RESPONSE when there is none, PROVIDER_ERROR when it cannot be read.
    """
    items = document.get("data") if document else None
    item = items[0] if isinstance(items, list) and items else None
    if document is None or not isinstance(item, Mapping):
        raise ProviderFault(
            ErrorCode.EMPTY_RESPONSE,
            f"{service} gave no picture ({reply.shape})",
            http_status=reply.status,
            request_id=reply.request_id,
        )
    error = read_error({"error": item["error"]}) if item.get("error") else None
    if error is not None:
        raise failure(error)
    url, encoded = item.get("url"), item.get("b64_json")
    output: Output
    if isinstance(url, str) and url:
        output = Remote(url)
    elif isinstance(encoded, str) and encoded:
        output = Inline(decode_base64(encoded, service=service))
    else:
        raise ProviderFault(ErrorCode.EMPTY_RESPONSE, f"{service} gave a picture without bytes", request_id=reply.request_id)
    match = _SIZE.match(str(item.get("size") or ""))
    size = Frame(width=int(match[1]), height=int(match[2])) if match else None
    return ImageAnswer(output=output, size=size, usage=read_usage(document.get("usage")))


def decode_base64(text: str, *, service: str) -> bytes:
    """The bytes of `text`. Raises ProviderFault(PROVIDER_ERROR) when it is not base64."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{service} sent base64 that cannot be decoded") from None
