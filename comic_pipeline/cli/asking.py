"""Commands about requests: submit one for a film, and see what became of each. What a project does is in `projects.py`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from comic_pipeline import service
from comic_pipeline.cli.opening import JsonFlag, LimitOption, cut, opened_workshop, print_json, word_of
from comic_pipeline.display import plain, print_estimate, print_submissions
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import SCRIPT_MAX_CHARS, RawProduceRequest, Tier
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.workflow import SubmissionKind, SubmissionStatus
from comic_pipeline.store import submissions
from comic_pipeline.store.submissions import NewSubmission


def submit(
    user: Annotated[str, typer.Option(help="Who asks.")],
    idea: Annotated[str, typer.Argument(help="One sentence about what happens.")] = "",
    script: Annotated[
        Path | None, typer.Option(help="A file with a whole script instead of an idea; - reads standard input.")
    ] = None,
    style: Annotated[str, typer.Option(help="healing, ink, cyber, comedy, suspense, fantasy.")] = "healing",
    duration: Annotated[str, typer.Option(help="short_15, short_30, medium_60, long_120.")] = "short_15",
    aspect: Annotated[str, typer.Option(help="16:9, 9:16, 1:1.")] = "16:9",
    resolution: Annotated[str, typer.Option(help="720p, 1080p.")] = "720p",
    tier: Annotated[str, typer.Option(help="free, preview, paid, premium.")] = "free",
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key never makes a second film.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it would cost.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ask for a film. The running deployment takes it from here; `comic submissions` says whether it was admitted."""
    words = "" if script is None else _read_script(script)
    asked = RawProduceRequest(idea=idea, script=words, style=style, duration=duration, aspect=aspect, resolution=resolution)
    asked.checked()
    level = word_of(Tier, "tier", tier)
    new = NewSubmission(
        kind=SubmissionKind.PRODUCE, user_id=user, tier=level, payload=asked.model_dump_json(exclude_defaults=True), key=key
    )
    if estimate:
        _estimate(asked, new, as_json=as_json)
        return
    workshop = opened_workshop()
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=workshop.clock.now())
    _show_submitted(submission, as_json=as_json)


def _read_script(path: Path) -> str:
    """The file's words. Raises Refused(INPUT_INVALID) for one that cannot be read, is empty, or is not UTF-8."""
    # Room for one character too many: how many are allowed is the door's word.
    most = 4 * (SCRIPT_MAX_CHARS + 1)
    try:
        with sys.stdin.buffer if path == Path("-") else path.open("rb") as file:
            words = file.read(most).decode("utf-8-sig")
    except OSError as unreadable:
        raise Refused(ErrorCode.INPUT_INVALID, f"--script {path} cannot be read: {unreadable.strerror}") from unreadable
    except UnicodeDecodeError as other:
        raise Refused(
            ErrorCode.INPUT_INVALID, f"--script {path} is not UTF-8 text (byte {other.start}); save it as UTF-8"
        ) from other
    if not words.strip():
        raise Refused(ErrorCode.INPUT_INVALID, f"--script {path} is empty")
    return words


def _show_submitted(submission: Submission, *, as_json: bool) -> None:
    """What is known of it now. A repeated key finds it decided: a refusal is then said as one. Raises Refused."""
    if as_json:
        told = submission.model_dump(mode="json", include={"status", "project_id", "error_code", "error_message"})
        print_json({"submission_id": submission.id, **told})
    if submission.status is SubmissionStatus.REJECTED and submission.error_code is not None:
        raise Refused(submission.error_code, submission.error_message or f"submission {submission.id} was rejected")
    if as_json:
        return
    follow = f"`comic submissions --user {submission.user_id}` says what becomes of it"
    if submission.project_id is not None:
        follow = f"`comic status {submission.project_id}` follows its project"
    Console().print(plain(f"submission {submission.id} is {submission.status}; {follow}"), soft_wrap=True)


def _estimate(asked: RawProduceRequest, new: NewSubmission, *, as_json: bool) -> None:
    from comic_pipeline.stages.estimating import estimate_film
    from comic_pipeline.stages.studio import Commission

    workshop = opened_workshop()
    house = service.house_of(workshop.settings, now=workshop.clock.now())
    project = service.project_of(asked.checked(), house, project_id="estimate", user_id=new.user_id, tier=new.tier)
    commission = Commission(project=project, settings=workshop.settings, providers=workshop.build_providers())
    found = estimate_film(commission)
    if as_json:
        print_json(found.model_dump(mode="json") | {"budget": str(project.budget)})
    else:
        print_estimate(Console(), found.model_dump(), budget=project.budget)


def list_submissions(
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    status: Annotated[str | None, typer.Option(help="Only in this state: new, waiting, accepted or rejected.")] = None,
    limit: LimitOption = 500,
    as_json: JsonFlag = False,
) -> None:
    """List requests of every kind and door, newest first: accepted as which project, waiting or rejected for which reason."""
    wanted = None if status is None else word_of(SubmissionStatus, "status", status)
    workshop = opened_workshop()
    with workshop.database.read() as connection:
        found = cut(submissions.find(connection, user_id=user, status=wanted, limit=limit + 1), limit)
    if as_json:
        print_json([submission.model_dump(mode="json", exclude={"payload", "answer", "priority"}) for submission in found])
    else:
        print_submissions(Console(), found)
