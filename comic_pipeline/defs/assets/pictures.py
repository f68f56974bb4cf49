"""Group pictures: what each shot looks like."""

from collections.abc import Iterator

import dagster as dg

from comic_pipeline.defs.columns import FRAME_SHOTS, described
from comic_pipeline.defs.metadata import Row, data_version, picture, production_metadata, shot_table
from comic_pipeline.defs.owners import PICTURES
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.sources import IMAGE_PROVIDER
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.media import FrameImages, MediaRef
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.pictures import draw_frames, lay_contact_sheet
from comic_pipeline.stages.studio import Studio


@dg.asset(
    partitions_def=PROJECTS,
    deps=[IMAGE_PROVIDER],
    group_name="pictures",
    owners=[PICTURES],
    kinds={"image", "json"},
    tags={"comic/stage": Stage.FRAMES.value, "comic/craft": "image"},
    code_version=code_version(1, "frame_image"),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
    metadata=described(FRAME_SHOTS),
)
def frame_images(context: dg.AssetExecutionContext, storyboard: Storyboard) -> dg.Output[FrameImages]:
    """One picture a shot, drawn by the image provider from the shot's prompt; the first frame of its clip.

    Beside each lies a copy with the AI label, for people. Shots are separate ledger tasks: a changed prompt re-makes that
    shot's picture alone.
    """

    async def work(studio: Studio) -> tuple[FrameImages, MediaRef]:
        frames = await draw_frames(studio, storyboard)
        return frames, await lay_contact_sheet(studio, frames)

    given = {"storyboard": storyboard}
    return run_stage(context, Stage.FRAMES, work, show=lambda made: _show_frames(context, made), given=given)


def _show_frames(context: dg.AssetExecutionContext, made: tuple[FrameImages, MediaRef]) -> dg.Output[FrameImages]:
    frames, sheet = made
    objects = context.resources.workshop.objects
    rows: Iterator[Row] = (
        {
            "seq": frame.seq,
            "size": f"{frame.media.width}x{frame.media.height}",
            "kB": frame.media.size // 1000,
            "cost_cny": float(frame.made.cost),
            "seconds": frame.made.seconds,
            "reused": frame.made.reused,
            "fallback": frame.fallback,
            "task": frame.made.task_id,
        }
        for frame in frames.frames
    )
    return dg.Output(
        frames,
        data_version=data_version(frames),
        metadata={
            "preview": picture(objects, sheet),
            **production_metadata(frame.made for frame in frames.frames),
            "shot_table": shot_table(rows, FRAME_SHOTS),
        },
    )
