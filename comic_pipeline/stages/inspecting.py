"""Measuring what stages made, for the gates: every stored file decoded once, in worker threads, shot by shot.

Belongs here: fetching stored media and handing them to `media/`. Does not: judging (`quality/`), showing (`defs/checks`).
A file that does not decode becomes an `Unreadable`: the fault of that shot, not of the check. A file that is not in the store
raises MissingObject.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

from comic_pipeline.media.aigc import mark_picture
from comic_pipeline.media.film_probe import measure_film
from comic_pipeline.media.likeness import likeness
from comic_pipeline.media.motion_probe import measure_motion
from comic_pipeline.media.picture_probe import measure_picture
from comic_pipeline.media.probe import measure_audio, measure_image
from comic_pipeline.media.proof import ProofRow, proof_sheet
from comic_pipeline.model.errors import MediaFault
from comic_pipeline.model.measured import ClipFacts, FilmFacts, PictureFacts, SoundFacts, Unreadable
from comic_pipeline.model.media import Clips, FinalVideo, FrameImages, MediaRef, Subtitles, VoiceLines
from comic_pipeline.model.task import hash_of, sha256_hex
from comic_pipeline.model.verdict import Finding
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.verifying import verify_image

F = TypeVar("F")
P = ParamSpec("P")

# Pixels; the UI clips what is wider in a window of usual size.
_SHEET_WIDTH = 600
# More rows would make a sheet that nobody scrolls through.
_SHEET_ROWS = 6


async def inspect_frames(studio: Studio, frames: FrameImages) -> dict[int, PictureFacts | Unreadable]:
    """The facts of each shot's picture."""
    objects = studio.desk.objects
    return {one.seq: await _measured(_picture, objects, one.media.key) for one in frames.frames}


async def inspect_voices(studio: Studio, voices: VoiceLines) -> dict[int, SoundFacts | Unreadable]:
    """The facts of each shot that has a voice."""
    objects, spoken = studio.desk.objects, [(line.seq, line.media) for line in voices.lines if line.media]
    return {seq: await _measured(_sound, objects, media.key) for seq, media in spoken}


async def inspect_clips(
    studio: Studio, clips: Clips, frames: FrameImages
) -> tuple[dict[int, ClipFacts | Unreadable], dict[int, bytes]]:
    """The facts of each shot's clip, and the clips' first pictures (PNG) by shot, for the proof sheet."""
    pictures = {one.seq: one.media.key for one in frames.frames}
    facts: dict[int, ClipFacts | Unreadable] = {}
    firsts: dict[int, bytes] = {}
    for one in clips.clips:
        found = await _measured(_clip, studio.desk.objects, one.media.key, pictures[one.seq])
        facts[one.seq] = found if isinstance(found, Unreadable) else found[0]
        if not isinstance(found, Unreadable):
            firsts[one.seq] = found[1]
    return facts, firsts


async def inspect_film(studio: Studio, film: FinalVideo, subtitles: Subtitles) -> FilmFacts:
    """The facts of the film. Raises MediaFault when it does not decode: there is no shot to blame."""

    def measure() -> FilmFacts:
        with studio.desk.objects.local(film.media.key) as path:
            return measure_film(path, words=[cue.text for cue in subtitles.cues])

    return await asyncio.to_thread(measure)


async def prove_frames(studio: Studio, frames: FrameImages, findings: Iterable[Finding]) -> MediaRef | None:
    """A sheet of the pictures that findings name, None when there are none that can be shown."""
    keys = {one.seq: one.media.key for one in frames.frames}
    blamed = [(finding, keys[finding.seq]) for finding in findings if finding.seq in keys]
    rows = []
    for finding, key in blamed[:_SHEET_ROWS]:
        data = await asyncio.to_thread(studio.desk.objects.get, key)
        if not isinstance(await _measured(measure_image, data), Unreadable):
            rows.append(ProofRow(_label(finding), (data,)))
    return await _store_sheet(studio, rows, name="qc-frames")


async def prove_clips(
    studio: Studio, frames: FrameImages, firsts: Mapping[int, bytes], findings: Iterable[Finding]
) -> MediaRef | None:
    """A sheet of the images (left) and first pictures (right) of the clips that findings name, None when there are none."""
    keys = {one.seq: one.media.key for one in frames.frames}
    blamed = [(finding, finding.seq) for finding in findings if finding.seq in firsts and finding.seq in keys]
    rows = []
    for finding, seq in blamed[:_SHEET_ROWS]:
        picture = await asyncio.to_thread(studio.desk.objects.get, keys[seq])
        rows.append(ProofRow(_label(finding), (picture, firsts[seq])))
    return await _store_sheet(studio, rows, name="qc-clips")


async def _measured(measure: Callable[P, F], *args: P.args, **kwargs: P.kwargs) -> F | Unreadable:
    try:
        return await asyncio.to_thread(measure, *args, **kwargs)
    except MediaFault as fault:
        return Unreadable(fault.detail)


def _picture(objects: ObjectStore, key: str) -> PictureFacts:
    return measure_picture(objects.get(key))


def _sound(objects: ObjectStore, key: str) -> SoundFacts:
    facts = measure_audio(objects.get(key))
    return SoundFacts(
        mime=facts.mime,
        duration_ms=facts.duration_ms,
        peak_dbfs=facts.peak_dbfs,
        rms_dbfs=facts.rms_dbfs,
        lufs=facts.lufs,
        peak_share=facts.peak_share,
    )


def _clip(objects: ObjectStore, key: str, picture: str) -> tuple[ClipFacts, bytes]:
    with objects.local(key) as path:
        motion = measure_motion(path)
    video = motion.video
    facts = ClipFacts(
        width=video.width,
        height=video.height,
        fps=video.fps,
        duration_ms=video.duration_ms,
        black=motion.black,
        still=motion.still,
        likeness=likeness(motion.first, objects.get(picture)),
        sound_dbfs=video.audio.rms_dbfs if video.audio else None,
    )
    return facts, motion.first


async def _store_sheet(studio: Studio, rows: list[ProofRow], *, name: str) -> MediaRef | None:
    if not rows:
        return None
    label = studio.ai_label(hash_of([sha256_hex(picture) for row in rows for picture in row.pictures]))
    sheet = await asyncio.to_thread(proof_sheet, rows, width=_SHEET_WIDTH, heading=label.text if label else "")
    marked = mark_picture(sheet, label.mark) if label else sheet
    return await studio.store(verify_image(marked), folder="previews", name=name)


def _label(finding: Finding) -> str:
    return f"{finding.seq}  {finding.severity}  {finding.rule}: {finding.measured}"
