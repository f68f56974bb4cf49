"""The film for an editing program: timelines in three open forms, and one ZIP with everything that they refer to.

Lines lie on the nearest frame, at most 21 ms from where the film has them; the stems are exact to the sample.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from comic_pipeline.media.bundle import write_bundle
from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.interchange import EDL_NAME, FCPX_NAME, OTIO_NAME, Cut, CutList, to_edl, to_fcpx, to_otio
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.media.sound import MIX_RATE, voice_gain_db
from comic_pipeline.media.stems import Hold, StemLine, StemPlan, make_stems
from comic_pipeline.model.media import (
    Clip,
    Clips,
    FinalVideo,
    FrameImages,
    MediaRef,
    Subtitles,
    TimelineExport,
    VoiceLine,
    VoiceLines,
)
from comic_pipeline.model.project import FPS
from comic_pipeline.model.timeline import ShotTiming, frames_for
from comic_pipeline.model.workflow import Stage
from comic_pipeline.stages.film import lay_out
from comic_pipeline.stages.studio import Studio, rule_of
from comic_pipeline.work.orders import Verified

_README = "README.txt"


@dataclass(frozen=True)
class _Shot:
    """One shot in frames of the film: its clip has `clip_frames`, the rest up to `frames` holds the clip's last picture."""

    timing: ShotTiming
    clip: Clip
    line: VoiceLine

    @property
    def seq(self) -> int:
        return self.clip.seq

    @property
    def start(self) -> int:
        return round(self.timing.start_ms * FPS / 1000)

    @property
    def frames(self) -> int:
        return round(self.timing.length_ms * FPS / 1000)

    @property
    def media_frames(self) -> int:
        return frames_for(self.clip.media.duration_ms or 0, fps=FPS)

    @property
    def clip_frames(self) -> int:
        return min(self.media_frames, self.frames)

    @property
    def voice(self) -> MediaRef | None:
        return self.line.media

    @property
    def voice_start(self) -> int:
        """The frame nearest to where the line begins."""
        return round((self.timing.voice_start_ms or 0) * FPS / 1000)

    @property
    def voice_frames(self) -> int:
        """Frames that the line touches: nothing of it is cut off."""
        return -(-((self.voice.duration_ms if self.voice else 0) or 0) * FPS // 1000)

    @property
    def voice_sample(self) -> int:
        """Where the film has the line, counted in samples."""
        into = (self.timing.voice_start_ms or self.timing.start_ms) - self.timing.start_ms
        return self.start * MIX_RATE // FPS + into * MIX_RATE // 1000


async def export_timeline(
    studio: Studio, *, frames: FrameImages, voices: VoiceLines, clips: Clips, subtitles: Subtitles, film: FinalVideo
) -> TimelineExport:
    """Write and store timelines and ZIP. The same film gives the same bytes. Raises MediaFault(FFMPEG_FAILED), StorageFault."""
    timeline = lay_out(voices, clips)
    shots = [_Shot(*parts) for parts in zip(timeline.shots, clips.clips, voices.lines, strict=True)]
    cuts = _cut_list(studio, shots, frames, title=film.title)
    written = {OTIO_NAME: to_otio(cuts).encode(), FCPX_NAME: to_fcpx(cuts).encode(), EDL_NAME: to_edl(cuts).encode()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-timeline-")))
        entries = {**written, **await _collect(studio, shots, frames, subtitles, film, stack=stack, folder=folder)}
        await asyncio.to_thread(write_bundle, folder / "bundle.zip", entries)
        bundle = Verified(await asyncio.to_thread((folder / "bundle.zip").read_bytes), mime="application/zip", ending="zip")
    otio, fcpxml, edl = [
        await studio.store(Verified(data, mime=mime, ending=name.rpartition(".")[2]), folder="timeline", name="timeline")
        for (name, data), mime in zip(written.items(), ("application/json", "application/xml", "text/plain"), strict=True)
    ]
    return TimelineExport(
        bundle=await studio.store(bundle, folder="timeline", name="bundle"),
        otio=otio,
        fcpxml=fcpxml,
        edl=edl,
        frames=cuts.frames,
        entries=tuple(entries),
    )


async def _collect(
    studio: Studio,
    shots: list[_Shot],
    frames: FrameImages,
    subtitles: Subtitles,
    film: FinalVideo,
    *,
    stack: ExitStack,
    folder: Path,
) -> Mapping[str, bytes | Path]:
    """Everything in the ZIP beside the timelines: clips and pictures as they are stored, the sound cut and mixed anew."""

    def fetch(media: MediaRef) -> Path:
        return stack.enter_context(studio.desk.objects.local(media.key))

    def gather() -> tuple[StemPlan, dict[str, bytes | Path]]:
        local = {shot.seq: fetch(shot.clip.media) for shot in shots}
        entries: dict[str, bytes | Path] = {_README: files("comic_pipeline.stages").joinpath("bundle_readme.txt").read_bytes()}
        entries |= {_clip_path(shot): local[shot.seq] for shot in shots}
        entries |= {_frame_path(frame.seq, frame.shown): fetch(frame.shown) for frame in frames.frames}
        entries |= {_words_path(words): fetch(words) for words in (subtitles.srt, subtitles.ass) if words is not None}
        plan = StemPlan(
            fps=FPS,
            frames=sum(shot.frames for shot in shots),
            film=fetch(film.media),
            lines=tuple(_stem_line(shot, fetch(shot.voice)) for shot in shots if shot.voice is not None),
            holds=tuple(
                Hold(clip=local[shot.seq], first=shot.clip_frames, end=shot.frames, out=f"hold-{shot.seq:03}.mp4")
                for shot in shots
                if shot.clip_frames < shot.frames
            ),
            voices_out="voices.wav",
            mix_out="mix.wav",
        )
        return plan, entries

    plan, entries = await asyncio.to_thread(gather)
    deadline = rule_of(Stage.FILM).deadline
    await make_stems(plan, folder, ffmpeg=ffmpeg_path(studio.settings.ffmpeg), timeout=deadline)
    entries |= {f"media/voices/{line.out}": folder / line.out for line in plan.lines}
    entries |= {f"media/holds/{hold.out}": folder / hold.out for hold in plan.holds}
    stems = {"stems/mix.wav": folder / plan.mix_out} | ({"stems/voices.wav": folder / plan.voices_out} if plan.lines else {})
    return entries | stems


def _stem_line(shot: _Shot, voice: Path) -> StemLine:
    return StemLine(
        path=voice,
        start=shot.voice_sample,
        gain_db=voice_gain_db(measure_audio(voice)),
        frames=shot.voice_frames,
        out=f"voice-{shot.seq:03}.wav",
    )


def _cut_list(studio: Studio, shots: list[_Shot], frames: FrameImages, *, title: str) -> CutList:
    pictures = {frame.seq: _frame_path(frame.seq, frame.shown) for frame in frames.frames}
    return CutList(
        title=title,
        code=studio.project.id,
        fps=FPS,
        size=studio.project.size,
        picture=tuple(cut for shot in shots for cut in _picture_cuts(shot, pictures)),
        voices=tuple(_voice_cut(shot) for shot in shots if shot.voice is not None),
        music=(),
    )


def _picture_cuts(shot: _Shot, pictures: Mapping[int, str]) -> list[Cut]:
    made, held = shot.clip.made, shot.frames - shot.clip_frames
    cut = Cut(
        name=f"shot {shot.seq:03}",
        path=_clip_path(shot),
        start=shot.start,
        frames=shot.clip_frames,
        media_frames=shot.media_frames,
        notes={
            "frame": pictures.get(shot.seq, ""),
            "sha256": shot.clip.media.sha256,
            "task": made.task_id,
            "provider": made.provider,
            "model": made.model,
        },
    )
    still = Cut(
        name=f"hold {shot.seq:03}",
        path=f"media/holds/hold-{shot.seq:03}.mp4",
        start=shot.start + shot.clip_frames,
        frames=held,
        media_frames=held,
    )
    return [cut, still] if held else [cut]


def _voice_cut(shot: _Shot) -> Cut:
    line = shot.line
    return Cut(
        name=f"voice {shot.seq:03}",
        path=f"media/voices/voice-{shot.seq:03}.wav",
        start=shot.voice_start,
        frames=shot.voice_frames,
        media_frames=shot.voice_frames,
        notes={
            "speaker": line.speaker,
            "text": line.text,
            "delivered_sha256": line.media.sha256 if line.media else "",
            "task": line.made.task_id if line.made else "",
        },
    )


def _clip_path(shot: _Shot) -> str:
    return f"media/clips/shot-{shot.seq:03}{Path(shot.clip.media.key).suffix}"


def _words_path(media: MediaRef) -> str:
    return f"subtitles/film{Path(media.key).suffix}"


def _frame_path(seq: int, media: MediaRef) -> str:
    return f"media/frames/shot-{seq:03}{Path(media.key).suffix}"
