"""A process that makes one order and kills itself with SIGKILL at a chosen step; a provider whose books outlive it.

`python -m … ` reads one plan a line (JSON) and forks a child for each, so that an interpreter is started only once. The answer is
the child's exit code.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.providers.interface import Done, Submitted
from comic_pipeline.store.database import Database
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.runner import make
from comic_pipeline_tests.builders import a_worker
from comic_pipeline_tests.contracts.work.bench import RULES, an_order, limited
from comic_pipeline_tests.fakes import FakeClock, ScriptedProvider, Wish


class Plan(BaseModel):
    """What the victim works with, and where it dies."""

    url: str
    folder: str
    books: str
    asynchronous: bool
    die: str


class BookedProvider(ScriptedProvider):
    """A scripted provider whose accepted creates are lines of a file, so that every process sees them."""

    def __init__(self, clock: FakeClock, *, books: Path, asynchronous: bool) -> None:
        super().__init__(clock, name="booked", asynchronous=asynchronous)
        self._books = books
        for line in books.read_text().splitlines() if books.exists() else ():
            super().accept(Wish(json.loads(line)))

    def accept(self, request: Wish) -> Submitted | Done:
        """As usual, and written down."""
        with self._books.open("a") as books:
            books.write(f"{json.dumps(request.words)}\n")
        return super().accept(request)


class DeadlyStore(FolderStore):
    """A folder in which some writes are the last thing that a process does."""

    before: Callable[[str], None]
    after: Callable[[str], None]

    def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Write, unless it is too late."""
        self.before(key)
        super().put(key, data, mime=mime)
        self.after(key)


def die() -> None:
    """End as a machine without power does."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(plan: Plan) -> None:
    """Make the order, up to the chosen step."""
    clock = FakeClock()
    provider = BookedProvider(clock, books=Path(plan.books), asynchronous=plan.asynchronous)
    order = an_order(provider)
    store = DeadlyStore(Path(plan.folder), media_url="/media")
    store.before = lambda key: die() if plan.die == f"before storing in {key.partition('/')[0]}" else None
    store.after = lambda key: die() if plan.die == f"after storing in {key.partition('/')[0]}" else None

    def accepted_and_dead() -> None:
        provider.accept(order.request)
        die()

    steps: dict[str, tuple[Any, list[Any]]] = {
        "before the gate": ("build", [die]),
        "before sending": ("submit", [die]),
        "before the answer": ("submit", [accepted_and_dead]),
        "before the first look": ("poll", [die]),
        "while following": ("poll", [None, die]),
        "before fetching": ("fetch", [die]),
    }
    if plan.die in steps:
        verb, script = steps[plan.die]
        provider.plan(verb, *script)
    desk = Desk(
        database=Database(plan.url),
        objects=store,
        clock=clock,
        worker=a_worker("victim", stage_id="stage-victim"),
        rules=limited(provider, jobs=1) if plan.asynchronous else RULES,
        jitter=lambda: 0.0,
    )
    clock.run(make(desk, order))


def main() -> None:
    """Serve plans until the input ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            work(Plan.model_validate_json(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
