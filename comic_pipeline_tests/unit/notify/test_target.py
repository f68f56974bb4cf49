"""What is posted: who may receive it, how each kind of receiver can check it, and what its answers mean."""

import base64
import hashlib
import hmac
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from comic_pipeline.model.errors import Refused
from comic_pipeline.model.notice import Notice, NoticeEvent, NoticeStatus, notice_of_move
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.notify.target import Target, posting_of, refusal_of, target_of
from comic_pipeline.settings import WebhookStyle, load_settings
from comic_pipeline_tests.builders import NOW

STAMP = int(NOW.timestamp())
SECRET = "SECb7c1"


def _notice(title: str = "月下花") -> Notice:
    facts = {"id": "p1", "user_id": "u", "tier": "free", "title": title, "fail_stage": "clips", "error_code": "PROVIDER_AUTH"}
    new = notice_of_move(facts, ProjectState.MANUAL_REQUIRED, now=NOW)
    assert new is not None
    return Notice(**new.model_dump(), id=1, status=NoticeStatus.NEW, tries=1, created_at=NOW, last_error=None)


def _target(style: WebhookStyle, *, secret: str = SECRET, url: str = "https://hook.example/a?b=c") -> Target:
    return Target(url=url, secret=secret, style=style, language="zh")


@pytest.mark.parametrize(
    ("url", "allowed", "with_http"),
    [
        ("https://hook.example/a", True, True),
        ("http://hook.example/a", False, True),
        ("file:///etc/passwd", False, False),
        ("ftp://hook.example/a", False, False),
        ("https://user:pass@hook.example/", False, False),
        ("https:///nowhere", False, False),
        ("https://hook.example:port/", False, False),
        ("hook.example/a", False, False),
    ],
)
def test_only_https_unless_a_setting_says_otherwise(url: str, *, allowed: bool, with_http: bool) -> None:
    """Nothing is posted to files, other schemes or half an address, and the refusal does not repeat it: it may hold a token."""
    for http, expected in ((False, allowed), (True, with_http)):
        settings = load_settings(COMIC_WEBHOOK_URL=url, COMIC_WEBHOOK_HTTP=http)
        if expected:
            assert target_of(settings) is not None
        else:
            with pytest.raises(Refused) as refused:
                target_of(settings)
            assert url not in str(refused.value)


def test_without_an_address_there_is_no_target() -> None:
    """The default: nobody is told anything."""
    assert target_of(load_settings()) is None


def test_json_is_signed_over_time_and_body() -> None:
    """The scheme of the README, computed here by hand; without a secret there is no signature to trust."""
    posting = posting_of(_notice(), _target(WebhookStyle.JSON), now=NOW)
    expected = hmac.new(SECRET.encode(), f"{STAMP}.".encode() + posting.body, hashlib.sha256).hexdigest()
    assert posting.headers["X-Comic-Signature"] == f"v1={expected}"
    assert posting.headers["X-Comic-Timestamp"] == str(STAMP)
    body = json.loads(posting.body)
    assert (body["event"], body["event_id"]) == ("film.manual_required", posting.headers["X-Comic-Event-Id"])
    assert body["project"]["error_code"] == "PROVIDER_AUTH"
    assert "月下花" in body["text"]["zh"]
    assert "X-Comic-Signature" not in posting_of(_notice(), _target(WebhookStyle.JSON, secret=""), now=NOW).headers


def test_the_readmes_receiver_believes_us_and_nobody_else() -> None:
    """The example is executed as it stands: our signature passes, another body, another secret and an old one do not."""
    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "def is_ours" in block]
    named: dict[str, Any] = {}
    exec(example, named)  # noqa: S102  # our own README
    is_ours = named["is_ours"]
    now = datetime.now(UTC)
    posting = posting_of(_notice(), _target(WebhookStyle.JSON), now=now)
    assert is_ours(posting.headers, posting.body, SECRET)
    assert not is_ours(posting.headers, posting.body + b" ", SECRET)
    assert not is_ours(posting.headers, posting.body, "another")
    old = posting_of(_notice(), _target(WebhookStyle.JSON), now=now - timedelta(minutes=6))
    assert not is_ours(old.headers, old.body, SECRET)


