"""Group sound: what is said, and the music under it."""

import dagster as dg

from comic_pipeline.defs.columns import VOICE_SHOTS, described
from comic_pipeline.defs.metadata import data_version, link, production_metadata, shot_links, shot_table
from comic_pipeline.defs.owners import SOUND
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.defs.run import ROUND_POLICY, run_stage
from comic_pipeline.defs.sources import VOICE_PROVIDER
from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.media import Music, VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.music import play_music
from comic_pipeline.stages.sound import speak_lines


@dg.asset(
    partitions_def=PROJECTS,
    deps=[VOICE_PROVIDER],
    group_name="sound",
    owners=[SOUND],
    kinds={"audio", "json"},
    tags={"comic/stage": Stage.VOICES.value, "comic/craft": "voice"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
    metadata=described(VOICE_SHOTS),
)
def voice_lines(context: dg.AssetExecutionContext, storyboard: Storyboard) -> dg.Output[VoiceLines]:
    """One spoken line a shot: its dialogue, else its narration, else nothing on purpose.

    A line that cannot be spoken is silence or a failure, by COMIC_ON_VOICE_FAILURE; the table says which.
    """
    return run_stage(
        context,
        Stage.VOICES,
        lambda studio: speak_lines(studio, storyboard),
        show=lambda made: _show_lines(context, made),
        given={"storyboard": storyboard},
    )


def _show_lines(context: dg.AssetExecutionContext, spoken: VoiceLines) -> dg.Output[VoiceLines]:
    rows = (
        {
            "seq": line.seq,
            "speaker": line.speaker,
            "voice": line.voice,
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
            **production_metadata(line.made for line in spoken.lines if line.made),
            "shot_table": shot_table(rows, VOICE_SHOTS),
        },
    )


@dg.asset(
    partitions_def=PROJECTS,
    group_name="sound",
    owners=[SOUND],
    kinds={"audio", "json"},
    tags={"comic/stage": Stage.FILM.value, "comic/craft": "music"},
    code_version=code_version(1),
    retry_policy=ROUND_POLICY,
    io_manager_key="documents",
    required_resource_keys={"workshop"},
)
def music(context: dg.AssetExecutionContext, storyboard: Storyboard) -> dg.Output[Music]:
    """The bed under the film, by COMIC_MUSIC: a piece in the mood of the style, the operator's file, or none.

    It is played here as it is; the film repeats and fades it to its length, and lowers it while somebody speaks.
    """
    return run_stage(
        context,
        Stage.FILM,
        lambda studio: play_music(studio, storyboard),
        show=lambda made: _show_music(context, made),
        given={"storyboard": storyboard},
    )


def _show_music(context: dg.AssetExecutionContext, played: Music) -> dg.Output[Music]:
    piece = played.media
    heard = {} if piece is None else {"music": link(context.resources.workshop.objects, piece)}
    return dg.Output(
        played,
        data_version=data_version(played),
        metadata={
            "seconds": 0.0 if piece is None else (piece.duration_ms or 0) / 1000,
            "licence": played.licence or "no music",
            **heard,
            **production_metadata([played.made] if played.made else []),
        },
    )
