"""One project that meets faults: driven as far as a test needs, its books laid beside the sandbox's.

Belongs here: driving and comparing. Does not: any fault; each test plans its own.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from comic_pipeline.demo.drive import drive
from comic_pipeline.launching import Launch
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus
from comic_pipeline.model.workflow import ProjectState, Stage, SubmissionKind
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store import attempts
from comic_pipeline.work.clock import SystemClock
from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.settings import sandbox_environment

IDEA = "一只小猫在月球上种花，遇到了会唱歌的星星"
# Equal for all trials: the sandbox then draws each picture and each clip of the film only once for all tests.
_PROJECT = "film"
# Pictures of 1280x720 instead of 2560x1440: the faults are the same, drawing and decoding take a quarter of the time.
_SMALL = {"ARK_IMAGE_MODEL": "doubao-seedream-4-0-250828"}
_SHORT = {"COMIC_RETRY_DELAYS": "0.1", "COMIC_POLL_SECONDS": "0.1", "COMIC_LOST_GRACE": "0.5"}


class HurriedClock(SystemClock):
    """True time, short waits: what is waited for at the sandbox has happened long before."""

    async def sleep(self, seconds: float) -> None:
        """Wait for a tenth of a second at most."""
        await asyncio.sleep(min(seconds, 0.1))


class _FarEnough(Exception):
    """The drive has reached the stage that a test does not want."""


class Trial:
    """One user with one project in a house of its own; `creates` and `spend` are what the sandbox saw of this trial alone."""

    def __init__(self, home: Path, sandbox: Sandbox, *, user: str, profile: Mapping[str, str], **changes: str) -> None:
        self.sandbox = sandbox
        self._home = home
        self._profile = profile
        self.house = House(home, sandbox_environment(sandbox, **{**_SMALL, **_SHORT, **profile, **changes}))
        self.hurry()
        self._user = user
        self._before = sandbox.admin.books()

    def hurry(self, *, really: bool = True) -> None:
        """Shorten the runner's waits, or let them be as they are in production."""
        self.house.workshop = replace(self.house.workshop, clock=HurriedClock() if really else SystemClock())

    def with_settings(self, **changes: str) -> "Trial":
        """The same project after an operator has changed the environment; only what follows counts as its own."""
        self.house.close()
        return Trial(self._home, self.sandbox, user=self._user, profile=self._profile, **changes)

    def make(self, *, before: Stage | None = None, idea: str = IDEA) -> ProjectStatus:
        """Ask for the film and drive it until it is no longer in production, or until stage `before` would begin."""
        self.house.ask(SubmissionKind.PRODUCE, {"idea": idea}, project_id=_PROJECT, user=self._user)
        return self.go_on(before=before)

    def retry(self, *, before: Stage | None = None) -> ProjectStatus:
        """A person's retry, driven on."""
        self.house.ask(SubmissionKind.RETRY, {}, project_id=_PROJECT, user=self._user)
        return self.go_on(before=before)

    def redo(self, stage: Stage, *, shot: int, prompt: str, before: Stage | None = None) -> ProjectStatus:
        """One shot with other words, driven on."""
        asked = {"stage": stage.value, "shots": [shot], "prompt": prompt}
        self.house.ask(SubmissionKind.REDO, asked, project_id=_PROJECT, user=self._user)
        return self.go_on(before=before)

    def go_on(self, *, before: Stage | None = None) -> ProjectStatus:
        """Drive on."""
        # Pictures and lines begin side by side, in any order.
        unwanted = (Stage.FRAMES, Stage.VOICES) if before is Stage.FRAMES else (before,)

        def look(launch: Launch) -> None:
            if launch.stage in unwanted:
                raise _FarEnough

        with suppress(_FarEnough):
            drive(self.house.workshop, lambda: _PROJECT, look, captured=False)
        return self.house.status(_PROJECT)

    @property
    def creates(self) -> dict[str, int]:
        """Creates that the sandbox accepted, by route."""
        return _difference(self.sandbox.admin.books().creates, self._before.creates)

    @property
    def requests(self) -> dict[str, int]:
        """Requests that arrived at the sandbox, by route."""
        return _difference(self.sandbox.admin.books().requests, self._before.requests)

    @property
    def spend(self) -> Decimal:
        """What the sandbox charged."""
        return self.sandbox.admin.books().spend - self._before.spend

    def files(self) -> list[Path]:
        """Everything that the home holds: with SQLite the database, Dagster's event log, compute logs and documents too."""
        found = [path for path in self._home.rglob("*") if path.is_file()]
        assert self._profile or {"comic.db", "runs.db"} <= {path.name for path in found}
        return found

    def attempts(self, kind: str) -> list[Attempt]:
        """All attempts of the tasks of this type, task by task."""
        with self.house.workshop.database.read() as connection:
            return [one for task in self.tasks(kind) for one in attempts.of_task(connection, task.task_id)]

    def tasks(self, kind: str) -> list[Task]:
        """The project's tasks of this type, by shot."""
        found = [task for task in self.house.status(_PROJECT).tasks if task.task_type == kind]
        return sorted(found, key=lambda task: task.shot_seq or 0)

    def check_books(self, end: ProjectStatus, creates: Mapping[str, int], *, never_arrived: Decimal = Decimal(0)) -> None:
        """Every accepted create is in the ledger at its price, and nothing else is.

        `never_arrived`: lost calls that were booked although the sandbox never got them; nobody can tell from outside.
        """
        assert self.creates == dict(creates)
        assert end.cost == self.spend + never_arrived
        assert not [task.task_id for task in end.tasks if task.status is TaskStatus.RUNNING]


def check_stopped(end: ProjectStatus, state: ProjectState, code: ErrorCode, *, stage: Stage) -> None:
    """The project stopped there, and says why."""
    assert (end.status, end.error_code, end.fail_stage) == (state, code, stage), end.error_message


def states_of(made: list[Attempt]) -> list[AttemptState]:
    """How each attempt ended, task by task."""
    return [one.state for one in made]


def _difference(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {route: count - before.get(route, 0) for route, count in now.items() if count != before.get(route, 0)}
