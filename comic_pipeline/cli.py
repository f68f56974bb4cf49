"""`comic …`: the operator's command line. Each command reads its options, calls one function, prints for people or as JSON.

Exit codes: 0 done, 1 the work failed, 2 the request or the settings are wrong.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from comic_pipeline import service
from comic_pipeline.display import DemoProgress, print_projects, print_status
from comic_pipeline.home import prepare_home, workspace_file
from comic_pipeline.model.errors import ERROR_RULES, Actor, ComicError, ErrorCode, Refused
from comic_pipeline.model.project import DEFAULT_IDEA, RawProduceRequest, Tier
from comic_pipeline.model.workflow import ProjectState, SubmissionKind
from comic_pipeline.settings import Settings, load_settings, process_environment
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline.store import projects
from comic_pipeline.store.submissions import NewSubmission

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="Makes AI comic-dramas (漫剧) with Dagster."
)
_err = Console(stderr=True)
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
_WATCH_SECONDS = 1.0


def main() -> None:
    """Run the command line; ComicErrors become one clear line and exit code 2 (request) or 1 (work)."""
    try:
        app()
    except ComicError as error:
        rule = ERROR_RULES[error.code]
        _err.print(f"[bold red]{error.code}[/] {error.detail}", highlight=False, soft_wrap=True)
        _err.print(f"{rule.zh} / {rule.en}", style="dim", highlight=False)
        sys.exit(2 if isinstance(error, Refused) or rule.actor is Actor.USER else 1)


@app.command()
def init() -> None:
    """Prepare COMIC_HOME: the comic database, the Dagster home, the folder for media. Harmless to repeat."""
    settings = _settings()
    version = prepare_home(settings)
    Console().print(f"COMIC_HOME {settings.home} is ready, database version {version}", highlight=False)


@app.command()
def dev(port: Annotated[int, typer.Option(help="Port of the Dagster UI.")] = 3000) -> None:
    """Run the whole embedded deployment: `dagster dev` with this project's workspace and COMIC_HOME."""
    settings = _settings()
    prepare_home(settings)
    dagster = shutil.which("dagster", path=str(Path(sys.executable).parent)) or "dagster"
    command = [dagster, "dev", "-w", str(workspace_file()), "-p", str(port), "-h", "127.0.0.1"]
    os.execve(dagster, command, process_environment(settings))  # noqa: S606  # becomes dagster, so that Ctrl-C reaches it


