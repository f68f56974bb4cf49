"""The spoken line of each shot.

A shot without words is skipped on purpose; a line that cannot be spoken follows COMIC_ON_VOICE_FAILURE.
"""

from comic_pipeline.model.errors import ShotsFailed
from comic_pipeline.model.media import VoiceLine, VoiceLines
from comic_pipeline.model.storyboard import OverrideField, Shot, Storyboard
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.voices import cast_voices, people_of
from comic_pipeline.model.workflow import Stage
from comic_pipeline.providers.interface import VoiceRequest
from comic_pipeline.settings import VoiceFailure
from comic_pipeline.stages.studio import Commission, Studio, as_wished, rule_of
from comic_pipeline.stages.verifying import verify_voice
from comic_pipeline.store import voice_cast
from comic_pipeline.work.orders import Order
from comic_pipeline.work.runner import make_all


async def speak_lines(studio: Studio, storyboard: Storyboard) -> VoiceLines:
    """One entry a shot. Raises RoundIncomplete or WorkStopped; ShotsFailed unless silence is allowed for lines that failed."""
    wished, changes = as_wished(studio, storyboard)
    voices = await _cast(studio, wished)
    orders = [
        order_of(studio, shot, take=changes.take(shot.seq, OverrideField.TAKE_VOICES), voice=voices[shot.voice_of])
        for shot in wished.shots
        if shot.spoken
    ]
    finished = await make_all(studio.desk, orders)
    finished.check_open(now=studio.now())
    if finished.failures and studio.settings.on_voice_failure is VoiceFailure.FAIL:
        raise ShotsFailed(finished.failures)
    spoken = {one.seq: one for one in finished.delivered}
    lines = []
    for shot in wished.shots:
        one = spoken.get(shot.seq)
        lines.append(
            VoiceLine(
                seq=shot.seq,
                text=shot.spoken,
                speaker=shot.voice_of,
                voice=voices[shot.voice_of] if shot.spoken else "",
                media=None if one is None else one.media,
                made=None if one is None else one.made,
                silenced=one is None and bool(shot.spoken),
            )
        )
    return VoiceLines(lines=tuple(lines))


async def _cast(studio: Studio, storyboard: Storyboard) -> dict[str, str]:
    """The voice of everybody who speaks. Remembered: whoever has one keeps it, over redos and new speakers."""
    people, menu = people_of(storyboard), studio.providers.voices
    project, provider = studio.project.id, studio.providers.voice.name
    return await studio.desk.commit(
        lambda connection, now: voice_cast.settle(
            connection, project, provider, lambda kept: cast_voices(people, menu, kept), now=now
        )
    )


def order_of(studio: Commission, shot: Shot, *, take: int, voice: str) -> Order[VoiceRequest]:
    """The order of one line, spoken by the provider's `voice`; empty: its first one."""
    project, rule = studio.project, rule_of(Stage.VOICES)
    request = VoiceRequest(
        text=shot.spoken, language=project.language, speaker=shot.voice_of, voice=voice, user_hash=studio.user_hash
    )
    return Order(
        project_id=project.id,
        task_type=TaskType.VOICE_LINE,
        queue=rule.queue,
        deadline=rule.deadline,
        shot_seq=shot.seq,
        take=take,
        provider=studio.providers.voice,
        request=request,
        template_hash="",
        inputs=(),
        folder="voices",
        verify=verify_voice,
    )
