"""Writing a piece: from a mood and a seed to notes. Pure; the same seed writes the same piece.

Belongs here: harmony, figures, melody. Does not: how a note sounds (`music_tones.py`).
"""

import random
from dataclasses import dataclass
from math import ceil

from comic_pipeline.providers.offline.music_moods import Mood, Part

BEATS_A_BAR = 4
_TEMPO_SPREAD = 4  # beats a minute up or down, so that two films of one style are not in step
_KEY_SPREAD = 5  # semitones up
_MELODY_REST = 0.35
_PAD_OVERLAP = 0.75  # beats: a chord dies away while the next one rises
_PAIRS_MIN, _PAIRS_MAX = 2, 8  # of bars: shorter is heard as a loop, longer costs seconds to play


@dataclass(frozen=True)
class Note:
    """One note or stroke: start and length in beats, pitch as a MIDI number (0 for drums), linear level, pan -1 to 1."""

    instrument: str
    start: float
    length: float
    pitch: int
    level: float
    pan: float


@dataclass(frozen=True)
class Score:
    """A piece that can be repeated without a seam: what still sounds at its end belongs to its beginning."""

    seconds_a_beat: float
    beats: int
    notes: tuple[Note, ...]
    echo: float


def compose(mood: Mood, *, seed: int, length_ms: int) -> Score:
    """A piece for a film of about `length_ms`: as many bars as it has, but an even number from 4 to 16."""
    chance = random.Random(seed)  # noqa: S311  # music, not cryptography
    tempo = mood.tempo + chance.randint(-_TEMPO_SPREAD, _TEMPO_SPREAD)
    key = mood.key + chance.randint(0, _KEY_SPREAD)
    roots = chance.choice(mood.roots)
    other = chance.choice(mood.roots)
    seconds_a_beat = 60 / tempo
    pairs = ceil(length_ms / (2 * BEATS_A_BAR * seconds_a_beat * 1000))
    bars = 2 * min(_PAIRS_MAX, max(_PAIRS_MIN, pairs))
    harmony = [*roots, *roots, *other, *roots][:bars]
    notes = [
        *_pads(mood, key, harmony),
        *(note for part in mood.parts for note in _figures(mood, part, key, harmony)),
        *_strokes(mood, bars),
        *_melody(mood, key, harmony, chance),
    ]
    return Score(seconds_a_beat=seconds_a_beat, beats=bars * BEATS_A_BAR, notes=tuple(notes), echo=mood.echo)


def _pitch(mood: Mood, key: int, step: int) -> int:
    octaves, index = divmod(step, len(mood.scale))
    return key + 12 * octaves + mood.scale[index]


def _tone(mood: Mood, key: int, root: int, number: int) -> int:
    """The chord's tone `number`; above its last tone it begins again, an octave higher."""
    octaves, index = divmod(number, len(mood.chord))
    return _pitch(mood, key, root + mood.chord[index]) + 12 * octaves


def _pads(mood: Mood, key: int, harmony: list[int]) -> list[Note]:
    notes = []
    for bar, root in enumerate(harmony):
        for number in range(len(mood.chord)):
            # All in the octave above the key: chords then move little.
            pitch = key + 12 + (_tone(mood, key, root, number) - key) % 12
            pan = (number - 1) * 0.5
            notes.append(Note(mood.pad, bar * BEATS_A_BAR, BEATS_A_BAR + _PAD_OVERLAP, pitch, mood.pad_level, pan))
    return notes


def _figures(mood: Mood, part: Part, key: int, harmony: list[int]) -> list[Note]:
    notes = []
    for bar, root in enumerate(harmony):
        for turn in range(round(BEATS_A_BAR / part.every)):
            number = part.figure[turn % len(part.figure)]
            if number is not None:
                pitch = _tone(mood, key + 12 * part.octave, root, number)
                # The first of a bar a little stronger: it breathes.
                level = part.level * (1.0 if turn == 0 else 0.82)
                notes.append(Note(part.instrument, bar * BEATS_A_BAR + turn * part.every, part.length, pitch, level, part.pan))
    return notes


def _strokes(mood: Mood, bars: int) -> list[Note]:
    return [
        Note(drum.instrument, bar * BEATS_A_BAR + beat, 1.0, 0, drum.level, drum.pan)
        for drum in mood.drums
        for bar in range(0, bars, drum.bars)
        for beat in drum.beats
    ]


def _melody(mood: Mood, key: int, harmony: list[int], chance: random.Random) -> list[Note]:
    """A motif of two bars, sung again over other chords: strong beats on chord tones, steps between them."""
    part = mood.lead
    if part is None:
        return []
    turns = round(2 * BEATS_A_BAR / part.every)
    motif = [None if chance.random() < _MELODY_REST else chance.choice((-1, 0, 1, 1, 2)) for _ in range(turns)]
    notes = []
    for bar in range(0, len(harmony), 2):
        if bar % 8 == 6:  # a rest every fourth time
            continue
        step = 0
        for turn, move in enumerate(motif):
            beat = turn * part.every
            if move is None:
                continue
            root = harmony[bar + int(beat) // BEATS_A_BAR]
            step = max(-2, min(5, step + move))
            strong = beat % 2 == 0
            pitch = (
                _tone(mood, key + 12 * part.octave, root, step // 2)
                if strong
                else _pitch(mood, key + 12 * part.octave, root + step)
            )
            notes.append(
                Note(
                    part.instrument, bar * BEATS_A_BAR + beat, part.length, pitch, part.level * (1.0 if strong else 0.8), part.pan
                )
            )
    return notes
