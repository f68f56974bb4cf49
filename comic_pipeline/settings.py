"""Everything the environment can set: one class, one table. `os.environ` is read nowhere else."""

import logging
import os
import re
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from comic_pipeline.model.alerting import AlertRule, Band, parse_bands
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.limits import ProviderLimit, parse_budgets, parse_provider_limits, parse_tiers
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import Stage

_LOGGER = "comic_pipeline"
SYNTH_MUSIC, NO_MUSIC = "synth", "none"
_SECONDS = re.compile(r"\d{1,6}(\.\d{1,6})?", re.ASCII)

_VOICES_HELP = "one voice for all speakers, or several by comma: the narrator's first; empty: the public ones, one a speaker"
# Words that every glyph of the bundled font is there for, and of the two kinds that the standard asks for.
_LABEL_WORDS = re.compile(r"(?=.*(?:生成|合成|[Gg]enerated|GENERATED))[0-9A-Za-z一-龥 ·\-]+")
_LABEL_EM = 12


class TextProviderName(StrEnum):
    """Who writes."""

    OFFLINE = "offline"
    ARK = "ark"
    OPENAI = "openai"


class ImageProviderName(StrEnum):
    """Who draws."""

    OFFLINE = "offline"
    ARK = "ark"
    OPENAI = "openai"


class VoiceProviderName(StrEnum):
    """Who speaks."""

    OFFLINE = "offline"
    OPENSPEECH = "openspeech"
    OPENAI = "openai"


class VideoProviderName(StrEnum):
    """Who moves pictures."""

    OFFLINE = "offline"
    ARK = "ark"


class VoiceFailure(StrEnum):
    """What a line that cannot be spoken does to the film."""

    SILENCE = "silence"
    FAIL = "fail"


class FrameFailure(StrEnum):
    """What a picture that cannot be made does to the film."""

    FAIL = "fail"
    PLACEHOLDER = "placeholder"


class WebhookStyle(StrEnum):
    """Who receives notices."""

    JSON = "json"
    FEISHU = "feishu"
    DINGTALK = "dingtalk"
    SLACK = "slack"


class Cleanup(StrEnum):
    """What the daily clean-up does about what it finds."""

    REPORT = "report"
    DELETE = "delete"


