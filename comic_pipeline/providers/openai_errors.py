"""What the error codes of OpenAI-compatible services mean. Few codes are common to all; the HTTP status decides the rest."""

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.envelope import Reply, VendorError, classify_status, make_fault

_CODES: dict[str, ErrorCode] = {
    "insufficient_quota": ErrorCode.PROVIDER_QUOTA,
    "billing_hard_limit_reached": ErrorCode.PROVIDER_QUOTA,
    "billing_not_active": ErrorCode.PROVIDER_QUOTA,
    "account_deactivated": ErrorCode.PROVIDER_AUTH,
    "invalid_api_key": ErrorCode.PROVIDER_AUTH,
    "model_not_found": ErrorCode.PROVIDER_AUTH,
    "content_policy_violation": ErrorCode.MODERATION_REJECTED,
    "content_filter": ErrorCode.MODERATION_REJECTED,
    "moderation_blocked": ErrorCode.MODERATION_REJECTED,
    "rate_limit_exceeded": ErrorCode.PROVIDER_RATE_LIMIT,
    "server_error": ErrorCode.PROVIDER_ERROR,
}


def openai_refusal(reply: Reply, error: VendorError | None, *, service: str, secrets: tuple[str, ...]) -> ProviderFault:
    """The typed error for an answer that says no, by HTTP status or by an `error` inside a success."""
    ours = _CODES.get(error.code) if error else None
    if ours is None:
        ours = ErrorCode.PROVIDER_ERROR if reply.ok else classify_status(reply.status)
    return make_fault(ours, reply, service=service, error=error, secrets=secrets)
