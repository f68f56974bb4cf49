"""Commands about projects: projects, status, retry, redo, cancel, costs."""

import json
import time
from decimal import Decimal
from typing import Annotated

import typer
from rich.console import Console

from comic_pipeline.cli.opening import (
    JsonFlag,
    LimitOption,
    UserOption,
    ask,
    check_stage,
    cut,
    numbers_of,
    opened_workshop,
    print_json,
    show_answer,
    word_of,
)
from comic_pipeline.display import print_costs, print_progress, print_projects, print_status
from comic_pipeline.model.workflow import ProjectState, SubmissionKind
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline.store import projects
from comic_pipeline.store.views import costs as cost_lines

_WATCH_SECONDS = 1.0


def list_projects(
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    status: Annotated[str | None, typer.Option(help="Only in this state, e.g. FAILED.")] = None,
    limit: LimitOption = 500,
    as_json: JsonFlag = False,
) -> None:
    """List projects, newest first."""
    wanted = None if status is None else [word_of(ProjectState, "status", status)]
    workshop = opened_workshop()
    with workshop.database.read() as connection:
        found = cut(projects.find(connection, user_id=user, status=wanted, limit=limit + 1), limit)
    if as_json:
        print_json([project.model_dump(mode="json") for project in found])
    else:
        print_projects(Console(), found)


def status(
    project: Annotated[str, typer.Argument(help="Project id.")],
    watch: Annotated[bool, typer.Option("--watch", help="Follow until it ends: a line for each change, then all of it.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show where a project stands: state, progress, cost, each task, errors."""
    workshop = opened_workshop()

    def read() -> ProjectStatus:
        with workshop.database.read() as connection:
            return status_of(connection, project, workshop.settings)

    seen = read()
    told = None
    while watch and seen.finished_at is None:
        if not as_json:
            told = print_progress(Console(), seen, told=told)
        time.sleep(_WATCH_SECONDS)
        seen = read()
    if as_json:
        print_json(seen)
    else:
        print_status(Console(), seen)


def retry(
    project: Annotated[str, typer.Argument(help="Project id.")], user: UserOption = "operator", as_json: JsonFlag = False
) -> None:
    """Go on from the stage that failed. Nothing that is finished is paid again."""
    show_answer(ask(SubmissionKind.RETRY, project, user=user, payload="{}"), as_json=as_json)


def redo(
    project: Annotated[str, typer.Argument(help="Project id.")],
    stage: Annotated[str, typer.Option(help="frames, voices, clips or film.")],
    shots: Annotated[str | None, typer.Option(help="Shot numbers from 0, e.g. 1,3; all when left out.")] = None,
    prompt: Annotated[str, typer.Option(help="New words for these shots.")] = "",
    seed: Annotated[int | None, typer.Option(help="New seed for these shots.")] = None,
    user: UserOption = "operator",
    as_json: JsonFlag = False,
) -> None:
    """Make some shots anew, and what depends on them. Old versions stay reachable."""
    check_stage(stage)
    payload = {"stage": stage, "shots": numbers_of("--shots", shots), "prompt": prompt, "seed": seed}
    show_answer(ask(SubmissionKind.REDO, project, user=user, payload=json.dumps(payload)), as_json=as_json)


def cancel(
    project: Annotated[str, typer.Argument(help="Project id.")],
    reason: Annotated[str, typer.Option(help="Why; shown in status.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Also terminate the run that is at work.")] = False,
    user: UserOption = "operator",
    as_json: JsonFlag = False,
) -> None:
    """Stop a project after its current step. Finished and running paid work is kept."""
    payload = json.dumps({"reason": reason, "force": force})
    show_answer(ask(SubmissionKind.CANCEL, project, user=user, payload=payload), as_json=as_json)


def costs(
    project: Annotated[str | None, typer.Argument(help="Project id; all projects when left out.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """What was spent, and what is reserved, by task type and provider."""
    workshop = opened_workshop()
    with workshop.database.read() as connection:
        if project is not None:
            projects.get(connection, project)
        lines = cost_lines(connection, project)
    total = sum((line.cost for line in lines), Decimal(0))
    if as_json:
        print_json({"total": str(total), "lines": [line.model_dump(mode="json") for line in lines]})
    else:
        print_costs(Console(), lines, total=total)
