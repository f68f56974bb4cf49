"""The picture of each shot, and the contact sheet that shows them all."""

import asyncio
import re

from comic_pipeline.media.aigc import mark_picture
from comic_pipeline.media.image import contact_sheet, make_card
from comic_pipeline.model.errors import ShotFailure, ShotsFailed
from comic_pipeline.model.limits import IMAGE_TASKS_PER_PROJECT
from comic_pipeline.model.media import FrameImage, FrameImages, MediaRef, Production
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.storyboard import OverrideField, Shot, Storyboard
from comic_pipeline.model.task import TaskType, hash_of
from comic_pipeline.model.workflow import Stage
from comic_pipeline.prompts import load_prompt
from comic_pipeline.providers.interface import ImageRequest, PanelSubject
from comic_pipeline.settings import FrameFailure
from comic_pipeline.stages.labelling import with_labels
from comic_pipeline.stages.studio import Commission, Studio, as_wished, rule_of
from comic_pipeline.stages.verifying import verify_image
from comic_pipeline.work.orders import Order
from comic_pipeline.work.runner import make_all

# Pixels; the UI clips what is wider in a window of usual size.
_SHEET_WIDTH = 600
_CAPTION_CHARS = 40
_CAPTION_CHARS_LATIN = 64
# From how many characters on a caption says something.
_CAPTION_CJK, _CAPTION_LATIN = 6, 14


async def draw_frames(studio: Studio, storyboard: Storyboard) -> FrameImages:
    """One picture a shot. Raises RoundIncomplete, WorkStopped; ShotsFailed unless cards are allowed where a picture failed."""
    wished, changes = as_wished(studio, storyboard)
    orders = [order_of(studio, wished, shot, take=changes.take(shot.seq, OverrideField.TAKE_FRAMES)) for shot in wished.shots]
    finished = await make_all(studio.desk, orders, at_once=IMAGE_TASKS_PER_PROJECT)
    finished.check_open(now=studio.now())
    if finished.failures and studio.settings.on_frame_failure is FrameFailure.FAIL:
        raise ShotsFailed(finished.failures)
    drawn = {one.seq: FrameImage(seq=one.seq or 0, media=one.media, made=one.made) for one in finished.delivered}
    cards = {failed.seq: await _card(studio, failed) for failed in finished.failures}
    return await with_labels(studio, FrameImages(frames=tuple((drawn | cards)[shot.seq] for shot in wished.shots)))


async def _card(studio: Studio, failed: ShotFailure) -> FrameImage:
    """The explicit policy: a card in the picture's place, marked as one wherever it is shown."""
    seq = failed.seq or 0
    title = f"第 {seq + 1} 镜画面未能生成 / picture {seq + 1} could not be made"
    data = await asyncio.to_thread(make_card, title=title, small_print=failed.code, frame=studio.project.size)
    made = Production(task_id="", provider="placeholder", model="card", cost=ZERO, template_hash="", seconds=0.0, reused=False)
    return FrameImage(seq=seq, media=await studio.store(verify_image(data), folder="cards"), made=made, fallback=True)


def order_of(studio: Commission, storyboard: Storyboard, shot: Shot, *, take: int) -> Order[ImageRequest]:
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
    """Where we are, in a clause or two; what is said is shown by the subtitles, and nobody reads it twice. May be empty."""
    said = _clauses(shot.spoken)
    caption = ""
    for clause in (clause for clause in _clauses(shot.scene_desc) if clause not in said):
        longer = f"{caption}{'，' if not clause.isascii() else ', '}{clause}" if caption else clause
        if caption and len(longer) > _room(longer):
            break
        caption = longer
        # `忽然` and `月球上` say nothing alone.
        if len(caption) >= (_CAPTION_LATIN if caption.isascii() else _CAPTION_CJK):
            break
    if len(caption) <= _room(caption):
        return caption
    # Never in the middle of a Latin word.
    kept = caption[: _room(caption) - 1]
    return f"{re.sub(r'(?<=[^ ]) +[!-~]*$', '', kept) if caption[len(kept)].isascii() else kept}…"


def _room(text: str) -> int:
    """Characters in the box: Latin letters are half as wide."""
    return _CAPTION_CHARS_LATIN if text.isascii() else _CAPTION_CHARS


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in re.split(r"[，。；！？,;.!?\n]", text) if clause.strip()]


async def lay_contact_sheet(studio: Studio, frames: FrameImages) -> MediaRef:
    """All pictures on one sheet, numbered, for people."""
    pictures = [await studio.desk.read(frame.media) for frame in frames.frames]
    label = studio.ai_label(hash_of([frame.media.sha256 for frame in frames.frames]))
    heading = label.text if label else ""
    data = await asyncio.to_thread(contact_sheet, pictures, columns=min(3, len(pictures)), width=_SHEET_WIDTH, heading=heading)
    data = mark_picture(data, label.mark) if label else data
    return await studio.store(verify_image(data), folder="previews", name="frames")
