"""The ledger beside the sandbox's books, and what no ended project may leave behind.

The relation that must hold after anything: every job and every answer that the sandbox accepted is owned by exactly one attempt.
A synchronous answer that was lost on its way has no id here; it may only be one of the calls that were booked as `unknown`, and
then the estimate stands in the ledger for its price. What is booked beyond that never arrived at the sandbox.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, not_, select

from comic_pipeline.model.money import ZERO
from comic_pipeline.model.task import OPEN_ATTEMPT_STATES, AttemptState, TaskStatus
from comic_pipeline.model.workflow import OPEN_STAGE_STATUSES
from comic_pipeline.store.attempts import of_project
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import attempts, leases, provider_slots, stages, tasks
from comic_pipeline_tests.sandbox.client import SandboxAdmin

_PROVIDER_OF = {"chat": "ark_text", "image": "ark_image", "tts_v3": "openspeech_voice", "video_create": "ark_video"}


@dataclass(frozen=True)
class Reckoning:
    """Both sides, in CNY and counts, and every way in which they disagree."""

    accepted: int
    owned: int
    lost: int
    never_arrived: int
    charged: Decimal
    booked: Decimal
    booked_for_lost: Decimal
    problems: tuple[str, ...]


def spent_by(connection: Connection, project_id: str) -> Decimal:
    """What the attempts of a project have cost, added up one by one: the sums in SQL are what tests compare with it."""
    return sum((one.cost or ZERO for one in of_project(connection, project_id)), ZERO)


def leftovers(database: Database) -> list[str]:
    """Whatever is still open, running or held, by name. Empty when all work has ended."""
    with database.read() as connection:
        return [*_open_rows(connection), *_held(connection)]


def reckon(database: Database, admin: SandboxAdmin) -> Reckoning:
    """Lay the ledger beside the sandbox's books."""
    with database.read() as connection:
        made = [dict(row) for row in connection.execute(select(attempts)).mappings()]
    prices = _prices(admin)
    owners: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in made:
        if row["provider_request_id"]:
            owners[row["provider_request_id"]].append(row)
    problems = [f"{reference} belongs to {len(rows)} attempts" for reference, rows in owners.items() if len(rows) > 1]
    orphans = {reference: entry for reference, entry in prices.items() if reference not in owners}
    problems += [
        f"{provider} charged {price} for {reference}, its attempt says {owners[reference][0]['cost']}"
        for reference, (provider, price) in prices.items()
        if reference in owners and _disagrees(owners[reference][0], price)
    ]
    nameless = [row for row in made if not row["provider_request_id"]]
    lost = [row for row in nameless if row["state"] == AttemptState.UNKNOWN]
    billed = [row for row in nameless if row["state"] == AttemptState.FAILED and row["cost"]]
    problems += _unexplained(orphans, Counter(row["provider_id"] for row in [*lost, *billed]))
    return Reckoning(
        accepted=len(prices),
        owned=len(prices) - len(orphans),
        lost=len(orphans) - len(billed),
        never_arrived=len(lost) + len(billed) - len(orphans),
        charged=sum((price for _, price in prices.values()), Decimal(0)),
        booked=sum((row["cost"] or Decimal(0) for row in made), Decimal(0)),
        booked_for_lost=sum((row["cost"] for row in lost), Decimal(0)),
        problems=(*problems, *_uncovered(orphans, [*lost, *billed])),
    )


def _open_rows(connection: Connection) -> list[str]:
    running = connection.execute(
        select(tasks.c.task_id, tasks.c.task_type, tasks.c.project_id, tasks.c.status).where(
            tasks.c.status.in_((TaskStatus.RUNNING, TaskStatus.RETRYING))
        )
    )
    rounds = connection.execute(
        select(stages.c.project_id, stages.c.stage, stages.c.status).where(stages.c.status.in_(OPEN_STAGE_STATUSES))
    )
    # In a project that stopped, the attempts stay as they are: a retry goes on from them, or a person decides.
    kept = tasks.c.status.in_((TaskStatus.MANUAL_REQUIRED, TaskStatus.FAILED))
    going_on = connection.execute(
        select(attempts.c.task_id, attempts.c.number, attempts.c.state)
        .join_from(attempts, tasks)
        .where(attempts.c.state.in_(OPEN_ATTEMPT_STATES), not_(kept))
    )
    return [
        *(f"task {row.task_type} {row.task_id} of {row.project_id} is {row.status}" for row in running),
        *(f"stage {row.stage} of {row.project_id} is {row.status}" for row in rounds),
        *(f"attempt {row.number} of {row.task_id} is {row.state}" for row in going_on),
    ]


def _held(connection: Connection) -> list[str]:
    slots = connection.execute(select(provider_slots.c.provider_id, provider_slots.c.holder))
    # The reconciler's own pass is taken and left all the time.
    held = connection.execute(select(leases.c.name, leases.c.holder).where(leases.c.name != "workflow"))
    leased = connection.execute(select(tasks.c.task_id).where(tasks.c.lease_owner.is_not(None)))
    return [
        *(f"a slot of {row.provider_id} is held by {row.holder}" for row in slots),
        *(f"{row.name} is held by {row.holder}" for row in held),
        *(f"task {row.task_id} is leased" for row in leased),
    ]


def _prices(admin: SandboxAdmin) -> dict[str, tuple[str, Decimal]]:
    """Everything that was accepted: its id, whose service it is, what was charged for it (0 for jobs that did not succeed)."""
    admin.books()
    jobs = {job.id: ("ark_video", job.cost or Decimal(0)) for job in admin.jobs()}
    answers = {
        charge.reference: (_PROVIDER_OF[charge.route], charge.cost or Decimal(0))
        for charge in admin.charges()
        if charge.route != "video_create"
    }
    return jobs | answers


def _disagrees(row: dict[str, Any], price: Decimal) -> bool:
    # A job that the provider no longer knew is booked at its estimate; nobody can know better.
    return row["state"] not in (*OPEN_ATTEMPT_STATES, AttemptState.UNKNOWN) and row["cost"] != price


def _unexplained(orphans: dict[str, tuple[str, Decimal]], without_id: Counter[str]) -> list[str]:
    by_provider = Counter(provider for provider, _ in orphans.values())
    return [
        f"{provider} accepted {count} creates that no attempt owns, only {without_id[provider]} are booked as lost"
        for provider, count in by_provider.items()
        if count > without_id[provider]
    ]


def _uncovered(orphans: dict[str, tuple[str, Decimal]], without_id: list[dict[str, Any]]) -> list[str]:
    """What is booked for calls without an id must cover what the sandbox charged for answers that nobody has."""
    problems = []
    for provider in sorted({provider for provider, _ in orphans.values()}):
        charged = sum((price for name, price in orphans.values() if name == provider), Decimal(0))
        booked = sum((row["cost"] for row in without_id if row["provider_id"] == provider), Decimal(0))
        if charged > booked:
            problems.append(f"{provider} charged {charged} for lost calls, the ledger has {booked} for them")
    return problems
