"""The moving picture of each shot, started from its frame. Jobs of a service are created together and polled together."""

import logging

from comic_pipeline.model.limits import LOCAL_CLIPS_PER_PROJECT
from comic_pipeline.model.media import Clip, Clips, FrameImages
from comic_pipeline.model.storyboard import OverrideField, Shot, Storyboard
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.workflow import Stage
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.prompts import load_prompt
from comic_pipeline.providers.interface import ClipRequest, Picture
from comic_pipeline.stages.studio import Commission, Studio, as_wished, rule_of
from comic_pipeline.stages.verifying import verify_video
from comic_pipeline.work.orders import Order
from comic_pipeline.work.runner import make_all

_log = logging.getLogger("comic_pipeline.work")


async def shoot_clips(studio: Studio, storyboard: Storyboard, frames: FrameImages) -> Clips:
    """One clip a shot; its length comes from `duration_ms` alone, so that a new voice never re-pays a clip.

    Raises RoundIncomplete, ShotsFailed or WorkStopped; what was shot is kept.
    """
    wished, changes = as_wished(studio, storyboard)
    pictures = {frame.seq: await _load(studio, frames, frame.seq) for frame in frames.frames}
    orders = [
        order_of(studio, shot, pictures[shot.seq], take=changes.take(shot.seq, OverrideField.TAKE_CLIPS)) for shot in wished.shots
    ]
    finished = await make_all(studio.desk, orders, at_once=LOCAL_CLIPS_PER_PROJECT if studio.providers.video.offline else None)
    done = finished.settle(now=studio.now())
    return Clips(
        clips=tuple(Clip(seq=shot.seq, media=one.media, made=one.made) for shot, one in zip(wished.shots, done, strict=True))
    )


async def _load(studio: Studio, frames: FrameImages, seq: int) -> Picture:
    media = next(frame.media for frame in frames.frames if frame.seq == seq)
    try:
        return Picture(media=media, data=await studio.desk.read(media))
    except MissingObject as gone:
        # A clip that is paid and under way must not be lost with it; only a new one needs the bytes, and says so.
        _log.warning("picture of shot %d: %s", seq, gone.detail)
        return Picture(media=media, data=None)


def order_of(studio: Commission, shot: Shot, picture: Picture, *, take: int) -> Order[ClipRequest]:
    """The order of one clip. Raises ProviderFault(INPUT_INVALID) when the model cannot take it (at `described`)."""
    project, rule, prompt = studio.project, rule_of(Stage.CLIPS), load_prompt("clip")
    request = ClipRequest(
        prompt=prompt.fill(
            style_words=project.look.picture_words,
            number=shot.seq + 1,
            scene=shot.scene_desc,
            picture=shot.image_prompt,
            motion=shot.motion_prompt or "slow push in",
        ),
        first_frame=picture,
        duration_ms=shot.duration_ms,
        aspect=project.aspect,
        resolution=project.resolution,
        seed=studio.seed(kind="clip", seq=shot.seq, take=take, wished=shot.clip_seed),
        user_hash=studio.user_hash,
    )
    return Order(
        project_id=project.id,
        task_type=TaskType.CLIP,
        queue=rule.queue,
        deadline=rule.deadline,
        shot_seq=shot.seq,
        take=take,
        provider=studio.providers.video,
        request=request,
        template_hash=prompt.hash,
        inputs=(picture.media.sha256,),
        folder="clips",
        verify=verify_video,
    )
