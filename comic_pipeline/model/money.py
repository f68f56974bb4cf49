"""Money is Decimal CNY with six places: token prices are a few millionths of a yuan. No floats, no rounding half-way."""

from decimal import ROUND_HALF_UP, Decimal

ZERO = Decimal(0)
_PLACES = Decimal("0.000001")


def cny(amount: Decimal | int | str) -> Decimal:
    """`amount` as yuan with exactly six decimal places."""
    return Decimal(amount).quantize(_PLACES, rounding=ROUND_HALF_UP)


def show(amount: Decimal) -> str:
    """`amount` for people: `¥5.01`, with more places only when there is less than a fen."""
    if amount and abs(amount) < Decimal("0.01"):
        return f"¥{amount.normalize():f}"
    return f"¥{amount.quantize(Decimal('0.01'), rounding=ROUND_HALF_UP)}"
