"""Gate of group motion."""

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.measured import ClipFacts, Unreadable
from comic_pipeline.model.media import Clips, FrameImages
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality.clips import judge_clips
from comic_pipeline.stages.inspecting import inspect_clips, prove_clips
from comic_pipeline.stages.studio import Studio

_CHECK = "clips_qc"


@dg.asset_check(
    **gate(_CHECK), additional_ins={"storyboard": dg.AssetIn("storyboard"), "frame_images": dg.AssetIn("frame_images")}
)
def clips_qc(
    context: dg.AssetCheckExecutionContext, clips: Clips, storyboard: Storyboard, frame_images: FrameImages
) -> dg.AssetCheckResult:
    """Every clip decoded once to its end; those at fault are shown beside the images that they started from."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        measured, firsts = await inspect_clips(studio, clips, frame_images)
        findings = judge_clips(clips, storyboard, frame=studio.project.size, measured=measured)
        proof = await prove_clips(studio, frame_images, firsts, findings)
        rows = [_row(seq, facts) for seq, facts in measured.items()]
        return give_verdict(studio, check=_CHECK, document=clips, findings=findings, measured=rows, proof=proof)

    return run_stage(context, Stage.CLIPS, judge, show=as_it_is)


def _row(seq: int, facts: ClipFacts | Unreadable) -> Row:
    good = facts if isinstance(facts, ClipFacts) else None
    return {
        "shot": seq,
        "size": f"{good.width}x{good.height}" if good else "unreadable",
        "fps": round(good.fps, 3) if good else None,
        "ms": good.duration_ms if good else None,
        "black_ms": good.black.length_ms if good else None,
        "still_ms": good.still.length_ms if good else None,
        "first_frame_ssim": good.likeness if good else None,
        "sound_dbfs": good.sound_dbfs if good else None,
    }
