"""The film for an editing program: timelines in three open forms, and one ZIP with everything that they refer to.

Lines lie on the nearest frame, at most 21 ms from where the film has them; the stems are exact to the sample.
"""

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from comic_pipeline.media.bundle import write_bundle
from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.interchange import EDL_NAME, FCPX_NAME, OTIO_NAME, Cut, CutList, to_edl, to_fcpx, to_otio
from comic_pipeline.media.mix import Bed, Line, Mix
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.media.sound import MIX_RATE, voice_gain_db
from comic_pipeline.media.stems import Hold, LineFile, StemPlan, make_stems
from comic_pipeline.model.media import (
    Clip,
    Clips,
    FinalVideo,
    FrameImages,
    MediaRef,
    Music,
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

    def mixed(self, voice: Path) -> Line:
        """The line in the film's mix; `voice` is its file."""
        facts = measure_audio(voice)
        end = self.voice_sample + facts.duration_ms * MIX_RATE // 1000
        return Line(path=voice, start=self.voice_sample, end=end, gain_db=voice_gain_db(facts))


@dataclass(frozen=True)
class Footage:
    """The documents that a timeline is made of."""

    frames: FrameImages
    voices: VoiceLines
    clips: Clips
    subtitles: Subtitles
    music: Music
    film: FinalVideo


async def export_timeline(studio: Studio, footage: Footage) -> TimelineExport:
    """Write and store timelines and ZIP. The same film gives the same bytes. Raises MediaFault(FFMPEG_FAILED), StorageFault."""
    timeline = lay_out(footage.voices, footage.clips)
    shots = [_Shot(*parts) for parts in zip(timeline.shots, footage.clips.clips, footage.voices.lines, strict=True)]
    cuts = _cut_list(studio, shots, footage)
    written = {OTIO_NAME: to_otio(cuts).encode(), FCPX_NAME: to_fcpx(cuts).encode(), EDL_NAME: to_edl(cuts).encode()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-timeline-")))
        entries = {**written, **await _collect(studio, shots, footage, stack=stack, folder=folder)}
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
    studio: Studio, shots: list[_Shot], footage: Footage, *, stack: ExitStack, folder: Path
) -> Mapping[str, bytes | Path]:
    """Everything in the ZIP beside the timelines: clips and pictures as they are stored, the sound cut and mixed anew."""

    def fetch(media: MediaRef) -> Path:
        return stack.enter_context(studio.desk.objects.local(media.key))

    plan, entries = await asyncio.to_thread(_plan, shots, footage, fetch)
    deadline = rule_of(Stage.FILM).deadline
    await make_stems(plan, folder, ffmpeg=ffmpeg_path(studio.settings.ffmpeg), timeout=deadline)
    entries |= {f"media/voices/{line.out}": folder / line.out for line in plan.lines}
    entries |= {f"media/holds/{hold.out}": folder / hold.out for hold in plan.holds}
    return entries | {f"stems/{name}": folder / name for name in plan.stems}


def _plan(shots: list[_Shot], footage: Footage, fetch: Callable[[MediaRef], Path]) -> tuple[StemPlan, dict[str, bytes | Path]]:
    """What is to be cut and mixed, and what goes into the ZIP as it is."""
    local = {shot.seq: fetch(shot.clip.media) for shot in shots}
    words, music = (footage.subtitles.srt, footage.subtitles.ass), footage.music.media
    entries: dict[str, bytes | Path] = {_README: files("comic_pipeline.stages").joinpath("bundle_readme.txt").read_bytes()}
    entries |= {_clip_path(shot): local[shot.seq] for shot in shots}
    entries |= {_frame_path(frame.seq, frame.shown): fetch(frame.shown) for frame in footage.frames.frames}
    entries |= {f"subtitles/film{Path(one.key).suffix}": fetch(one) for one in words if one is not None}
    bed = None
    if music is not None:
        entries[f"media/music/music{Path(music.key).suffix}"] = piece = fetch(music)
        bed = Bed(path=piece, lufs=measure_audio(piece).lufs)
    spoken = [(shot, shot.voice) for shot in shots if shot.voice is not None]
    plan = StemPlan(
        fps=FPS,
        film=fetch(footage.film.media),
        mix=Mix(
            samples=sum(shot.frames for shot in shots) * MIX_RATE // FPS,
            lines=tuple(shot.mixed(fetch(voice)) for shot, voice in spoken),
            bed=bed,
        ),
        lines=tuple(LineFile(frames=shot.voice_frames, out=f"voice-{shot.seq:03}.wav") for shot, _ in spoken),
        holds=tuple(
            Hold(clip=local[shot.seq], first=shot.clip_frames, end=shot.frames, out=f"hold-{shot.seq:03}.mp4")
            for shot in shots
            if shot.clip_frames < shot.frames
        ),
    )
    return plan, entries


def _cut_list(studio: Studio, shots: list[_Shot], footage: Footage) -> CutList:
    pictures = {frame.seq: _frame_path(frame.seq, frame.shown) for frame in footage.frames.frames}
    length = sum(shot.frames for shot in shots)
    notes = {"licence": footage.music.licence}
    bed = Cut(name="music", path="stems/music.wav", start=0, frames=length, media_frames=length, notes=notes)
    return CutList(
        title=footage.film.title,
        code=studio.project.id,
        fps=FPS,
        size=studio.project.size,
        picture=tuple(cut for shot in shots for cut in _picture_cuts(shot, pictures)),
        voices=tuple(_voice_cut(shot) for shot in shots if shot.voice is not None),
        music=(bed,) if footage.music.media else (),
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


def _frame_path(seq: int, media: MediaRef) -> str:
    return f"media/frames/shot-{seq:03}{Path(media.key).suffix}"
