"""How paid work is done: pace, retries, deadlines, money."""

import re
from decimal import Decimal
from functools import cached_property

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from comic_pipeline.model.limits import ProviderLimit, parse_budgets, parse_provider_limits
from comic_pipeline.model.project import Tier
from comic_pipeline.settings.sources import CONFIG

_SECONDS = re.compile(r"\d{1,6}(\.\d{1,6})?", re.ASCII)


class Work(BaseSettings):
    """Waiting, trying again, and what may be spent."""

    model_config = CONFIG

    poll_seconds: float = Field(
        default=10.0, gt=0, allow_inf_nan=False, alias="COMIC_POLL_SECONDS", description="ceiling of the poll interval"
    )
    retry_delays_text: str = Field(default="30,120,300", alias="COMIC_RETRY_DELAYS", description="seconds between rounds")
    max_retry: int = Field(default=3, ge=0, alias="COMIC_MAX_RETRY", description="rounds a task may be tried again")
    lost_recreates: int = Field(default=1, ge=0, alias="COMIC_LOST_RECREATES")
    lost_grace: float = Field(
        default=60.0,
        ge=0,
        allow_inf_nan=False,
        alias="COMIC_LOST_GRACE",
        description="seconds after which an unlisted job surely does not exist",
    )
    project_timeout: float = Field(
        default=3_600.0,
        gt=0,
        allow_inf_nan=False,
        alias="COMIC_PROJECT_TIMEOUT",
        description="seconds of stage time, without waiting in line",
    )
    lease_seconds: float = Field(
        default=60.0,
        gt=0,
        allow_inf_nan=False,
        alias="COMIC_LEASE_SECONDS",
        description="how long a silent process keeps its tasks",
    )
    limits_text: str = Field(default="ark_video=10/5,ark_image=5/5,ark_text=5/5,openspeech_voice=5/5", alias="COMIC_LIMITS")
    budgets_text: str = Field(
        default="free=2,preview=10,paid=100,premium=500", alias="COMIC_BUDGETS", description="CNY a project by tier"
    )
    day_budget: Decimal = Field(default=Decimal(2000), ge=0, alias="COMIC_DAY_BUDGET", description="CNY a day over all projects")
    max_attempts: int = Field(
        default=0, ge=0, alias="COMIC_MAX_ATTEMPTS", description="creates a project; 0: 10 x its planned tasks"
    )

    @field_validator("limits_text")
    @classmethod
    def _limits_readable(cls, text: str) -> str:
        parse_provider_limits(text)
        return text

    @field_validator("budgets_text")
    @classmethod
    def _budgets_readable(cls, text: str) -> str:
        parse_budgets(text)
        return text

    @field_validator("retry_delays_text")
    @classmethod
    def _delays_readable(cls, text: str) -> str:
        for part in text.split(","):
            if not _SECONDS.fullmatch(part.strip()):
                raise ValueError(f"cannot read {part.strip()[:40]!r}; write seconds separated by commas, e.g. 30,120,300")
        return text

    @cached_property
    def retry_delays(self) -> tuple[float, ...]:
        """Seconds before round 2, 3, 4 of a task."""
        return tuple(float(part) for part in self.retry_delays_text.split(","))

    @cached_property
    def provider_limits(self) -> dict[str, ProviderLimit]:
        """Exact limits by provider name."""
        return parse_provider_limits(self.limits_text)

    @cached_property
    def budgets(self) -> dict[Tier, Decimal]:
        """CNY a project by tier."""
        return parse_budgets(self.budgets_text)
