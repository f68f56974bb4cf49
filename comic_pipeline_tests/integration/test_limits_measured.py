"""Limits as the provider sees them: jobs at once and creates a second over all runs, and what waiting costs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from comic_pipeline import service
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import ProjectState, SubmissionKind
from comic_pipeline.store.schema import submissions
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit
from comic_pipeline_tests.reckoning import leftovers
from comic_pipeline_tests.sandbox.faults import Route
from comic_pipeline_tests.sandbox.jobs import JobReport
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.timeout(1_200), pytest.mark.endurance]

_JOBS, _CREATES_A_SECOND, _PICTURES_A_SECOND = 2, 1.0, 1.0
_JOB_SECONDS = 30.0
# Seconds: the sandbox notes an arrival when its process is given the processor.
_NOTED_LATE = 0.03
_WAITING = 50
_LOOK_SECONDS = 30.0


@contextmanager
def deployed(home: Path, *, video_seconds: float, limits: str) -> Iterator[tuple[Deployment, Sandbox]]:
    """A running deployment with these limits."""
    with start_sandbox(latency={"video": video_seconds}) as sandbox:
        environment = sandbox_environment(sandbox, COMIC_LIMITS=limits, ARK_IMAGE_MODEL="doubao-seedream-4-0-250828")
        with Deployment(home=home, environment=environment) as deployment:
            yield deployment, sandbox


def test_two_projects_together_stay_within_the_limits_and_use_them(tmp_path: Path) -> None:
    """Six clips of two runs share two jobs and one create a second: never more at the provider, and hardly ever less."""
    limits = f"ark_video={_JOBS}/{_CREATES_A_SECOND},ark_image=10/{_PICTURES_A_SECOND}"
    with deployed(tmp_path / "home", video_seconds=_JOB_SECONDS, limits=limits) as (deployment, sandbox):
        ids = [submit(deployment, "一只小狗学会了飞", user="ann"), submit(deployment, "A robot paints the sea", user="ben")]
        ends = [finished(deployment, project_id) for project_id in ids]

        assert [end.status for end in ends] == [ProjectState.PENDING_REVIEW] * 2
        books = sandbox.admin.books()
        assert books.video_jobs == 6
        assert books.max_open_videos == _JOBS
        used = _utilisation(sandbox.admin.jobs())
        print(f"jobs at once {books.max_open_videos}, used {used:.1%} of the limit under load")  # noqa: T201
        assert used > 0.9
        for provider, route, rate in (
            ("ark_video", Route.VIDEO_CREATE, _CREATES_A_SECOND),
            ("ark_image", Route.IMAGE, _PICTURES_A_SECOND),
        ):
            gap = _smallest_gap(books.arrivals[route])
            print(f"{provider}: arrived at least {gap:.3f} s apart")  # noqa: T201
            assert gap >= 1.0 / rate - _NOTED_LATE
        # Clips wait for places, pictures for their turn alone.
        used = _rate_used(books.arrivals[Route.IMAGE], rate=_PICTURES_A_SECOND)
        print(f"{used:.1%} of the pictures' rate used under load")  # noqa: T201
        assert used > 0.9
        wait_for("nothing held", lambda: not leftovers(deployment.workshop.database), seconds=30)


def test_fifty_waiting_submissions_cost_next_to_nothing(tmp_path: Path) -> None:
    """Field case ArcReel 640: a claim and requeue loop wrote 684 MB of logs. Here: flat log, flat CPU, in order."""
    with deployed(tmp_path / "home", video_seconds=600, limits="ark_video=1/5") as (deployment, sandbox):
        _submit_many(deployment, count=_WAITING + 1)
        wait_for("a clip at the provider", lambda: sandbox.admin.books().video_jobs == 1, seconds=120)
        wait_for("fifty in line", lambda: _count(deployment, "waiting") == _WAITING, seconds=60)
        wait_for("the clips' run alone", lambda: len(deployment.run_processes()) == 1, seconds=60)

        lines, cpu, began = _log_lines(deployment), _cpu_seconds(deployment), time.monotonic()
        time.sleep(_LOOK_SECONDS)
        took = time.monotonic() - began
        lines, share = _log_lines(deployment) - lines, (_cpu_seconds(deployment) - cpu) / took

        print(f"{_WAITING} waiting for {took:.0f} s: {lines} log lines, {share:.0%} of a core")  # noqa: T201
        assert lines < 400
        assert share < 0.6
        assert sandbox.admin.books().video_jobs == 1
        assert _count(deployment, "waiting") == _WAITING


def _submit_many(deployment: Deployment, *, count: int) -> None:
    """Films of one paid user, who may have one in production at a time."""
    for number in range(count):
        payload = f'{{"idea": "第{number}个故事：一只小狗学会了飞"}}'
        new = NewSubmission(kind=SubmissionKind.PRODUCE, user_id="ann", tier=Tier.PREMIUM, payload=payload)
        with deployment.workshop.database.write() as connection:
            service.submit(connection, new, now=deployment.workshop.clock.now())


def _count(deployment: Deployment, status: str) -> int:
    with deployment.workshop.database.read() as connection:
        return int(connection.execute(select(func.count()).where(submissions.c.status == status)).scalar_one())


def _utilisation(jobs: list[JobReport]) -> float:
    """The used part of the job limit while more was wanted: from the moment the limit was first reached to the last create."""
    begins = sorted(job.created_at for job in jobs)
    start, end = begins[_JOBS - 1], begins[-1]
    used = sum(max(0.0, min(job.ended_at or end, end) - max(job.created_at, start)) for job in jobs)
    return used / (_JOBS * (end - start))


def _rate_used(times: list[float], *, rate: float) -> float:
    """The used part of the rate while more was wanted: a pause of over two turns is nobody's wish."""
    busy = [gap for gap in (later - earlier for earlier, later in pairwise(sorted(times))) if gap <= 2.0 / rate]
    return len(busy) / (rate * sum(busy))


def _smallest_gap(times: list[float]) -> float:
    """Seconds between the two moments that followed each other most closely."""
    return min(later - earlier for earlier, later in pairwise(sorted(times)))


def _log_lines(deployment: Deployment) -> int:
    """Lines that all processes have written so far, runs included."""
    files = [*deployment.home.glob("*.log"), *deployment.home.glob("files/**/*.err"), *deployment.home.glob("files/**/*.out")]
    return sum(path.read_bytes().count(b"\n") for path in files)


def _cpu_seconds(deployment: Deployment) -> float:
    """CPU time of code server and daemon so far, without the runs."""
    times = [psutil.Process(deployment.processes[name].pid).cpu_times() for name in ("code", "daemon")]
    return sum(one.user + one.system for one in times)
