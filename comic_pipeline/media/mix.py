"""The film's sound: every line at its place and at one loudness, over silence exactly as long as the picture.

One line: 48 kHz stereo -> gain to -16 LUFS -> its place in the film -> limiter. The sound of clips is not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.film_plan import FilmPlan
from comic_pipeline.media.sound import MIX_RATE

_PEAK_LIMIT = 0.84  # -1.5 dBFS: leaves room for the overshoot of AAC


@dataclass(frozen=True)
class Line:
    """A voice in the film: where it starts (samples at 48 kHz) and how much louder it must be."""

    path: Path
    start: int
    gain_db: float


def sound_chains(plan: FilmPlan, lines: Sequence[Line], *, first_input: int) -> list[str]:
    """Filter chains that end in `[sound]`; the lines are ffmpeg's inputs from `first_input` on."""
    samples = plan.frames * MIX_RATE // plan.fps
    stereo = "aformat=sample_fmts=fltp:channel_layouts=stereo"
    chains = [f"anullsrc=r={MIX_RATE}:cl=stereo,{stereo},atrim=end_sample={samples}[a0]"]
    for number, line in enumerate(lines, start=1):
        chains.append(
            f"[{first_input + number - 1}:a:0]aresample={MIX_RATE},{stereo},asetpts=N/SR/TB,volume={line.gain_db}dB,"
            f"adelay=delays={line.start}S:all=1[a{number}]"
        )
    joined = "".join(f"[a{number}]" for number in range(len(lines) + 1))
    chains.append(
        f"{joined}amix=inputs={len(lines) + 1}:duration=first:normalize=0,"
        f"alimiter=limit={_PEAK_LIMIT}:level=0:latency=1,atrim=end_sample={samples}[sound]"
    )
    return chains
