"""Where notices go, and what they look like there: generic signed JSON, or the bodies of Feishu, DingTalk and Slack robots.

Belongs here: pure functions from a notice to an HTTP request, and from an answer to yes or no. Does not: sending (`courier.py`).
"""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus, urlsplit

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.notice import Notice
from comic_pipeline.settings import Settings, WebhookStyle

EVENT_ID_HEADER = "X-Comic-Event-Id"
EVENT_HEADER = "X-Comic-Event"
TIMESTAMP_HEADER = "X-Comic-Timestamp"
SIGNATURE_HEADER = "X-Comic-Signature"

# Robots answer 200 to what they refuse; these fields of their answers are 0 when they took it.
_ROBOT_CODES = {WebhookStyle.FEISHU: ("code", "StatusCode"), WebhookStyle.DINGTALK: ("errcode",)}
# Robots read mark-up such as <at user_id="all"> in plain text; titles are written by users.
_HARMLESS = str.maketrans({"<": "＜", ">": "＞", "&": "＆", "@": "＠"})


@dataclass(frozen=True)
class Target:
    """The one receiver. `url` and `secret` are secrets: robots' addresses carry their tokens."""

    url: str = field(repr=False)
    secret: str = field(repr=False)
    style: WebhookStyle
    language: str


@dataclass(frozen=True)
class Posting:
    """One HTTP POST."""

    url: str = field(repr=False)
    headers: dict[str, str]
    body: bytes = field(repr=False)


def target_of(settings: Settings) -> Target | None:
    """The receiver that the settings name; None when they name none.

    Raises Refused(INPUT_INVALID) for an address that nothing may be sent to: not https (unless COMIC_WEBHOOK_HTTP allows http),
    without a host, or with a user in it.
    """
    url = settings.webhook_url.get_secret_value()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # reading it is the check
    except ValueError:
        raise Refused(ErrorCode.INPUT_INVALID, "COMIC_WEBHOOK_URL cannot be read as an address") from None
    schemes = ("https", "http") if settings.webhook_http else ("https",)
    if parts.scheme not in schemes or not parts.hostname or parts.username is not None or not url.isascii():
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"COMIC_WEBHOOK_URL must be {' or '.join(schemes)}://host/path without a user; COMIC_WEBHOOK_HTTP=true allows http",
        )
    return Target(
        url=url,
        secret=settings.webhook_secret.get_secret_value(),
        style=settings.webhook_style,
        language=settings.webhook_language,
    )


def posting_of(notice: Notice, target: Target, *, now: datetime) -> Posting:
    """The request for one try. The event id is the same for every try, timestamp and signature are not."""
    stamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "comic-pipeline",
        EVENT_ID_HEADER: notice.event_id,
        EVENT_HEADER: notice.event.value,
    }
    match target.style:
        case WebhookStyle.JSON:
            body = notice.body.encode()
            headers[TIMESTAMP_HEADER] = str(stamp)
            if target.secret:
                headers[SIGNATURE_HEADER] = sign(body, secret=target.secret, timestamp=str(stamp))
            return Posting(target.url, headers, body)
        case WebhookStyle.FEISHU:
            content: dict[str, Any] = {"msg_type": "text", "content": {"text": _text(notice, target)}}
            if target.secret:
                content |= {"timestamp": str(stamp), "sign": _feishu_sign(target.secret, stamp)}
            return Posting(target.url, headers, _json(content))
        case WebhookStyle.DINGTALK:
            url = _dingtalk_url(target, now) if target.secret else target.url
            return Posting(url, headers, _json({"msgtype": "text", "text": {"content": _text(notice, target)}}))
        case WebhookStyle.SLACK:
            return Posting(target.url, headers, _json({"text": _text(notice, target)}))


def sign(body: bytes, *, secret: str, timestamp: str) -> str:
    """`v1=` and the hex HMAC-SHA256 of `timestamp + "." + body`: a receiver that checks it also checks how old it is."""
    return "v1=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def refusal_of(style: WebhookStyle, status: int, body: bytes) -> str | None:
    """Why the receiver has not taken it; None when it has. The answer's text is not repeated: it could hold anything."""
    if not 200 <= status < 300:
        return f"HTTP {status}"
    names = _ROBOT_CODES.get(style)
    if names is None:
        return None
    try:
        answer = json.loads(body)
    except ValueError:
        return f"HTTP {status} without the JSON that a {style} robot answers"
    codes = [answer[name] for name in names if name in answer] if isinstance(answer, dict) else []
    if codes and all(code == 0 for code in codes):
        return None
    return f"the {style} robot answered code {str(codes[0])[:20] if codes else 'none'}"


def _text(notice: Notice, target: Target) -> str:
    return notice.text(target.language).translate(_HARMLESS)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


def _feishu_sign(secret: str, stamp: int) -> str:
    # Their scheme: the text is the key, and nothing is signed with it.
    return base64.b64encode(hmac.new(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256).digest()).decode()


def _dingtalk_url(target: Target, now: datetime) -> str:
    stamp = int(now.timestamp() * 1000)
    digest = hmac.new(target.secret.encode(), f"{stamp}\n{target.secret}".encode(), hashlib.sha256).digest()
    joint = "&" if urlsplit(target.url).query else "?"
    return f"{target.url}{joint}timestamp={stamp}&sign={quote_plus(base64.b64encode(digest))}"
