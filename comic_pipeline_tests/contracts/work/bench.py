"""A place to run the runner: a database, a folder of objects, a clock that jumps, and orders for scripted files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, select

from comic_pipeline.model.errors import ComicError, ErrorCode, InvalidAnswer, MediaFault, StorageFault
from comic_pipeline.model.ledger import Claimed, Worker
from comic_pipeline.model.limits import ProviderLimit
from comic_pipeline.model.project import Project
from comic_pipeline.model.task import Attempt, AttemptKind, AttemptState, Task, TaskType
from comic_pipeline.model.workflow import Stage, StageStatus
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.store import attempts, cancelling, ledger, limits, projects, stages
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import projects as project_rows
from comic_pipeline.store.schema import provider_slots
from comic_pipeline.work.clock import Clock
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Delivered, Order, Rules, Verified
from comic_pipeline.work.runner import make
from comic_pipeline_tests.builders import AMPLE, a_project, a_worker
from comic_pipeline_tests.fakes import FakeClock, ScriptedProvider, Wish
from comic_pipeline_tests.reckoning import spent_by

T = TypeVar("T")

RULES = Rules(
    max_retry=3,
    retry_delays=(30, 120, 300),
    poll_seconds=10,
    lost_recreates=1,
    lost_grace=60,
    limits={},
    spend=AMPLE,
)
TYPES = (TaskType.FRAME_IMAGE, TaskType.CLIP)


def limited(provider: ScriptedProvider, *, jobs: int, qps: float = 1_000) -> Rules:
    """The rules with one provider's limit."""
    return replace(RULES, limits={provider.name: ProviderLimit(jobs=jobs, qps=qps)})


def verify(data: bytes) -> Verified:
    """A file has its ends (else it was cut); one that holds a question mark is an answer of the wrong shape."""
    if not (data.startswith(b"FILE ") and data.endswith(b" END")):
        raise MediaFault(ErrorCode.PROVIDER_ERROR, "the file is cut")
    if b"?" in data:
        raise InvalidAnswer("the file holds a question", problems="do not ask")
    return Verified(data, mime="image/png", ending="png", width=4, height=3)


def an_order(provider: ScriptedProvider, words: str = "cat", *, seq: int | None = 0, **facts: Any) -> Order[Wish]:
    """One file with these words for project p1; a clip of an asynchronous provider, else a picture."""
    order = Order(
        project_id="p1",
        task_type=TaskType.CLIP if provider.asynchronous else TaskType.FRAME_IMAGE,
        queue="video_queue",
        deadline=600,
        shot_seq=seq,
        take=0,
        provider=provider,
        request=Wish(words),
        template_hash="template-1",
        inputs=(),
        folder="frames",
        verify=verify,
    )
    return replace(order, **facts)


def repaired(request: Wish, answer: bytes, problem: InvalidAnswer) -> Wish:
    """The second request after a question: it quotes the answer and the problem."""
    quoted = answer.decode().removeprefix("FILE ").removesuffix("? END")
    return Wish(f"{problem.problems} not {quoted}", size=request.size)


def then(act: Callable[[], object], answer: T) -> Callable[[], T]:
    """A step that does something and then answers."""

    def step() -> T:
        act()
        return answer

    return step


