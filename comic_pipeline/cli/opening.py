"""What commands share: options, opening the workshop, checking words, printing JSON."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.settings import Settings, load_settings

if TYPE_CHECKING:
    from comic_pipeline.stages.workshop import Workshop

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
UserOption = Annotated[str, typer.Option("--user", help="Who asks.")]
_Word = TypeVar("_Word", bound=StrEnum)


def checked_settings() -> Settings:
    """The settings. Raises Refused naming what is wrong or missing; nothing falls back to offline."""
    settings = load_settings()
    missing = settings.missing_keys()
    if missing:
        raise Refused(
            ErrorCode.INPUT_INVALID, f"{', '.join(missing)} must be set for the chosen providers (nothing falls back to offline)"
        )
    return settings


def opened_workshop() -> "Workshop":
    """The workshop of this environment. Raises StorageFault when `comic init` was not run."""
    from comic_pipeline.stages.workshop import open_workshop

    return open_workshop(checked_settings())


def word_of(kind: type[_Word], name: str, value: str) -> _Word:
    """The member spelled `value`. Raises Refused(INPUT_INVALID) with the possible ones."""
    for member in kind:
        if member.value.lower() == value.lower():
            return member
    raise Refused(ErrorCode.INPUT_INVALID, f"{name} {value!r} is unknown; one of: {', '.join(kind)}")


def print_json(value: BaseModel | list[Any] | dict[str, Any]) -> None:
    """One line of JSON on standard output."""
    text = value.model_dump_json() if isinstance(value, BaseModel) else json.dumps(value, ensure_ascii=False, default=str)
    print(text)  # noqa: T201  # the answer of the command