def test_feishu_is_signed_its_own_way() -> None:
    """Feishu's robot: time, a new line and the secret are the key, nothing is the message, base64, inside the body."""
    body = json.loads(posting_of(_notice(), _target(WebhookStyle.FEISHU), now=NOW).body)
    key = f"{STAMP}\n{SECRET}".encode()
    assert body["sign"] == base64.b64encode(hmac.new(key, digestmod=hashlib.sha256).digest()).decode()
    assert (body["timestamp"], body["msg_type"]) == (str(STAMP), "text")
    assert "需要人工" in body["content"]["text"]


def test_dingtalk_is_signed_in_the_query() -> None:
    """DingTalk's robot: milliseconds, the secret is the key, and what the address had in its query stays."""
    posting = posting_of(_notice(), _target(WebhookStyle.DINGTALK, url="https://oapi.example/robot/send?access_token=t"), now=NOW)
    query = parse_qs(urlsplit(posting.url).query)
    stamp = str(int(NOW.timestamp() * 1000))
    digest = hmac.new(SECRET.encode(), f"{stamp}\n{SECRET}".encode(), hashlib.sha256).digest()
    assert query == {"access_token": ["t"], "timestamp": [stamp], "sign": [base64.b64encode(digest).decode()]}
    assert json.loads(posting.body)["msgtype"] == "text"


@pytest.mark.parametrize("style", [WebhookStyle.FEISHU, WebhookStyle.DINGTALK, WebhookStyle.SLACK])
def test_a_title_cannot_ring_everybody(style: WebhookStyle) -> None:
    """A user who calls the film `<at user_id="all">` or `<!channel>` does not wake the whole company."""
    body = posting_of(_notice('<at user_id="all"></at><!channel>@all'), _target(style), now=NOW).body.decode()
    assert not {"<", ">", "@"}.intersection(body)


@pytest.mark.parametrize(
    ("style", "status", "body", "taken"),
    [
        (WebhookStyle.JSON, 204, b"", True),
        (WebhookStyle.JSON, 302, b"", False),
        (WebhookStyle.JSON, 500, b"", False),
        (WebhookStyle.SLACK, 200, b"ok", True),
        (WebhookStyle.FEISHU, 200, b'{"code":0,"msg":"success"}', True),
        (WebhookStyle.FEISHU, 200, b'{"StatusCode":0,"StatusMessage":"success"}', True),
        (WebhookStyle.FEISHU, 200, b'{"code":19021,"msg":"sign match fail"}', False),
        (WebhookStyle.DINGTALK, 200, b'{"errcode":0,"errmsg":"ok"}', True),
        (WebhookStyle.DINGTALK, 200, b'{"errcode":310000,"errmsg":"sign not match"}', False),
        (WebhookStyle.DINGTALK, 200, b"<html>", False),
    ],
)
def test_a_robot_that_answers_200_may_still_have_refused(style: WebhookStyle, status: int, body: bytes, *, taken: bool) -> None:
    """Robots say no inside a 200; a message counts as sent only when they say yes."""
    assert (refusal_of(style, status, body) is None) is taken


@pytest.mark.parametrize("state", list(ProjectState))
def test_only_news_is_told(state: ProjectState) -> None:
    """Ready, approved, failed, needs an operator; every other state is nobody's business outside."""
    facts: dict[str, Any] = {"id": "p1", "user_id": "u", "tier": "free", "title": "", "fail_stage": None, "error_code": None}
    news = {
        ProjectState.PENDING_REVIEW: NoticeEvent.FILM_READY,
        ProjectState.APPROVED: NoticeEvent.FILM_APPROVED,
        ProjectState.FAILED: NoticeEvent.FILM_FAILED,
        ProjectState.MANUAL_REQUIRED: NoticeEvent.MANUAL_REQUIRED,
    }
    notice = notice_of_move(facts, state, now=NOW)
    assert (None if notice is None else notice.event) == news.get(state)
