"""The one class of all settings, and reading it."""

import os
from difflib import get_close_matches
from typing import Any

from pydantic import SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.workflow import Stage
from comic_pipeline.settings.choices import NO_MUSIC, SYNTH_MUSIC
from comic_pipeline.settings.film import Film
from comic_pipeline.settings.masking import mask_in_logs
from comic_pipeline.settings.operations import Operations
from comic_pipeline.settings.places import Places, passwords_in
from comic_pipeline.settings.services import Services
from comic_pipeline.settings.sources import SecretFiles
from comic_pipeline.settings.work import Work

# What programs need to run; keys of providers, of the store and of the database are not among it.
_FOR_CHILDREN = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME")

_OUR_PREFIXES = ("COMIC_", "ARK_", "OPENAI_", "OPENSPEECH_")


class Settings(Places, Services, Work, Film, Operations):
    """The deployment's choices. Names are the environment variables; secrets never show in repr, logs or errors."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment, and for secrets also the files that `<variable>_FILE` names."""
        return init_settings, env_settings, SecretFiles(settings_cls)

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
        in_urls = (*passwords_in(self.database_url), *passwords_in(self.dagster_database_url))
        return tuple(filter(None, (*(value.get_secret_value() for value in values), *in_urls)))


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
        raise Refused(ErrorCode.INPUT_INVALID, f"{name}{value}: {error['msg'].removeprefix('Value error, ')}") from None
    mask_in_logs(settings.secrets())
    return settings


def misspelled() -> dict[str, str]:
    """Variables that are none of ours but look like one, with that one: what they say is not done."""
    ours = {str(field.alias): field for field in Settings.model_fields.values()}
    known = {*ours, *(f"{name}_FILE" for name, field in ours.items() if field.annotation is SecretStr)}
    strange = [name for name in os.environ if name.startswith(_OUR_PREFIXES) and name not in known]
    close = {name: get_close_matches(name, known, n=1, cutoff=0.88) for name in sorted(strange)}
    return {name: found[0] for name, found in close.items() if found}


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


def child_environment() -> dict[str, str]:
    """The environment for ffmpeg and the offline children: nothing that they could give away, whatever they are fed."""
    return {name: os.environ[name] for name in _FOR_CHILDREN if name in os.environ}
