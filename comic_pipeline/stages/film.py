"""From clips, lines and words to the film: subtitles in film time, the render, the cover."""

import asyncio
from dataclasses import replace

from comic_pipeline.media.aigc import mark_picture
from comic_pipeline.media.fonts import font_name
from comic_pipeline.media.image import contact_sheet, make_cover, thumbnail
from comic_pipeline.media.label import draw_label
from comic_pipeline.media.moments import moments_of
from comic_pipeline.media.subtitles import make_cues, to_ass, to_srt
from comic_pipeline.model.media import (
    Clips,
    CoverImage,
    FinalVideo,
    FrameImages,
    MediaRef,
    Music,
    Subtitles,
    VoiceLines,
)
from comic_pipeline.model.project import FPS, Language
from comic_pipeline.model.storyboard import OverrideField, Storyboard
from comic_pipeline.model.task import TaskType, hash_of
from comic_pipeline.model.timeline import Timeline, plan_timeline
from comic_pipeline.model.workflow import Stage
from comic_pipeline.providers.render import FilmRequest, FilmShotRequest, LocalRender
from comic_pipeline.stages.studio import Studio, rule_of
from comic_pipeline.stages.verifying import verify_image, verify_video
from comic_pipeline.work.orders import Order, Verified
from comic_pipeline.work.runner import make_all

# Pixels; the UI clips what is wider in a window of usual size.
_PREVIEW_WIDTH = 480
_OFFLINE_NOTE = {Language.ZH: "离线样片 · 由程序绘制与合成", Language.EN: "Offline sample · drawn and voiced by program"}


def lay_out(voices: VoiceLines, clips: Clips) -> Timeline:
    """When each shot plays, from the measured lengths of its clip and its line."""
    spoken = {line.seq: line.media.duration_ms for line in voices.lines if line.media is not None}
    return plan_timeline([(clip.seq, clip.media.duration_ms or 0, spoken.get(clip.seq)) for clip in clips.clips], fps=FPS)


async def write_subtitles(studio: Studio, voices: VoiceLines, clips: Clips) -> Subtitles:
    """Cues timed by the real voices. A line that was silenced is still shown, over its whole shot."""
    cues = make_cues(lay_out(voices, clips), {line.seq: line.text for line in voices.lines if line.text})
    if not cues:
        return Subtitles(cues=(), srt=None)
    srt = Verified(to_srt(cues).encode(), mime="application/x-subrip", ending="srt")
    ass = Verified(to_ass(cues, frame=studio.project.size, font=font_name()).encode(), mime="text/x-ssa", ending="ass")
    return Subtitles(cues=cues, srt=await studio.store(srt, folder="subtitles"), ass=await studio.store(ass, folder="subtitles"))


async def render(
    studio: Studio, storyboard: Storyboard, voices: VoiceLines, clips: Clips, subtitles: Subtitles, music: Music
) -> FinalVideo:
    """The film: a task of its own, so that an unchanged film is never rendered twice. Raises ShotsFailed with FFMPEG_FAILED."""
    timeline, rule = lay_out(voices, clips), rule_of(Stage.FILM)
    shots = _shots(timeline, voices, clips)
    request = FilmRequest(
        frame=studio.project.size,
        fps=FPS,
        shots=shots,
        cues=subtitles.cues,
        title=storyboard.title,
        language=studio.project.language,
        music=music.media,
        crossfade_ms=studio.settings.crossfade_ms,
    )
    provider = LocalRender(objects=studio.desk.objects, ffmpeg=studio.settings.ffmpeg, timeout=rule.deadline)
    media_in = [media for shot in shots for media in (shot.clip, shot.voice)] + [music.media]
    order = Order(
        project_id=studio.project.id,
        task_type=TaskType.FILM_RENDER,
        queue=rule.queue,
        deadline=rule.deadline,
        shot_seq=None,
        take=studio.overrides().take(0, OverrideField.TAKE_FILM),
        provider=provider,
        request=replace(request, label=studio.ai_label(hash_of(provider.describe(request)))),
        template_hash="",
        inputs=tuple(media.sha256 for media in media_in if media is not None),
        folder="film",
        verify=verify_video,
    )
    (done,) = (await make_all(studio.desk, [order])).settle(now=studio.now())
    return FinalVideo(
        title=storyboard.title,
        media=done.media,
        planned_ms=timeline.length_ms,
        made=done.made,
        offline=studio.any_offline,
    )


def _shots(timeline: Timeline, voices: VoiceLines, clips: Clips) -> tuple[FilmShotRequest, ...]:
    lines = {line.seq: line.media for line in voices.lines}
    return tuple(
        FilmShotRequest(
            seq=timing.seq,
            clip=clip.media,
            length_ms=timing.length_ms,
            voice=lines.get(timing.seq),
            voice_offset_ms=(timing.voice_start_ms or timing.start_ms) - timing.start_ms,
        )
        for timing, clip in zip(timeline.shots, clips.clips, strict=True)
    )


async def paint_cover(studio: Studio, storyboard: Storyboard, frames: FrameImages) -> tuple[CoverImage, MediaRef]:
    """The first picture under the title, and a small copy for the UI. Small print says when offline providers took part."""
    first = min(frames.frames, key=lambda frame: frame.seq)
    picture = await studio.desk.read(first.media)
    note = _OFFLINE_NOTE[studio.project.language] if studio.any_offline else ""
    data = await asyncio.to_thread(make_cover, picture, title=storyboard.title, small_print=note, frame=studio.project.size)
    label = studio.ai_label(first.media.sha256)
    if label:
        data = mark_picture(await asyncio.to_thread(draw_label, data, label.text), label.mark)
    cover = CoverImage(media=await studio.store(verify_image(data), folder="cover"))
    return cover, await shrink_cover(studio, cover)


async def shrink_cover(studio: Studio, cover: CoverImage) -> MediaRef:
    """A small copy of a stored cover for the UI; the same cover gives the same file."""
    data = await studio.desk.read(cover.media)
    small = await asyncio.to_thread(thumbnail, data, width=_PREVIEW_WIDTH)
    label = studio.ai_label(cover.media.sha256)
    return await studio.store(verify_image(mark_picture(small, label.mark) if label else small), folder="previews", name="cover")


async def lay_film_sheet(studio: Studio, film: FinalVideo, timeline: Timeline) -> MediaRef:
    """The middle of every shot as the film shows it, subtitles included, numbered, on one sheet for people."""

    def draw(heading: str) -> bytes:
        with studio.desk.objects.local(film.media.key) as path:
            middles = [(shot.start_ms + shot.end_ms) // 2 for shot in timeline.shots]
            moments = moments_of(path, middles, width=_PREVIEW_WIDTH)
        return contact_sheet(moments, columns=min(3, len(moments)), width=_PREVIEW_WIDTH, heading=heading)

    label = studio.ai_label(film.media.sha256)
    sheet = await asyncio.to_thread(draw, label.text if label else "")
    return await studio.store(verify_image(mark_picture(sheet, label.mark) if label else sheet), folder="previews", name="film")
