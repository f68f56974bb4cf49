"""Commands that prepare or run a deployment: init, dev, demo; exec and media in containers."""

import os
import shutil
import signal
import socket
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.live import Live

from comic_pipeline.cli.opening import JsonFlag, checked_settings, print_json
from comic_pipeline.display import DemoProgress, print_stopped
from comic_pipeline.home import check_room, hold_home, make_writable, prepare_home, workspace_file
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import BUCKETS, DEFAULT_IDEA, ProduceRequest, RawProduceRequest, Resolution
from comic_pipeline.settings import container_environment, process_environment

# What shells expect of a program that Ctrl-C ended.
_STOPPED = 130
PortOption = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65_535)]
_HERE = "127.0.0.1"
# `dagster dev` begins with advice about another program, which is not part of this deployment.
_SUPERSEDED = "Function `dev_command` is superseded"


def init() -> None:
    """Prepare COMIC_HOME: the comic database, the Dagster home, the folder for media. Harmless to repeat."""
    settings = checked_settings()
    version = prepare_home(settings)
    Console().print(f"COMIC_HOME {settings.home} is ready, database version {version}", highlight=False, soft_wrap=True)


def dev(port: PortOption = 3000) -> None:
    """Run the whole embedded deployment: `dagster dev` with this project's workspace and COMIC_HOME."""
    settings = checked_settings()
    # First: what another process drives is neither migrated nor set up anew under it.
    hold_home(settings)
    prepare_home(settings)
    _refuse_taken(port)
    dagster = [sys.executable, "-W", f"ignore:{_SUPERSEDED}", "-m", "dagster"]
    command = [*dagster, "dev", "-w", str(workspace_file()), "-p", str(port), "-h", _HERE]
    _become(sys.executable, command, process_environment(settings))


def _refuse_taken(port: int) -> None:
    """Dagster would ask at the terminal for another port, or go on without a UI. Raises Refused(CONFLICT)."""
    with socket.socket() as probe:
        # A port that was in use until a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HERE, port))
        except OSError as fault:
            raise Refused(
                ErrorCode.CONFLICT,
                f"port {port} of {_HERE} cannot be listened on ({fault.strerror}): end what has it, or take another one: "
                "`comic dev --port 3001`, `make dev PORT=3001`",
            ) from fault


def execute(command: Annotated[list[str], typer.Argument(help="The program and its arguments.")]) -> None:
    """Check the settings, then become another program, with what Dagster wants in variables instead of secret files."""
    environment = container_environment(checked_settings())
    # Beside this interpreter first: the programs of the locked environment.
    program = shutil.which(command[0], path=str(Path(sys.executable).parent)) or shutil.which(command[0])
    if program is None:
        raise Refused(ErrorCode.INPUT_INVALID, f"there is no program {command[0]!r}")
    _become(program, command, environment)


def _become(program: str, command: list[str], environment: dict[str, str]) -> NoReturn:
    """Go on as another program in this process, so that stop signals reach it.

    A script's `comic dev &` ignores Ctrl-C from birth, and Dagster does with SIGTERM as with Ctrl-C: only SIGKILL would end it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, command, environment)  # noqa: S606  # as above


def media(
    port: PortOption = 3100,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = _HERE,
) -> None:
    """Serve the stable links to media on S3: each one redirects to a fresh presigned URL. Belongs behind the proxy."""
    import uvicorn

    from comic_pipeline.links import build_redirector

    uvicorn.run(build_redirector(checked_settings()), host=host, port=port, access_log=False)


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
    wanted = asked.checked()
    settings = checked_settings()
    # First: what another process drives is neither migrated nor set up anew under it.
    hold_home(settings)
    prepare_home(settings)
    # A full disk may be waited for in a deployment; here nobody would know why nothing happens for ten minutes.
    check_room(settings.home, name="COMIC_HOME", megabytes=_room_for(wanted))
    if out is not None:
        make_writable(out, name="--out")
    # Dagster is imported here alone: every other command starts in a fraction of a second.
    from comic_pipeline.demo.film import DemoStopped, make_demo

    # Both ways to stop a program end it in the same way, with a visible cursor and a word about what is kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(stderr=True)
    redraws = console.is_terminal and not console.is_dumb_terminal
    progress = DemoProgress(None if as_json or redraws else console)
    live = redraws and not as_json
    showing = Live(progress, console=console, refresh_per_second=4, transient=True) if live else nullcontext()
    try:
        with showing:
            film = make_demo(settings, asked, out=out, progress=progress)
    except DemoStopped as stopped:
        print_stopped(console, stopped.project_id)
        raise typer.Exit(_STOPPED) from stopped
    if as_json:
        print_json(film)
    else:
        film.print(Console())


def _room_for(wanted: ProduceRequest) -> int:
    """Megabytes that a film leaves behind: 4 a second in 720p (60 and 473 measured for 15 s and 120 s), by pixels in 1080p."""
    plan = BUCKETS[wanted.duration]
    return round(plan.shots * plan.shot_ms / 1000 * (9.0 if wanted.resolution is Resolution.FULL_HD else 4.0))
