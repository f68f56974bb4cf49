"""The AI label on everything that people see or take away: labelled copies of pictures, and the proof that the labels are there.

What is sent on to a provider never carries the words: they would be baked into the clip. So a shot's picture stays as it was
delivered, byte for byte, and a labelled copy lies beside it.
"""

import asyncio

from comic_pipeline.media.aigc import mark_picture, read_aigc
from comic_pipeline.media.label import draw_label, label_likeness
from comic_pipeline.media.probe import frame_at
from comic_pipeline.model.label import SHOWN_MS_MIN
from comic_pipeline.model.media import CoverImage, FinalVideo, FrameImages, MediaRef
from comic_pipeline.model.verdict import Finding
from comic_pipeline.quality.label import judge_label
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.verifying import verify_image


async def store_labelled(studio: Studio, picture: bytes, *, of: str, name: str) -> MediaRef | None:
    """A stored copy of the picture with label and mark, known by the hash `of` its material; None when labels are off."""
    label = studio.ai_label(of)
    if label is None:
        return None
    drawn = await asyncio.to_thread(draw_label, picture, label.text)
    return await studio.store(verify_image(mark_picture(drawn, label.mark)), folder="labelled", name=name)


async def with_labels(studio: Studio, frames: FrameImages) -> FrameImages:
    """The same pictures, each with its labelled copy."""
    if not studio.settings.ai_label:
        return frames
    shown = []
    for frame in frames.frames:
        picture = await asyncio.to_thread(studio.desk.objects.get, frame.media.key)
        copy = await store_labelled(studio, picture, of=frame.media.sha256, name=str(frame.seq))
        shown.append(frame.model_copy(update={"labelled": copy}))
    return FrameImages(frames=tuple(shown))


def check_frame_labels(studio: Studio, frames: FrameImages) -> list[Finding]:
    """Findings about the copies that people see. Blocks: run it in a thread."""
    return [
        finding
        for frame in frames.frames
        for finding in _check_picture(studio, frame.shown, of=frame.media.sha256, what=f"picture {frame.seq}")
    ]


def check_cover_label(studio: Studio, cover: CoverImage) -> list[Finding]:
    """Findings about the cover. Blocks: run it in a thread."""
    return _check_picture(studio, cover.media, of=cover.media.sha256, what="cover")


def check_film_label(studio: Studio, film: FinalVideo) -> list[Finding]:
    """Findings about the film: seen from its first frame to the end of its second second, or to its own end. Blocks."""
    label = studio.ai_label(film.media.sha256)
    if label is None:
        return []
    length = film.media.duration_ms or 0
    last = length - 1 if label.whole_film else min(SHOWN_MS_MIN, length) - 1
    with studio.desk.objects.local(film.media.key) as path:
        likeness = [label_likeness(frame_at(path, ms), label.text) for ms in (0, last // 2, last)]
        return judge_label(label, mark=read_aigc(path), likeness=likeness, what="film")


def _check_picture(studio: Studio, media: MediaRef, *, of: str, what: str) -> list[Finding]:
    label = studio.ai_label(of)
    if label is None:
        return []
    picture = studio.desk.objects.get(media.key)
    return judge_label(label, mark=read_aigc(picture), likeness=[label_likeness(picture, label.text)], what=what)