class Settings(BaseSettings):
    """The deployment's choices. Names are the environment variables; secrets never show in repr, logs or errors."""

    model_config = SettingsConfigDict(
        extra="ignore", case_sensitive=True, frozen=True, populate_by_name=True, env_ignore_empty=True
    )

    home: Path = Field(
        default=Path(".comic"), alias="COMIC_HOME", description="database, objects and Dagster home of the embedded profile"
    )
    database_url: SecretStr = Field(default=SecretStr(""), alias="COMIC_DATABASE_URL", description="empty: sqlite in COMIC_HOME")
    database_password: SecretStr = Field(
        default=SecretStr(""), alias="COMIC_DATABASE_PASSWORD", description="password of both database URLs, kept apart from them"
    )
    dagster_database_url: SecretStr = Field(
        default=SecretStr(""), alias="COMIC_DAGSTER_DATABASE_URL", description="Postgres of Dagster's own storage (deployed)"
    )
    objects: str = Field(default="", alias="COMIC_OBJECTS", description="a folder or s3://bucket/prefix; empty: in COMIC_HOME")
    media_url: str = Field(default="/logs/objects", alias="COMIC_MEDIA_URL", description="base of links to media in the UI")
    media_endpoint: str = Field(
        default="", alias="COMIC_MEDIA_ENDPOINT", description="the S3 service as browsers reach it; empty: AWS_ENDPOINT_URL_S3"
    )
    s3_endpoint: str = Field(default="", alias="AWS_ENDPOINT_URL_S3")

    text_provider: TextProviderName = Field(default=TextProviderName.OFFLINE, alias="COMIC_TEXT_PROVIDER")
    image_provider: ImageProviderName = Field(default=ImageProviderName.OFFLINE, alias="COMIC_IMAGE_PROVIDER")
    voice_provider: VoiceProviderName = Field(default=VoiceProviderName.OFFLINE, alias="COMIC_VOICE_PROVIDER")
    video_provider: VideoProviderName = Field(default=VideoProviderName.OFFLINE, alias="COMIC_VIDEO_PROVIDER")

    ark_api_key: SecretStr = Field(default=SecretStr(""), alias="ARK_API_KEY")
    ark_base_url: str = Field(default="https://ark.cn-beijing.volces.com/api/v3", alias="ARK_BASE_URL")
    ark_text_model: str = Field(default="doubao-seed-2-1-pro-260628", alias="ARK_TEXT_MODEL")
    ark_image_model: str = Field(default="doubao-seedream-5-0-260128", alias="ARK_IMAGE_MODEL")
    ark_video_model: str = Field(default="doubao-seedance-2-0-260128", alias="ARK_VIDEO_MODEL")
    openspeech_app_id: str = Field(default="", alias="OPENSPEECH_APP_ID")
    openspeech_token: SecretStr = Field(default=SecretStr(""), alias="OPENSPEECH_TOKEN")
    openspeech_base_url: str = Field(default="https://openspeech.bytedance.com", alias="OPENSPEECH_BASE_URL")
    openspeech_api: str = Field(
        default="v3", alias="OPENSPEECH_API", pattern="^v[13]$", description="v1 one-shot or v3 one-way stream"
    )
    openspeech_resource: str = Field(
        default="seed-tts-2.0", alias="OPENSPEECH_RESOURCE", description="v3 resource id, v1 cluster"
    )
    openspeech_voice: str = Field(default="", alias="OPENSPEECH_VOICE", description=_VOICES_HELP)
    openai_api_key: SecretStr = Field(default=SecretStr(""), alias="OPENAI_API_KEY")
    openai_base_url: str = Field(default="https://api.openai.com/v1", alias="OPENAI_BASE_URL")
    openai_text_model: str = Field(default="gpt-4.1", alias="OPENAI_TEXT_MODEL")
    openai_image_model: str = Field(default="gpt-image-1", alias="OPENAI_IMAGE_MODEL")
    openai_voice_model: str = Field(default="gpt-4o-mini-tts", alias="OPENAI_VOICE_MODEL")
    openai_voice: str = Field(default="", alias="OPENAI_VOICE", description=_VOICES_HELP)

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
    on_voice_failure: VoiceFailure = Field(default=VoiceFailure.SILENCE, alias="COMIC_ON_VOICE_FAILURE")
    on_frame_failure: FrameFailure = Field(default=FrameFailure.FAIL, alias="COMIC_ON_FRAME_FAILURE")
    ai_label: bool = Field(
        default=True, alias="COMIC_AI_LABEL", description="label films, pictures and covers as made by AI (GB 45438-2025)"
    )
    ai_label_text: str = Field(default="AI生成", alias="COMIC_AI_LABEL_TEXT", description="its words in the picture")
    ai_label_whole_film: bool = Field(
        default=False, alias="COMIC_AI_LABEL_WHOLE_FILM", description="show it all through the film, not only at its beginning"
    )
    ai_label_producer: str = Field(
        default="comic_pipeline",
        min_length=1,
        max_length=128,
        alias="COMIC_AI_LABEL_PRODUCER",
        description="name or code of who makes the films, for the mark in files",
    )
    ai_label_propagator: str = Field(
        default="", max_length=128, alias="COMIC_AI_LABEL_PROPAGATOR", description="name or code of who publishes them, if known"
    )
    music: str = Field(
        default=SYNTH_MUSIC,
        alias="COMIC_MUSIC",
        min_length=1,
        description="`synth`, `none`, a file of this machine (begins with / ./ ../ ~) or an object key",
    )
    crossfade_ms: int = Field(
        default=0, ge=0, le=2_000, alias="COMIC_CROSSFADE_MS", description="how long shots fade into each other; 0: they are cut"
    )
    qc_remakes: int = Field(
        default=1, ge=0, le=4, alias="COMIC_QC_REMAKES", description="rounds by which a closed gate has its shots made anew"
    )
    auto_approve_text: str = Field(
        default="", alias="COMIC_AUTO_APPROVE", description="tiers released without a person when no check found anything"
    )
    banned_words_text: str = Field(
        default="", alias="COMIC_BANNED_WORDS", description="words that close the storyboard's gate, separated by commas"
    )
    hash_salt: SecretStr = Field(
        default=SecretStr("comic"), alias="COMIC_HASH_SALT", description="salts the user hash sent to providers"
    )
    ffmpeg: str = Field(default="", alias="COMIC_FFMPEG", description="another ffmpeg than the bundled one")
    provider_hosts: str = Field(
        default="", alias="COMIC_PROVIDER_HOSTS", description="extra hosts that results may be fetched from, plain http allowed"
    )

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

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment, and for secrets also the files that `<variable>_FILE` names."""
        return init_settings, env_settings, _SecretFiles(settings_cls)

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("ai_label_text")
    @classmethod
    def _label_says_so(cls, text: str) -> str:
        if not _LABEL_WORDS.fullmatch(text) or not re.search(r"AI|人工智能", text):
            raise ValueError("write letters and Chinese characters that name AI or 人工智能, and 生成, 合成 or generated")
        if sum(1.0 if ord(char) > 0x2E7F else 0.6 for char in text) > _LABEL_EM:
            raise ValueError(f"at most {_LABEL_EM} Chinese characters or {round(_LABEL_EM / 0.6)} letters fit into the picture")
        return text

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

    @field_validator("alerts_text")
    @classmethod
    def _alerts_readable(cls, text: str) -> str:
        parse_bands(text)
        return text

    @field_validator("auto_approve_text")
    @classmethod
    def _tiers_readable(cls, text: str) -> str:
        parse_tiers(text)
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
    def banned_words(self) -> tuple[str, ...]:
        """Words that may not occur in a storyboard; full-width commas separate as well."""
        return tuple(filter(None, (word.strip() for word in self.banned_words_text.replace("，", ",").split(","))))

    @cached_property
    def provider_limits(self) -> dict[str, ProviderLimit]:
        """Exact limits by provider name."""
        return parse_provider_limits(self.limits_text)

    @cached_property
    def budgets(self) -> dict[Tier, Decimal]:
        """CNY a project by tier."""
        return parse_budgets(self.budgets_text)

    @cached_property
    def alert_bands(self) -> dict[AlertRule, Band]:
        """Thresholds of the rules that are watched."""
        return parse_bands(self.alerts_text)

    @cached_property
    def auto_approve(self) -> frozenset[Tier]:
        """Tiers whose films need no person when nothing was found; premium never does."""
        return parse_tiers(self.auto_approve_text)

    @property
    def files(self) -> Path:
        """What the webserver serves below `/logs`: objects and compute logs. The database stays outside."""
        return self.home / "files"

    @property
    def dagster_home(self) -> Path:
        """DAGSTER_HOME of the embedded profile."""
        return self.home / "dagster"

    @property
    def effective_database_url(self) -> str:
        """The database's URL; holds a password, so never log it."""
        url = self.database_url.get_secret_value() or f"sqlite:///{self.home / 'comic.db'}"
        return _with_password(url, self.database_password)

    @property
    def effective_dagster_database_url(self) -> str:
        """The URL of Dagster's own storage, "" when that is SQLite; holds a password, so never log it."""
        return _with_password(self.dagster_database_url.get_secret_value(), self.database_password)

    @property
    def effective_objects(self) -> str:
        """Where objects live: an absolute folder or an s3:// address."""
        if "://" in self.objects:
            return self.objects
        return str(Path(self.objects).expanduser().absolute() if self.objects else self.files / "objects")

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Extra hosts for results, as `host` or `host:port`."""
        return frozenset(filter(None, (host.strip() for host in self.provider_hosts.split(","))))

    def providers_of(self, stage: Stage) -> tuple[str, ...]:
        """Names of the providers that runs of this stage call; local rendering counts as one and comes first."""
        chosen = {
            Stage.STORYBOARD: f"{self.text_provider}_text",
            Stage.FRAMES: f"{self.image_provider}_image",
            Stage.VOICES: f"{self.voice_provider}_voice",
            Stage.CLIPS: f"{self.video_provider}_video",
            Stage.FILM: "ffmpeg",
        }
        named = (chosen[stage],) if stage in chosen else ()
        return named + (self._musicians if stage is Stage.FILM else ())

    @property
    def _musicians(self) -> tuple[str, ...]:
        if self.music == NO_MUSIC:
            return ()
        return ("offline_music",) if self.music == SYNTH_MUSIC else ("file_music",)

    def secrets(self) -> tuple[str, ...]:
        """All secret values in force, for masking."""
        values = (
            self.ark_api_key,
            self.openspeech_token,
            self.openai_api_key,
            self.database_password,
            self.webhook_url,
            self.webhook_secret,
        )
        return tuple(value.get_secret_value() for value in values if value.get_secret_value())

    def missing_keys(self) -> list[str]:
        """Environment variables that the chosen providers need and that are empty."""
        chosen = {self.text_provider.value, self.image_provider.value, self.voice_provider.value, self.video_provider.value}
        missing = []
        if "ark" in chosen and not self.ark_api_key.get_secret_value():
            missing.append("ARK_API_KEY")
        if "openai" in chosen and not self.openai_api_key.get_secret_value():
            missing.append("OPENAI_API_KEY")
        if "openspeech" in chosen:
            missing += [] if self.openspeech_app_id else ["OPENSPEECH_APP_ID"]
            missing += [] if self.openspeech_token.get_secret_value() else ["OPENSPEECH_TOKEN"]
        return missing


def load_settings(**overrides: Any) -> Settings:
    """Read the environment. Raises Refused(INPUT_INVALID) naming the variable, never its secret value."""
    try:
        settings = Settings(**overrides)
    except ValidationError as invalid:
        error = invalid.errors(include_url=False)[0]
        name = str(error["loc"][0]) if error["loc"] else "environment"
        value = (
            ""
            if any(word in name for word in ("KEY", "TOKEN", "URL", "PASSWORD", "SALT"))
            else f" {str(error.get('input'))[:80]!r}"
        )
        raise Refused(ErrorCode.INPUT_INVALID, f"{name}{value}: {error['msg']}") from None
    _mask_in_logs(settings.secrets())
    return settings


def process_environment(settings: Settings) -> dict[str, str]:
    """The environment for a child process of the embedded deployment: ours, with absolute homes."""
    places = {"COMIC_HOME": str(settings.home), "DAGSTER_HOME": str(settings.dagster_home)}
    return {**os.environ, **places, **({"COMIC_OBJECTS": settings.effective_objects} if settings.objects else {})}


def container_environment(settings: Settings) -> dict[str, str]:
    """The environment for a Dagster process of the deployment: ours, and what `docker/dagster.yaml` asks for by `{env: …}`.

    Dagster reads variables alone, so the URL of its storage gets its password here; all other secrets stay in their files.
    """
    url = settings.effective_dagster_database_url
    return {**os.environ, **({"DAGSTER_DATABASE_URL": url} if url else {})}


class _SecretFiles(PydanticBaseSettingsSource):
    """`ARK_API_KEY_FILE=/run/secrets/ark_api_key` instead of `ARK_API_KEY=…`, for every secret; an empty file is not set."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The secret of one field, without the line end that editors add."""
        variable = f"{field.alias}_FILE"
        path = os.environ.get(variable, "")
        if not path:
            return None, field_name, False
        if os.environ.get(str(field.alias)):
            raise Refused(ErrorCode.INPUT_INVALID, f"{field.alias} and {variable} are both set: which one is it?")
        try:
            return Path(path).read_text(encoding="utf-8").strip(), field_name, False
        except (OSError, UnicodeDecodeError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else "it is no text"
            raise Refused(ErrorCode.INPUT_INVALID, f"{variable} {path!r} cannot be read: {reason}") from None

    def __call__(self) -> dict[str, Any]:
        secrets = {
            str(field.alias): self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
            if field.annotation is SecretStr
        }
        return {alias: value for alias, value in secrets.items() if value}


def _with_password(url: str, password: SecretStr) -> str:
    """`url` with the password in it, unless it has one already or is none of a server."""
    parts = urlsplit(url)
    secret = password.get_secret_value()
    if not secret or not parts.hostname or parts.password is not None:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}:{quote(secret, safe='')}@{host}").geturl()


class _MaskingFactory:
    """Makes log records; in those of our loggers secret values become ***, in the message and in the traceback.

    A filter would not do: one on `comic_pipeline` does not see what `comic_pipeline.work` logs.
    """

    def __init__(self, make: Callable[..., logging.LogRecord], secrets: tuple[str, ...]) -> None:
        self.make = make
        self._secrets = secrets

    def __call__(self, name: str | None, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self.make(name or "", *args, **kwargs)
        # `logging.makeLogRecord`, which Dagster uses, names nobody.
        if name is None or (name != _LOGGER and not name.startswith(f"{_LOGGER}.")):
            return record
        text = record.getMessage()
        if self._masked(text) != text:
            record.msg, record.args = self._masked(text), ()
        if record.exc_info:
            traceback = logging.Formatter().formatException(record.exc_info)
            # Formatters write `exc_text` when it is there.
            record.exc_text = self._masked(traceback)
        return record

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def _mask_in_logs(secrets: tuple[str, ...]) -> None:
    current = logging.getLogRecordFactory()
    make = current.make if isinstance(current, _MaskingFactory) else current
    logging.setLogRecordFactory(_MaskingFactory(make, secrets) if secrets else make)
