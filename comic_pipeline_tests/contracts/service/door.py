"""The door as its callers use it, with a clock that is moved by hand, and projects put into the state that a test is about."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from comic_pipeline import service
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.ledger import Claimed, Finished
from comic_pipeline.model.limits import parse_budgets
from comic_pipeline.model.project import Project, Tier
from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.task import Task, TaskStatus
from comic_pipeline.model.workflow import OPEN_STAGE_STATUSES, STAGE_RULES, Stage, StageStatus, SubmissionKind
from comic_pipeline.store import ledger, overrides, projects, stages, submissions
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import tasks as task_table
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_worker

BUDGETS = parse_budgets("free=2,preview=10,paid=100,premium=500")
CAT = {"idea": "一只小猫在月球上种花"}
_FAILURES = {StageStatus.FAILED, StageStatus.MANUAL_REQUIRED}


class Door:
    """One caller after another, each in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now: datetime = NOW
        self.price = Decimal(0)
        self.price_of: Callable[[Project], Decimal] = lambda _: self.price
        self.day_budget = Decimal(2_000)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    @property
    def house(self) -> service.House:
        """The usual budgets, what a film costs, and the time."""
        return service.House(budgets=BUDGETS, day_budget=self.day_budget, price=self.price_of, now=self.now)

    def submit(
        self,
        kind: SubmissionKind = SubmissionKind.PRODUCE,
        payload: object = None,
        *,
        user: str = "user-1",
        tier: Tier = Tier.FREE,
        project: str | None = None,
        key: str | None = None,
    ) -> int:
        """Write a request down; a payload that is text goes as it is."""
        text = payload if isinstance(payload, str) else json.dumps({} if payload is None else payload, ensure_ascii=False)
        new = NewSubmission(kind=kind, user_id=user, tier=tier, payload=text, project_id=project, key=key)
        with self.database.write() as connection:
            return service.submit(connection, new, now=self.now).id

    def decide(self, number: int) -> Submission:
        """Decide it and look at its row."""
        with self.database.write() as connection:
            submission = submissions.get(connection, number)
            assert submission is not None
            service.decide(connection, submission, self.house)
        return self.row(number)

    def ask(self, *args: Any, **facts: Any) -> Submission:
        """Submit and decide at once, as the command line does."""
        return self.decide(self.submit(*args, **facts))

    def produce(self, idea: str = CAT["idea"], **facts: Any) -> Submission:
        """Ask for a film."""
        return self.ask(SubmissionKind.PRODUCE, {"idea": idea}, **facts)

    def row(self, number: int) -> Submission:
        """The submission's row."""
        with self.database.read() as connection:
            found = submissions.get(connection, number)
        assert found is not None
        return found

    def project(self, project_id: str = "p1") -> Project:
        """The project as it stands."""
        with self.database.read() as connection:
            return projects.get(connection, project_id)

    def rounds(self, project_id: str = "p1") -> dict[Stage, StageRow]:
        """The latest round of each stage, in the order of the stages."""
        with self.database.read() as connection:
            latest = stages.latest(connection, project_id)
        return {stage: latest[stage] for stage in Stage if stage in latest}

    def tasks(self, project_id: str = "p1") -> list[Task]:
        """The ledger of the project."""
        with self.database.read() as connection:
            return ledger.of_project(connection, project_id)

    def overrides(self, project_id: str = "p1") -> dict[tuple[int, str], str]:
        """What operators changed, by shot and field."""
        with self.database.read() as connection:
            return {(item.seq, item.field.value): item.value for item in overrides.load(connection, project_id).items}

    def put(self, project: Project, states: Mapping[Stage, StageStatus], *, code: ErrorCode = ErrorCode.PROVIDER_ERROR) -> None:
        """Store a project whose stages ran one after another, ten seconds each, and ended, or stand, like this.

        Each stage that began has one task: done where it passed, under way where it runs, ended where it failed.
        """
        with self.database.write() as connection:
            projects.insert(connection, project)
            for stage, status in states.items():
                self._round(connection, project.id, stage, status, code=code)

    def _round(self, connection: Connection, project_id: str, stage: Stage, status: StageStatus, *, code: ErrorCode) -> None:
        run, row_id = f"run-{uuid4().hex[:8]}", str(uuid4())
        stages.request(connection, project_id, stage, stage_id=row_id, priority=20, now=self.now)
        if status is not StageStatus.REQUESTED:
            stages.mark_queued(connection, row_id, run_id=run, now=self.now)
        if status in _TASK_OF:
            stages.claim(connection, row_id, run_id=run, now=self.now)
        if status in _TASK_OF and STAGE_RULES[stage].task_types:
            self._task(connection, project_id, stage, _TASK_OF[status], run=run, row_id=row_id, code=code)
        self.wait(10)
        if status not in OPEN_STAGE_STATUSES:
            failed = code if status in _FAILURES else None
            stages.end(connection, row_id, status=status, code=failed, message="", now=self.now)

    def add_task(self, project_id: str, stage: Stage, status: TaskStatus, *, seq: int | None = None) -> Task:
        """One task of a stage, brought to `status` by the ledger's own steps."""
        with self.database.write() as connection:
            return self._task(connection, project_id, stage, status, seq=seq)

    def _task(
        self,
        connection: Connection,
        project_id: str,
        stage: Stage,
        status: TaskStatus,
        *,
        run: str = "run-x",
        row_id: str = "row-x",
        seq: int | None = None,
        code: ErrorCode = ErrorCode.PROVIDER_ERROR,
    ) -> Task:
        shot = seq if seq is not None or stage in (Stage.STORYBOARD, Stage.FILM) else 0
        rule = STAGE_RULES[stage]
        new = a_frame(project_id, seq=shot, words=str(stage), task_type=rule.task_types[0], queue=rule.queue)
        ledger.want(connection, new, now=self.now)
        if status is TaskStatus.PENDING:
            return next(one for one in ledger.of_project(connection, project_id) if one.input_hash == new.input_hash)
        claim = ledger.claim(connection, new, a_worker(run, stage_id=row_id), now=self.now)
        # Finished: the same work was put there for an earlier round.
        assert isinstance(claim, Claimed | Finished)
        task = claim.task
        if status is TaskStatus.SUCCESS:
            ledger.succeed(connection, task.task_id, a_picture(f"{stage}-{seq}"), now=self.now)
        elif status is TaskStatus.RETRYING:
            ledger.postpone(connection, task.task_id, code=code, message="busy", not_before=self.now + timedelta(hours=1))
        elif status is not TaskStatus.RUNNING:
            ledger.end(connection, task.task_id, status=status, code=code, message="no", now=self.now)
        return ledger.get(connection, task.task_id)

    def put_release_to_an_end(self, project_id: str = "p1") -> None:
        """The release that was asked for has run and passed."""
        row = self.rounds(project_id)[Stage.RELEASE]
        with self.database.write() as connection:
            stages.claim(connection, row.id, run_id="run-release", now=self.now)
            stages.end(connection, row.id, status=StageStatus.PASSED, code=None, message="", now=self.now)

    def submitted_at_provider(self, task: Task, request_id: str) -> None:
        """Pretend that the provider has given the task's job an id."""
        with self.database.write() as connection:
            connection.execute(
                task_table.update().where(task_table.c.task_id == task.task_id).values(provider_request_id=request_id)
            )


_TASK_OF = {
    StageStatus.RUNNING: TaskStatus.RUNNING,
    StageStatus.PASSED: TaskStatus.SUCCESS,
    StageStatus.FAILED: TaskStatus.FAILED,
    StageStatus.MANUAL_REQUIRED: TaskStatus.MANUAL_REQUIRED,
    StageStatus.CANCELLED: TaskStatus.CANCELLED,
}


def answer_of(submission: Submission) -> Answer:
    """The answer in the row of an accepted submission."""
    assert submission.answer is not None, (submission.status, submission.error_code, submission.error_message)
    return Answer.model_validate_json(submission.answer)
