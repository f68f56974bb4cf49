"""Every documented Ark error code (Ark's page 1299023) has a meaning, and retryability follows from it."""

import pytest

from comic_pipeline.model.errors import ERROR_RULES, ErrorCode
from comic_pipeline.providers.ark_errors import RetryClass, ark_failure, ark_rule
from comic_pipeline.providers.envelope import VendorError
from comic_pipeline_tests.unit.providers.vendor import KEY

R, W, N, C, A = RetryClass.RETRY, RetryClass.WAIT, RetryClass.NEVER, RetryClass.CONTENT, RetryClass.ACCOUNT
INVALID, MODERATED, AUTH = ErrorCode.INPUT_INVALID, ErrorCode.MODERATION_REJECTED, ErrorCode.PROVIDER_AUTH
QUOTA, RATE, FAULT = ErrorCode.PROVIDER_QUOTA, ErrorCode.PROVIDER_RATE_LIMIT, ErrorCode.PROVIDER_ERROR

_MODERATION = [
    "SensitiveContentDetected",
    "SensitiveContentDetected.SevereViolation",
    "SensitiveContentDetected.Violence",
    *(f"Input{kind}SensitiveContentDetected" for kind in ("Text", "Image", "Video", "Audio")),
    *(f"Input{kind}SensitiveContentDetected.PolicyViolation" for kind in ("Text", "Image", "Video", "Audio")),
    "InputImageSensitiveContentDetected.PrivacyInformation",
    "InputVideoSensitiveContentDetected.PrivacyInformation",
    "InputTextRiskDetection",
    "InputImageRiskDetection",
    *(f"Output{kind}SensitiveContentDetected" for kind in ("Text", "Image", "Video", "Audio")),
    "OutputVideoSensitiveContentDetected.PolicyViolation",
    "OutputAudioSensitiveContentDetected.PolicyViolation",
    "OutputImageSensitiveContentDetected.DeepFake",
    "OutputTextRiskDetection",
    "OutputImageRiskDetection",
]
_BAD_REQUESTS = [
    "MissingParameter",
    "MissingParameter.model",
    "InvalidParameter",
    "InvalidParameter.duration",
    "InvalidParameter.UnsupportedParameter",
    "InvalidParameter.TaskTypeConstraint",
    "InvalidParameter.TaskTypeMismatch",
    "InvalidArgumentError",
    "InvalidArgumentError.UnknownRole",
    "InvalidArgumentError.InvalidImageDetail",
    "InvalidArgumentError.InvalidPixelLimit",
    "InvalidImageURL.EmptyURL",
    "InvalidImageURL.InvalidFormat",
    "OutofContextError",
    "Duplicate.Tags.Key",
]
_DENIED = [
    "PermissionDenied",
    "ServiceNotOpen",
    "UnsupportedPhase",
    "ConflictedValidationSet",
    "UnsupportedCustomizationType",
    "CustomizationNotSupported",
    "ArkAccessRoleNotFound",
    "TosAccessDenied",
]
_BUSY = [
    "RateLimitExceeded.EndpointRPMExceeded",
    "RateLimitExceeded.EndpointTPMExceeded",
    "RateLimitExceeded.EndpointFlexTPMExceeded",
    "ModelAccountRpmRateLimitExceeded",
    "ModelAccountTpmRateLimitExceeded",
    "ModelAccountFlexTpmRateLimitExceeded",
    "ModelAccountIpmRateLimitExceeded",
    "APIAccountRpmRateLimitExceeded",
    "AccountRateLimitExceeded",
    "ServerOverloaded",
    "RequestBurstTooFast",
]
DOCUMENTED = [
    *((400, code, INVALID, N) for code in _BAD_REQUESTS),
    (400, "InvalidParameter.TosURLInvalid", ErrorCode.REF_URL_UNREACHABLE, N),
    (400, "InvalidEndpoint.ClosedEndpoint", AUTH, A),
    *((400, code, MODERATED, C) for code in _MODERATION),
    (400, "ContentSecurityDetectionError", FAULT, R),
    (400, "InvalidSubscription", QUOTA, A),
    (401, "AuthenticationError", AUTH, A),
    (401, "InvalidAccountStatus", AUTH, A),
    (403, "AccountOverdueError", QUOTA, A),
    (403, "AccessDenied", AUTH, A),
    *((403, f"OperationDenied.{why}", AUTH, A) for why in _DENIED),
    (403, "OperationDenied.ServiceOverdue", QUOTA, A),
    (403, "OperationDenied.FileQuotaExceeded", QUOTA, A),
    (403, "OperationDenied.InvalidState", FAULT, W),
    (404, "InvalidEndpointOrModel.NotFound", AUTH, A),
    (404, "InvalidEndpointOrModel.ModelIDAccessDisabled", AUTH, A),
    (404, "ModelNotOpen", AUTH, A),
    (404, "UnsupportedModel", AUTH, A),
    (404, "NotFound.asset", INVALID, N),
    (409, "InvalidAction.RunningTaskDeletion", ErrorCode.CONFLICT, N),
    *((429, code, RATE, R) for code in _BUSY),
    (429, "InflightBatchsizeExceeded", RATE, W),
    (429, "SetLimitExceeded", QUOTA, A),
    (429, "AccountQuotaExceeded", QUOTA, A),
    (429, "QuotaExceeded.AgentPlanQuotaExceeded", QUOTA, A),
    (403, "QuotaExceeded.DoubaoSearchFreeQuotaExceeded", QUOTA, A),
    (500, "InternalServiceError", FAULT, R),
]


