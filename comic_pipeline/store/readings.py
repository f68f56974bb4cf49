"""The numbers that alerts are judged by, read from the tables. Read only; each function is one or two indexed queries.

Belongs here: counting. Does not: thresholds and decisions (`model/alerting.py`), disks (`notify/space.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import Connection, func, select

from comic_pipeline.model.alerting import AlertRule, Reading
from comic_pipeline.model.task import AttemptState, TaskStatus
from comic_pipeline.model.workflow import FINISHED_STATES, STAGE_RULES, ProjectState, Stage, StageStatus, SubmissionStatus
from comic_pipeline.store.schema import attempts, projects, stages, submissions, tasks

_HOUR, _DAY, _WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
# Below these numbers a share or a median says nothing.
_ENOUGH_FILMS = 5
# Of failed attempts these are the provider's own: its refusals of one request (400 and the like) say nothing about its health.
_PROVIDER_STATUSES = frozenset({401, 402, 403, 408, 429})
_LOOK_AT_MOST = 5_000


def read_all(connection: Connection, *, now: datetime) -> list[Reading]:
    """All readings that the tables give."""
    return [
        failed_tasks(connection, now=now),
        *providers_failing(connection, now=now),
        *backlogs(connection),
        *film_failures(connection, now=now),
        *cost_outliers(connection, now=now),
    ]


def failed_tasks(connection: Connection, *, now: datetime) -> Reading:
    """Tasks that ended without output within an hour."""
    statement = (
        select(func.count())
        .select_from(tasks)
        .where(tasks.c.status.in_((TaskStatus.FAILED, TaskStatus.MANUAL_REQUIRED)), tasks.c.finished_at >= now - _HOUR)
    )
    return Reading(AlertRule.FAILED_TASKS, "all", float(connection.execute(statement).scalar_one()))


def providers_failing(connection: Connection, *, now: datetime) -> list[Reading]:
    """Failures in a row since the last success, by provider, within an hour."""
    ended = (AttemptState.SUCCEEDED, AttemptState.FAILED, AttemptState.UNKNOWN)
    statement = (
        select(attempts.c.provider_id, attempts.c.state, attempts.c.http_status)
        .where(attempts.c.started_at >= now - _HOUR, attempts.c.state.in_(ended))
        .order_by(attempts.c.finished_at.desc())
        .limit(_LOOK_AT_MOST)
    )
    streaks: Counter[str] = Counter()
    healthy: set[str] = set()
    for provider, state, status in connection.execute(statement):
        if state == AttemptState.SUCCEEDED:
            healthy.add(provider)
        elif provider not in healthy and _is_its_own(status):
            streaks[provider] += 1
    return [Reading(AlertRule.PROVIDER_FAILING, provider, float(count)) for provider, count in streaks.items()]


def backlogs(connection: Connection) -> list[Reading]:
    """Rounds that wait for their run, by queue, and submissions that nobody has decided."""
    waiting = (StageStatus.REQUESTED, StageStatus.QUEUED)
    statement = select(stages.c.stage, func.count()).where(stages.c.status.in_(waiting)).group_by(stages.c.stage)
    found: Counter[str] = Counter()
    for stage, count in connection.execute(statement):
        found[STAGE_RULES[Stage(stage)].queue] += count
    undecided = select(func.count()).select_from(submissions).where(submissions.c.status == SubmissionStatus.NEW)
    found["submissions"] = connection.execute(undecided).scalar_one()
    return [Reading(AlertRule.QUEUE_BACKLOG, queue, float(count)) for queue, count in found.items()]


def film_failures(connection: Connection, *, now: datetime) -> list[Reading]:
    """The share of films of a day that failed or need an operator, in percent; cancelled ones do not count."""
    bad = (ProjectState.FAILED, ProjectState.MANUAL_REQUIRED)
    statement = (
        select(projects.c.status, func.count())
        .where(projects.c.status.in_((*bad, *FINISHED_STATES)), projects.c.updated_at >= now - _DAY)
        .group_by(projects.c.status)
    )
    counted: dict[str, int] = dict(connection.execute(statement).tuples().all())
    total = sum(counted.values())
    if total < _ENOUGH_FILMS:
        return []
    failed = sum(counted.get(state, 0) for state in bad)
    return [Reading(AlertRule.FILM_FAILURES, "all", 100.0 * failed / total)]


def cost_outliers(connection: Connection, *, now: datetime) -> list[Reading]:
    """How many times the median of finished films of its length each project of the last day has cost."""
    recent = select(projects.c.id).where(projects.c.updated_at >= now - _DAY)
    lately = set(connection.execute(recent).scalars())
    if not lately:
        return []
    statement = (
        select(projects.c.id, projects.c.duration_bucket, projects.c.status, func.sum(attempts.c.cost))
        .join_from(projects, tasks, tasks.c.project_id == projects.c.id)
        .join(attempts, attempts.c.task_id == tasks.c.task_id)
        .where(projects.c.updated_at >= now - _WEEK)
        .group_by(projects.c.id, projects.c.duration_bucket, projects.c.status)
    )
    rows = [(project, bucket, status, float(cost or 0)) for project, bucket, status, cost in connection.execute(statement)]
    usual = _medians((bucket, cost) for _, bucket, status, cost in rows if status in FINISHED_STATES)
    return [
        Reading(AlertRule.COST_OUTLIER, project, cost / usual[bucket])
        for project, bucket, _, cost in rows
        if project in lately and bucket in usual
    ]


def _medians(costs: Iterable[tuple[str, float]]) -> dict[str, float]:
    by_length: defaultdict[str, list[float]] = defaultdict(list)
    for bucket, cost in costs:
        if cost > 0:
            by_length[bucket].append(cost)
    return {bucket: median(found) for bucket, found in by_length.items() if len(found) >= _ENOUGH_FILMS}


def _is_its_own(status: int | None) -> bool:
    return status is None or status >= 500 or status in _PROVIDER_STATUSES
