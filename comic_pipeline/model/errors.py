"""Every way in which work can fail, with who must act and whether trying again can help.

Belongs here: the codes, their table, and the exception tree that carries them. Does not: mapping a vendor's answer to a code
(`providers/`), deciding what a stage does next (`model/stage_end.py`).

    ComicError                 anything of ours: a code, a detail, facts for the operator
    ├── Refused                a request that may not be done: bad input, conflict, quota, not found
    ├── ProviderFault          a provider answered with an error, or did not answer
    │   └── OutcomeUnknown     the request may have been accepted; nobody knows
    ├── MediaFault             ffmpeg failed, or bytes are not the media they should be
    ├── StorageFault           the database or the object store did not do its part
    ├── InvalidAnswer          a model answered with something that is not what was asked
    ├── WorkStopped            a checkpoint said stop: cancelled, over budget, or the run lost its stage row
    ├── RoundIncomplete        some shots are to be tried again later; the others are kept
    └── ShotsFailed            some shots of a stage failed for good; the others are kept
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from comic_pipeline.model.money import ZERO


class Actor(StrEnum):
    """Who must act before the work can go on."""

    NOBODY = "nobody"
    USER = "user"
    OPERATOR = "operator"


class ErrorCode(StrEnum):
    """The closed set of codes that rows, runs, tags and messages carry.

    Those about photos, payment, consent, faces, real-person clips, lip sync and minors belong to portrait films: backends know
    them, nothing raises them yet.
    """

    TASK_TIMEOUT = "TASK_TIMEOUT"
    PROVIDER_TIMEOUT = "PROVIDER_TIMEOUT"
    PROVIDER_RATE_LIMIT = "PROVIDER_RATE_LIMIT"
    PROVIDER_ERROR = "PROVIDER_ERROR"
    INPUT_INVALID = "INPUT_INVALID"
    PHOTO_QUALITY_FAIL = "PHOTO_QUALITY_FAIL"
    PAYMENT_REQUIRED = "PAYMENT_REQUIRED"
    QUOTA_NOT_ENOUGH = "QUOTA_NOT_ENOUGH"
    MODERATION_REJECTED = "MODERATION_REJECTED"
    FFMPEG_FAILED = "FFMPEG_FAILED"
    STORAGE_FAILED = "STORAGE_FAILED"
    UNKNOWN_ERROR = "UNKNOWN_ERROR"
    IDENTITY_ANCHOR_NOT_CONFIRMED = "IDENTITY_ANCHOR_NOT_CONFIRMED"
    FACE_CONSISTENCY_LOW = "FACE_CONSISTENCY_LOW"
    REAL_VIDEO_PROVIDER_DISABLED = "REAL_VIDEO_PROVIDER_DISABLED"
    REAL_VIDEO_CONFIRMATION_REQUIRED = "REAL_VIDEO_CONFIRMATION_REQUIRED"
    REAL_VIDEO_COST_LIMIT_EXCEEDED = "REAL_VIDEO_COST_LIMIT_EXCEEDED"
    REAL_VIDEO_CLIP_FAILED = "REAL_VIDEO_CLIP_FAILED"
    VIDEO_CLIP_QC_FAILED = "VIDEO_CLIP_QC_FAILED"
    LIPSYNC_FAILED = "LIPSYNC_FAILED"
    MINOR_MANUAL_REVIEW_REQUIRED = "MINOR_MANUAL_REVIEW_REQUIRED"
    CONSENT_REQUIRED = "CONSENT_REQUIRED"
    TIER_CONFLICT = "TIER_CONFLICT"
    SCRIPT_INVALID = "SCRIPT_INVALID"
    EMPTY_RESPONSE = "EMPTY_RESPONSE"
    PROVIDER_AUTH = "PROVIDER_AUTH"
    PROVIDER_QUOTA = "PROVIDER_QUOTA"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    REF_URL_UNREACHABLE = "REF_URL_UNREACHABLE"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    QC_FAILED = "QC_FAILED"
    CANCELLED = "CANCELLED"
    CONFLICT = "CONFLICT"
    NOT_FOUND = "NOT_FOUND"


@dataclass(frozen=True)
class ErrorRule:
    """What a code means: `retryable` alone decides retries; `lands_in` is the project state when retries are used up."""

    retryable: bool
    actor: Actor
    lands_in: str
    zh: str
    en: str


def _user(zh: str, en: str) -> ErrorRule:
    return ErrorRule(retryable=False, actor=Actor.USER, lands_in="FAILED", zh=zh, en=en)


def _operator(zh: str, en: str) -> ErrorRule:
    return ErrorRule(retryable=False, actor=Actor.OPERATOR, lands_in="MANUAL_REQUIRED", zh=zh, en=en)


def _transient(zh: str, en: str) -> ErrorRule:
    return ErrorRule(retryable=True, actor=Actor.NOBODY, lands_in="MANUAL_REQUIRED", zh=zh, en=en)


ERROR_RULES: dict[ErrorCode, ErrorRule] = {
    ErrorCode.TASK_TIMEOUT: _user(
        "处理超时，已完成的部分已保留，可以重试", "It took too long; finished parts are kept. Retry to go on"
    ),
    ErrorCode.PROVIDER_TIMEOUT: _transient("生成服务响应超时", "The provider did not answer in time"),
    ErrorCode.PROVIDER_RATE_LIMIT: _transient("生成服务繁忙，稍后自动重试", "The provider is busy; it is tried again later"),
    ErrorCode.PROVIDER_ERROR: _transient("生成服务暂时出错", "The provider had a temporary fault"),
    ErrorCode.INPUT_INVALID: _user("输入内容不符合要求", "The input is not acceptable"),
    ErrorCode.PHOTO_QUALITY_FAIL: _user("照片质量不合格，请更换照片", "The photo is not good enough; use another one"),
    ErrorCode.PAYMENT_REQUIRED: _user("需要先完成支付", "Payment is required first"),
    ErrorCode.QUOTA_NOT_ENOUGH: _user("今日额度已用完", "Today's quota is used up"),
    ErrorCode.MODERATION_REJECTED: _user(
        "内容未通过审核，请修改后重试", "The content was rejected by moderation; change it and retry"
    ),
    ErrorCode.FFMPEG_FAILED: _transient("视频合成失败", "Rendering the film failed"),
    ErrorCode.STORAGE_FAILED: _transient("存储服务暂时出错", "The storage had a temporary fault"),
    ErrorCode.UNKNOWN_ERROR: _operator("发生未知错误，需要人工处理", "An unknown error; an operator must look"),
    ErrorCode.IDENTITY_ANCHOR_NOT_CONFIRMED: _user("请先确认人物形象", "Confirm the identity anchor first"),
    ErrorCode.FACE_CONSISTENCY_LOW: _operator(
        "人物相似度不足，需要人工处理", "The face differs too much from the person; an operator must look"
    ),
    ErrorCode.REAL_VIDEO_PROVIDER_DISABLED: _operator("真人视频服务未启用", "The real-person video provider is disabled"),
    ErrorCode.REAL_VIDEO_CONFIRMATION_REQUIRED: _user("请先确认生成真人视频", "Confirm the real-person video first"),
    ErrorCode.REAL_VIDEO_COST_LIMIT_EXCEEDED: _operator("真人视频超出费用上限", "The real-person video is over its cost limit"),
    ErrorCode.REAL_VIDEO_CLIP_FAILED: _operator("真人视频片段生成失败", "A real-person clip failed"),
    ErrorCode.VIDEO_CLIP_QC_FAILED: _operator("视频片段质检未通过", "A clip did not pass quality control"),
    ErrorCode.LIPSYNC_FAILED: _operator("口型同步失败", "Lip sync failed"),
    ErrorCode.MINOR_MANUAL_REVIEW_REQUIRED: _operator("涉及未成年人，需要人工审核", "A minor may be shown; a person must review"),
    ErrorCode.CONSENT_REQUIRED: _user("需要先完成授权确认", "Consent is required first"),
    ErrorCode.TIER_CONFLICT: _user("当前套餐不支持该操作", "The plan does not allow this"),
    ErrorCode.SCRIPT_INVALID: _user(
        "生成的剧本不可用，请重试或修改创意", "The script that came back is unusable; retry or change the idea"
    ),
    ErrorCode.EMPTY_RESPONSE: _transient("生成服务返回了空内容", "The provider answered with nothing"),
    ErrorCode.PROVIDER_AUTH: _operator("生成服务鉴权失败", "The provider refused the key"),
    ErrorCode.PROVIDER_QUOTA: _operator("生成服务账户额度不足", "The account at the provider has no quota or balance left"),
    ErrorCode.OUTCOME_UNKNOWN: _operator(
        "提交结果未知，需要人工核对", "Nobody knows whether the provider accepted the request; an operator must look"
    ),
    ErrorCode.REF_URL_UNREACHABLE: _operator("素材链接不可访问或已过期", "A media link cannot be reached or has expired"),
    ErrorCode.BUDGET_EXCEEDED: _operator("超出费用上限", "It would cost more than the budget allows"),
    ErrorCode.QC_FAILED: _operator("质检未通过，需要人工处理", "Quality control did not pass; an operator must look"),
    ErrorCode.CANCELLED: ErrorRule(retryable=False, actor=Actor.NOBODY, lands_in="CANCELLED", zh="已取消", en="Cancelled"),
    ErrorCode.CONFLICT: _user("当前状态不允许该操作", "The current state does not allow this"),
    ErrorCode.NOT_FOUND: _user("未找到", "Not found"),
}


class ComicError(Exception):
    """Anything of ours that went wrong: `code` decides, `detail` names the thing, the value and the way out."""

    def __init__(self, code: ErrorCode, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail

    @property
    def retryable(self) -> bool:
        """Whether the same work may be tried again without anybody acting."""
        return ERROR_RULES[self.code].retryable


class Refused(ComicError):
    """A request that may not be done as it stands. Nothing was changed."""


class ProviderFault(ComicError):
    """A provider answered with an error. `provider_code` is the vendor's own word; `retry_after` is in seconds.

    `cost` (CNY) is what the failed call was billed all the same: an answer cut at its limit has used its tokens.
    """

    def __init__(  # an error carries what an operator needs to see, all of it by name
        self,
        code: ErrorCode,
        detail: str,
        *,
        provider_code: str = "",
        http_status: int | None = None,
        retry_after: float | None = None,
        request_id: str = "",
        cost: Decimal = ZERO,
    ) -> None:
        super().__init__(code, detail)
        self.provider_code = provider_code
        self.http_status = http_status
        self.retry_after = retry_after
        self.request_id = request_id
        self.cost = cost


class OutcomeUnknown(ProviderFault):
    """A create whose answer was lost: the job may exist and may be charged. Never the reason for a blind second create."""


class MediaFault(ComicError):
    """ffmpeg failed, or bytes turned out not to be the media that was asked for."""


class StorageFault(ComicError):
    """The database or the object store did not do its part."""

    def __init__(self, detail: str) -> None:
        super().__init__(ErrorCode.STORAGE_FAILED, detail)


class InvalidAnswer(ComicError):
    """A model's answer does not have the shape that was asked for. `problems` is what a repair prompt tells the model."""

    def __init__(self, detail: str, *, problems: str) -> None:
        super().__init__(ErrorCode.SCRIPT_INVALID, detail)
        self.problems = problems


class WorkStopped(ComicError):
    """A checkpoint refused to go on: cancelled, over budget, out of attempts, or this run no longer owns the stage."""


class RoundIncomplete(ComicError):
    """Shots failed in a way that may pass: they go again after `delay` seconds, counted from now."""

    def __init__(self, code: ErrorCode, detail: str, *, delay: float) -> None:
        super().__init__(code, detail)
        self.delay = delay


@dataclass(frozen=True)
class ShotFailure:
    """One shot that failed for good in this round. `seq` is None for work that belongs to no shot."""

    seq: int | None
    code: ErrorCode
    detail: str


class ShotsFailed(ComicError):
    """Some shots failed for good; those that finished are kept. The code is the most serious one among the failures."""

    def __init__(self, failures: tuple[ShotFailure, ...]) -> None:
        worst = max(failures, key=lambda failure: _SERIOUSNESS[ERROR_RULES[failure.code].actor])
        listed = "; ".join(
            f"{'work' if failure.seq is None else f'shot {failure.seq}'}: {failure.code} {failure.detail}" for failure in failures
        )
        super().__init__(worst.code, listed)
        self.failures = failures


_SERIOUSNESS = {Actor.NOBODY: 0, Actor.USER: 1, Actor.OPERATOR: 2}
