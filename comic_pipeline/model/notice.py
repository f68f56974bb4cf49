"""What the outside is told: films that wait, pass or fail, alerts that rise and clear. Values and words, no IO.

Belongs here: which state of a project is news, the body of a notice, its zh and en text. Does not: storing
(`store/notifications.py`), signing and sending (`notify/`).
"""

import json
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.alerting import Alert
from comic_pipeline.model.errors import ERROR_RULES, ErrorCode
from comic_pipeline.model.workflow import ProjectState

_TITLE_MAX_CHARS = 60


class NoticeEvent(StrEnum):
    """The closed set of events that a receiver may get."""

    FILM_READY = "film.ready"
    FILM_APPROVED = "film.approved"
    FILM_FAILED = "film.failed"
    MANUAL_REQUIRED = "film.manual_required"
    ALERT_RAISED = "alert.raised"
    ALERT_CLEARED = "alert.cleared"


class NoticeStatus(StrEnum):
    """Where a notice stands. `dead`: every try failed; it is kept to be seen and is not sent again."""

    NEW = "new"
    SENT = "sent"
    DEAD = "dead"


EVENT_OF_STATE: dict[ProjectState, NoticeEvent] = {
    ProjectState.PENDING_REVIEW: NoticeEvent.FILM_READY,
    ProjectState.APPROVED: NoticeEvent.FILM_APPROVED,
    ProjectState.FAILED: NoticeEvent.FILM_FAILED,
    ProjectState.MANUAL_REQUIRED: NoticeEvent.MANUAL_REQUIRED,
}
_WORDS: dict[NoticeEvent, tuple[str, str]] = {
    NoticeEvent.FILM_READY: ("影片{name}已生成，等待审核", "Film {name} is ready for review"),
    NoticeEvent.FILM_APPROVED: ("影片{name}已通过审核", "Film {name} was approved"),
    NoticeEvent.FILM_FAILED: ("影片{name}制作失败：{why}", "Film {name} failed: {why}"),
    NoticeEvent.MANUAL_REQUIRED: ("影片{name}需要人工处理：{why}", "Film {name} needs an operator: {why}"),
}


class NewNotice(BaseModel):
    """A notice to store. `event_id` is one for ever; notices of one `stream` reach the receiver in order."""

    model_config = ConfigDict(frozen=True)

    event_id: str
    event: NoticeEvent
    stream: str
    project_id: str | None
    body: str


class Notice(BaseModel):
    """A stored notice. `tries` counts sends that were begun."""

    model_config = ConfigDict(frozen=True)

    id: int
    event_id: str
    event: NoticeEvent
    stream: str
    project_id: str | None
    body: str
    status: NoticeStatus
    tries: int
    created_at: datetime
    last_error: str | None

    def text(self, language: str) -> str:
        """The sentence for people, `zh` or `en`."""
        return str(json.loads(self.body)["text"][language])


def notice_of_move(facts: dict[str, Any], state: ProjectState, *, now: datetime) -> NewNotice | None:
    """The notice of a project that has just become `state`; None when that is no news.

    `facts`: id, user_id, tier, title, fail_stage and error_code as the row has them. No error text goes out: it may quote
    providers and people; the code and its words do.
    """
    event = EVENT_OF_STATE.get(state)
    if event is None:
        return None
    code = facts["error_code"] if event in (NoticeEvent.FILM_FAILED, NoticeEvent.MANUAL_REQUIRED) else None
    rule = ERROR_RULES[ErrorCode(code)] if code else None
    title = str(facts["title"])[:_TITLE_MAX_CHARS]
    words = _WORDS[event]
    text = {
        "zh": words[0].format(
            name=f"《{title}》（{facts['id']}）" if title else f" {facts['id']} ", why=rule.zh if rule else "原因未知"
        ),
        "en": words[1].format(name=f"“{title}” ({facts['id']})" if title else facts["id"], why=rule.en if rule else "unknown"),
    }
    project = {
        "id": facts["id"],
        "user_id": facts["user_id"],
        "tier": facts["tier"],
        "title": facts["title"],
        "status": state.value,
        "stage": facts["fail_stage"] if code else None,
        "error_code": code,
    }
    return _notice(
        f"project:{facts['id']}:{state}:{now:%Y%m%dT%H%M%S%fZ}",
        event,
        stream=f"project:{facts['id']}",
        now=now,
        project_id=str(facts["id"]),
        content={"project": project, "text": text},
    )


def notice_of_alert(alert: Alert, event: NoticeEvent, *, now: datetime) -> NewNotice:
    """The notice of an alert that was raised or cleared."""
    cleared = event is NoticeEvent.ALERT_CLEARED
    text = {
        "zh": f"{'警报解除' if cleared else '警报'}：{alert.message_zh}",
        "en": f"{'Alert cleared' if cleared else 'Alert'}: {alert.message_en}",
    }
    shown = alert.model_dump(mode="json", include={"id", "rule", "subject", "value", "limit", "raised_at", "cleared_at"})
    return _notice(
        f"alert:{alert.id}:{'cleared' if cleared else 'raised'}",
        event,
        stream=f"alert:{alert.rule}:{alert.subject}",
        now=now,
        project_id=None,
        content={"alert": shown, "text": text},
    )


def _notice(  # each argument is one column
    event_id: str, event: NoticeEvent, *, stream: str, now: datetime, project_id: str | None, content: dict[str, Any]
) -> NewNotice:
    body = {"event_id": event_id, "event": event.value, "created_at": now.isoformat(), **content}
    return NewNotice(
        event_id=event_id,
        event=event,
        stream=stream,
        project_id=project_id,
        body=json.dumps(body, ensure_ascii=False, sort_keys=True),
    )
