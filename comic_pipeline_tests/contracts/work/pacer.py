"""Processes that send creates at once in real time, under one limit; says when each left.

`python -m … ` reads one plan (JSON) and forks a child for each worker. The answer is a list of unix seconds.
"""

import asyncio
import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from comic_pipeline.model.limits import ProviderLimit
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.store.database import Database
from comic_pipeline.work.clock import SystemClock
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.runner import make_all
from comic_pipeline_tests.builders import a_worker
from comic_pipeline_tests.contracts.work.bench import RULES, an_order
from comic_pipeline_tests.fakes import ScriptedProvider


class Plan(BaseModel):
    """What the children work with. `clumsy`: seconds that building a request may take."""

    url: str
    folder: str
    workers: tuple[str, ...]
    creates: int
    qps: float
    clumsy: float


def work(plan: Plan, number: int) -> list[float]:
    """Send this child's creates; when each left."""
    clock, dice = SystemClock(), random.Random(number)
    provider = ScriptedProvider(clock, name="paced")
    provider.always("build", lambda: asyncio.sleep(dice.uniform(0.0, plan.clumsy)))
    desk = Desk(
        database=Database(plan.url),
        objects=FolderStore(Path(plan.folder), media_url="/media"),
        clock=clock,
        worker=a_worker(plan.workers[number], stage_id=f"stage-{plan.workers[number]}"),
        rules=replace(RULES, limits={provider.name: ProviderLimit(jobs=100, qps=plan.qps)}),
    )
    orders = [an_order(provider, f"{number} {seq}", seq=100 * number + seq) for seq in range(plan.creates)]
    asyncio.run(make_all(desk, orders))
    return [sent.at.timestamp() for sent in provider.sent]


def main() -> None:
    """Fork, collect, print."""
    plan = Plan.model_validate_json(sys.stdin.readline())
    ends = []
    for number in range(len(plan.workers)):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, json.dumps(work(plan, number)).encode())
            os._exit(0)
        os.close(writing)
        ends.append(reading)
    left = []
    for end in ends:
        with os.fdopen(end, "rb") as pipe:
            left += json.loads(pipe.read() or b"[]")
        os.wait()
    sys.stdout.write(f"{json.dumps(sorted(left))}\n")


if __name__ == "__main__":
    main()
