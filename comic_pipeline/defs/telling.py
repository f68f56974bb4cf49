"""Two sensors that start no runs: one sends what the outbox holds, one looks at the numbers that alerts are made of.

They have threads of their own (`sensors: {use_threads: true}`), so that a receiver that hangs holds up no film.
"""

from datetime import UTC, datetime

import dagster as dg

from comic_pipeline.model.alerting import Act
from comic_pipeline.notify.courier import Courier
from comic_pipeline.notify.space import bucket_size, read_cursor, read_space
from comic_pipeline.notify.target import target_of
from comic_pipeline.notify.watch import look
from comic_pipeline.stages.workshop import Workshop

# Seconds of sending in one evaluation; with one more call it stays below the 60 s that Dagster allows.
_SENDING = 20.0


@dg.sensor(
    name="notification_sensor",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"workshop"},
    tags={"comic/queue": "notification_queue"},
    description="Posts notices (film ready, approved, failed, needs an operator; alerts) to COMIC_WEBHOOK_URL, signed, retried.",
)
def notification_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """One batch. Without an address nothing is read and nothing is sent."""
    workshop: Workshop = context.resources.workshop
    target = target_of(workshop.settings)
    if target is None:
        return dg.SkipReason("COMIC_WEBHOOK_URL is not set")
    courier = Courier(workshop.database, target, tries=workshop.settings.webhook_tries, now=lambda: datetime.now(UTC))
    done = courier.deliver(seconds=_SENDING)
    for fault in done.faults:
        context.log.warning(fault)
    return dg.SkipReason(f"{done.sent} sent, {done.postponed} go again, {done.dead} given up")


@dg.sensor(
    name="alerts_sensor",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"workshop"},
    description="Raises and clears alerts by COMIC_ALERTS: failures, backlogs, costs, space. Each change is one notice.",
)
def alerts_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """One look. The cursor keeps the last size of the bucket."""
    workshop: Workshop = context.resources.workshop
    settings, now, known = workshop.settings, datetime.now(UTC), read_cursor(context.cursor)
    bucket = bucket_size(settings, workshop.objects, known, now=now)
    if bucket is not None and bucket != known:
        context.update_cursor(bucket.model_dump_json())
    steps = look(workshop.database, settings, space=read_space(settings, bucket), now=now)
    for step in steps:
        if step.act in (Act.RAISE, Act.CLEAR):
            context.log.warning("%s: %s", step.act, step.en)
    return dg.SkipReason("; ".join(f"{step.act} {step.rule} {step.subject}" for step in steps) or "nothing changed")
