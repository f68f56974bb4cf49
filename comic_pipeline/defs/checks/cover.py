"""The gate of the cover: what people see first says that AI made it."""

import asyncio

import dagster as dg

from comic_pipeline.defs.checks.verdict import give_verdict
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.media import CoverImage
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality import GATES
from comic_pipeline.stages.labelling import check_cover_label
from comic_pipeline.stages.studio import Studio


@dg.asset_check(
    asset="cover_image",
    name=GATES["cover_image"],
    partitions_def=PROJECTS,
    blocking=True,
    required_resource_keys={"workshop"},
)
def cover_image_qc(context: dg.AssetCheckExecutionContext, cover_image: CoverImage) -> dg.AssetCheckResult:
    """The cover carries the AI label, in the picture and in the file."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = await asyncio.to_thread(check_cover_label, studio, cover_image)
        return give_verdict(studio, asset="cover_image", check=GATES["cover_image"], document=cover_image, findings=findings)

    return run_stage(context, Stage.FILM, judge, show=lambda result: result)
