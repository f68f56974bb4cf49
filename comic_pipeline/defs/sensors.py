"""The sensor that drives the reconciler and turns its launches into run requests.

It long-polls: each evaluation looks every 250 ms and returns before 4.0 s are over, because Dagster's sensor loop turns every 5 s
and a tick that takes longer flips it to 10 s. What is left is for the call itself and the tick's own rows.
"""

import time
from datetime import UTC, datetime

import dagster as dg

from comic_pipeline.defs.jobs import STAGE_JOBS
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.runs import DagsterRuns
from comic_pipeline.launching import Launch
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.workflow import Pass, Reconciler

LOOK_EVERY = 0.25
# Measured on two cores with ten processes waiting for them: a tick takes 0.6 s more (median), so that with 4.5 s three periods of
# four were 10 s. On an idle machine half a second less of looking costs a stage 0.08 s on average.
EVALUATION = 4.0


@dg.sensor(
    name="workflow_sensor",
    jobs=STAGE_JOBS,
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"workshop"},
    description="Admits submissions, starts the next stages, and decides what ended runs mean: runs only report.",
)
def workflow_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """One evaluation of the reconciler."""
    workshop: Workshop = context.resources.workshop
    reconciler = Reconciler(
        database=workshop.database, settings=workshop.settings, runs=DagsterRuns(context.instance), now=lambda: datetime.now(UTC)
    )
    if not reconciler.take():
        return dg.SkipReason("another evaluation is looking")
    try:
        seen = _look_until_something(reconciler)
    finally:
        reconciler.leave()
    for refused in seen.refused:
        context.log.error(refused)
    if not seen.launches:
        return dg.SkipReason(f"nothing to start; {seen.changed} rows moved")
    keys = sorted({launch.project_id for launch in seen.launches})
    return dg.SensorResult(
        run_requests=[_request(launch) for launch in seen.launches],
        dynamic_partitions_requests=[PROJECTS.build_add_request(keys)],
    )


def _look_until_something(reconciler: Reconciler) -> Pass:
    began = time.monotonic()
    changed = 0
    refused: list[str] = []
    while True:
        before = time.monotonic()
        seen = reconciler.tick()
        changed, refused = changed + seen.changed, [*refused, *seen.refused]
        took = time.monotonic() - before
        pause = max(LOOK_EVERY, 3 * took)
        over = time.monotonic() - began + pause + took > EVALUATION
        if seen.launches or over:
            return Pass(launches=seen.launches, changed=changed, refused=tuple(refused))
        # With many projects a look takes longer: then it looks less often, and this process is idle three quarters of the time.
        time.sleep(pause)


def _request(launch: Launch) -> dg.RunRequest:
    return dg.RunRequest(run_key=launch.stage_id, job_name=launch.job, partition_key=launch.project_id, tags=dict(launch.tags))