@dataclass
class Bench:
    """Everything around the runner. `desk` gives the desk of a run that owns a running stage of project p1."""

    database: Database
    url: str
    folder: Path
    clock: FakeClock
    stages_begun: int = field(default=0)

    @property
    def objects(self) -> FolderStore:
        """The object store."""
        return FolderStore(self.folder, media_url="/media")

    def begin(self, project: Project) -> None:
        """Store a project."""
        with self.database.write() as connection:
            projects.insert(connection, project)

    def desk(
        self,
        name: str = "w1",
        *,
        rules: Rules = RULES,
        database: Database | None = None,
        objects: ObjectStore | None = None,
        clock: Clock | None = None,
        project_id: str = "p1",
    ) -> Desk:
        """A desk of the run of `name`, which owns a stage of its own. The same name again: the same run."""
        return Desk(
            database=database or self.database,
            objects=objects or self.objects,
            clock=clock or self.clock,
            worker=self.worker(name, project_id=project_id),
            rules=rules,
            jitter=lambda: 0.0,
        )

    def worker(self, name: str, *, project_id: str = "p1") -> Worker:
        """The worker of a run that owns a running stage."""
        worker = a_worker(name, stage_id=f"stage-{name}")
        with self.database.write() as connection:
            if stages.get(connection, worker.stage_id) is None:
                stage = list(Stage)[self.stages_begun % len(Stage)]
                self.stages_begun += 1
                stages.request(
                    connection,
                    project_id,
                    stage,
                    stage_id=worker.stage_id,
                    priority=20,
                    now=self.clock.now(),
                    run_id=worker.run_id,
                )
        return worker

    def end_stage(self, name: str = "w1") -> None:
        """The reconciler gives the run's round up."""
        with self.database.write() as connection:
            assert stages.end(connection, f"stage-{name}", status=StageStatus.FAILED, code=None, message="", now=self.clock.now())

    def make(self, order: Order[Wish], *, desk: Desk | None = None) -> Delivered:
        """Make one order at a new desk of run w1."""
        return self.clock.run(make(desk or self.desk(), order))

    def refused(self, order: Order[Wish], *, desk: Desk | None = None) -> ComicError:
        """What making it raises."""
        try:
            made = self.make(order, desk=desk)
        except ComicError as error:
            return error
        raise AssertionError(f"it was made: {made}")

    def cancel(self) -> None:
        """A person cancels the project."""
        with self.database.write() as connection:
            cancelling.cancel_project(connection, "p1", reason="enough", now=self.clock.now())
            projects.request_cancel(connection, "p1", reason="enough", now=self.clock.now())

    def retry(self) -> None:
        """A person retries the project."""
        with self.database.write() as connection:
            ledger.renew(connection, "p1", TYPES)
            connection.execute(project_rows.update().values(cancel_requested=False))

    def abandon(self, order: Order[Wish], *, job: str | None = None) -> Task:
        """What a killed run leaves: a claimed task with an attempt at `intent`, or submitted as `job`; its lease has run out."""
        worker = self.worker("dead")
        with self.database.write() as connection:
            now = self.clock.now()
            claim = ledger.claim(connection, order.new_task(max_retry=3), worker, now=now)
            assert isinstance(claim, Claimed)
            attempt = attempts.begin(
                connection,
                claim.task,
                worker,
                kind=AttemptKind.CREATE,
                base_url=order.provider.base_url,
                request_hash="0" * 64,
                estimate=order.provider.estimate(order.request),
                limits=AMPLE,
                now=now,
            )
            if job is not None:
                attempts.mark_submitted(connection, attempt, request_id=job)
        self.clock.advance(worker.lease_seconds)
        return claim.task

    def release(self) -> None:
        """Release the attempts that are still open."""
        with self.database.write() as connection:
            for task in ledger.of_project(connection, "p1"):
                for one in attempts.of_task(connection, task.task_id):
                    if one.state is AttemptState.INTENT:
                        attempts.mark_released(connection, one, now=self.clock.now())

    def tasks(self) -> list[Task]:
        """All tasks of the project."""
        with self.database.read() as connection:
            return ledger.of_project(connection, "p1")

    def task(self) -> Task:
        """The only task."""
        (task,) = self.tasks()
        return task

    def attempts(self) -> list[Attempt]:
        """All attempts of the only task."""
        with self.database.read() as connection:
            return attempts.of_task(connection, self.task().task_id)

    def states(self) -> list[str]:
        """States of the only task's attempts."""
        return [one.state.value for one in self.attempts()]

    def spent(self) -> Decimal:
        """What the books say the project has cost."""
        with self.database.read() as connection:
            return spent_by(connection, "p1")

    def slots(self) -> int:
        """Slots that are taken."""
        with self.database.read() as connection:
            return len(connection.execute(select(provider_slots)).all())

    def hold_slot(self, provider: ScriptedProvider, *, seconds: float) -> None:
        """Somebody else has one of the provider's slots."""
        with self.database.write() as connection:
            assert limits.take_slot(connection, provider.name, jobs=1, holder=str(uuid4()), now=self.clock.now(), seconds=seconds)


class Flickering(Database):
    """A database that is away for the next `away` transactions, or breaks off during the next `unsure` commits, which succeed."""

    away = 0
    unsure = 0

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """As the real one, when it is there."""
        self._look()
        with super().write() as connection:
            yield connection
        if self.unsure:
            self.unsure -= 1
            raise StorageFault("the connection broke during the commit")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """As the real one, when it is there."""
        self._look()
        with super().read() as connection:
            yield connection

    def _look(self) -> None:
        if self.away:
            self.away -= 1
            raise StorageFault("the database is away")


class Rival(Database):
    """A database in which somebody else writes first: `first` is done once, before the next transaction that writes."""

    first: Callable[[], None] | None = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """As the real one, a moment later."""
        if self.first is not None:
            first, self.first = self.first, None
            first()
        with super().write() as connection:
            yield connection


def a_bench(database: Database, *, url: str, folder: Path) -> Bench:
    """A bench with project p1, which may spend 100 CNY."""
    bench = Bench(database=database, url=url, folder=folder, clock=FakeClock())
    bench.begin(a_project())
    return bench
