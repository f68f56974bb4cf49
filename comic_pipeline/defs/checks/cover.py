"""The gate of the cover: what people see first says that AI made it."""

import asyncio

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.media import CoverImage
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.labelling import check_cover_label
from comic_pipeline.stages.studio import Studio

_CHECK = "cover_image_qc"


@dg.asset_check(**gate(_CHECK))
def cover_image_qc(context: dg.AssetCheckExecutionContext, cover_image: CoverImage) -> dg.AssetCheckResult:
    """The cover carries the AI label, in the picture and in the file."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = await asyncio.to_thread(check_cover_label, studio, cover_image)
        size = f"{cover_image.media.width}x{cover_image.media.height}"
        rows: list[Row] = [{"what": "size", "measured": size}, {"what": "bytes", "measured": str(cover_image.media.size)}]
        return give_verdict(studio, check=_CHECK, document=cover_image, findings=findings, measured=rows)

    return run_stage(context, Stage.FILM, judge, show=as_it_is)
