"""Who may do how much: tiers, quotas, budgets, and the numbers per provider. Pure tables and parsing."""

import re
from dataclasses import dataclass
from decimal import Decimal

from comic_pipeline.model.project import Tier

IMAGE_TASKS_PER_PROJECT = 4
# Clips that this machine renders itself. One takes 250 MB at 1080p: twelve at once took 2.8 GB, more than a run's pod has.
LOCAL_CLIPS_PER_PROJECT = 4
ATTEMPTS_PER_PLANNED_TASK = 10

DAILY_QUOTA: dict[Tier, int | None] = {Tier.FREE: 3, Tier.PREVIEW: 10, Tier.PAID: 50, Tier.PREMIUM: None}
PRIORITY: dict[Tier, int] = {Tier.PREMIUM: 50, Tier.PAID: 40, Tier.PREVIEW: 30, Tier.FREE: 20}
FORMAL_TIERS = frozenset({Tier.PAID, Tier.PREMIUM})

_ENTRY = re.compile(r"^(?P<provider>[a-z0-9_]+)=(?P<jobs>\d{1,6})/(?P<qps>\d{1,6}(?:\.\d{1,6})?)$", re.ASCII)


# Creates are let go 4 % further apart than the limit asks, each at most 3 % late: so two of them are never closer than the limit
# when the one is late and the other is not, 1 % is left for the network, and 96 % of the limit can be used.
_STEP_MARGIN, _LATE_MARGIN = 1.04, 0.03
# Below this a process cannot tell when it will be woken; limits of over 6 creates a second are kept to within 5 ms.
_LATE_AT_LEAST = 0.005


@dataclass(frozen=True)
class ProviderLimit:
    """At most `jobs` jobs under way at once and `qps` creates a second, over all processes."""

    jobs: int
    qps: float

    @property
    def step(self) -> float:
        """Seconds between two creates."""
        return _STEP_MARGIN / self.qps

    @property
    def lateness(self) -> float:
        """Seconds by which a create may leave after its moment; a later one needs a new moment."""
        return max(_LATE_MARGIN / self.qps, _LATE_AT_LEAST)


def parse_provider_limits(text: str) -> dict[str, ProviderLimit]:
    """Read `ark_video=10/5,ark_image=5/5`. Raises ValueError that names the entry that cannot be read."""
    limits: dict[str, ProviderLimit] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if match is None or int(match["jobs"]) < 1 or float(match["qps"]) <= 0:
            raise ValueError(f"COMIC_LIMITS: cannot read {entry!r}; write provider=jobs/qps, e.g. ark_video=10/5")
        if match["provider"] in limits:
            raise ValueError(f"COMIC_LIMITS: {entry!r} comes after another limit of the same provider")
        limits[match["provider"]] = ProviderLimit(jobs=int(match["jobs"]), qps=float(match["qps"]))
    return limits


def parse_budgets(text: str) -> dict[Tier, Decimal]:
    """Read `free=2,preview=10,paid=100,premium=500` (CNY a project). Raises ValueError that names what is wrong."""
    budgets: dict[Tier, Decimal] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = entry.partition("=")
        try:
            tier, budget = Tier(name.strip()), Decimal(amount.strip())
        except (ValueError, ArithmeticError):
            raise ValueError(f"COMIC_BUDGETS: cannot read {entry!r}; write tier=yuan, e.g. free=2") from None
        if not budget.is_finite() or budget < 0 or tier in budgets:
            raise ValueError(f"COMIC_BUDGETS: {entry!r} must be one finite amount of at least 0 for each tier")
        budgets[tier] = budget
    missing = [tier.value for tier in Tier if tier not in budgets]
    if missing:
        raise ValueError(f"COMIC_BUDGETS: no budget for {', '.join(missing)}")
    return budgets


def parse_tiers(text: str) -> frozenset[Tier]:
    """Read `free,preview`: the tiers whose clean films are released without a person. Raises ValueError."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    possible = [tier.value for tier in Tier if tier is not Tier.PREMIUM]
    if wrong := [name for name in names if name not in possible]:
        raise ValueError(f"COMIC_AUTO_APPROVE: {wrong[0][:40]!r} is not possible; any of {', '.join(possible)}")
    return frozenset(Tier(name) for name in names)
