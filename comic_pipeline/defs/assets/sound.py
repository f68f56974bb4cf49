"""Group sound: what is said."""

import dagster as dg

from comic_pipeline.defs.metadata import data_version, production_metadata, shot_links, shot_table
from comic_pipeline.defs.owners import SOUND
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.model.media import VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.sound import speak_lines


@dg.asset(
    partitions_def=PROJECTS,
    group_name="sound",
    owners=[SOUND],
    kinds={"audio", "json"},
    tags={"comic/stage": Stage.VOICES.value, "comic/craft": "voice"},
    code_version="1",
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def voice_lines(context: dg.AssetExecutionContext, storyboard: Storyboard) -> dg.Output[VoiceLines]:
    """One spoken line a shot: its dialogue, else its narration, else nothing on purpose.

    A line that cannot be spoken is silence or a failure, by COMIC_ON_VOICE_FAILURE; the table says which.
    """
    return run_stage(
        context, Stage.VOICES, lambda studio: speak_lines(studio, storyboard), show=lambda made: _show_lines(context, made)
    )


def _show_lines(context: dg.AssetExecutionContext, spoken: VoiceLines) -> dg.Output[VoiceLines]:
    rows = (
        {
            "seq": line.seq,
            "speaker": line.speaker,
            "text": line.text[:80],
            "ms": line.media.duration_ms if line.media else None,
            "silenced": line.silenced,
            "cost_cny": float(line.made.cost) if line.made else None,
            "reused": line.made.reused if line.made else None,
        }
        for line in spoken.lines
    )
    return dg.Output(
        spoken,
        data_version=data_version(spoken),
        metadata={
            "spoken_seconds": sum((line.media.duration_ms or 0) for line in spoken.lines if line.media) / 1000,
            "silenced": sum(line.silenced for line in spoken.lines),
            "files": shot_links(
                context.resources.workshop.objects, ((line.seq, line.media) for line in spoken.lines if line.media)
            ),
            "shot_table": shot_table(rows),
            **production_metadata(line.made for line in spoken.lines if line.made),
        },
    )
