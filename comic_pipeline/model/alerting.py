"""When something is wrong enough to tell somebody, and when it is over: pure rules with hysteresis, thresholds, zh and en words.

Belongs here: the decision from numbers. Does not: measuring (`store/readings.py`, `notify/space.py`), rows (`store/alerts.py`),
sending (`notify/courier.py`). Every number is of the kind where higher is worse.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

# An alert stays open at least this long (seconds): one that comes and goes every minute would teach people to look away.
STAY = 600.0

_ENTRY = re.compile(r"(?P<rule>[a-z_]+)=(?P<raise>\d{1,6}(?:\.\d{1,3})?)/(?P<clear>\d{1,6}(?:\.\d{1,3})?)", re.ASCII)


class AlertRule(StrEnum):
    """What is watched."""

    FAILED_TASKS = "failed_tasks"
    PROVIDER_FAILING = "provider_failing"
    QUEUE_BACKLOG = "queue_backlog"
    FILM_FAILURES = "film_failures"
    COST_OUTLIER = "cost_outlier"
    SPACE_LOW = "space_low"


@dataclass(frozen=True)
class _Words:
    """How a rule speaks, and for how many seconds its number must be too high before it does."""

    hold: float
    zh: str
    en: str


_RULES: dict[AlertRule, _Words] = {
    AlertRule.FAILED_TASKS: _Words(
        0,
        "最近一小时有 {value:g} 个任务失败（阈值 {limit:g}）；用 comic projects 查看",
        "{value:g} tasks failed within an hour (limit {limit:g}); see `comic projects`",
    ),
    AlertRule.PROVIDER_FAILING: _Words(
        0,
        "服务 {subject} 连续失败 {value:g} 次（阈值 {limit:g}）；检查密钥、余额与服务状态，运行 comic doctor",
        "provider {subject} failed {value:g} times in a row (limit {limit:g}); check its key, balance and state: `comic doctor`",
    ),
    AlertRule.QUEUE_BACKLOG: _Words(
        300,
        "队列 {subject} 积压 {value:g} 个（阈值 {limit:g}）；检查 daemon、并发上限与服务速度",
        "queue {subject} has a backlog of {value:g} (limit {limit:g}); check the daemon, the limits and the provider's speed",
    ),
    AlertRule.FILM_FAILURES: _Words(
        0,
        "最近 24 小时 {value:g}% 的影片失败或需要人工（阈值 {limit:g}%）",
        "{value:g}% of the films of 24 hours failed or need an operator (limit {limit:g}%)",
    ),
    AlertRule.COST_OUTLIER: _Words(
        0,
        "项目 {subject} 的花费是同长度影片中位数的 {value:g} 倍（阈值 {limit:g}）；用 comic costs 查看",
        "project {subject} has cost {value:g} times the median of films of its length (limit {limit:g}); see `comic costs`",
    ),
    AlertRule.SPACE_LOW: _Words(
        0,
        "存储 {subject} 已用 {value:g}%（阈值 {limit:g}%）；扩容，或设 COMIC_CLEANUP=delete",
        "{value:g}% of the space of {subject} is used (limit {limit:g}%); enlarge it, or set COMIC_CLEANUP=delete",
    ),
}


@dataclass(frozen=True)
class Band:
    """Raised at `raise_at` and above, cleared at `clear_at` and below; in between nothing changes."""

    raise_at: float
    clear_at: float


@dataclass(frozen=True)
class Reading:
    """One measured number: tasks, failures in a row, waiting rounds, percent, or times the median, by its rule."""

    rule: AlertRule
    subject: str
    value: float


class Alert(BaseModel):
    """A stored alert. Only watched while `raised_at` is None."""

    model_config = ConfigDict(frozen=True)

    id: int
    rule: AlertRule
    subject: str
    value: float
    limit: float
    message_zh: str
    message_en: str
    since: datetime
    raised_at: datetime | None
    cleared_at: datetime | None


class Act(StrEnum):
    """What a step does: begin to watch, raise, stop watching without having said anything, clear."""

    WATCH = "watch"
    RAISE = "raise"
    FORGET = "forget"
    CLEAR = "clear"


@dataclass(frozen=True)
class Step:
    """One change to the alerts. `alert_id` is None when there is no row yet."""

    act: Act
    rule: AlertRule
    subject: str
    value: float
    limit: float
    zh: str
    en: str
    alert_id: int | None


def parse_bands(text: str) -> dict[AlertRule, Band]:
    """Read `failed_tasks=20/5,space_low=90/85` (raised at / cleared at). A rule that is not named is not watched.

    Raises ValueError that names the entry that cannot be read.
    """
    bands: dict[AlertRule, Band] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if match is None or match["rule"] not in list(AlertRule):
            raise ValueError(
                f"COMIC_ALERTS: cannot read {entry[:60]!r}; write rule=raise/clear with one of: {', '.join(AlertRule)}"
            )
        rule, band = AlertRule(match["rule"]), Band(float(match["raise"]), float(match["clear"]))
        if rule in bands or band.clear_at >= band.raise_at:
            raise ValueError(f"COMIC_ALERTS: {entry[:60]!r} must come once, and clear below where it is raised")
        bands[rule] = band
    return bands


def judge(
    readings: Iterable[Reading], open_alerts: Iterable[Alert], bands: Mapping[AlertRule, Band], *, now: datetime
) -> tuple[Step, ...]:
    """What changes: nothing, most of the time. A number that is no longer measured counts as zero."""
    measured = {(one.rule, one.subject): one.value for one in readings if one.rule in bands}
    known = {(alert.rule, alert.subject): alert for alert in open_alerts}
    steps = []
    for rule, subject in sorted(measured.keys() | known.keys()):
        value, alert = measured.get((rule, subject), 0.0), known.get((rule, subject))
        act = _decide(value, alert, bands.get(rule), hold=_RULES[rule].hold, now=now)
        if act is not None:
            steps.append(_step(act, rule, subject, value, alert, bands.get(rule)))
    return tuple(steps)


def _decide(value: float, alert: Alert | None, band: Band | None, *, hold: float, now: datetime) -> Act | None:
    if band is not None and value >= band.raise_at:
        return _decide_high(alert, hold=hold, now=now)
    if alert is None:
        return None
    if alert.raised_at is None:
        return Act.FORGET
    # Nobody watches the rule any more: the alert would stay open for ever.
    over = band is None or (value <= band.clear_at and now - alert.raised_at >= timedelta(seconds=STAY))
    return Act.CLEAR if over else None


def _decide_high(alert: Alert | None, *, hold: float, now: datetime) -> Act | None:
    if alert is None:
        return Act.WATCH if hold else Act.RAISE
    ripe = alert.raised_at is None and now - alert.since >= timedelta(seconds=hold)
    return Act.RAISE if ripe else None


def _step(act: Act, rule: AlertRule, subject: str, value: float, alert: Alert | None, band: Band | None) -> Step:
    limit = band.raise_at if band is not None else alert.limit if alert is not None else 0.0
    facts = {"subject": subject, "value": round(value, 2), "limit": limit}
    words = _RULES[rule]
    return Step(
        act=act,
        rule=rule,
        subject=subject,
        value=round(value, 2),
        limit=limit,
        zh=words.zh.format(**facts),
        en=words.en.format(**facts),
        alert_id=None if alert is None else alert.id,
    )
