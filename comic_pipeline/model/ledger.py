"""What the runner says to the ledger and what the ledger answers: values only."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from comic_pipeline.model.task import Attempt, Task, TaskType


@dataclass(frozen=True)
class NewTask:
    """A unit of work that is wanted. Equal (project_id, task_type, input_hash) means: the same work. `deadline` in seconds."""

    project_id: str
    task_type: TaskType
    queue: str
    shot_seq: int | None
    take: int
    provider_id: str
    input_json: str
    input_hash: str
    max_retry: int
    deadline: float
    estimate: Decimal
    relation_type: str | None = None
    relation_entity_id: str | None = None


@dataclass(frozen=True)
class Worker:
    """Who works: one run on one stage row. `owner` names the process's lease, `stage_id` the row that it must still own."""

    owner: str
    run_id: str
    stage_id: str
    lease_seconds: float


@dataclass(frozen=True)
class Claimed:
    """The task is ours to do; `last` is the attempt to go on from, if there is one."""

    task: Task
    last: Attempt | None


@dataclass(frozen=True)
class Finished:
    """Done before: the stored output is free."""

    task: Task


@dataclass(frozen=True)
class Held:
    """Another live process is doing it."""

    until: datetime


@dataclass(frozen=True)
class NotYet:
    """It failed and may be tried again at `not_before`."""

    not_before: datetime


@dataclass(frozen=True)
class Ended:
    """It ended without output: failed, cancelled or waiting for a person. Only a retry opens it again."""

    task: Task


Claim = Claimed | Finished | Held | NotYet | Ended


@dataclass(frozen=True)
class SpendLimits:
    """What may be spent, checked in the same transaction that books the intent. CNY; `attempts` counts creates of a project."""

    day: Decimal
    attempts_per_planned: int
    attempts: int
