"""What a runner does with the ledger, in one call each, for tests that are about what follows."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection

from comic_pipeline.model.ledger import Claimed, NewTask, SpendLimits, Worker
from comic_pipeline.model.task import Attempt, AttemptKind, Task
from comic_pipeline.store import attempts, ledger
from comic_pipeline_tests.builders import AMPLE, NOW, a_worker


def claimed(connection: Connection, new: NewTask, worker: Worker, *, at: datetime = NOW) -> Task:
    """Claim a task that must be free."""
    claim = ledger.claim(connection, new, worker, now=at)
    assert isinstance(claim, Claimed), claim
    return claim.task


def begin(
    connection: Connection,
    task: Task,
    *,
    worker: Worker | None = None,
    estimate: str = "0.22",
    limits: SpendLimits = AMPLE,
    at: datetime = NOW,
    kind: AttemptKind = AttemptKind.CREATE,
) -> Attempt:
    """Pass the gate for one create of `task`."""
    return attempts.begin(
        connection,
        task,
        worker or a_worker(),
        kind=kind,
        base_url="https://ark.example/api/v3",
        request_hash="0" * 64,
        estimate=Decimal(estimate),
        limits=limits,
        now=at,
    )
