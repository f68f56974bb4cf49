"""`python -m comic_pipeline_tests.acceptance.chaos --projects 20 --seed 1`: a real deployment under faults and SIGKILLs.

Many projects of different users against the sandbox, which misbehaves by a seeded dice; meanwhile run workers, the code server
and the daemon are killed at seeded moments and started again. Then it is calm, and everything must have come to an end that fits:
a film, or a stop that says why; nothing running, leased or held; the ledger equal to the sandbox's books (`reckoning.py`).
Prints a table, and exits 1 when anything disagrees.

The same seed gives the same faults to the same requests and the same order of kills; which request comes first is the machine's.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from comic_pipeline import service
from comic_pipeline.model.errors import ERROR_RULES, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import FINISHED_STATES, ProjectState, SubmissionKind
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.deployment import Deployment, kill_process, wait_for
from comic_pipeline_tests.reckoning import Reckoning, leftovers, reckon
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

# Seconds between two kills, and how long a killed server stays away.
_KILL_EVERY = (4.0, 12.0)
_AWAY = (0.5, 3.0)
_VICTIMS = ("run", "run", "run", "code", "daemon", "everything")
_STOPPED = (ProjectState.FAILED, ProjectState.MANUAL_REQUIRED, ProjectState.CANCELLED)


@dataclass(frozen=True)
class Plan:
    """How many projects, which dice, which share of requests fails, how long it is wild and how long until all is quiet (s)."""

    projects: int
    seed: int
    wild: float
    patience: float
    rate: float = 0.15


@dataclass
class Outcome:
    """What became of it."""

    ends: list[ProjectStatus]
    kills: Counter[str]
    faults: dict[str, int]
    reckoning: Reckoning
    problems: list[str] = field(default_factory=list)


def run(plan: Plan, home: Path) -> Outcome:
    """The whole of it, in a fresh home."""
    with start_sandbox(latency={"video": 3.0}) as sandbox:
        deployment = Deployment(home=home, environment=_environment(sandbox))
        try:
            deployment.start("code", "daemon")
            ids = [_submit(deployment, number) for number in range(plan.projects)]
            sandbox.admin.faults.chaos(plan.seed, plan.rate)
            # Before the first run is up there is nothing to disturb.
            wait_for("the first request", lambda: sandbox.admin.books().requests, seconds=180)
            kills = _rampage(deployment, plan, quiet=lambda: _all_ended(deployment, ids))
            # The killing is over, the provider goes on misbehaving: while processes die, few requests get as far as a fault.
            _bear(lambda: _all_ended(deployment, ids), seconds=2 * plan.wild)
            sandbox.admin.faults.chaos(plan.seed, 0)
            return _judge(deployment, sandbox, ids, kills, patience=plan.patience)
        finally:
            deployment.stop()


def _bear(ended: Callable[[], bool], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not ended():
        time.sleep(1.0)


def _environment(sandbox: Sandbox) -> dict[str, str]:
    return sandbox_environment(
        sandbox,
        ARK_IMAGE_MODEL="doubao-seedream-4-0-250828",
        COMIC_LEASE_SECONDS="4",
        COMIC_RETRY_DELAYS="1,2,3",
        COMIC_LIMITS="ark_video=8/10,ark_image=4/10,ark_text=4/10,openspeech_voice=4/10",
    )


def _submit(deployment: Deployment, number: int) -> str:
    """One film of a user of its own, written as a backend would."""
    project_id = f"chaos-{number:02d}"
    new = NewSubmission(
        kind=SubmissionKind.PRODUCE,
        user_id=f"user-{number:02d}",
        tier=Tier.PAID,
        payload=f'{{"idea": "第{number}个故事：一只小狗学会了飞"}}',
        project_id=project_id,
    )
    with deployment.workshop.database.write() as connection:
        service.submit(connection, new, now=deployment.workshop.clock.now())
    return project_id


def _rampage(deployment: Deployment, plan: Plan, *, quiet: Callable[[], bool]) -> Counter[str]:
    """Kill by the dice until the wild time is over or nothing is left to disturb; then everything is up again."""
    dice, kills, end = random.Random(plan.seed), Counter[str](), time.monotonic() + plan.wild
    while time.monotonic() < end and not quiet():
        time.sleep(dice.uniform(*_KILL_EVERY))
        victim, away, chosen = dice.choice(_VICTIMS), dice.uniform(*_AWAY), dice.random()
        if victim == "run":
            workers = deployment.run_processes()
            if not workers:
                continue
            kill_process(workers[int(chosen * len(workers))])
        else:
            names = ("code", "daemon") if victim == "everything" else (victim,)
            if victim == "everything":
                deployment.crash()
            else:
                deployment.kill(victim)
            time.sleep(away)
            deployment.start(*names)
        kills[victim] += 1
    return kills


def _all_ended(deployment: Deployment, ids: list[str]) -> bool:
    try:
        return all(deployment.status(project_id).finished_at is not None for project_id in ids)
    except Refused:
        # Not admitted yet.
        return False


def _judge(deployment: Deployment, sandbox: Sandbox, ids: list[str], kills: Counter[str], *, patience: float) -> Outcome:
    problems: list[str] = []
    try:
        wait_for("the end of all projects", lambda: _all_ended(deployment, ids), seconds=patience)
        wait_for("nothing left over", lambda: not leftovers(deployment.workshop.database), seconds=60)
    except AssertionError as late:
        problems += [str(late), *leftovers(deployment.workshop.database)]
    ends = [deployment.status(project_id) for project_id in ids]
    problems += [f"{end.project_id}: {said}" for end in ends for said in _misfits(end)]
    reckoning = reckon(deployment.workshop.database, sandbox.admin)
    problems += reckoning.problems
    if sum(end.cost for end in ends) != reckoning.booked:
        problems.append(f"the projects' costs add up to {sum(end.cost for end in ends)}, the attempts' to {reckoning.booked}")
    return Outcome(ends, kills, sandbox.admin.books().faults_fired, reckoning, problems)


def _misfits(end: ProjectStatus) -> list[str]:
    """What is wrong with how a project ended."""
    if end.status in FINISHED_STATES:
        return [] if end.film else ["is finished without a film"]
    if end.status not in _STOPPED:
        return [f"is still {end.status}"]
    if end.error_code is None:
        return [f"is {end.status} and does not say why"]
    landing = ERROR_RULES[end.error_code].lands_in
    if end.status != landing and end.error_code != "MODERATION_REJECTED":
        return [f"is {end.status} with {end.error_code}, which lands in {landing}"]
    return []


def report(plan: Plan, outcome: Outcome, *, seconds: float) -> str:
    """The table for people."""
    found = outcome.reckoning
    lines = [f"chaos: {plan.projects} projects x 3 shots, seed {plan.seed}, {seconds:.0f} s", ""]
    lines += [f"  {count:4d}  {how}" for how, count in sorted(Counter(_how(end) for end in outcome.ends).items())]
    lines += ["", "  killed: " + ", ".join(f"{name} {count}" for name, count in sorted(outcome.kills.items()))]
    lines += ["  faults: " + ", ".join(f"{name} {count}" for name, count in sorted(outcome.faults.items()))]
    lines += [
        "",
        f"  accepted by the sandbox {found.accepted:6d}   charged  {found.charged}",
        f"  owned by one attempt    {found.owned:6d}   booked   {found.booked}",
        f"  answers lost            {found.lost:6d}   booked for lost calls {found.booked_for_lost}",
        f"  booked, never arrived   {found.never_arrived:6d}",
        "",
    ]
    lines += [f"  WRONG: {problem}" for problem in outcome.problems] or ["  nothing disagrees"]
    return "\n".join(lines)


def _how(end: ProjectStatus) -> str:
    return end.status if end.error_code is None else f"{end.status} {end.error_code} at {end.fail_stage}"


def main() -> int:
    """Run one seed; 1 when anything disagrees."""
    parser = argparse.ArgumentParser(prog="python -m comic_pipeline_tests.acceptance.chaos", description=__doc__)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.15, help="share of the requests that meet a fault")
    parser.add_argument("--minutes", type=float, default=4.0, help="how long it is wild")
    parser.add_argument("--home", type=Path, help="keep everything here; a temporary folder when left out")
    chosen = parser.parse_args()
    # Whoever ends this program also wants its processes ended: as an exception, the signal gets as far as `Deployment.stop`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    plan = Plan(projects=chosen.projects, seed=chosen.seed, wild=chosen.minutes * 60, patience=900, rate=chosen.rate)
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        outcome = run(plan, chosen.home or Path(folder) / "home")
        print(report(plan, outcome, seconds=time.monotonic() - began))  # noqa: T201  # what the command is for
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
