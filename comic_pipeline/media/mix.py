"""The film's sound: lines at their places, music under them, the whole at -16 LUFS. A track that the film's pass only copies.

Belongs here: levels, ducking, mastering. Does not: measuring (`sound.py`), the picture (`film_graph.py`).

1. *Mix*: each line gets the gain that brings it to -16 LUFS and goes to its place; the music is repeated or cut to the film's
   length, faded at both ends and lowered around every line, whose times are known exactly. The sound of clips is not used.
2. *Master*: the mix is measured; gain and limiter bring it to its loudness, the track is encoded, and measured again as it will
   be heard. A limiter takes loudness away and AAC adds to peaks, so that this is repeated until both are right.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.media.sound import MIX_RATE, SPEECH_FLOOR_LUFS, VOICE_TARGET_LUFS, Levels

FILM_LUFS = VOICE_TARGET_LUFS
PEAK_MAX_DBTP = -1.5

# Music in pauses, where at least a third of the film is spoken: 8 LU below the voices, clearly there and clearly behind them.
_BED_LUFS = -24.0
_ENOUGH_SPEECH = 1 / 3
# Music under a voice lies another 12 LU lower: 20 in all, which is what broadcasters ask for intelligible speech.
_DUCK_DB = 12.0
_DUCK_FALL, _DUCK_RISE = 0.25, 0.6  # seconds: down before the first word, up after the last
_FADE_IN, _FADE_OUT = 0.4, 2.0  # seconds; together never more than half the film
# Of the two the mastered track must come nearer than the gate asks (1 LU, -1.5 dBTP).
_NEAR_LU, _NEAR_DB = 0.5, 0.1
_MASTERINGS = 4  # 2 or 3 for everything that was tried; sound of a few clicks has no more loudness to give
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
    raw, track = folder / "mix.wav", folder / "sound.m4a"
    await run_ffmpeg(_mixing(mix, raw), ffmpeg=ffmpeg, timeout=timeout)
    heard = await asyncio.to_thread(measure_audio, raw)
    # Nothing but noise, or nothing at all: made louder it would be noise that is loud.
    gain, ceiling = 0.0 if heard.lufs < SPEECH_FLOOR_LUFS else FILM_LUFS - heard.lufs, _FIRST_CEILING_DB
    for _ in range(_MASTERINGS):
        await run_ffmpeg(_mastering(raw, track, gain_db=gain, ceiling_db=ceiling), ffmpeg=ffmpeg, timeout=timeout)
        if heard.lufs < SPEECH_FLOOR_LUFS:
            break
        mastered = await asyncio.to_thread(measure_audio, track)
        louder, lower = FILM_LUFS - mastered.lufs, _excess(mastered)
        if abs(louder) <= _NEAR_LU and lower == 0.0:
            break
        gain, ceiling = gain + louder, ceiling - lower
    return track


def _excess(mastered: Levels) -> float:
    """By how much the ceiling must come down; 0 when the peaks are as low as they must be."""
    over = mastered.true_peak_dbtp - PEAK_MAX_DBTP + _NEAR_DB
    return over + _NEAR_DB if over > 0 else 0.0


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


def _mastering(raw: Path, out: Path, *, gain_db: float, ceiling_db: float) -> list[str]:
    limit = math.pow(10, ceiling_db / 20)
    chain = (
        f"volume={gain_db:.2f}dB,aresample={_OVERSAMPLED},alimiter=limit={limit:.4f}:level=0:latency=1,"
        f"aresample={MIX_RATE},{_STEREO}"
    )
    return ["-i", f"file:{raw.absolute()}", "-af", chain, *_AAC, f"file:{out.absolute()}"]
