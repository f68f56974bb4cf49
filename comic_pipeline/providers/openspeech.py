"""Volcengine speech (pages 1257584 and 1598757), what its two APIs share: errors, the price, what can be spoken.

`openspeech_v1.py` is the one-shot call, `openspeech_v3.py` the one-way stream; `OPENSPEECH_API` chooses.
"""

import unicodedata
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import ZERO
from comic_pipeline.providers.adapter import AtOnceAdapter
from comic_pipeline.providers.catalog import openspeech_price
from comic_pipeline.providers.envelope import Reply, VendorError, classify_status, make_fault
from comic_pipeline.providers.interface import VoiceRequest

# The vendor's own limit for a line is 60 s.
VOICE_SECONDS = 90.0
SAMPLE_RATE = 24_000

_CODES: dict[int, ErrorCode] = {
    # V1
    3001: ErrorCode.INPUT_INVALID,
    3003: ErrorCode.PROVIDER_RATE_LIMIT,
    3005: ErrorCode.PROVIDER_RATE_LIMIT,
    # A reused reqid: ours are new each time, so something on the way repeats requests, and a person must look.
    3006: ErrorCode.UNKNOWN_ERROR,
    3010: ErrorCode.INPUT_INVALID,
    3011: ErrorCode.INPUT_INVALID,
    3030: ErrorCode.PROVIDER_TIMEOUT,
    3031: ErrorCode.PROVIDER_ERROR,
    3032: ErrorCode.PROVIDER_TIMEOUT,
    3040: ErrorCode.PROVIDER_ERROR,
    3050: ErrorCode.INPUT_INVALID,
    # V3
    40402003: ErrorCode.INPUT_INVALID,
    45000000: ErrorCode.PROVIDER_AUTH,
    45000010: ErrorCode.PROVIDER_AUTH,
    45000292: ErrorCode.PROVIDER_RATE_LIMIT,
    55000000: ErrorCode.PROVIDER_ERROR,
}

# Documented message strings that decide more than the code; looked at in order, before the code.
_MESSAGES: tuple[tuple[str, ErrorCode], ...] = (
    ("quota exceeded for types: concurrency", ErrorCode.PROVIDER_RATE_LIMIT),
    ("quota exceeded for types:", ErrorCode.PROVIDER_QUOTA),
    ("load grant", ErrorCode.PROVIDER_AUTH),
    ("get resource id: access denied", ErrorCode.PROVIDER_AUTH),
    ("Init Engine Instance failed", ErrorCode.INPUT_INVALID),
    ("illegal input text", ErrorCode.INPUT_INVALID),
    ("mismatched", ErrorCode.INPUT_INVALID),
)


def speech_code(code: int | None, message: str, *, http_status: int) -> ErrorCode:
    """Our code for a speech error: documented words first, then the body's code whatever the status, then the status."""
    for words, ours in _MESSAGES:
        if words in message:
            return ours
    if code in _CODES:
        return _CODES[code]
    return ErrorCode.PROVIDER_ERROR if http_status < 400 else classify_status(http_status)


class OpenSpeechAdapter(AtOnceAdapter[VoiceRequest]):
    """What both APIs do in the same way."""

    def estimate(self, request: VoiceRequest) -> Decimal:
        """CNY for the characters of the line."""
        return openspeech_price(len(request.text))

    def _fault(self, reply: Reply, code: int | None, message: str, *, cost: Decimal = ZERO) -> ProviderFault:
        error = VendorError(code="" if code is None else str(code), message=message)
        ours = speech_code(code, message, http_status=reply.status)
        return make_fault(ours, reply, service=self.name, error=error, secrets=self._secrets, cost=cost)


def check_speakable(text: str) -> None:
    """Raise ProviderFault(INPUT_INVALID) for a line without any letter or digit (the vendor says 3011), before any spend."""
    if not any(unicodedata.category(char)[0] in "LN" for char in text):
        raise ProviderFault(ErrorCode.INPUT_INVALID, f"the line has nothing to say: {text[:40]!r}")


def read_code(value: object) -> int | None:
    """A vendor code as a number: codes come as numbers, or as digits through some gateways."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
