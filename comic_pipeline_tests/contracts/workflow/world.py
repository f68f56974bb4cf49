"""The reconciler with its orchestrator, as a test moves them: passes, launches, runs that work and end."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import event

from comic_pipeline.launching import Launch
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Project
from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.model.workflow import PRODUCTION, STAGE_RULES, RunPhase, Stage, StageStatus
from comic_pipeline.quality import GATES
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline.store import projects, stages, verdicts
from comic_pipeline.store.database import Database
from comic_pipeline.workflow import Pass, Reconciler
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.contracts.workflow.fake_runs import FakeRun, FakeRuns


class World(Door):
    """The door, and what happens behind it."""

    def __init__(self, database: Database, settings: Settings | None = None) -> None:
        super().__init__(database)
        self.runs = FakeRuns()
        self.settings = settings or load_settings()
        self.reconciler = self.another()

    def another(self) -> Reconciler:
        """One more evaluation of the sensor, on the same tables and runs."""
        return Reconciler(database=self.database, settings=self.settings, runs=self.runs, now=self._look_at_the_clock)

    def _look_at_the_clock(self) -> datetime:
        # No two looks at a real clock give the same time.
        self.now += timedelta(microseconds=1)
        return self.now

    def tick(self, *, start: bool = True) -> Pass:
        """One pass, a second after the last one; with `start`, what it launches enters the queue, each row once."""
        self.wait(1)
        assert self.reconciler.take()
        try:
            seen = self.reconciler.tick()
        finally:
            self.reconciler.leave()
        if start:
            for launch in seen.launches:
                self.start(launch)
        return seen

    def start(self, launch: Launch) -> None:
        """The run key holds: a row gets one run, however often it is emitted."""
        if not any(run.stage_id == launch.stage_id for run in self.runs.runs.values()):
            self.runs.start(f"run-{uuid4().hex[:8]}", stage_id=launch.stage_id)

    def run_of(self, stage: Stage, project_id: str = "p1") -> FakeRun:
        """The newest run of the stage's latest round."""
        row = self.rounds(project_id)[stage]
        found = [run for run in self.runs.runs.values() if run.stage_id == row.id or run.run_id == row.run_id]
        return found[-1]

    def begin(self, stage: Stage, project_id: str = "p1") -> FakeRun:
        """The run starts and claims its row."""
        run = self.run_of(stage, project_id)
        run.phase = RunPhase.RUNNING
        with self.database.write() as connection:
            assert stages.claim(connection, run.stage_id or "", run_id=run.run_id, now=self.now)
        return run

    def by_hand(self, *chosen: Stage, project_id: str = "p1") -> FakeRun:
        """Somebody materializes assets of these stages in one run, which registers its rounds."""
        run = self.runs.start(f"hand-{uuid4().hex[:8]}", stage_id=None)
        run.phase = RunPhase.RUNNING
        with self.database.write() as connection:
            for stage in chosen:
                stages.request(connection, project_id, stage, stage_id=str(uuid4()), priority=20, now=self.now, run_id=run.run_id)
        return run

    def judge(
        self,
        run: FakeRun,
        stage: Stage,
        project_id: str = "p1",
        *,
        passed: bool = True,
        findings: Sequence[Finding] = (),
        version: str = "v1",
    ) -> None:
        """The gates of the stage's assets give their verdicts."""
        with self.database.write() as connection:
            for asset in STAGE_RULES[stage].assets:
                if asset in GATES:
                    verdicts.record(
                        connection,
                        Verdict(
                            project_id=project_id,
                            asset=asset,
                            check=GATES[asset],
                            run_id=run.run_id,
                            data_version=version,
                            passed=passed,
                            severity=Severity.ERROR,
                            numbers=json.dumps([one.model_dump(mode="json") for one in findings]),
                            at=self.now,
                        ),
                    )

    def report(self, stage: Stage, code: ErrorCode, message: str = "because", project_id: str = "p1") -> None:
        """The run says why it is about to fail."""
        row = self.rounds(project_id)[stage]
        with self.database.write() as connection:
            stages.report(connection, row.id, run_id=row.run_id or "", code=code, message=message)

    def succeed(self, stage: Stage, project_id: str = "p1") -> None:
        """The run does its work, its checks pass, it ends."""
        run = self.begin(stage, project_id)
        self.judge(run, stage, project_id)
        run.phase = RunPhase.SUCCEEDED

    def fail(self, stage: Stage, code: ErrorCode | None = None, project_id: str = "p1") -> FakeRun:
        """The run ends badly, with a word or without."""
        run = self.begin(stage, project_id)
        if code is not None:
            self.report(stage, code, project_id=project_id)
        run.phase = RunPhase.FAILED
        return run

    def finish_open(self, project_id: str = "p1") -> list[Stage]:
        """Every round that waits for a run succeeds."""
        waiting = [stage for stage, row in self.rounds(project_id).items() if row.ended_at is None]
        for stage in waiting:
            self.succeed(stage, project_id)
        return waiting

    def put_at(self, stage: Stage, project: Project) -> None:
        """A project in production whose next round, of `stage`, has just entered the queue."""
        before = {one: StageStatus.PASSED for one in PRODUCTION if one in _before(stage)}
        self.put(project, before)
        self.tick()
        self.tick()
        assert self.rounds(project.id)[stage].status is StageStatus.QUEUED

    def heartbeat(self, run: FakeRun) -> bool:
        """The run says that it lives."""
        with self.database.write() as connection:
            return stages.heartbeat(connection, run.run_id, now=self.now)

    def everything(self) -> tuple[list[Project], list[StageRow]]:
        """All that a pass could change."""
        with self.database.read() as connection:
            found = projects.find(connection)
            return found, [row for project in found for row in stages.history(connection, project.id)]

    @contextmanager
    def counted(self) -> Iterator[Callable[[], Mapping[str, int]]]:
        """How many reads and writes go to the database meanwhile."""
        seen = {"reads": 0, "writes": 0}

        def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            verb = statement.lstrip().upper()
            seen["reads"] += verb.startswith("SELECT")
            seen["writes"] += verb.startswith(("INSERT", "UPDATE", "DELETE"))

        event.listen(self.database.engine, "before_cursor_execute", count)
        try:
            yield lambda: dict(seen)
        finally:
            event.remove(self.database.engine, "before_cursor_execute", count)


def _before(stage: Stage) -> set[Stage]:
    found: set[Stage] = set()
    for need in STAGE_RULES[stage].needs:
        found |= {need} | _before(need)
    return found
