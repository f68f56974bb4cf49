"""Gate of group pictures."""

import asyncio

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.measured import PictureFacts, Unreadable
from comic_pipeline.model.media import FrameImages
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality.frames import closest, judge_frames
from comic_pipeline.settings import FrameFailure
from comic_pipeline.stages.inspecting import inspect_frames, prove_frames
from comic_pipeline.stages.labelling import check_frame_labels
from comic_pipeline.stages.studio import Studio

_CHECK = "frame_images_qc"


@dg.asset_check(**gate(_CHECK), additional_ins={"storyboard": dg.AssetIn("storyboard")})
def frame_images_qc(
    context: dg.AssetCheckExecutionContext, frame_images: FrameImages, storyboard: Storyboard
) -> dg.AssetCheckResult:
    """Every picture decoded once and measured; the pictures that are at fault are shown."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        measured = await inspect_frames(studio, frame_images)
        cards = studio.settings.on_frame_failure is FrameFailure.PLACEHOLDER
        findings = judge_frames(frame_images, storyboard, frame=studio.project.size, measured=measured, cards_allowed=cards)
        findings += await asyncio.to_thread(check_frame_labels, studio, frame_images)
        proof = await prove_frames(studio, frame_images, findings)
        rows = [_row(seq, facts, measured) for seq, facts in measured.items()]
        return give_verdict(studio, check=_CHECK, document=frame_images, findings=findings, measured=rows, proof=proof)

    return run_stage(context, Stage.FRAMES, judge, show=as_it_is)


def _row(seq: int, facts: PictureFacts | Unreadable, measured: dict[int, PictureFacts | Unreadable]) -> Row:
    good = facts if isinstance(facts, PictureFacts) else None
    return {
        "shot": seq,
        "type": good.mime if good else "unreadable",
        "size": f"{good.width}x{good.height}" if good else "",
        "brightness": good.brightness if good else None,
        "contrast": good.contrast if good else None,
        "sharpness": good.sharpness if good else None,
        "bits_from_closest": closest(seq, measured),
    }
