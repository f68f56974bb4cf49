"""The film's sound: lines at their places, music under them, the whole at -16 LUFS. A track that the film's pass only copies.

Belongs here: levels, ducking, mastering. Does not: measuring (`sound.py`), the picture (`film_graph.py`).

1. *Mix*: each line gets the gain that brings it to -16 LUFS and goes to its place; the music is repeated or cut to the film's
   length, faded at both ends and lowered around every line, whose times are known exactly. The sound of clips is not used.
2. *Master*: the mix is measured; gain and limiter bring it to its loudness, and because a limiter takes loudness away, what it
   leaves is measured too and the gain corrected. The track is encoded and measured as it will be heard: an encoder adds to peaks.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.media.sound import MIX_RATE, SPEECH_FLOOR_LUFS, VOICE_TARGET_LUFS, Filters, Levels

FILM_LUFS = VOICE_TARGET_LUFS
PEAK_MAX_DBTP = -1.5

# Music in pauses, where at least a third of the film is spoken: 8 LU below the voices, clearly there and clearly behind them.
_BED_LUFS = -24.0
_ENOUGH_SPEECH = 1 / 3
# Music under a voice lies another 12 LU lower: 20 in all, which is what broadcasters ask for intelligible speech.
_DUCK_DB = 12.0
_DUCK_FALL, _DUCK_RISE = 0.25, 0.6  # seconds: down before the first word, up after the last
_FADE_IN, _FADE_OUT = 0.4, 2.0  # seconds; together never more than half the film
_NEAR_LU = 0.4  # the gate asks for 1
_CORRECTIONS = 3  # 1 or 2 for everything that was tried; sound of a few clicks has no more loudness to give
_MASTERINGS, _PEAK_MARGIN_DB = 3, 0.2
_FIRST_CEILING_DB = -2.5  # the encoder lifts peaks of loud noise; of speech over music hardly any
# ffmpeg's other coder takes twice as long and lifted the peaks of music by 2.4 dB.
_AAC = ("-c:a", "aac", "-aac_coder", "fast", "-b:a", "192k")
_OVERSAMPLED = 96_000  # the limiter then sees most of the peaks between samples; the measurement sees the rest
_STEREO = "aformat=sample_fmts=fltp:channel_layouts=stereo"


@dataclass(frozen=True)
class Line:
    """A voice in the film: from which sample to which it sounds (48 kHz), and how much louder it must be."""

    path: Path
    start: int
    end: int
    gain_db: float


@dataclass(frozen=True)
class Bed:
    """The music under the film, and its own loudness."""

    path: Path
    lufs: float


@dataclass(frozen=True)
class Mix:
    """Everything that is heard, in a film of so many samples at 48 kHz."""

    samples: int
    lines: tuple[Line, ...]
    bed: Bed | None


async def make_sound(mix: Mix, folder: Path, *, ffmpeg: str, timeout: float) -> Path:  # noqa: ASYNC109 - handed to the children
    """The film's AAC track as a file in `folder`, at -16 LUFS and at most -1.5 dBTP; silence stays silence.

    Raises MediaFault(FFMPEG_FAILED).
    """
    raw, track, ceiling = folder / "mix.wav", folder / "sound.m4a", _FIRST_CEILING_DB
    await run_ffmpeg(_mixing(mix, raw), ffmpeg=ffmpeg, timeout=timeout)
    heard = await asyncio.to_thread(measure_audio, raw)
    for _ in range(_MASTERINGS):
        gain = await asyncio.to_thread(_gain, raw, heard, ceiling)
        await run_ffmpeg(_mastering(raw, track, _master(gain, ceiling)), ffmpeg=ffmpeg, timeout=timeout)
        over = (await asyncio.to_thread(measure_audio, track)).true_peak_dbtp - PEAK_MAX_DBTP
        if over <= 0:
            break
        ceiling -= over + _PEAK_MARGIN_DB
    return track


def _gain(raw: Path, heard: Levels, ceiling: float) -> float:
    """How much louder (dB) the mix must go into the limiter."""
    if heard.lufs < SPEECH_FLOOR_LUFS:
        # Nothing but noise, or nothing at all: made louder it would be noise that is loud.
        return 0.0
    gain = FILM_LUFS - heard.lufs
    for _ in range(_CORRECTIONS):
        quieter = FILM_LUFS - measure_audio(raw, through=_master(gain, ceiling)).lufs
        if abs(quieter) <= _NEAR_LU:
            break
        gain += quieter
    return gain


def bed_level(mix: Mix) -> float:
    """The music's loudness (LUFS) where nobody speaks: the film's own where nobody ever does, less the more is spoken."""
    spoken = sum(line.end - line.start for line in mix.lines) / mix.samples
    return FILM_LUFS + (_BED_LUFS - FILM_LUFS) * min(1.0, spoken / _ENOUGH_SPEECH)


def ducks(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """From when to when (seconds) the music is down; pauses too short for it to come up again are bridged."""
    spans: list[tuple[float, float]] = []
    for line in sorted(lines, key=lambda one: one.start):
        start, end = line.start / MIX_RATE, line.end / MIX_RATE
        if spans and start - spans[-1][1] < _DUCK_FALL + _DUCK_RISE:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return spans


def _mixing(mix: Mix, out: Path) -> list[str]:
    inputs = [part for line in mix.lines for part in ("-i", f"file:{line.path.absolute()}")]
    chains = [f"anullsrc=r={MIX_RATE}:cl=stereo,{_STEREO},atrim=end_sample={mix.samples}[a0]"]
    for number, line in enumerate(mix.lines, start=1):
        chains.append(
            f"[{number - 1}:a:0]aresample={MIX_RATE},{_STEREO},asetpts=N/SR/TB,volume={line.gain_db}dB,"
            f"adelay=delays={line.start}S:all=1[a{number}]"
        )
    if mix.bed is not None:
        inputs += ["-stream_loop", "-1", "-i", f"file:{mix.bed.path.absolute()}"]
        chains.append(f"[{len(mix.lines)}:a:0]{bed_chain(mix, mix.bed)}[a{len(mix.lines) + 1}]")
    joined = "".join(f"[a{number}]" for number in range(len(chains)))
    chains.append(f"{joined}amix=inputs={len(chains)}:duration=first:normalize=0,atrim=end_sample={mix.samples}[mix]")
    written = ["-c:a", "pcm_f32le", "-f", "wav", f"file:{out.absolute()}"]
    return ["-xerror", *inputs, "-filter_complex", ";".join(chains), "-map", "[mix]", *written]


def bed_chain(mix: Mix, bed: Bed) -> str:
    """The filters that make of the repeated music what lies under the film: cut, faded, at its level, lowered around lines."""
    seconds = mix.samples / MIX_RATE
    rise, fall = min(_FADE_IN, seconds / 8), min(_FADE_OUT, seconds / 4)
    down = "+".join(
        f"clip((t-{start - _DUCK_FALL:.3f})/{_DUCK_FALL},0,1)*clip(({end + _DUCK_RISE:.3f}-t)/{_DUCK_RISE},0,1)"
        for start, end in ducks(mix.lines)
    )
    # 10 ms: the level changes in steps of half a decibel at most, too small to be heard.
    ducked = f",asetnsamples=n={MIX_RATE // 100}:p=0,volume='pow(10,-{_DUCK_DB / 20}*({down}))':eval=frame" if down else ""
    return (
        f"aresample={MIX_RATE},{_STEREO},asetpts=N/SR/TB,atrim=end_sample={mix.samples},volume={bed_level(mix) - bed.lufs:.2f}dB,"
        f"afade=t=in:d={rise:.3f},afade=t=out:st={seconds - fall:.3f}:d={fall:.3f}{ducked}"
    )


def _master(gain: float, ceiling: float) -> Filters:
    """Gain and limiter (dB), for measuring and for encoding alike."""
    limit = math.pow(10, ceiling / 20)
    return (
        ("volume", f"{gain:.2f}dB"),
        ("aresample", f"{_OVERSAMPLED}"),
        ("alimiter", f"limit={limit:.4f}:level=0:latency=1"),
        ("aresample", f"{MIX_RATE}"),
    )


def _mastering(raw: Path, out: Path, filters: Filters) -> list[str]:
    chain = ",".join(f"{name}={arguments}" for name, arguments in filters)
    return ["-i", f"file:{raw.absolute()}", "-af", f"{chain},{_STEREO}", *_AAC, f"file:{out.absolute()}"]
