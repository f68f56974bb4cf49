"""Group film: what is shown in the end."""

import dagster as dg

from comic_pipeline.defs.metadata import code_versions, data_version, link, picture, production_metadata
from comic_pipeline.defs.owners import FILM
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.manifest import StoredFile
from comic_pipeline.model.media import Clips, CoverImage, FinalVideo, FrameImages, MediaRef, Music, Subtitles, VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.film import lay_film_sheet, lay_out, paint_cover, render, write_subtitles
from comic_pipeline.stages.manifest import write_manifest
from comic_pipeline.stages.studio import Studio


@dg.asset(
    partitions_def=PROJECTS,
    group_name="film",
    owners=[FILM],
    kinds={"text", "json"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "subtitles"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def subtitles(context: dg.AssetExecutionContext, voice_lines: VoiceLines, clips: Clips) -> dg.Output[Subtitles]:
    """Cues in film time, timed by the measured voices, and the `.srt` and `.ass` made of them."""
    return run_stage(
        context,
        Stage.FILM,
        lambda studio: write_subtitles(studio, voice_lines, clips),
        show=lambda made: _show_subtitles(context, made),
        given={"voice_lines": voice_lines, "clips": clips},
    )


def _show_subtitles(context: dg.AssetExecutionContext, written: Subtitles) -> dg.Output[Subtitles]:
    objects = context.resources.workshop.objects
    files = {media.key.rsplit(".", 1)[-1]: link(objects, media) for media in (written.srt, written.ass) if media}
    return dg.Output(
        written,
        data_version=data_version(written),
        metadata={"cues": len(written.cues), "characters": sum(len(cue.text) for cue in written.cues), **files},
    )


@dg.asset(
    partitions_def=PROJECTS,
    group_name="film",
    owners=[FILM],
    kinds={"video", "ffmpeg"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "render"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def final_video(
    context: dg.AssetExecutionContext,
    storyboard: Storyboard,
    voice_lines: VoiceLines,
    clips: Clips,
    subtitles: Subtitles,
    music: Music,
) -> dg.Output[FinalVideo]:
    """The film: H.264 and AAC in one MP4, voices in place over the music, subtitles burned in and as a soft track, AI label.

    Its manifest says where every byte came from; the one of `review_page` also has the verdict of the film's gate.
    """

    async def work(studio: Studio) -> tuple[FinalVideo, MediaRef, MediaRef]:
        film = await render(studio, storyboard, voice_lines, clips, subtitles, music)
        files = [StoredFile(role="subtitles", media=words) for words in (subtitles.srt, subtitles.ass) if words]
        provenance = await write_manifest(studio, film.media, files=files, code_versions=code_versions(context))
        return film, await lay_film_sheet(studio, film, lay_out(voice_lines, clips)), provenance.stored

    given = {"storyboard": storyboard, "voice_lines": voice_lines, "clips": clips}
    return run_stage(context, Stage.FILM, work, show=lambda made: _show_film(context, made), given=given)


def _show_film(context: dg.AssetExecutionContext, made: tuple[FinalVideo, MediaRef, MediaRef]) -> dg.Output[FinalVideo]:
    film, sheet, manifest = made
    objects = context.resources.workshop.objects
    return dg.Output(
        film,
        data_version=data_version(film),
        metadata={
            "preview": picture(objects, sheet),
            "film": link(objects, film.media),
            "manifest": link(objects, manifest),
            "title": film.title,
            "seconds": (film.media.duration_ms or 0) / 1000,
            "size": f"{film.media.width}x{film.media.height}",
            "megabytes": round(film.media.size / 1e6, 2),
            "offline_material": film.offline,
            **production_metadata([film.made]),
        },
    )


@dg.asset(
    partitions_def=PROJECTS,
    group_name="film",
    owners=[FILM],
    kinds={"image", "pillow"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "cover"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def cover_image(context: dg.AssetExecutionContext, storyboard: Storyboard, frame_images: FrameImages) -> dg.Output[CoverImage]:
    """The first picture under the title; labelled as made by AI; small print says when offline providers took part."""
    return run_stage(
        context,
        Stage.FILM,
        lambda studio: paint_cover(studio, storyboard, frame_images),
        show=lambda made: _show_cover(context, made),
        given={"storyboard": storyboard, "frame_images": frame_images},
    )


def _show_cover(context: dg.AssetExecutionContext, made: tuple[CoverImage, MediaRef]) -> dg.Output[CoverImage]:
    cover, preview = made
    objects = context.resources.workshop.objects
    return dg.Output(
        cover,
        data_version=data_version(cover),
        metadata={
            "preview": picture(objects, preview),
            "cover": link(objects, cover.media),
            "size": f"{cover.media.width}x{cover.media.height}",
        },
    )
