"""Gate of group story."""

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality.storyboard import judge_storyboard, speech_ms
from comic_pipeline.stages.studio import Studio

_CHECK = "storyboard_qc"


@dg.asset_check(**gate(_CHECK))
def storyboard_qc(context: dg.AssetCheckExecutionContext, storyboard: Storyboard) -> dg.AssetCheckResult:
    """The storyboard as it was written; operators' later words are theirs to answer for."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = judge_storyboard(storyboard, bucket=studio.project.bucket, banned=studio.settings.banned_words)
        rows = [_row(shot) for shot in storyboard.shots]
        return give_verdict(studio, check=_CHECK, document=storyboard, findings=findings, measured=rows)

    return run_stage(context, Stage.STORYBOARD, judge, show=as_it_is)


def _row(shot: Shot) -> Row:
    return {
        "shot": shot.seq,
        "ms": shot.duration_ms,
        "speech_ms": speech_ms(shot.spoken),
        "speaker": shot.voice_of,
        "prompt_characters": len(shot.image_prompt),
    }
