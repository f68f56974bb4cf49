"""The instruments: one note each as samples from -1 to 1. Additive tones and shaped noise, with an envelope that never clicks.

Belongs here: how things sound. Does not: which notes are played (`music_score.py`), mixing (`music_child.py`).

Plain Python is slow a sample at a time, so that samples are made by whole lists: a few periods of a tone are computed once and
repeated, and lists are multiplied and added by `map` with C functions (about 40 ns a sample).
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise, repeat
from itertools import count as count_from
from operator import add, mul

RATE = 48_000
_ATTACK_MIN, _RELEASE = 0.004, 0.03  # seconds; shorter ones are heard as a click

_CENT = 2 ** (1 / 1_200) - 1

Samples = list[float]


@dataclass(frozen=True)
class Voice:
    """A tuned instrument: strengths of its overtones; seconds of attack; seconds in which it falls by 60 dB (0: it is held).

    `wide`: left and right are played a few cents apart.
    """

    overtones: tuple[float, ...]
    attack: float
    fall: float
    wide: bool = False


VOICES: dict[str, Voice] = {
    "strings": Voice((1.0, 0.5, 0.34, 0.2, 0.12, 0.07, 0.04), attack=0.5, fall=0.0, wide=True),
    "breath": Voice((1.0, 0.12, 0.16, 0.03, 0.05), attack=0.35, fall=0.0, wide=True),
    "horn": Voice((1.0, 0.7, 0.5, 0.3, 0.16, 0.08), attack=0.09, fall=0.0),
    "keys": Voice((1.0, 0.35, 0.10, 0.06), attack=0.006, fall=2.6),
    "pluck": Voice((1.0, 0.62, 0.42, 0.28, 0.18, 0.12, 0.08, 0.05), attack=0.004, fall=2.0),
    "bell": Voice((1.0, 0.0, 0.25, 0.0, 0.0, 0.14), attack=0.004, fall=3.2),
    "marimba": Voice((1.0, 0.0, 0.0, 0.32, 0.0, 0.0, 0.0, 0.0, 0.06), attack=0.004, fall=0.7),
    "bass": Voice((1.0, 0.42, 0.16, 0.06), attack=0.014, fall=4.0),
    "saw": Voice((1.0, 0.5, 0.33, 0.25, 0.2, 0.16, 0.12, 0.09, 0.06), attack=0.006, fall=1.2),
    "synth": Voice((1.0, 0.45, 0.3, 0.2, 0.13, 0.08), attack=0.005, fall=0.7),
}


def tone(instrument: str, pitch: int, seconds: float, *, cents: int = 0) -> Samples:
    """One note of a tuned instrument, `cents` beside its pitch. Raises KeyError for an unknown instrument."""
    voice = VOICES[instrument]
    frequency = 440 * 2 ** ((pitch - 69 + cents / 100) / 12)
    count = round(seconds * RATE)
    bright, soft = _halves(voice.overtones)
    # High overtones of a struck string die sooner than low ones.
    low = map(mul, _wave(frequency, soft, count), _envelope(voice.attack, voice.fall, count))
    high = map(mul, _wave(frequency, bright, count), _envelope(voice.attack, voice.fall * 0.45, count))
    return list(map(add, low, high))


def _halves(overtones: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The overtones above the second, and those up to it; together they are all, at a sum of strengths of 1."""
    whole = sum(overtones)
    shares = tuple(strength / whole for strength in overtones)
    return (0.0, 0.0, *shares[2:]), shares[:2]


def _wave(frequency: float, overtones: Sequence[float], count: int) -> Samples:
    """`count` samples of a steady tone. Overtones above 16 kHz are left out: they would fold back."""
    # As few periods as fill whole samples to within a cent: sines are dear.
    period = RATE / frequency
    cycles = next(number for number in count_from(1) if abs(number * period - round(number * period)) < _CENT * number * period)
    size = round(cycles * period)
    table = [0.0] * size
    for number, strength in enumerate(overtones, start=1):
        if strength and number * frequency < 16_000:
            turn = math.tau * number * cycles / size
            table = [value + strength * math.sin(turn * index) for index, value in enumerate(table)]
    return (table * (count // size + 1))[:count]


@lru_cache(maxsize=128)
def _envelope(attack: float, fall: float, count: int) -> Samples:
    rise, end = round(max(attack, _ATTACK_MIN) * RATE), round(max(attack, _RELEASE) * RATE)
    rise, end = min(rise, count // 2), min(end, count // 2)
    factor = 10 ** (-3 / (fall * RATE)) if fall else 1.0
    body = [factor**index for index in range(count)] if fall else [1.0] * count
    slopes = chain(_slope(rise), repeat(1.0, count - rise - end), reversed(_slope(end)))
    return list(map(mul, body, slopes))


@lru_cache(maxsize=64)
def _slope(count: int) -> tuple[float, ...]:
    """From 0 to 1 without a corner."""
    return tuple(0.5 - 0.5 * math.cos(math.pi * index / count) for index in range(count))


@lru_cache(maxsize=32)
def stroke(instrument: str) -> Samples:
    """One stroke of a drum. Raises KeyError for an unknown one."""
    make, seconds = _DRUMS[instrument]
    samples = make(round(seconds * RATE))
    return list(map(mul, samples, _envelope(_ATTACK_MIN, seconds, len(samples))))


def _sweep(count: int, *, high: float, low: float) -> Samples:
    """A struck skin: its pitch falls from `high` to `low` Hz."""
    samples, turn = [], 0.0
    for index in range(count):
        turn += math.tau * (low + (high - low) * math.exp(-index / (0.03 * RATE))) / RATE
        samples.append(math.sin(turn))
    return samples


def _noise(count: int, *, smooth: int) -> Samples:
    """Noise without its low part; the more neighbours are averaged (`smooth`), the less harsh."""
    chance = random.Random(count)  # noqa: S311  # a rattle, not cryptography
    raw = [chance.uniform(-1, 1) for _ in range(count + smooth)]
    dull = [sum(raw[index : index + smooth]) / smooth for index in range(count)]
    return [0.0, *(now - before for before, now in pairwise(dull))]


def _snare(count: int) -> Samples:
    skin = _sweep(count, high=260, low=180)
    return [0.7 * rattle + 0.3 * hum for rattle, hum in zip(_noise(count, smooth=3), skin, strict=True)]


def _wood(count: int) -> Samples:
    return [0.6 * math.sin(math.tau * 820 * i / RATE) + 0.4 * math.sin(math.tau * 1_310 * i / RATE) for i in range(count)]


# How one stroke is made, and how many seconds it sounds.
_DRUMS: dict[str, tuple[Callable[[int], Samples], float]] = {
    "kick": (lambda count: _sweep(count, high=130, low=48), 0.28),
    "taiko": (lambda count: _sweep(count, high=120, low=62), 0.7),
    "snare": (_snare, 0.18),
    "hat": (lambda count: _noise(count, smooth=1), 0.06),
    "shaker": (lambda count: _noise(count, smooth=2), 0.09),
    "wood": (_wood, 0.08),
    "tick": (lambda count: _noise(count, smooth=2), 0.02),
}
