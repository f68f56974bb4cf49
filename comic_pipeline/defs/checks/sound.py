"""Gate of group sound."""

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.measured import SoundFacts, Unreadable
from comic_pipeline.model.media import VoiceLine, VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality.voices import judge_voices
from comic_pipeline.stages.inspecting import inspect_voices
from comic_pipeline.stages.studio import Studio

_CHECK = "voice_lines_qc"


@dg.asset_check(**gate(_CHECK), additional_ins={"storyboard": dg.AssetIn("storyboard")})
def voice_lines_qc(
    context: dg.AssetCheckExecutionContext, voice_lines: VoiceLines, storyboard: Storyboard
) -> dg.AssetCheckResult:
    """Every voice decoded once and measured against its words."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        measured = await inspect_voices(studio, voice_lines)
        findings = judge_voices(voice_lines, storyboard, measured=measured)
        rows = [_row(line, measured.get(line.seq)) for line in voice_lines.lines]
        return give_verdict(studio, check=_CHECK, document=voice_lines, findings=findings, measured=rows)

    return run_stage(context, Stage.VOICES, judge, show=as_it_is)


def _row(line: VoiceLine, facts: SoundFacts | Unreadable | None) -> Row:
    good = facts if isinstance(facts, SoundFacts) else None
    return {
        "shot": line.seq,
        "type": "unreadable" if isinstance(facts, Unreadable) else good.mime if good else "nothing said",
        "ms": good.duration_ms if good else None,
        "characters": sum(char.isalnum() for char in line.text),
        "lufs": good.lufs if good else None,
        "rms_dbfs": good.rms_dbfs if good else None,
        "peak_dbfs": good.peak_dbfs if good else None,
        "percent_at_peak": round(100 * good.peak_share, 3) if good else None,
    }
