"""Where values come from: the environment, and for secrets also files."""

import os
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource, SettingsConfigDict

from comic_pipeline.model.errors import ErrorCode, Refused

CONFIG = SettingsConfigDict(extra="ignore", case_sensitive=True, frozen=True, populate_by_name=True, env_ignore_empty=True)


class SecretFiles(PydanticBaseSettingsSource):
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
        """All secrets that came in files, by variable."""
        secrets = {
            str(field.alias): self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
            if field.annotation is SecretStr
        }
        return {alias: value for alias, value in secrets.items() if value}
