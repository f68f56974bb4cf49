"""The gates themselves. Each loads one project's document, measures what must be measured, and gives a verdict."""

import asyncio

import dagster as dg

from comic_pipeline.defs.checks.verdict import give_verdict
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import run_stage
from comic_pipeline.media.probe import measure_video
from comic_pipeline.model.media import Clips, FinalVideo, FrameImages, Subtitles, VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.quality import GATES
from comic_pipeline.quality.film import FilmFacts, judge_film
from comic_pipeline.quality.pictures import judge_clips, judge_frames
from comic_pipeline.quality.sound import judge_voices
from comic_pipeline.quality.storyboard import judge_storyboard
from comic_pipeline.stages.labelling import check_film_label, check_frame_labels
from comic_pipeline.stages.studio import Studio

_WORKSHOP = {"workshop"}


@dg.asset_check(
    asset="storyboard", name=GATES["storyboard"], partitions_def=PROJECTS, blocking=True, required_resource_keys=_WORKSHOP
)
def storyboard_qc(context: dg.AssetCheckExecutionContext, storyboard: Storyboard) -> dg.AssetCheckResult:
    """The storyboard is complete, as long as asked, and speakable."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = judge_storyboard(storyboard, bucket=studio.project.bucket)
        return give_verdict(studio, asset="storyboard", check=GATES["storyboard"], document=storyboard, findings=findings)

    return run_stage(context, Stage.STORYBOARD, judge, show=_as_it_is)


@dg.asset_check(
    asset="frame_images",
    name=GATES["frame_images"],
    partitions_def=PROJECTS,
    blocking=True,
    required_resource_keys=_WORKSHOP,
    additional_ins={"storyboard": dg.AssetIn("storyboard")},
)
def frame_images_qc(
    context: dg.AssetCheckExecutionContext, frame_images: FrameImages, storyboard: Storyboard
) -> dg.AssetCheckResult:
    """Every shot has its own picture in the film's shape; the copies that people see carry the AI label."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = judge_frames(frame_images, storyboard, frame=studio.project.size)
        findings += await asyncio.to_thread(check_frame_labels, studio, frame_images)
        return give_verdict(studio, asset="frame_images", check=GATES["frame_images"], document=frame_images, findings=findings)

    return run_stage(context, Stage.FRAMES, judge, show=_as_it_is)


@dg.asset_check(
    asset="voice_lines",
    name=GATES["voice_lines"],
    partitions_def=PROJECTS,
    blocking=True,
    required_resource_keys=_WORKSHOP,
    additional_ins={"storyboard": dg.AssetIn("storyboard")},
)
def voice_lines_qc(
    context: dg.AssetCheckExecutionContext, voice_lines: VoiceLines, storyboard: Storyboard
) -> dg.AssetCheckResult:
    """Every line is spoken, at a plausible speed."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = judge_voices(voice_lines, storyboard)
        return give_verdict(studio, asset="voice_lines", check=GATES["voice_lines"], document=voice_lines, findings=findings)

    return run_stage(context, Stage.VOICES, judge, show=_as_it_is)


@dg.asset_check(
    asset="clips",
    name=GATES["clips"],
    partitions_def=PROJECTS,
    blocking=True,
    required_resource_keys=_WORKSHOP,
    additional_ins={"storyboard": dg.AssetIn("storyboard")},
)
def clips_qc(context: dg.AssetCheckExecutionContext, clips: Clips, storyboard: Storyboard) -> dg.AssetCheckResult:
    """Every shot has a clip in the film's shape that is long enough."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        findings = judge_clips(clips, storyboard, frame=studio.project.size)
        return give_verdict(studio, asset="clips", check=GATES["clips"], document=clips, findings=findings)

    return run_stage(context, Stage.CLIPS, judge, show=_as_it_is)


@dg.asset_check(
    asset="final_video",
    name=GATES["final_video"],
    partitions_def=PROJECTS,
    blocking=True,
    required_resource_keys=_WORKSHOP,
    additional_ins={"subtitles": dg.AssetIn("subtitles")},
)
def final_video_qc(context: dg.AssetCheckExecutionContext, final_video: FinalVideo, subtitles: Subtitles) -> dg.AssetCheckResult:
    """The film's file is what was planned: streams, size, rate, length, sound, words, AI label."""

    async def judge(studio: Studio) -> dg.AssetCheckResult:
        facts = await asyncio.to_thread(_measure, studio, final_video)
        findings = judge_film(facts, frame=studio.project.size, planned_ms=final_video.planned_ms, cues=len(subtitles.cues))
        findings += await asyncio.to_thread(check_film_label, studio, final_video)
        return give_verdict(studio, asset="final_video", check=GATES["final_video"], document=final_video, findings=findings)

    return run_stage(context, Stage.FILM, judge, show=_as_it_is)


def _as_it_is(result: dg.AssetCheckResult) -> dg.AssetCheckResult:
    return result


def _measure(studio: Studio, film: FinalVideo) -> FilmFacts:
    with studio.desk.objects.local(film.media.key) as path:
        facts = measure_video(path)
    sound = facts.audio
    return FilmFacts(
        codec=facts.codec,
        pix_fmt=facts.pix_fmt,
        width=facts.width,
        height=facts.height,
        fps=facts.fps,
        duration_ms=facts.duration_ms,
        audio_codec=sound.codec if sound else "",
        audio_ms=sound.duration_ms if sound else 0,
        subtitle_streams=facts.subtitle_streams,
        faststart=facts.faststart,
    )
