"""Group release: what the world sees."""

import dagster as dg

from comic_pipeline.defs.metadata import data_version, link, picture
from comic_pipeline.defs.owners import OPERATIONS
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.media import CoverImage, FinalVideo, MediaRef, PublishedVideo, ReviewPage, Subtitles
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.film import shrink_cover
from comic_pipeline.stages.release import publish
from comic_pipeline.stages.studio import Studio


@dg.asset(
    partitions_def=PROJECTS,
    group_name="release",
    owners=[OPERATIONS],
    kinds={"video", "json"},
    tags={"comic/stage": Stage.RELEASE.value, "comic/craft": "release"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def published_video(  # one input a file that is published
    context: dg.AssetExecutionContext,
    final_video: FinalVideo,
    cover_image: CoverImage,
    subtitles: Subtitles,
    review_page: ReviewPage,
) -> dg.Output[PublishedVideo]:
    """The approved film under its final name in `published/`, with cover, subtitles, provenance and a manifest.

    Never overwritten: a new version has a new name. It exists only for projects that a person, or where the settings allow it a
    clean sheet of checks, has approved.
    """

    async def work(studio: Studio) -> tuple[PublishedVideo, MediaRef]:
        published = await publish(studio, final_video, cover_image, subtitles, review_page)
        return published, await shrink_cover(studio, cover_image)

    return run_stage(
        context,
        Stage.RELEASE,
        work,
        show=lambda made: _show_release(context, made),
        given={"final_video": final_video, "cover_image": cover_image},
    )


def _show_release(context: dg.AssetExecutionContext, made: tuple[PublishedVideo, MediaRef]) -> dg.Output[PublishedVideo]:
    published, cover = made
    objects = context.resources.workshop.objects
    return dg.Output(
        published,
        data_version=data_version(published),
        metadata={
            "preview": picture(objects, cover),
            "cover": link(objects, published.cover),
            "film": link(objects, published.film),
            "manifest": link(objects, published.manifest),
            "provenance": link(objects, published.provenance),
            "title": published.title,
            "version": published.version,
            "approved_by": published.approved_by,
            "approved_at": dg.MetadataValue.timestamp(published.approved_at),
        },
    )
