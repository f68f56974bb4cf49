"""Commands about single tasks of the ledger: show, cancel, resolve."""

from typing import Annotated

import typer
from rich.console import Console

from comic_pipeline import tasks
from comic_pipeline.cli.opening import JsonFlag, check_named, opened_workshop, print_json
from comic_pipeline.display import plain, print_case
from comic_pipeline.model.errors import ErrorCode, Refused

TaskArgument = Annotated[str, typer.Argument(help="Task id, as `comic status --json` shows it.")]


def show(task: TaskArgument, as_json: JsonFlag = False) -> None:
    """Show one task with all its attempts."""
    workshop = opened_workshop()
    with workshop.database.read() as connection:
        _show_case(tasks.case_of(connection, task), as_json=as_json)


def _show_case(case: tasks.TaskCase, *, as_json: bool) -> None:
    if as_json:
        print_json(case)
    else:
        print_case(Console(), case)


def cancel(
    task: TaskArgument, reason: Annotated[str, typer.Option(help="Why.")] = "cancelled by an operator", as_json: JsonFlag = False
) -> None:
    """Stop one task: at once when it has not begun, else after its current step."""
    workshop = opened_workshop()
    with workshop.database.write() as connection:
        answer = tasks.cancel_task(connection, task, reason=reason, now=workshop.clock.now())
    if as_json:
        print_json(answer)
    else:
        Console().print(plain(f"{answer.task_id}: {answer.status} {answer.message_zh} {answer.message_en}"))


def resolve(
    task: TaskArgument,
    adopt: Annotated[str, typer.Option(help="The provider's job that the lost create turned out to be.")] = "",
    release: Annotated[bool, typer.Option("--release", help="The lost create surely never happened.")] = False,
    by: Annotated[str, typer.Option(help="Who decided; recorded.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Settle an unknown outcome that only a person can know. Without a decision: show the candidates."""
    workshop = opened_workshop()
    if not adopt and not release:
        with workshop.database.read() as connection:
            _show_case(tasks.case_of(connection, task), as_json=as_json)
        raise Refused(ErrorCode.INPUT_INVALID, "decide with --adopt ID or --release, and --by NAME")
    if adopt and release:
        raise Refused(ErrorCode.INPUT_INVALID, "--adopt and --release exclude each other")
    check_named("--by", by)
    with workshop.database.write() as connection:
        if adopt:
            decided = tasks.adopt(connection, task, job_id=adopt, by=by)
        else:
            decided = tasks.release(connection, task, by=by, now=workshop.clock.now())
    if as_json:
        print_json(decided)
    else:
        Console().print(plain(f"{decided.task_id}: {decided.error_message}; `comic retry {decided.project_id}` goes on"))