@app.command()
def demo(
    idea: Annotated[str, typer.Argument(help="One sentence about what happens.")] = DEFAULT_IDEA,
    style: Annotated[str, typer.Option(help="healing, ink, cyber, comedy, suspense, fantasy (or the Chinese name).")] = "healing",
    duration: Annotated[str, typer.Option(help="short_15, short_30, medium_60, long_120.")] = "short_15",
    aspect: Annotated[str, typer.Option(help="16:9, 9:16, 1:1.")] = "16:9",
    resolution: Annotated[str, typer.Option(help="720p, 1080p.")] = "720p",
    out: Annotated[Path | None, typer.Option(help="Copy film, cover and subtitles here.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make one film in this process, from idea to MP4, with the chosen providers (offline by default)."""
    asked = RawProduceRequest(idea=idea, style=style, duration=duration, aspect=aspect, resolution=resolution)
    asked.checked()
    settings = _settings()
    prepare_home(settings)
    # Dagster is imported here alone: every other command starts in a fraction of a second.
    from comic_pipeline.demo.film import make_demo

    progress = DemoProgress()
    with Live(progress, console=_err, refresh_per_second=4, transient=True) if not as_json else _quiet():
        film = make_demo(settings, asked, out=out, progress=progress)
    if as_json:
        print(film.model_dump_json())  # noqa: T201  # the answer
    else:
        film.print(Console())


@app.command()
def submit(  # one option each
    idea: Annotated[str, typer.Argument(help="One sentence about what happens.")],
    user: Annotated[str, typer.Option(help="Who asks.")],
    style: Annotated[str, typer.Option()] = "healing",
    duration: Annotated[str, typer.Option()] = "short_15",
    aspect: Annotated[str, typer.Option()] = "16:9",
    resolution: Annotated[str, typer.Option()] = "720p",
    tier: Annotated[str, typer.Option(help="free, preview, paid, premium.")] = "free",
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key never makes a second film.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask for a film. The running deployment takes it from here; `comic status` follows it."""
    asked = RawProduceRequest(idea=idea, style=style, duration=duration, aspect=aspect, resolution=resolution)
    asked.checked()
    workshop = _workshop()
    new = NewSubmission(
        kind=SubmissionKind.PRODUCE, user_id=user, tier=_tier(tier), payload=asked.model_dump_json(exclude_defaults=True), key=key
    )
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=workshop.clock.now())
    answer: dict[str, Any] = {"submission_id": submission.id, "status": submission.status, "project_id": submission.project_id}
    if as_json:
        print(json.dumps(answer))  # noqa: T201  # the answer
    else:
        Console().print(f"submission {submission.id} is {submission.status}; `comic projects --user {user}` shows its project")


@app.command(name="projects")
def list_projects(
    user: Annotated[str | None, typer.Option()] = None,
    status: Annotated[str | None, typer.Option(help="A project state, e.g. FAILED.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List projects, newest first."""
    wanted = None if status is None else [_state(status)]
    workshop = _workshop()
    with workshop.database.read() as connection:
        found = projects.find(connection, user_id=user, status=wanted)
    if as_json:
        print(json.dumps([project.model_dump(mode="json") for project in found], ensure_ascii=False))  # noqa: T201  # the answer
    else:
        print_projects(Console(), found)


@app.command()
def status(
    project: Annotated[str, typer.Argument(help="Project id.")],
    watch: Annotated[bool, typer.Option("--watch", help="Follow until it ends.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show where a project stands: state, progress, cost, each task, errors."""
    workshop = _workshop()

    def read() -> ProjectStatus:
        with workshop.database.read() as connection:
            return status_of(connection, project, workshop.settings)

    seen = read()
    while watch and seen.finished_at is None:
        if not as_json:
            print_status(Console(), seen)
        time.sleep(_WATCH_SECONDS)
        seen = read()
    if as_json:
        print(seen.model_dump_json())  # noqa: T201  # the answer
    else:
        print_status(Console(), seen)


@app.command()
def retry(project: str, user: Annotated[str, typer.Option(help="Who asks.")] = "operator", as_json: JsonFlag = False) -> None:
    """Go on from the stage that failed. Nothing that is finished is paid again."""
    _ask(SubmissionKind.RETRY, project, user, {}, as_json=as_json)


@app.command()
def redo(  # one option each
    project: str,
    stage: Annotated[str, typer.Option(help="frames, voices, clips or film.")],
    shots: Annotated[str, typer.Option(help="Shot numbers, e.g. 1,3; all when left out.")] = "",
    prompt: Annotated[str, typer.Option(help="New words for these shots.")] = "",
    seed: Annotated[int | None, typer.Option(help="New seed for these shots.")] = None,
    user: Annotated[str, typer.Option(help="Who asks.")] = "operator",
    as_json: JsonFlag = False,
) -> None:
    """Make some shots anew, and what depends on them. Old versions stay reachable."""
    try:
        numbers = [int(part) for part in shots.split(",") if part.strip()]
    except ValueError:
        raise Refused(ErrorCode.INPUT_INVALID, f"--shots {shots!r}: write numbers separated by commas, e.g. 1,3") from None
    _ask(SubmissionKind.REDO, project, user, {"stage": stage, "shots": numbers, "prompt": prompt, "seed": seed}, as_json=as_json)


@app.command()
def cancel(
    project: str,
    reason: Annotated[str, typer.Option()] = "",
    user: Annotated[str, typer.Option(help="Who asks.")] = "operator",
    as_json: JsonFlag = False,
) -> None:
    """Stop a project after its current step. Finished and running paid work is kept."""
    _ask(SubmissionKind.CANCEL, project, user, {"reason": reason}, as_json=as_json)


def _ask(kind: SubmissionKind, project: str, user: str, payload: dict[str, Any], *, as_json: bool) -> None:
    workshop = _workshop()
    new = NewSubmission(kind=kind, user_id=user, tier=Tier.FREE, payload=json.dumps(payload), project_id=project)
    house = service.House(budgets=workshop.settings.budgets, now=workshop.clock.now())
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=house.now)
        service.decide(connection, submission, house)
    with workshop.database.read() as connection:
        answer = service.answer_of(connection, submission.id)
    if as_json:
        print(answer.model_dump_json())  # noqa: T201  # the answer
    else:
        Console().print(f"{answer.project_id}: {answer.status} {answer.message_zh} {answer.message_en}".strip())


def _settings() -> Settings:
    settings = load_settings()
    missing = settings.missing_keys()
    if missing:
        raise Refused(
            ErrorCode.INPUT_INVALID, f"{', '.join(missing)} must be set for the chosen providers (nothing falls back to offline)"
        )
    return settings


def _workshop() -> Any:
    from comic_pipeline.stages.workshop import open_workshop

    return open_workshop(_settings())


def _tier(value: str) -> Tier:
    try:
        return Tier(value)
    except ValueError:
        raise Refused(ErrorCode.INPUT_INVALID, f"tier {value!r} is unknown; one of: {', '.join(Tier)}") from None


def _state(value: str) -> ProjectState:
    try:
        return ProjectState(value.upper())
    except ValueError:
        raise Refused(ErrorCode.INPUT_INVALID, f"status {value!r} is unknown; one of: {', '.join(ProjectState)}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    yield
