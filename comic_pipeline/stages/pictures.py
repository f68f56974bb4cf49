"""The picture of each shot, and the contact sheet that shows them all."""

import asyncio
import re

from comic_pipeline.media.image import contact_sheet
from comic_pipeline.model.limits import IMAGE_TASKS_PER_PROJECT
from comic_pipeline.model.media import FrameImage, FrameImages, MediaRef
from comic_pipeline.model.storyboard import OverrideField, Shot, Storyboard
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.workflow import Stage
from comic_pipeline.prompts import load_prompt
from comic_pipeline.providers.interface import ImageRequest, PanelSubject
from comic_pipeline.stages.studio import Studio, as_wished, rule_of
from comic_pipeline.stages.verifying import verify_image
from comic_pipeline.work.orders import Order
from comic_pipeline.work.runner import make_all

_SHEET_WIDTH = 960
_CAPTION_CHARS = 40


async def draw_frames(studio: Studio, storyboard: Storyboard) -> FrameImages:
    """One picture a shot. Raises RoundIncomplete, ShotsFailed or WorkStopped; what was drawn is kept."""
    wished, changes = as_wished(studio, storyboard)
    orders = [order_of(studio, wished, shot, take=changes.take(shot.seq, OverrideField.TAKE_FRAMES)) for shot in wished.shots]
    finished = await make_all(studio.desk, orders, at_once=IMAGE_TASKS_PER_PROJECT)
    done = finished.settle(now=studio.now())
    return FrameImages(
        frames=tuple(
            FrameImage(seq=shot.seq, media=one.media, made=one.made) for shot, one in zip(wished.shots, done, strict=True)
        )
    )


def order_of(studio: Studio, storyboard: Storyboard, shot: Shot, *, take: int) -> Order[ImageRequest]:
    """The order of one picture."""
    project, rule, prompt = studio.project, rule_of(Stage.FRAMES), load_prompt("frame_image")
    request = ImageRequest(
        prompt=prompt.fill(
            style_words=project.look.picture_words,
            number=shot.seq + 1,
            total=len(storyboard.shots),
            scene=shot.scene_desc,
            picture=shot.image_prompt,
        ),
        aspect=project.aspect,
        resolution=project.resolution,
        seed=studio.seed(kind="frame", seq=shot.seq, take=take, wished=shot.seed),
        user_hash=studio.user_hash,
        subject=PanelSubject(
            identity=project.id,
            style_key=project.style,
            title=storyboard.title,
            seq=shot.seq,
            total=len(storyboard.shots),
            scene=f"{shot.scene_desc} {shot.image_prompt}",
            caption=_caption(shot),
        ),
    )
    return Order(
        project_id=project.id,
        task_type=TaskType.FRAME_IMAGE,
        queue=rule.queue,
        deadline=rule.deadline,
        shot_seq=shot.seq,
        take=take,
        provider=studio.providers.image,
        request=request,
        template_hash=prompt.hash,
        inputs=(),
        folder="frames",
        verify=verify_image,
    )


def _caption(shot: Shot) -> str:
    """Where we are, in one clause; what is said is shown by the subtitles."""
    return re.split(r"[，。；！？,;.!?\n]", shot.scene_desc.strip(), maxsplit=1)[0][:_CAPTION_CHARS]


async def lay_contact_sheet(studio: Studio, frames: FrameImages) -> MediaRef:
    """All pictures on one sheet, numbered, for people."""
    pictures = [await asyncio.to_thread(studio.desk.objects.get, frame.media.key) for frame in frames.frames]
    data = await asyncio.to_thread(contact_sheet, pictures, columns=min(3, len(pictures)), width=_SHEET_WIDTH)
    return await studio.store(verify_image(data), folder="previews", name="frames")
