"""What every request shares: the time and the budgets, reading a payload, finding and reopening the project it is about."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar
from uuid import uuid4

from pydantic import BaseModel, ValidationError

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.limits import FORMAL_TIERS, PRIORITY
from comic_pipeline.model.project import Project, Tier
from comic_pipeline.model.stage import StageRow, needs_made
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.workflow import STAGE_RULES, ProjectState, Stage, StageStatus
from comic_pipeline.settings import Settings
from comic_pipeline.store import ledger, projects, stages
from comic_pipeline.store.database import Connection

_Payload = TypeVar("_Payload", bound=BaseModel)

_NOT_PASSED = (StageStatus.FAILED, StageStatus.MANUAL_REQUIRED, StageStatus.CANCELLED)


class Waits(Exception):
    """Not an error: the submission keeps its place in line, for `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class House:
    """What the door needs to know: budgets of a tier's project and of a day, what a project would cost, and the time."""

    budgets: dict[Tier, Decimal]
    day_budget: Decimal
    price: Callable[[Project], Decimal]
    now: datetime


def house_of(settings: Settings, *, now: datetime) -> House:
    """The door of a deployment with these settings."""

    def price(project: Project) -> Decimal:
        # Providers and prompts take a tenth of a second to import, which only a new film needs.
        from comic_pipeline.providers.registry import build_providers
        from comic_pipeline.stages.estimating import estimate_film
        from comic_pipeline.stages.studio import Commission

        commission = Commission(project=project, settings=settings, providers=build_providers(settings))
        return estimate_film(commission).total

    return House(budgets=settings.budgets, day_budget=settings.day_budget, price=price, now=now)


def parse(kind: type[_Payload], submission: Submission) -> _Payload:
    """The payload as what it should be. Raises Refused(INPUT_INVALID) that names the field and the value."""
    try:
        return kind.model_validate(json.loads(submission.payload))
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "value_error" and not first["loc"]:
            # About several fields at once, which it names; the whole payload would be no help.
            raise Refused(ErrorCode.INPUT_INVALID, said) from None
        where = ".".join(map(str, first["loc"]))[:80] or "payload"
        # A key may be anything, also what no row can hold.
        where = where if where.isprintable() else ascii(where)
        raise Refused(ErrorCode.INPUT_INVALID, f"{where}: {said} (got {str(first.get('input'))[:80]!r})") from None
    except (ValueError, RecursionError) as broken:
        # Not only JSONDecodeError: Python refuses numbers of over 4,300 digits with a plain ValueError.
        raise Refused(ErrorCode.INPUT_INVALID, f"payload is not JSON that can be read: {str(broken)[:200]}") from None


def target(connection: Connection, submission: Submission) -> Project:
    """The project that a submission is about, locked until the transaction ends. Raises Refused(INPUT_INVALID, NOT_FOUND)."""
    if not submission.project_id:
        raise Refused(ErrorCode.INPUT_INVALID, f"{submission.kind} names no project")
    # Whatever is decided from the project's state and rounds must still be true when it is written.
    projects.lock(connection, submission.project_id)
    return projects.get(connection, submission.project_id)


def refuse_second_formal(connection: Connection, project: Project) -> None:
    """Raise Refused(CONFLICT) when taking up `project` would give its user a second active formal one."""
    if project.tier not in FORMAL_TIERS:
        return
    active = projects.find_active_formal(connection, project.user_id)
    if active not in (None, project.id):
        raise Refused(ErrorCode.CONFLICT, f"project {active} of the same user is active; one formal project a user at a time")


def go_on(connection: Connection, project: Project, latest: dict[Stage, StageRow], *, now: datetime) -> None:
    """A new round, with a fresh allowance, for each of these stages that ended without passing."""
    for stage, row in latest.items():
        released = stage is Stage.RELEASE and project.fail_stage != Stage.RELEASE
        if row.status not in _NOT_PASSED or released:
            continue
        ledger.renew(connection, project.id, STAGE_RULES[stage].task_types)
        # Stages whose needs are not made become due by themselves when those are.
        if needs_made(stage, latest):
            request(connection, project, stage, now=now)


def request(connection: Connection, project: Project, stage: Stage, *, now: datetime) -> None:
    """Ask for the next round of a stage."""
    stages.request(connection, project.id, stage, stage_id=str(uuid4()), priority=PRIORITY[project.tier], now=now)


def reopen(
    connection: Connection, project: Project, now: datetime, *, new: ProjectState = ProjectState.QUEUED, **values: object
) -> None:
    """Put a project back into production, its errors and its cancel forgotten. Raises Refused(CONFLICT) when it has moved."""
    moved = projects.move(
        connection,
        project.id,
        old=(project.status,),
        new=new,
        now=now,
        fail_stage=None,
        error_code=None,
        error_message=None,
        finished_at=None,
        cancel_requested=False,
        cancel_requested_at=None,
        cancel_reason=None,
        cancelled_at=None,
        cancel_force=False,
        opened_at=now,
        **values,
    )
    if not moved:
        raise Refused(ErrorCode.CONFLICT, f"project {project.id} has just changed; look at its status and try again")
