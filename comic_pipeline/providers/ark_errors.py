"""What Ark's error codes mean: one table from the vendor's code to ours, after page 1299023.

Belongs here: every documented code, the prefix rules, the three meanings of QuotaExceeded. Does not: finding the error in a body
(`envelope.py`), retrying. Retryability follows from our code alone; the retry class says what an operator is told.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from comic_pipeline.model.errors import ERROR_RULES, ErrorCode, ProviderFault
from comic_pipeline.providers.envelope import Reply, VendorError, classify_status, make_fault, safe_text


class RetryClass(StrEnum):
    """What can help (page 1299023)."""

    RETRY = "the same request can be tried again"
    WAIT = "it can be tried again later, with fewer at once"
    NEVER = "the same request cannot succeed"
    CONTENT = "the content must change"
    ACCOUNT = "an operator must act on the account, the key or the model"


@dataclass(frozen=True)
class ArkRule:
    """Our code for a vendor code, and what can help."""

    code: ErrorCode
    retry: RetryClass


_INVALID = ArkRule(ErrorCode.INPUT_INVALID, RetryClass.NEVER)
_MODERATED = ArkRule(ErrorCode.MODERATION_REJECTED, RetryClass.CONTENT)
_AUTH = ArkRule(ErrorCode.PROVIDER_AUTH, RetryClass.ACCOUNT)
_BALANCE = ArkRule(ErrorCode.PROVIDER_QUOTA, RetryClass.ACCOUNT)
_BUSY = ArkRule(ErrorCode.PROVIDER_RATE_LIMIT, RetryClass.RETRY)
_CROWDED = ArkRule(ErrorCode.PROVIDER_RATE_LIMIT, RetryClass.WAIT)
_FAULT = ArkRule(ErrorCode.PROVIDER_ERROR, RetryClass.RETRY)

_EXACT: dict[str, ArkRule] = {
    # 400 BadRequest
    "MissingParameter": _INVALID,
    "InvalidParameter": _INVALID,
    "InvalidParameter.TosURLInvalid": ArkRule(ErrorCode.REF_URL_UNREACHABLE, RetryClass.NEVER),
    "InvalidArgumentError": _INVALID,
    "OutofContextError": _INVALID,
    "Duplicate.Tags.Key": _INVALID,
    # Stopped or temporarily down: one late retry may help, but a person must look.
    "InvalidEndpoint.ClosedEndpoint": _AUTH,
    # The checker itself failed; nothing was judged.
    "ContentSecurityDetectionError": _FAULT,
    # 400 Forbidden
    "InvalidSubscription": _BALANCE,
    # 401
    "AuthenticationError": _AUTH,
    "InvalidAccountStatus": _AUTH,
    # 403
    "AccountOverdueError": _BALANCE,
    "AccessDenied": _AUTH,
    "OperationDenied.ServiceOverdue": _BALANCE,
    "OperationDenied.FileQuotaExceeded": _BALANCE,
    "OperationDenied.InvalidState": ArkRule(ErrorCode.PROVIDER_ERROR, RetryClass.WAIT),
    # 404
    "InvalidEndpointOrModel.NotFound": _AUTH,
    "InvalidEndpointOrModel.ModelIDAccessDisabled": _AUTH,
    "ModelNotOpen": _AUTH,
    "UnsupportedModel": _AUTH,
    # 409
    "InvalidAction.RunningTaskDeletion": ArkRule(ErrorCode.CONFLICT, RetryClass.NEVER),
    # 429
    "ModelAccountRpmRateLimitExceeded": _BUSY,
    "ModelAccountTpmRateLimitExceeded": _BUSY,
    "ModelAccountFlexTpmRateLimitExceeded": _BUSY,
    "ModelAccountIpmRateLimitExceeded": _BUSY,
    "APIAccountRpmRateLimitExceeded": _BUSY,
    "AccountRateLimitExceeded": _BUSY,
    "ServerOverloaded": _BUSY,
    "RequestBurstTooFast": _BUSY,
    "InflightBatchsizeExceeded": _CROWDED,
    "SetLimitExceeded": _BALANCE,
    "AccountQuotaExceeded": _BALANCE,
    "QuotaExceeded.AgentPlanQuotaExceeded": _BALANCE,
    "QuotaExceeded.DoubaoSearchFreeQuotaExceeded": _BALANCE,
    # 500
    "InternalServiceError": _FAULT,
}

# Looked at in order after the exact codes.
_PATTERNS: tuple[tuple[re.Pattern[str], ArkRule], ...] = (
    # (Input|Output)(Text|Image|Video|Audio)SensitiveContentDetected and RiskDetection, with or without .PolicyViolation,
    # .PrivacyInformation, .DeepFake, .SevereViolation, .Violence.
    (re.compile(r"^(Input|Output)?(Text|Image|Video|Audio)?(SensitiveContentDetected|RiskDetection)(\.\w+)?$"), _MODERATED),
    (re.compile(r"^(MissingParameter|InvalidParameter|InvalidArgumentError|InvalidImageURL|NotFound)\."), _INVALID),
    (re.compile(r"^OperationDenied\."), _AUTH),
    (re.compile(r"^RateLimitExceeded(\.|$)"), _BUSY),
)

# Words of a used-up free trial. Too many queued tasks, and plan caps that reset after hours, days or a month, pass by waiting.
_TRIAL = re.compile(r"(?i)free[ -]?(trial|quota|tier|credit|inference)|trial")


def ark_rule(code: str, message: str, *, http_status: int | None) -> ArkRule:
    """What an Ark error means. `http_status` is None for the error of a task; unknown codes go by the status class."""
    if code in _EXACT:
        return _EXACT[code]
    if code == "QuotaExceeded":
        return _BALANCE if _TRIAL.search(message) else _CROWDED
    for pattern, rule in _PATTERNS:
        if pattern.match(code):
            return rule
    # The error of a task comes without a status; only successful tasks are billed, so an unknown one may be tried again.
    ours = ErrorCode.PROVIDER_ERROR if http_status is None else classify_status(http_status)
    return ArkRule(ours, RetryClass.RETRY if ERROR_RULES[ours].retryable else RetryClass.NEVER)


def ark_refusal(reply: Reply, error: VendorError | None, *, service: str, secrets: tuple[str, ...]) -> ProviderFault:
    """The typed error for an answer that says no, also in a success, with or without an envelope (gateways send HTML)."""
    status = None if reply.ok else reply.status
    rule = ark_rule(error.code if error else "", error.message if error else "", http_status=status)
    return make_fault(rule.code, reply, service=service, error=error, secrets=secrets, advice=rule.retry)


def ark_failure(error: VendorError, *, service: str, secrets: tuple[str, ...]) -> ProviderFault:
    """The typed error for a failure told inside a successful answer: of a task, or of one picture."""
    rule = ark_rule(error.code, error.message, http_status=None)
    code = safe_text(error.code, secrets=secrets, limit=100)
    said = safe_text(error.message, secrets=secrets)
    return ProviderFault(rule.code, f"{service} reports {code or 'no code'}: {said} ({rule.retry})", provider_code=code)
