"""What a vendor's HTTP answer says: the body as JSON, the error envelopes, Retry-After, and text that is safe to show.

Belongs here: reading an answer that has arrived. Does not: sending (`http.py`), what a vendor's own code means (`ark_errors.py`,
`openai_errors.py`, `openspeech.py`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.secrecy import conceal
from comic_pipeline.providers.interface import JsonObject

# A wait longer than a project's whole time allowance cannot help it; a nonsense header must not park work for days.
RETRY_AFTER_CAP = 3_600.0

_URL_QUERY = re.compile(r"(https?://[^\s\"'<>?]+)\?[^\s\"'<>]+")
_DATA_URI = re.compile(r"data:[\w/+.-]*;base64,[A-Za-z0-9+/=]*")
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{120,}")
_TOKEN = re.compile(r"(?i)\b(bearer[;\s]+|sk-)[A-Za-z0-9._~+/=*-]+")
# Also the second set of controls, where 9B begins a terminal's command, and what turns the direction of writing.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_ID_CHARS = 200
_URL_CHARS = 16_000
# What flat answers of success have as their code.
_NO_ERROR = frozenset({"", "0", "200"})
# A clip of 30 s at 4k has 60 million tokens; a number beyond this is a slip of the server, and no money can be made of it.
_MOST_USED = 10**10


@dataclass(frozen=True)
class Reply:
    """One whole HTTP answer. `retry_after` is in seconds, `request_id` the vendor's id of the call (empty when it gave none)."""

    status: int
    body: bytes = field(repr=False)
    content_type: str = ""
    request_id: str = ""
    retry_after: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300

    def document(self) -> JsonObject | None:
        """The JSON object in the body; None when the body is empty, HTML, or any other kind of text."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    @property
    def shape(self) -> str:
        """What the body looks like from outside, for messages about bodies that cannot be read."""
        kind = safe_text(self.content_type, secrets=(), limit=80) or "no content type"
        return f"{kind}, {len(self.body)} bytes" if self.body else "an empty body"


@dataclass(frozen=True)
class VendorError:
    """An error in the vendor's own words. `code` falls back to the vendor's `type` where a vendor leaves `code` null."""

    code: str
    message: str
    param: str = ""
    request_id: str = ""


def read_error(document: JsonObject | None) -> VendorError | None:
    """The error inside a JSON body, in any of the shapes that were seen; None when there is none.

    Ark and OpenAI: `{"error": {code, message, param, type}}`, through some relays wrapped in one more `error`; the gateway before
    Ark: `{"ResponseMetadata": {"Error": {Code, Message}}}`; through proxies: a flat `{code, message}`; some compatible servers:
    `{"error": "text"}`. Servers that always send the keys leave them empty in a success, or send the code 0.
    """
    if document is None:
        return None
    error = document.get("error")
    if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    if isinstance(error, Mapping) and any(error.values()):
        code = _word(error.get("code")) or _word(error.get("type"))
        return VendorError(code=code, message=_word(error.get("message")), param=_word(error.get("param")))
    if isinstance(error, str) and error:
        return VendorError(code="", message=error)
    metadata = document.get("ResponseMetadata")
    inner = metadata.get("Error") if isinstance(metadata, Mapping) else None
    if isinstance(metadata, Mapping) and isinstance(inner, Mapping) and any(inner.values()):
        code = _word(inner.get("Code")) or _word(inner.get("CodeN"))
        return VendorError(code=code, message=_word(inner.get("Message")), request_id=read_id(metadata.get("RequestId")))
    if isinstance(document.get("message"), str) and _word(document.get("code")) not in _NO_ERROR:
        return VendorError(code=_word(document["code"]), message=document["message"])
    return None


def classify_status(status: int) -> ErrorCode:
    """Our code for an HTTP status that came without a vendor code we know: a gateway's."""
    exact = {
        401: ErrorCode.PROVIDER_AUTH,
        402: ErrorCode.PROVIDER_QUOTA,
        403: ErrorCode.PROVIDER_AUTH,
        404: ErrorCode.UNKNOWN_ERROR,
        405: ErrorCode.UNKNOWN_ERROR,
        408: ErrorCode.PROVIDER_TIMEOUT,
        409: ErrorCode.UNKNOWN_ERROR,
        429: ErrorCode.PROVIDER_RATE_LIMIT,
        504: ErrorCode.PROVIDER_TIMEOUT,
    }
    if status in exact:
        return exact[status]
    if status >= 500:
        return ErrorCode.PROVIDER_ERROR
    # A redirect or a success without a result is a wrong address or a foreign server: a person must look at the settings.
    return ErrorCode.INPUT_INVALID if status >= 400 else ErrorCode.UNKNOWN_ERROR


def make_fault(
    code: ErrorCode,
    reply: Reply,
    *,
    service: str,
    error: VendorError | None,
    secrets: tuple[str, ...],
    advice: str = "",
    cost: Decimal = ZERO,
) -> ProviderFault:
    """The typed error for an answer that says no; its text carries the vendor's words, never keys, signatures or media.

    `cost` is what was billed all the same.
    """
    named = safe_text(error.code, secrets=secrets, limit=100) if error else ""
    said = f"{named or 'no code'}: {safe_text(error.message, secrets=secrets)}" if error else reply.shape
    return ProviderFault(
        code,
        f"{service} answered HTTP {reply.status} {said}" + (f" ({advice})" if advice else ""),
        provider_code=named,
        http_status=reply.status,
        retry_after=reply.retry_after,
        request_id=reply.request_id or (error.request_id if error else ""),
        cost=cost,
    )


def safe_text(text: str, *, secrets: tuple[str, ...], limit: int = 300) -> str:
    """`text` for messages and logs: one line, at most `limit` characters, without keys, signed query strings and media bytes."""
    text = conceal(text, secrets=secrets)
    # Patterns run over a bounded piece; secrets were replaced in the whole before the cut could halve one.
    text = _CONTROL.sub(" ", text[:4_000])
    text = _URL_QUERY.sub(r"\1?***", text)
    text = _DATA_URI.sub("data:***", text)
    text = _TOKEN.sub(r"\1***", text)
    text = _BLOB.sub("***", text).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def parse_retry_after(value: str | None, *, now: datetime) -> float | None:
    """Seconds to wait from a Retry-After header (a number or an HTTP date); None when there is none that can be read."""
    if not value:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", value.strip()):
        return min(float(value), RETRY_AFTER_CAP)
    moment = read_date(value)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), RETRY_AFTER_CAP)


def read_date(value: str) -> datetime | None:
    """The moment of an HTTP date, in its own zone or in UTC; None when it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_usage(value: object) -> dict[str, int]:
    """The amounts of a `usage` object, by their own names; nested objects and what can be no amount are left out."""
    if not isinstance(value, Mapping):
        return {}
    amounts = {str(key): read_amount(number) for key, number in value.items()}
    return {key: amount for key, amount in amounts.items() if amount is not None}


def read_amount(value: object) -> int | None:
    """A count, which relays also write as digits in quotes or with a zero behind the point; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(_MOST_USED)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_USED or value != int(value):
        return None
    return int(value)


def read_id(value: object) -> str:
    """A vendor's id of a call or job; empty when it is none that can be stored, shown and sent back."""
    return value if isinstance(value, str) and len(value) <= _ID_CHARS and value.isprintable() else ""


def read_url(value: object) -> str:
    """The address of a result; empty when it is none that can be stored and asked for."""
    return value if isinstance(value, str) and len(value) <= _URL_CHARS and value.isprintable() else ""


def _word(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
