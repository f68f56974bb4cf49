"""`comic …`: the operator's command line. Each command reads its options, calls one function, prints for people or as JSON.

Exit codes: 0 done, 1 the work failed, 2 the request or the settings are wrong, 130 stopped by Ctrl-C.
"""

import json
import sys
from collections.abc import Callable

import typer
from rich.console import Console

from comic_pipeline.cli import asking, doctor, projects, reviewing, running, tasks
from comic_pipeline.display import plain
from comic_pipeline.model.errors import ERROR_RULES, Actor, ComicError, Refused

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="Makes AI comic-dramas (漫剧) with Dagster."
)
task_app = typer.Typer(no_args_is_help=True, help="One task of the ledger: show, cancel, resolve.")

_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": running.demo,
    "init": running.init,
    "dev": running.dev,
    "media": running.media,
    "submit": asking.submit,
    "submissions": asking.list_submissions,
    "projects": projects.list_projects,
    "status": projects.status,
    "retry": projects.retry,
    "redo": projects.redo,
    "cancel": projects.cancel,
    "costs": projects.costs,
    "qc": reviewing.qc,
    "review": reviewing.review,
    "doctor": doctor.doctor,
}
_TASK_COMMANDS: dict[str, Callable[..., None]] = {"show": tasks.show, "cancel": tasks.cancel, "resolve": tasks.resolve}

for name, command in _COMMANDS.items():
    app.command(name=name)(command)
# Everything behind the program's name is the program's, options included.
app.command(name="exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(running.execute)
for name, command in _TASK_COMMANDS.items():
    task_app.command(name=name)(command)
app.add_typer(task_app, name="task")


def main() -> None:
    """Run the command line; ComicErrors become one clear line and exit code 2 (request) or 1 (work).

    With `--json` the line is an object with `error_code`, `detail`, `zh`, `en`, `retryable`, also on standard error.
    """
    try:
        app()
    except ComicError as error:
        rule = ERROR_RULES[error.code]
        console = Console(stderr=True)
        if "--json" in sys.argv:
            told = {"error_code": error.code, "detail": error.detail, "zh": rule.zh, "en": rule.en, "retryable": rule.retryable}
            console.out(json.dumps(told, ensure_ascii=False), highlight=False)
        else:
            console.print(f"[bold red]{error.code}[/] ", end="")
            console.print(plain(error.detail), highlight=False, soft_wrap=True)
            console.print(f"{rule.zh} / {rule.en}", style="dim", highlight=False)
        sys.exit(2 if isinstance(error, Refused) or rule.actor is Actor.USER else 1)