@pytest.mark.parametrize(("status", "code", "ours", "retry"), DOCUMENTED, ids=[row[1] for row in DOCUMENTED])
def test_documented_code_has_its_meaning(status: int, code: str, ours: ErrorCode, retry: RetryClass) -> None:
    """Each code of the table maps to one code of ours, and what can help agrees with whether ours is retried."""
    rule = ark_rule(code, "some words", http_status=status)
    assert (rule.code, rule.retry) == (ours, retry)
    assert ERROR_RULES[rule.code].retryable is (retry in (R, W))


@pytest.mark.parametrize(("status", "code", "ours", "retry"), DOCUMENTED, ids=[row[1] for row in DOCUMENTED])
def test_task_error_means_the_same_as_the_http_error(status: int, code: str, ours: ErrorCode, retry: RetryClass) -> None:
    """A task-level error comes inside a 200 and has no status: the code alone must decide."""
    assert ark_rule(code, "some words", http_status=None).code is ours


@pytest.mark.parametrize(
    ("message", "ours", "retry"),
    [
        ("You have too many queued tasks", RATE, W),
        ("Your free trial quota for this model has been used up", QUOTA, A),
        ("The free inference quota is exhausted", QUOTA, A),
        ("You have reached the 5-hour usage limit of your plan", RATE, W),
        ("weekly limit reached, resets on Monday", RATE, W),
        ("something nobody has seen yet", RATE, W),
    ],
)
def test_quota_exceeded_is_read_from_its_message(message: str, ours: ErrorCode, retry: RetryClass) -> None:
    """One code with three meanings: only a used-up trial needs an operator, everything else passes by waiting."""
    rule = ark_rule("QuotaExceeded", message, http_status=429)
    assert (rule.code, rule.retry) == (ours, retry)


@pytest.mark.parametrize(
    ("status", "ours"),
    [
        (302, ErrorCode.UNKNOWN_ERROR),
        (400, INVALID),
        (401, AUTH),
        (402, QUOTA),
        (403, AUTH),
        (404, ErrorCode.UNKNOWN_ERROR),
        (408, ErrorCode.PROVIDER_TIMEOUT),
        (413, INVALID),
        (422, INVALID),
        (429, RATE),
        (500, FAULT),
        (502, FAULT),
        (503, FAULT),
        (504, ErrorCode.PROVIDER_TIMEOUT),
        (529, FAULT),
    ],
)
@pytest.mark.parametrize("code", ["", "SomethingNewOf2027"])
def test_unknown_code_goes_by_its_status(status: int, code: str, ours: ErrorCode) -> None:
    """Gateway faults and codes of next year must not become a crash or a wrong retry."""
    assert ark_rule(code, "", http_status=status).code is ours


def test_unknown_task_error_may_be_tried_again() -> None:
    """Only successful tasks are billed, so a new kind of task failure costs nothing to try again."""
    assert ark_rule("SomethingNewOf2027", "", http_status=None).code is FAULT


def test_digits_in_a_message_decide_nothing() -> None:
    """Retryability must never come from a number that happens to stand in the text."""
    assert ark_rule("InvalidParameter", "429 500 503 rate limit", http_status=400).code is INVALID


def test_failure_text_names_the_code_and_hides_the_key() -> None:
    """A task error that quotes our key must not carry it into rows and logs."""
    fault = ark_failure(VendorError("OutputVideoSensitiveContentDetected", f"key {KEY}"), service="ark_video", secrets=(KEY,))
    assert fault.code is MODERATED
    assert fault.provider_code == "OutputVideoSensitiveContentDetected"
    assert "OutputVideoSensitiveContentDetected" in str(fault)
    assert KEY not in str(fault)
