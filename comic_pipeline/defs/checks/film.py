"""Gate of group film."""

import asyncio
from dataclasses import asdict

import dagster as dg

from comic_pipeline.defs.checks.verdict import as_it_is, gate, give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.measured import FilmFacts
from comic_pipeline.model.media import FinalVideo, Music, Subtitles, VoiceLines
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality.film import judge_film
from comic_pipeline.stages.inspecting import inspect_film
from comic_pipeline.stages.labelling import check_film_label
from comic_pipeline.stages.studio import Studio

_CHECK = "final_video_qc"


@dg.asset_check(
    **gate(_CHECK),
    additional_ins={"subtitles": dg.AssetIn("subtitles"), "voice_lines": dg.AssetIn("voice_lines"), "music": dg.AssetIn("music")},
)
def final_video_qc(
    context: dg.AssetCheckExecutionContext, final_video: FinalVideo, subtitles: Subtitles, voice_lines: VoiceLines, music: Music
) -> dg.AssetCheckResult:
    """The film decoded once and measured against its plan."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        facts = await inspect_film(studio, final_video, subtitles)
        findings = judge_film(
            facts,
            frame=studio.project.size,
            planned_ms=final_video.planned_ms,
            cues=len(subtitles.cues),
            audible=music.media is not None or any(line.media for line in voice_lines.lines),
        )
        findings += await asyncio.to_thread(check_film_label, studio, final_video)
        return give_verdict(studio, check=_CHECK, document=final_video, findings=findings, measured=_rows(facts))

    return run_stage(context, Stage.FILM, judge, show=as_it_is)


def _rows(facts: FilmFacts) -> list[Row]:
    """One row a number: there is one film."""
    numbers = asdict(facts) | {"black": f"{facts.black.length_ms} ms from {facts.black.start_ms} ms on"}
    return [{"what": name, "measured": str(value)} for name, value in numbers.items()]
