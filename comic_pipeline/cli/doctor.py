"""`comic doctor`: what is wrong, and the way out."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from comic_pipeline.cli.opening import JsonFlag, print_json
from comic_pipeline.model.errors import Refused
from comic_pipeline.settings import Settings, load_settings

if TYPE_CHECKING:
    from comic_pipeline.doctor import Line

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red", "unchecked": "dim"}


def doctor(as_json: JsonFlag = False) -> None:
    """Try settings, keys, database, store, ffmpeg, font, voice, music, disk, daemon, clock. Exit code 1 when something fails."""
    lines = _examined()
    failed = any(line.state == "fail" for line in lines)
    if as_json:
        print_json({"ok": not failed, "lines": [asdict(line) for line in lines]})
    else:
        _print(Console(), lines)
    if failed:
        raise typer.Exit(1)


def _examined() -> "list[Line]":
    from comic_pipeline.doctor import Line, State, examine

    try:
        settings = load_settings()
    except Refused as refused:
        return [Line("settings", State.FAIL, refused.detail, "correct that variable; the others were not looked at")]
    return [Line("settings", State.OK, "can be read"), *examine(settings), _daemon(settings)]


def _daemon(settings: Settings) -> "Line":
    from comic_pipeline.defs.heartbeats import read_heartbeats
    from comic_pipeline.doctor import Line, State

    seen = read_heartbeats(settings.dagster_home)
    if seen.unreadable:
        way_out = "run `comic init`; in a container: `comic exec comic doctor`"
        return Line("daemon", State.FAIL, seen.unreadable, way_out)
    if all(age is None for age in seen.ages.values()):
        return Line("daemon", State.WARN, "it has never run here: nothing moves", "run `comic dev`, or the deployment's daemon")
    if seen.silent:
        return Line(
            "daemon", State.FAIL, f"no heartbeat of {', '.join(seen.silent)}", "start `comic dev`, or the deployment's daemon"
        )
    if seen.errors:
        return Line("daemon", State.WARN, f"it lives, with errors: {seen.errors[0]}", "look at its log")
    return Line("daemon", State.OK, "lives")


def _print(console: Console, lines: "list[Line]") -> None:
    for line in lines:
        console.print(f"[{_COLOURS[line.state]}]{line.state:9}[/] {line.part:14} ", end="")
        console.print(line.found, markup=False, highlight=False, soft_wrap=True)
        if line.way_out:
            console.print(f"{'':25}→ {line.way_out}", markup=False, highlight=False, soft_wrap=True)
