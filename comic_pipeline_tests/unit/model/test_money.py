"""Money: exact, six places, shown without surprises."""

from decimal import Decimal

import pytest

from comic_pipeline.model.money import cny, show


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0.22", "0.220000"),
        (5, "5.000000"),
        ("0.0000005", "0.000001"),
        ("0.00000049", "0.000000"),
        ("-1.5", "-1.500000"),
        (Decimal("1E+3"), "1000.000000"),
    ],
)
def test_yuan_have_six_places(amount: Decimal | int | str, expected: str) -> None:
    """Token prices are a few millionths; halves round up, and the spelling is always the same."""
    assert str(cny(amount)) == expected


def test_a_million_token_prices_add_up_exactly() -> None:
    """No float anywhere: the sum of many small amounts is the amount."""
    assert sum([cny("0.000003")] * 100_000, Decimal(0)) == Decimal("0.3")


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "¥0.00"),
        ("5.005", "¥5.01"),
        ("5", "¥5.00"),
        ("0.01", "¥0.01"),
        ("0.009999", "¥0.009999"),
        ("0.000003", "¥0.000003"),
        ("1000", "¥1000.00"),
        ("-0.5", "¥-0.50"),
    ],
)
def test_people_see_fen_and_more_only_below_one(amount: str, shown: str) -> None:
    """Less than a fen is not shown as nothing, and never in scientific notation."""
    assert show(cny(amount)) == shown
