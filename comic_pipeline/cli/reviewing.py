"""Commands about quality and release: qc, review."""

import json
from typing import Annotated

import typer
from rich.console import Console

from comic_pipeline import service
from comic_pipeline.cli.opening import (
    JsonFlag,
    ask,
    check_named,
    check_stage,
    numbers_of,
    opened_workshop,
    print_json,
    show_answer,
    word_of,
)
from comic_pipeline.display import print_verdicts
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.review import Decision
from comic_pipeline.model.workflow import SubmissionKind
from comic_pipeline.store import projects, verdicts

_OVERRIDE = "override"


def qc(
    words: Annotated[
        list[str], typer.Argument(metavar="PROJECT | override PROJECT CHECK", help="Whose verdicts; or which gate to open.")
    ],
    by: Annotated[str, typer.Option(help="With override: who opens the gate; recorded.")] = "",
    reason: Annotated[str, typer.Option(help="With override: why; shown in review and in Dagster.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """List what the checks of a project found, or open a closed gate: `comic qc override PROJECT CHECK --by NAME --reason R`."""
    if words[0] == _OVERRIDE and len(words) > 1:
        _override(words[1:], by=by, reason=reason, as_json=as_json)
        return
    if len(words) != 1:
        raise Refused(
            ErrorCode.INPUT_INVALID, f"{len(words)} words; write `comic qc PROJECT` or `comic qc override PROJECT CHECK`"
        )
    workshop = opened_workshop()
    with workshop.database.read() as connection:
        projects.get(connection, words[0])
        found = verdicts.latest(connection, words[0])
    if as_json:
        print_json(
            [
                verdict.model_dump(mode="json") | {"findings": [one.model_dump(mode="json") for one in verdict.findings]}
                for verdict in found
            ]
        )
    else:
        print_verdicts(Console(), found)


def _override(words: list[str], *, by: str, reason: str, as_json: bool) -> None:
    if len(words) != 2:
        raise Refused(
            ErrorCode.INPUT_INVALID,
            "write `comic qc override PROJECT CHECK --by NAME --reason R`; `comic qc PROJECT` lists checks",
        )
    for option, value in (("--by", by), ("--reason", reason)):
        check_named(option, value)
    workshop = opened_workshop()
    house = service.house_of(workshop.settings, now=workshop.clock.now())
    with workshop.database.write() as connection:
        answer = service.open_gate(connection, words[0], words[1], by=by, reason=reason, house=house)
    show_answer(answer, as_json=as_json)


def review(
    project: Annotated[str, typer.Argument(help="Project id.")],
    decision: Annotated[str, typer.Argument(help="approve or reject.")],
    by: Annotated[str, typer.Option(help="Who decides; recorded.")],
    note: Annotated[str, typer.Option(help="Why.")] = "",
    redo_shots: Annotated[
        str | None, typer.Option("--redo-shots", help="With reject: shots to make anew, e.g. 2,5; all when left out.")
    ] = None,
    stage: Annotated[str | None, typer.Option(help="With reject: frames, voices, clips or film are made anew.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Approve a film for release, or reject it, with a redo or without. The same review twice acts once."""
    check_named("--by", by)
    if stage is not None:
        check_stage(stage)
    payload = {
        "decision": word_of(Decision, "decision", decision),
        "by": by,
        "note": note,
        "stage": stage,
        "shots": numbers_of("--redo-shots", redo_shots),
    }
    answer = ask(SubmissionKind.REVIEW, project, user=by, payload=json.dumps(payload))
    show_answer(answer, as_json=as_json)
