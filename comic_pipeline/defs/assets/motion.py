"""Group motion: how each shot moves."""

import dagster as dg

from comic_pipeline.defs.columns import CLIP_SHOTS, described
from comic_pipeline.defs.metadata import data_version, production_metadata, shot_links, shot_table
from comic_pipeline.defs.owners import PICTURES
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.sources import VIDEO_PROVIDER
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.media import Clips, FrameImages
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.motion import shoot_clips


@dg.asset(
    partitions_def=PROJECTS,
    deps=[VIDEO_PROVIDER],
    group_name="motion",
    owners=[PICTURES],
    kinds={"video", "json"},
    tags={"comic/stage": Stage.CLIPS.value, "comic/craft": "video"},
    code_version=code_version(1, "clip"),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
    metadata=described(CLIP_SHOTS),
)
def clips(context: dg.AssetExecutionContext, storyboard: Storyboard, frame_images: FrameImages) -> dg.Output[Clips]:
    """One silent moving picture a shot, started from its frame by the video provider; the dearest work of a film.

    All shots are created together and polled together; a job that is under way is resumed by its id, never created twice.
    """
    return run_stage(
        context,
        Stage.CLIPS,
        lambda studio: shoot_clips(studio, storyboard, frame_images),
        show=lambda made: _show_clips(context, made),
        given={"storyboard": storyboard, "frame_images": frame_images},
    )


def _show_clips(context: dg.AssetExecutionContext, shot: Clips) -> dg.Output[Clips]:
    rows = (
        {
            "seq": clip.seq,
            "size": f"{clip.media.width}x{clip.media.height}",
            "ms": clip.media.duration_ms,
            "cost_cny": float(clip.made.cost),
            "seconds": clip.made.seconds,
            "reused": clip.made.reused,
            "task": clip.made.task_id,
        }
        for clip in shot.clips
    )
    return dg.Output(
        shot,
        data_version=data_version(shot),
        metadata={
            "clip_seconds": sum((clip.media.duration_ms or 0) for clip in shot.clips) / 1000,
            "files": shot_links(context.resources.workshop.objects, ((clip.seq, clip.media) for clip in shot.clips)),
            **production_metadata(clip.made for clip in shot.clips),
            "shot_table": shot_table(rows, CLIP_SHOTS),
        },
    )
