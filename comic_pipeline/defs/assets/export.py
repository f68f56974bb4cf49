"""Group film: what others get of it, made once its gate is open."""

import dagster as dg

from comic_pipeline.defs.metadata import code_versions, data_version, link, picture
from comic_pipeline.defs.owners import FILM
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.media import (
    Clips,
    CoverImage,
    FinalVideo,
    FrameImages,
    MediaRef,
    Music,
    ReviewPage,
    Subtitles,
    TimelineExport,
    VoiceLines,
)
from comic_pipeline.model.project import FPS
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.export import Footage, export_timeline
from comic_pipeline.stages.film import shrink_cover
from comic_pipeline.stages.review_page import Material, write_review_page
from comic_pipeline.stages.studio import Studio


@dg.asset(
    partitions_def=PROJECTS,
    group_name="film",
    owners=[FILM],
    kinds={"otio", "xml", "file"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "interchange"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def timeline_export(  # one input a document that an editing program wants to see
    context: dg.AssetExecutionContext,
    frame_images: FrameImages,
    voice_lines: VoiceLines,
    clips: Clips,
    subtitles: Subtitles,
    music: Music,
    final_video: FinalVideo,
) -> dg.Output[TimelineExport]:
    """The film for editing programs: OpenTimelineIO, Final Cut Pro X XML, CMX 3600 EDL, and one ZIP with all of their media.

    In the ZIP are the clips, first frames, lines, stems and subtitles; every path is relative to it.
    """
    footage = Footage(frames=frame_images, voices=voice_lines, clips=clips, subtitles=subtitles, music=music, film=final_video)
    return run_stage(
        context,
        Stage.FILM,
        lambda studio: export_timeline(studio, footage),
        show=lambda made: _show_export(context, made),
        given={"frame_images": frame_images, "voice_lines": voice_lines, "clips": clips, "final_video": final_video},
    )


def _show_export(context: dg.AssetExecutionContext, export: TimelineExport) -> dg.Output[TimelineExport]:
    objects = context.resources.workshop.objects
    return dg.Output(
        export,
        data_version=data_version(export),
        metadata={
            "bundle": link(objects, export.bundle),
            "otio": link(objects, export.otio),
            "fcpxml": link(objects, export.fcpxml),
            "edl": link(objects, export.edl),
            "frames": export.frames,
            "seconds": export.frames / FPS,
            "files": len(export.entries),
            "megabytes": round(export.bundle.size / 1e6, 2),
        },
    )


@dg.asset(
    partitions_def=PROJECTS,
    group_name="film",
    owners=[FILM],
    kinds={"html", "json"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "review"},
    code_version=code_version(2),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def review_page(  # noqa: PLR0913, PLR0917  # one input a document that a person looks at
    context: dg.AssetExecutionContext,
    storyboard: Storyboard,
    frame_images: FrameImages,
    voice_lines: VoiceLines,
    clips: Clips,
    subtitles: Subtitles,
    music: Music,
    final_video: FinalVideo,
    cover_image: CoverImage,
    timeline_export: TimelineExport,
) -> dg.Output[ReviewPage]:
    """One HTML page to decide by: film, contact sheet, clips, lines, verdicts, costs, versions; it needs no server.

    With it the manifest as it is once the film's gate has spoken.
    """
    footage = Footage(frames=frame_images, voices=voice_lines, clips=clips, subtitles=subtitles, music=music, film=final_video)
    material = Material(storyboard=storyboard, footage=footage, cover=cover_image, export=timeline_export)
    given = {"storyboard": storyboard, "frame_images": frame_images, "voice_lines": voice_lines, "clips": clips}

    async def work(studio: Studio) -> tuple[ReviewPage, MediaRef]:
        page = await write_review_page(studio, material, code_versions=code_versions(context))
        return page, await shrink_cover(studio, cover_image)

    return run_stage(
        context,
        Stage.FILM,
        work,
        show=lambda made: _show_review(context, made),
        given={**given, "final_video": final_video, "cover_image": cover_image},
    )


def _show_review(context: dg.AssetExecutionContext, made: tuple[ReviewPage, MediaRef]) -> dg.Output[ReviewPage]:
    page, cover = made
    objects = context.resources.workshop.objects
    links = {"review_page": link(objects, page.page), "manifest": link(objects, page.manifest)}
    # The film's own materialization was written before its gate: this puts page and manifest beside it.
    context.log_event(dg.AssetObservation(asset_key="final_video", partition=context.partition_key, metadata=links))
    return dg.Output(
        page,
        data_version=data_version(page),
        metadata={
            "preview": picture(objects, cover),
            **links,
            "warnings": page.warnings,
            "embedded_files": page.embedded,
            "linked_files": page.linked,
            "megabytes": round(page.page.size / 1e6, 2),
        },
    )
