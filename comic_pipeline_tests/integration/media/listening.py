"""How loud a file is between two times, from what it decodes to."""

import array
import math
from collections.abc import Sequence
from pathlib import Path

import av

RATE = 48_000


def level(path: Path, start_ms: int, end_ms: int) -> float:
    """RMS of the sound between two times, both ears together, in dBFS (-120: silence)."""
    return _rms(_samples(path)[start_ms * RATE // 1000 : end_ms * RATE // 1000])


def levels(path: Path, *, every_ms: int) -> list[float]:
    """RMS in dBFS of each stretch of `every_ms`, one after another."""
    samples, size = _samples(path), RATE * every_ms // 1000
    return [_rms(samples[at : at + size]) for at in range(0, len(samples) - size + 1, size)]


def _samples(path: Path) -> Sequence[int]:
    samples = array.array("h")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            for part in resampler.resample(frame):
                samples.frombytes(bytes(part.planes[0])[: part.samples * 2])
    return samples


def _rms(samples: Sequence[int]) -> float:
    power = sum(sample * sample for sample in samples) / len(samples)
    return max(-120.0, 10 * math.log10(power / 32_768**2 + 1e-12))
