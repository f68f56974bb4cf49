"""Group story: what the film tells."""

from collections.abc import Iterator

import dagster as dg

from comic_pipeline.defs.columns import STORYBOARD_SHOTS, described
from comic_pipeline.defs.metadata import data_version, production_metadata, shot_table
from comic_pipeline.defs.owners import STORY
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.sources import SUBMISSIONS_TABLE, TEXT_PROVIDER
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.story import write_storyboard
from comic_pipeline.work.orders import Delivered


@dg.asset(
    partitions_def=PROJECTS,
    deps=[SUBMISSIONS_TABLE, TEXT_PROVIDER],
    group_name="story",
    owners=[STORY],
    kinds={"llm", "json"},
    tags={"comic/stage": Stage.STORYBOARD.value, "comic/craft": "text"},
    code_version=code_version(1, "storyboard_system", "storyboard_user", "storyboard_repair"),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
    metadata=described(STORYBOARD_SHOTS),
)
def storyboard(context: dg.AssetExecutionContext) -> dg.Output[Storyboard]:
    """The film in words: a title and its shots, each with scene, line, speaker, length, picture and movement.

    Written by the text provider from the idea or script, parsed tolerantly, checked strictly, repaired at most once.
    """
    return run_stage(context, Stage.STORYBOARD, write_storyboard, show=_show_storyboard)


def _show_storyboard(made: tuple[Storyboard, Delivered]) -> dg.Output[Storyboard]:
    written, done = made
    rows: Iterator[dict[str, str | int | float | bool | None]] = (
        {
            "seq": shot.seq,
            "scene": shot.scene_desc[:80],
            "speaker": shot.speaker,
            "line": shot.spoken[:80],
            "ms": shot.duration_ms,
            "image_prompt": shot.image_prompt[:80],
        }
        for shot in written.shots
    )
    return dg.Output(
        written,
        data_version=data_version(written),
        metadata={
            "title": written.title,
            "shots": len(written.shots),
            "planned_seconds": sum(shot.duration_ms for shot in written.shots) / 1000,
            **production_metadata([done.made]),
            "shot_table": shot_table(rows, STORYBOARD_SHOTS),
        },
    )
