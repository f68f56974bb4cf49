"""What operators are told, and what is cleared away."""

from functools import cached_property

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from comic_pipeline.model.alerting import AlertRule, Band, parse_bands
from comic_pipeline.settings.choices import Cleanup, WebhookStyle
from comic_pipeline.settings.sources import CONFIG


class Operations(BaseSettings):
    """The webhook, the alerts and the clean-up."""

    model_config = CONFIG

    webhook_url: SecretStr = Field(
        default=SecretStr(""), alias="COMIC_WEBHOOK_URL", description="where notices are posted; empty: nowhere"
    )
    webhook_secret: SecretStr = Field(default=SecretStr(""), alias="COMIC_WEBHOOK_SECRET", description="signs them")
    webhook_style: WebhookStyle = Field(default=WebhookStyle.JSON, alias="COMIC_WEBHOOK_STYLE")
    webhook_language: str = Field(default="zh", alias="COMIC_WEBHOOK_LANGUAGE", pattern="^(zh|en)$")
    webhook_http: bool = Field(default=False, alias="COMIC_WEBHOOK_HTTP", description="plain http is allowed too")
    webhook_tries: int = Field(default=8, ge=1, alias="COMIC_WEBHOOK_TRIES", description="then a notice is dead")
    alerts_text: str = Field(
        default="failed_tasks=20/5,provider_failing=5/0,queue_backlog=50/20,film_failures=30/15,cost_outlier=3/2,space_low=90/85",
        alias="COMIC_ALERTS",
        description="rule=raised at/cleared at; a rule not named is off",
    )
    objects_gb: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, alias="COMIC_OBJECTS_GB", description="what the bucket may hold; 0: no alert"
    )
    cleanup: Cleanup = Field(default=Cleanup.REPORT, alias="COMIC_CLEANUP")
    cleanup_days: int = Field(
        default=30, ge=1, alias="COMIC_CLEANUP_DAYS", description="how long media that nothing uses any more are kept"
    )
    history_days: int = Field(
        default=90,
        ge=1,
        alias="COMIC_HISTORY_DAYS",
        description="how long notices, cleared alerts and Dagster's step events are kept",
    )

    @field_validator("alerts_text")
    @classmethod
    def _alerts_readable(cls, text: str) -> str:
        parse_bands(text)
        return text

    @cached_property
    def alert_bands(self) -> dict[AlertRule, Band]:
        """Thresholds of the rules that are watched."""
        return parse_bands(self.alerts_text)
