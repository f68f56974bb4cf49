"""One job a stage: its assets and their checks, one project at a time, in one process."""

import dagster as dg

from comic_pipeline.model.workflow import STAGE_RULES

STAGE_JOBS = [
    dg.define_asset_job(
        rule.job,
        selection=dg.AssetSelection.assets(*rule.assets),
        description=f"One round of the stage {rule.stage} of one project: {', '.join(rule.assets)} and their checks.",
        tags={"comic/stage": rule.stage.value, "comic/queue": rule.queue},
    )
    for rule in STAGE_RULES.values()
]
