"""SIGKILL at every step: a second process goes on, and the provider is asked, and paid, exactly once.

The one exception is documented: a call that answers at once and was killed before its answer was kept is booked as lost at its
estimate and made again.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest

from comic_pipeline.model.task import TaskStatus
from comic_pipeline.store import stages
from comic_pipeline_tests.contracts.work.bench import RULES, Bench, an_order, limited
from comic_pipeline_tests.contracts.work.victim import BookedProvider, Plan
from comic_pipeline_tests.fakes import delivery

JOB_STEPS = (
    "before the first look",
    "while following",
    "before fetching",
    "before storing in projects",
    "after storing in projects",
)
CALL_STEPS = ("after storing in projects", "before storing in projects")


class Victim(Protocol):
    """Runs the order in a process that dies at a step; gives the provider as the next process meets it."""

    def __call__(self, step: str, *, asynchronous: bool) -> BookedProvider: ...


@pytest.fixture(scope="module")
def slaughterhouse() -> Iterator["subprocess.Popen[str]"]:
    """The process whose children die."""
    command = [sys.executable, "-m", "comic_pipeline_tests.contracts.work.victim"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.fixture
def kill(bench: Bench, tmp_path: Path, slaughterhouse: "subprocess.Popen[str]") -> Victim:
    """See `Victim`."""

    def run(step: str, *, asynchronous: bool) -> BookedProvider:
        bench.worker("victim")
        books = tmp_path / "books"
        plan = Plan(url=bench.url, folder=str(bench.folder), books=str(books), asynchronous=asynchronous, die=step)
        assert slaughterhouse.stdin is not None
        assert slaughterhouse.stdout is not None
        slaughterhouse.stdin.write(f"{plan.model_dump_json()}\n")
        slaughterhouse.stdin.flush()
        assert int(slaughterhouse.stdout.readline()) == -signal.SIGKILL
        assert (bench.task().status, bench.task().lease_owner) == (TaskStatus.RUNNING, "victim")
        # The next process begins a minute later, as a new run with a stage row of its own.
        bench.clock.advance(60)
        bench.end_stage("victim")
        return BookedProvider(bench.clock, books=books, asynchronous=asynchronous)

    return run


def _go_on(bench: Bench, provider: BookedProvider) -> Decimal:
    """Make the order in the next process; what the books then say it has cost."""
    rules = limited(provider, jobs=1) if provider.asynchronous else RULES
    made = bench.make(an_order(provider), desk=bench.desk("next", rules=rules))
    assert bench.objects.get(made.media.key) == delivery("cat")
    assert bench.task().status is TaskStatus.SUCCESS
    assert made.made.cost == bench.task().cost_actual == bench.spent()
    assert [found.key for found in bench.objects.list("")] == [made.media.key]
    with bench.database.read() as connection:
        assert stages.get(connection, "stage-next") is not None
    return bench.spent()


@pytest.mark.parametrize("step", JOB_STEPS)
def test_a_job_whose_process_was_killed_is_made_and_paid_once(bench: Bench, kill: Victim, step: str) -> None:
    """From the commit of its id on, the next process only looks and fetches."""
    provider = kill(step, asynchronous=True)
    assert _go_on(bench, provider) == provider.charged == provider.price
    assert (provider.sent, provider.searched) == ([], [])


def test_a_job_killed_between_send_and_commit_is_found_and_paid_once(bench: Bench, kill: Victim) -> None:
    """The provider has it, the books do not: it is found in the provider's list."""
    provider = kill("before the answer", asynchronous=True)
    assert bench.states() == ["intent"]
    assert _go_on(bench, provider) == provider.charged == provider.price
    assert (provider.sent, len(provider.searched)) == ([], 1)


@pytest.mark.parametrize("step", ["before the gate", "before sending"])
def test_a_job_killed_before_it_was_sent_is_made_once(bench: Bench, kill: Victim, step: str) -> None:
    """Waiting for its moment or just past it: it is looked for, is surely absent, and is created by the next process."""
    provider = kill(step, asynchronous=True)
    assert bench.states() == ["intent"]
    assert _go_on(bench, provider) == provider.charged == provider.price
    assert (len(provider.sent), bench.states()) == (1, ["released", "succeeded"])


@pytest.mark.parametrize("step", CALL_STEPS)
def test_a_call_whose_answer_was_written_down_is_paid_once(bench: Bench, kill: Victim, step: str) -> None:
    """Its bytes are staged: the next process reads them."""
    provider = kill(step, asynchronous=False)
    assert _go_on(bench, provider) == provider.charged == provider.price
    assert (provider.sent, bench.states()) == ([], ["succeeded"])


@pytest.mark.parametrize(
    ("step", "charges"),
    [("before the gate", 1), ("before sending", 1), ("before the answer", 2), ("before storing in staging", 2)],
)
def test_a_call_killed_before_its_answer_was_kept_is_booked_as_lost(bench: Bench, kill: Victim, step: str, charges: int) -> None:
    """Nobody can know whether it was charged: the books count it at its estimate, and there is one more create, not more."""
    provider = kill(step, asynchronous=False)
    assert _go_on(bench, provider) == provider.estimated + provider.price
    assert (len(provider.sent), provider.charged) == (1, charges * provider.price)
    assert bench.states() == ["unknown", "succeeded"]


def test_a_call_killed_between_keeping_and_booking_its_answer_is_paid_once(bench: Bench, kill: Victim) -> None:
    """The bytes are there: they are used, and booked at the estimate, because their cost was not written down."""
    provider = kill("after storing in staging", asynchronous=False)
    assert bench.states() == ["intent"]
    assert _go_on(bench, provider) == provider.estimated
    assert (provider.sent, provider.charged, bench.states()) == ([], provider.price, ["succeeded"])
