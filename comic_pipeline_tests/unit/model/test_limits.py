"""Quotas, priorities, and the texts of COMIC_LIMITS and COMIC_BUDGETS."""

from decimal import Decimal

import pytest

from comic_pipeline.model.limits import (
    ATTEMPTS_PER_PLANNED_TASK,
    DAILY_QUOTA,
    FORMAL_TIERS,
    IMAGE_TASKS_PER_PROJECT,
    PRIORITY,
    ProviderLimit,
    parse_budgets,
    parse_provider_limits,
    parse_tiers,
)
from comic_pipeline.model.project import Tier


def test_every_tier_has_its_quota_and_its_place_in_the_queue() -> None:
    """As agreed, a day and in line; premium has no quota."""
    assert DAILY_QUOTA == {Tier.FREE: 3, Tier.PREVIEW: 10, Tier.PAID: 50, Tier.PREMIUM: None}
    assert PRIORITY == {Tier.PREMIUM: 50, Tier.PAID: 40, Tier.PREVIEW: 30, Tier.FREE: 20}
    assert sorted(FORMAL_TIERS) == [Tier.PAID, Tier.PREMIUM]


def test_a_project_has_its_own_limits() -> None:
    """As agreed: four pictures at once, and ten creates for each planned task before the breaker."""
    assert (IMAGE_TASKS_PER_PROJECT, ATTEMPTS_PER_PLANNED_TASK) == (4, 10)


def test_provider_limits_are_read() -> None:
    """Jobs are whole and may be one at a time, creates a second may have a fraction; spaces and an empty tail do no harm."""
    assert parse_provider_limits(" ark_video=10/5 , ark_image=1/0.5,") == {
        "ark_video": ProviderLimit(jobs=10, qps=5.0),
        "ark_image": ProviderLimit(jobs=1, qps=0.5),
    }
    assert parse_provider_limits("") == {}


@pytest.mark.parametrize("qps", [0.2, 1.0, 5.0])
def test_a_late_create_and_a_punctual_one_are_not_closer_than_the_limit(qps: float) -> None:
    """The margin covers the lateness, and over 90 % of the limit can be used."""
    limit = ProviderLimit(jobs=1, qps=qps)
    assert limit.step - limit.lateness >= 1 / qps
    assert 1 / limit.step > 0.95 * qps


def test_a_create_may_be_as_late_as_a_process_can_tell() -> None:
    """A share of the step, but never less than 5 ms: nobody can keep a moment that is closer, and would miss it for ever."""
    assert [ProviderLimit(jobs=1, qps=qps).lateness for qps in (1.0, 100.0)] == [0.03, 0.005]


@pytest.mark.parametrize(
    "entry",
    [
        "ark_video",
        "ark_video=10",
        "ark_video=10/",
        "ark_video=0/5",
        "ark_video=10/0",
        "ark_video=-1/5",
        "ark_video=1.5/5",
        "ark_video=10/5/2",
        "ark_video=10/1e9",
        "ark_video=10/nan",
        "Ark Video=10/5",
        "ark_video=١٠/٥",
        f"ark_video={'9' * 5_000}/5",
    ],
)
def test_an_unreadable_limit_names_the_entry(entry: str) -> None:
    """The good entries around it do not hide which one is wrong."""
    with pytest.raises(ValueError, match="COMIC_LIMITS: cannot read") as refused:
        parse_provider_limits(f"ark_image=5/5,{entry},ark_text=5/5")
    assert repr(entry) in str(refused.value)


def test_a_provider_has_one_limit() -> None:
    """Of two entries the later one would win without a word."""
    with pytest.raises(ValueError, match="ark_video=1/1"):
        parse_provider_limits("ark_video=10/5,ark_video=1/1")


def test_budgets_are_read() -> None:
    """Exact decimals for every tier."""
    assert parse_budgets("free=2, preview = 10.50,paid=100,premium=500") == {
        Tier.FREE: Decimal(2),
        Tier.PREVIEW: Decimal("10.50"),
        Tier.PAID: Decimal(100),
        Tier.PREMIUM: Decimal(500),
    }


@pytest.mark.parametrize("entry", ["gold=5", "free", "free=", "free=two", "free=1,5", "free=-1", "free=NaN", "free=Infinity"])
def test_an_unreadable_budget_names_the_entry(entry: str) -> None:
    """A negative or endless budget is no budget; Decimal alone would take both."""
    with pytest.raises(ValueError, match="COMIC_BUDGETS") as refused:
        parse_budgets(f"preview=10,paid=100,{entry},premium=500")
    assert repr(entry) in str(refused.value) or repr(entry.split(",")[1]) in str(refused.value)


def test_a_missing_budget_names_the_tier() -> None:
    """A tier without a budget would fail at its first project, not at start."""
    with pytest.raises(ValueError, match="no budget for preview, premium"):
        parse_budgets("free=2,paid=100")


def test_a_tier_has_one_budget() -> None:
    """Of two amounts the later one would win without a word."""
    with pytest.raises(ValueError, match="free=3"):
        parse_budgets("free=2,preview=10,paid=100,premium=500,free=3")


def test_an_amount_that_is_no_number_says_how_to_write_it() -> None:
    """The entry before it is good: its amount must not stand for the one that cannot be read."""
    with pytest.raises(ValueError, match="cannot read 'preview=ten'; write tier=yuan"):
        parse_budgets("free=2,preview=ten,paid=100,premium=500")


def test_tiers_without_a_person_are_read() -> None:
    """Those that may be released unseen; none by default."""
    assert parse_tiers(" free, preview,") == {Tier.FREE, Tier.PREVIEW}
    assert parse_tiers("") == frozenset()


@pytest.mark.parametrize("tier", ["premium", "gold"])
def test_a_premium_film_is_never_released_unseen(tier: str) -> None:
    """A setting that asks for it is refused by name, with the tiers that are possible; so is one that does not exist."""
    with pytest.raises(ValueError, match=f"COMIC_AUTO_APPROVE: '{tier}' is not possible; any of free, preview, paid"):
        parse_tiers(f"free,{tier}")
