"""What an editor wants beside the clips: each line as a file of whole frames, the sound in its parts, stills that hold a shot.

Belongs here: one ffmpeg pass that cuts all of these out of stored media. Does not: where they lie on the tracks
(`interchange.py`), how the film itself is mixed (`mix.py`).

Sound is 48 kHz PCM without any chunk that tells when or by what it was written, so equal sound gives equal bytes.
"""

from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.media.mix import Mix, bed_chain
from comic_pipeline.media.sound import MIX_RATE

_SAME_BYTES = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags", "+bitexact")
_WAV = ("-c:a", "pcm_s16le", *_SAME_BYTES, "-f", "wav")
_STILL = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "16", "-pix_fmt", "yuv420p", *_SAME_BYTES, "-f", "mp4")


@dataclass(frozen=True)
class LineFile:
    """A line alone in the file `out`, as it came, in `frames` whole frames."""

    frames: int
    out: str


@dataclass(frozen=True)
class Hold:
    """The last picture of a clip as a clip of its own: frames `first` to `end` (not included) of a shot that outlasts it."""

    clip: Path
    first: int
    end: int
    out: str


@dataclass(frozen=True)
class StemPlan:
    """One film's parts: its file, how it was mixed, a file for each line of that mix, and the holds. `fps` frames a second."""

    fps: int
    film: Path
    mix: Mix
    lines: tuple[LineFile, ...]
    holds: tuple[Hold, ...]

    @property
    def stems(self) -> list[str]:
        """Names of the stems that there are: the whole sound, and the voices and music in it."""
        return ["mix.wav", *(["voices.wav"] if self.lines else []), *(["music.wav"] if self.mix.bed else [])]


async def make_stems(plan: StemPlan, folder: Path, *, ffmpeg: str, timeout: float) -> None:  # noqa: ASYNC109 - handed to the child
    """Write every stem and every `out` of the plan into `folder`. Raises MediaFault(FFMPEG_FAILED).

    Voices (mono) and music are as they go into the mix, before the whole is brought to its loudness; `mix.wav` is the film's own
    sound. All of them are exactly as long as the film.
    """
    paths = [plan.film, *(line.path for line in plan.mix.lines), *(hold.clip for hold in plan.holds)]
    opened = [part for path in paths for part in ("-i", f"file:{path.absolute()}")]
    chains = [f"[0:a:0]aresample={MIX_RATE},aformat=sample_fmts=s16:channel_layouts=stereo,{_exactly(plan.mix.samples)}[mix]"]
    outputs = ["-map", "[mix]", *_WAV, "mix.wav"]
    if plan.lines:
        chains += _voices(plan)
        outputs += ["-map", "[voices]", *_WAV, "voices.wav"]
    if plan.mix.bed is not None:
        opened += ["-stream_loop", "-1", "-i", f"file:{plan.mix.bed.path.absolute()}"]
        chains.append(f"[{len(paths)}:a:0]{bed_chain(plan.mix, plan.mix.bed)},{_exactly(plan.mix.samples)}[music]")
        outputs += ["-map", "[music]", *_WAV, "music.wav"]
    for number, line in enumerate(plan.lines):
        outputs += ["-map", f"[line{number}]", *_WAV, line.out]
    for number, hold in enumerate(plan.holds):
        chains.append(_hold(hold, number, fps=plan.fps, source=1 + len(plan.mix.lines) + number))
        outputs += ["-map", f"[hold{number}]", *_STILL, hold.out]
    await run_ffmpeg([*opened, "-filter_complex", ";".join(chains), *outputs], ffmpeg=ffmpeg, timeout=timeout, cwd=folder)


def _voices(plan: StemPlan) -> list[str]:
    mono = "aformat=sample_fmts=fltp:channel_layouts=mono"
    chains = []
    for number, (line, file) in enumerate(zip(plan.mix.lines, plan.lines, strict=True)):
        chains.append(
            f"[{1 + number}:a:0]aresample={MIX_RATE},{mono},asetpts=N/SR/TB,asplit=2[raw{number}][say{number}];"
            f"[raw{number}]{_exactly(file.frames * MIX_RATE // plan.fps)}[line{number}];"
            f"[say{number}]volume={line.gain_db}dB,adelay=delays={line.start}S:all=1[at{number}]"
        )
    said = "".join(f"[at{number}]" for number in range(len(plan.lines)))
    chains.append(f"{said}amix=inputs={len(plan.lines)}:duration=longest:normalize=0,{_exactly(plan.mix.samples)}[voices]")
    return chains


def _exactly(samples: int) -> str:
    return f"apad=whole_len={samples},atrim=end_sample={samples}"


def _hold(hold: Hold, number: int, *, fps: int, source: int) -> str:
    # As the film does it: a steady rate, then the last frame again and again.
    return (
        f"[{source}:v:0]setpts=PTS-STARTPTS,fps={fps}:eof_action=pass,tpad=stop_mode=clone:stop={hold.end},"
        f"trim=start_frame={hold.first}:end_frame={hold.end},setpts=PTS-STARTPTS,format=yuv420p[hold{number}]"
    )
