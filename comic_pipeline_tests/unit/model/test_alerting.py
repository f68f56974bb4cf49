"""Alerts: raised at X, cleared at Y, in between nothing; never flapping, never for ever."""

import pytest

from comic_pipeline.model.alerting import STAY, Act, Alert, AlertRule, Band, Reading, judge, parse_bands
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.builders import NOW, later

BANDS = {AlertRule.FAILED_TASKS: Band(10, 4), AlertRule.QUEUE_BACKLOG: Band(50, 20)}


def _alert(rule: AlertRule = AlertRule.FAILED_TASKS, *, raised: float | None = 0) -> Alert:
    return Alert(
        id=7,
        rule=rule,
        subject="all",
        value=12,
        limit=10,
        message_zh="",
        message_en="",
        since=later(0),
        raised_at=None if raised is None else later(raised),
        cleared_at=None,
    )


def _acts(value: float | None, *alerts: Alert, at: float, rule: AlertRule = AlertRule.FAILED_TASKS) -> list[Act]:
    readings = [] if value is None else [Reading(rule, "all", value)]
    return [step.act for step in judge(readings, alerts, BANDS, now=later(at))]


@pytest.mark.parametrize(
    ("value", "alerts", "at", "acts"),
    [
        (9.9, [], 0, []),
        (10, [], 0, [Act.RAISE]),
        (99, [_alert()], 5_000, []),
        (5, [_alert()], 5_000, []),
        (4, [_alert()], STAY - 1, []),
        (4, [_alert()], STAY, [Act.CLEAR]),
        (None, [_alert()], STAY, [Act.CLEAR]),
    ],
)
def test_between_the_two_thresholds_nothing_changes(value: float, alerts: list[Alert], at: float, acts: list[Act]) -> None:
    """Raised once at X, cleared at Y and not before it has stayed a while; what is no longer measured is over."""
    assert _acts(value, *alerts, at=at) == acts


def test_a_backlog_must_last_before_anybody_is_told() -> None:
    """Fifty waiting rounds for a minute are a good day: watched first, raised after five minutes, forgotten when it goes."""
    rule, watched = AlertRule.QUEUE_BACKLOG, _alert(AlertRule.QUEUE_BACKLOG, raised=None)
    assert _acts(50, at=0, rule=rule) == [Act.WATCH]
    assert _acts(50, watched, at=299, rule=rule) == []
    assert _acts(50, watched, at=300, rule=rule) == [Act.RAISE]
    assert _acts(49, watched, at=299, rule=rule) == [Act.FORGET]


def test_a_rule_that_is_switched_off_raises_nothing_and_leaves_nothing_open() -> None:
    """Whoever takes a rule out of COMIC_ALERTS does not keep its alerts for ever."""
    steps = judge([Reading(AlertRule.SPACE_LOW, "COMIC_HOME", 99)], [_alert(AlertRule.SPACE_LOW)], BANDS, now=NOW)
    assert [step.act for step in steps] == [Act.CLEAR]


@pytest.mark.parametrize("rule", AlertRule)
def test_every_rule_says_in_both_languages_what_and_how_much(rule: AlertRule) -> None:
    """An alert that does not name its number and its threshold helps nobody."""
    (step,) = judge([Reading(rule, "ark_video", 1_234)], [], {rule: Band(17, 1)}, now=NOW)
    for words in (step.zh, step.en):
        assert "1234" in words
        assert "17" in words
    assert step.zh != step.en


def test_every_rule_is_watched_by_default() -> None:
    """The default of COMIC_ALERTS forgets none."""
    assert set(load_settings().alert_bands) == set(AlertRule)


@pytest.mark.parametrize("text", ["disk=1/0", "space_low=90", "space_low=85/90", "space_low=9/9", "space_low=9/1,space_low=8/1"])
def test_a_band_that_makes_no_sense_is_refused_by_name(text: str) -> None:
    """Clear above raise would flap at every look."""
    with pytest.raises(ValueError, match="COMIC_ALERTS"):
        parse_bands(text)


def test_bands_are_read_with_spaces_and_fractions() -> None:
    """What the README shows."""
    assert parse_bands(" space_low=90.5/85 , ") == {AlertRule.SPACE_LOW: Band(90.5, 85)}
