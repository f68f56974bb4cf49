"""What one day of production was: facts of the tables in, rows of the daily report out. Pure.

Belongs here: what is counted, and how. Does not: reading tables (`store/production.py`), files and pictures (`daily_report.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from statistics import median
from typing import TypeVar

from comic_pipeline.model.money import ZERO, cny
from comic_pipeline.model.task import AttemptKind, AttemptState, TaskStatus, TaskType
from comic_pipeline.model.workflow import ProjectState

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True)
class VerdictFact:
    """One verdict of the day: a check's own, or a person's who opened the gate."""

    check: str
    passed: bool
    overridden: bool


@dataclass(frozen=True)
class AttemptFact:
    """One create of the day. `cost` in CNY is booked; None while the attempt is open or was refused."""

    task_type: TaskType
    provider: str
    model: str
    kind: AttemptKind
    number: int
    state: AttemptState
    cost: Decimal | None


@dataclass(frozen=True)
class TaskFact:
    """One task that ended on the day, `seconds` after its work began (with its waits; None when it never began)."""

    task_type: TaskType
    status: TaskStatus
    seconds: float | None
    retries: int


@dataclass(frozen=True)
class DayFacts:
    """What the tables hold of one day: projects begun, projects that ended by state, and the rest as it happened."""

    day: date
    started: int
    ended: dict[ProjectState, int]
    verdicts: tuple[VerdictFact, ...]
    attempts: tuple[AttemptFact, ...]
    tasks: tuple[TaskFact, ...]


@dataclass(frozen=True)
class ProductionRow:
    """One number of one day. `value` has at most six places; `unit` says what it counts."""

    day: date
    topic: str
    subject: str
    provider: str | None
    model: str | None
    measure: str
    value: Decimal
    unit: str


# Column, type as readers see it, meaning. The fields of ProductionRow in their order.
PRODUCTION_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("day", "date", "calendar day of Asia/Shanghai"),
    ("topic", "text", "projects, gates, costs, latencies or retries"),
    ("subject", "text", "project state, check, or task type, by topic; `started` for projects that were begun"),
    ("provider", "text", "who was paid (costs), else null"),
    ("model", "text", "with which model (costs), else null"),
    ("measure", "text", "what was counted, e.g. pass_rate, cost, median, p95"),
    ("value", "decimal", "the number, with six places"),
    ("unit", "text", "projects, verdicts, share (0 to 1), creates, CNY, tasks, s or rounds"),
)


def rows_of(facts: DayFacts) -> tuple[ProductionRow, ...]:
    """The report of a day, always in the same order; a day on which nothing happened has no rows."""
    found = (*_projects(facts), *_gates(facts), *_costs(facts), *_latencies(facts), *_retries(facts))
    return tuple(row for row in found if row.value or row.topic != "projects")


def share(part: int, whole: int) -> Decimal:
    """`part` of `whole` with six places, 0 to 1. `whole` is not 0."""
    return cny(Decimal(part) / whole)


def _row(facts: DayFacts, topic: str, subject: str, measure: str, number: float | Decimal, unit: str) -> ProductionRow:
    return ProductionRow(facts.day, topic, subject, None, None, measure, cny(str(number)), unit)


def _projects(facts: DayFacts) -> Iterator[ProductionRow]:
    yield _row(facts, "projects", "started", "count", facts.started, "projects")
    for state in ProjectState:
        yield _row(facts, "projects", state.value, "count", facts.ended.get(state, 0), "projects")


def _gates(facts: DayFacts) -> Iterator[ProductionRow]:
    for check, verdicts in _grouped((one.check, one) for one in facts.verdicts):
        given = [one.passed for one in verdicts if not one.overridden]
        yield _row(facts, "gates", check, "given", len(given), "verdicts")
        yield _row(facts, "gates", check, "passed", sum(given), "verdicts")
        if given:
            yield _row(facts, "gates", check, "pass_rate", share(sum(given), len(given)), "share")
        yield _row(facts, "gates", check, "overridden", len(verdicts) - len(given), "verdicts")


def _costs(facts: DayFacts) -> Iterator[ProductionRow]:
    for (task_type, provider, model), made in _grouped(
        ((one.task_type.value, one.provider, one.model), one) for one in facts.attempts
    ):
        states = Counter(one.state for one in made)
        numbers = (
            ("creates", Decimal(len(made)), "creates"),
            ("failed", Decimal(states[AttemptState.FAILED]), "creates"),
            ("lost", Decimal(states[AttemptState.UNKNOWN]), "creates"),
            ("cost", sum((one.cost for one in made if one.cost is not None), ZERO), "CNY"),
        )
        for measure, number, unit in numbers:
            yield ProductionRow(facts.day, "costs", task_type, provider, model, measure, cny(number), unit)


def _latencies(facts: DayFacts) -> Iterator[ProductionRow]:
    done = ((one.task_type.value, one.seconds) for one in facts.tasks if one.status is TaskStatus.SUCCESS)
    for task_type, seconds in _grouped((task_type, length) for task_type, length in done if length is not None):
        ordered = sorted(seconds)
        # Nearest rank: the smallest length that 95 of 100 tasks do not exceed; always one that was measured.
        p95 = ordered[-(-95 * len(ordered) // 100) - 1]
        yield _row(facts, "latencies", task_type, "count", len(ordered), "tasks")
        yield _row(facts, "latencies", task_type, "median", median(ordered), "s")
        yield _row(facts, "latencies", task_type, "p95", p95, "s")


def _retries(facts: DayFacts) -> Iterator[ProductionRow]:
    ended = dict(_grouped((one.task_type, one) for one in facts.tasks))
    again = dict(_grouped((one.task_type, one) for one in facts.attempts))
    for task_type in sorted({*ended, *again}):
        tasks, made = ended.get(task_type, []), again.get(task_type, [])
        repairs = sum(one.kind is AttemptKind.REPAIR for one in made)
        more = sum(one.number > 1 and one.kind is AttemptKind.CREATE for one in made)
        unfinished = sum(one.status is not TaskStatus.SUCCESS for one in tasks)
        yield _row(facts, "retries", task_type.value, "tasks", len(tasks), "tasks")
        yield _row(facts, "retries", task_type.value, "without_output", unfinished, "tasks")
        yield _row(facts, "retries", task_type.value, "rounds", sum(one.retries for one in tasks), "rounds")
        yield _row(facts, "retries", task_type.value, "creates_again", more, "creates")
        yield _row(facts, "retries", task_type.value, "repairs", repairs, "creates")


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> list[tuple[Key, list[Value]]]:
    groups: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return sorted(groups.items(), key=lambda group: repr(group[0]))
