"""What commands share: options, opening the workshop, checking words, printing JSON."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from rich.console import Console

from comic_pipeline.display import plain
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.submission import Answer
from comic_pipeline.model.workflow import REDOABLE, SubmissionKind
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline.store.submissions import NewSubmission

if TYPE_CHECKING:
    from comic_pipeline.stages.workshop import Workshop

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most so many, the newest.")]
UserOption = Annotated[str, typer.Option("--user", help="Who asks.")]
_Word = TypeVar("_Word", bound=StrEnum)
_Row = TypeVar("_Row")


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
    """The workshop of this environment. Raises Refused(CONFLICT) when `comic init` was not run."""
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


def cut(found: list[_Row], limit: int) -> list[_Row]:
    """The first `limit` of what was found with one more asked for.

    A list that was cut must not look like all there is. That is said on standard error: the answer stays what it is.
    """
    if len(found) > limit:
        told = f"the newest {limit}; --limit shows more / 仅显示最新 {limit} 条，用 --limit 查看更多"
        Console(stderr=True).print(told, style="dim", highlight=False, soft_wrap=True)
    return found[:limit]


def numbers_of(option: str, text: str | None) -> list[int]:
    """The numbers of `1,3`; none when the option was left out.

    Raises Refused(INPUT_INVALID) with the option's name for anything else: `--shots "$EMPTY"` must not mean, and pay, all.
    """
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"{option} {text[:80]!r}: write shot numbers from 0, separated by commas, e.g. 1,3; leave it out for all shots",
        )
    return [int(part) for part in parts]


def check_stage(stage: str) -> None:
    """Raise Refused(INPUT_INVALID) with the possible ones unless `stage` can be made anew."""
    if stage not in REDOABLE:
        raise Refused(ErrorCode.INPUT_INVALID, f"stage {stage[:40]!r} cannot be made anew; one of: {', '.join(REDOABLE)}")


def check_named(option: str, value: str) -> None:
    """Raise Refused(INPUT_INVALID) unless somebody, or a reason, is given."""
    if not value.strip():
        raise Refused(ErrorCode.INPUT_INVALID, f"{option} is needed: the decision is recorded")


def ask(kind: SubmissionKind, project: str, *, user: str, payload: str) -> Answer:
    """Write one request about a project down and decide it at once. Raises Refused with the reason."""
    from comic_pipeline import service

    workshop = opened_workshop()
    new = NewSubmission(kind=kind, user_id=user, tier=Tier.FREE, payload=payload, project_id=project)
    house = service.house_of(workshop.settings, now=workshop.clock.now())
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=house.now)
        service.decide(connection, submission, house)
    with workshop.database.read() as connection:
        return service.answer_of(connection, submission.id)


def show_answer(answer: Answer, *, as_json: bool) -> None:
    """The answer to a request, as JSON or in words."""
    if as_json:
        print_json(answer)
    else:
        Console().print(
            plain(f"{answer.project_id}: {answer.status} {answer.message_zh} {answer.message_en}".strip()), soft_wrap=True
        )
