"""What each mood sounds like: tempo, scale, harmony, who plays. A table of values, no sound.

Belongs here: taste. Does not: writing notes from it (`music_score.py`), instruments (`music_tones.py`).
"""

from dataclasses import dataclass

MAJOR = (0, 2, 4, 5, 7, 9, 11)
MINOR = (0, 2, 3, 5, 7, 8, 10)
DORIAN = (0, 2, 3, 5, 7, 9, 10)
HARMONIC_MINOR = (0, 2, 3, 5, 7, 8, 11)
GONG = (0, 2, 4, 7, 9)  # 宫调式, the pentatonic of Chinese music
THIRDS = (0, 2, 4)  # a triad in a scale of seven
OPEN = (0, 2, 3)  # what sounds open in a scale of five


@dataclass(frozen=True)
class Part:
    """One player. `figure`: the chord's tones in turn, one each `every` beats (None rests); `level` is linear, `pan` -1 to 1."""

    instrument: str
    octave: int
    every: float
    length: float
    level: float
    figure: tuple[int | None, ...]
    pan: float = 0.0


@dataclass(frozen=True)
class Drum:
    """One drum. `beats`: where in the bar it is struck, in beats from 0; only in every `bars`-th bar."""

    instrument: str
    level: float
    beats: tuple[float, ...]
    bars: int = 1
    pan: float = 0.0


@dataclass(frozen=True)
class Mood:
    """One mood. Tempo in beats a minute; `roots`: progressions of four chords, as steps of the scale; `key`: lowest MIDI root.

    `pad` holds the chord; `lead` sings a short melody that is written anew for each film.
    """

    tempo: int
    scale: tuple[int, ...]
    chord: tuple[int, ...]
    key: int
    roots: tuple[tuple[int, int, int, int], ...]
    pad: str
    pad_level: float
    parts: tuple[Part, ...]
    drums: tuple[Drum, ...]
    lead: Part | None
    echo: float


MOODS: dict[str, Mood] = {
    "calm": Mood(
        tempo=76,
        scale=MAJOR,
        chord=THIRDS,
        key=48,
        roots=((0, 4, 5, 3), (0, 5, 3, 4), (3, 4, 0, 5)),
        pad="strings",
        pad_level=0.16,
        parts=(
            Part("keys", octave=1, every=0.5, length=1.5, level=0.20, figure=(0, 1, 2, 1, 3, 2, 1, 2), pan=-0.3),
            Part("bass", octave=-1, every=2.0, length=1.9, level=0.30, figure=(0, 0)),
        ),
        drums=(Drum("shaker", level=0.035, beats=(0.5, 1.5, 2.5, 3.5), pan=0.4),),
        lead=Part("keys", octave=2, every=1.0, length=2.0, level=0.22, figure=(), pan=0.25),
        echo=0.30,
    ),
    "ancient": Mood(
        tempo=64,
        scale=GONG,
        chord=OPEN,
        key=50,
        roots=((0, 4, 3, 0), (4, 0, 1, 4), (0, 3, 1, 0)),
        pad="breath",
        pad_level=0.14,
        parts=(
            Part("pluck", octave=1, every=0.5, length=2.5, level=0.22, figure=(0, None, 1, 2, None, 3, 2, None), pan=-0.35),
            Part("bass", octave=-1, every=4.0, length=3.8, level=0.26, figure=(0,)),
        ),
        drums=(Drum("taiko", level=0.30, beats=(0.0, 2.5), bars=2), Drum("wood", level=0.05, beats=(3.0,), bars=2, pan=0.5)),
        lead=Part("pluck", octave=2, every=1.0, length=3.0, level=0.26, figure=(), pan=0.3),
        echo=0.42,
    ),
    "electric": Mood(
        tempo=104,
        scale=MINOR,
        chord=THIRDS,
        key=45,
        roots=((0, 5, 2, 6), (0, 3, 5, 6), (5, 6, 0, 0)),
        pad="strings",
        pad_level=0.13,
        parts=(
            Part("saw", octave=-1, every=0.5, length=0.45, level=0.24, figure=(0, 0, 0, 0, 0, 0, 3, 0)),
            Part("synth", octave=1, every=0.25, length=0.4, level=0.13, figure=(0, 1, 2, 3, 2, 1, 2, 1), pan=0.35),
        ),
        drums=(
            Drum("kick", level=0.42, beats=(0.0, 1.0, 2.0, 3.0)),
            Drum("snare", level=0.10, beats=(1.0, 3.0)),
            Drum("hat", level=0.045, beats=(0.5, 1.5, 2.5, 3.5), pan=-0.3),
        ),
        lead=Part("synth", octave=2, every=0.5, length=0.9, level=0.13, figure=(), pan=-0.3),
        echo=0.30,
    ),
    "playful": Mood(
        tempo=120,
        scale=MAJOR,
        chord=THIRDS,
        key=48,
        roots=((0, 5, 1, 4), (0, 3, 4, 0), (0, 2, 3, 4)),
        pad="strings",
        pad_level=0.06,
        parts=(
            Part("marimba", octave=1, every=0.5, length=0.6, level=0.26, figure=(None, 1, None, 2, None, 1, 3, 2), pan=-0.25),
            Part("bass", octave=-1, every=1.0, length=0.4, level=0.34, figure=(0, None, 2, None)),
        ),
        drums=(
            Drum("wood", level=0.07, beats=(1.0, 2.5, 3.0), pan=0.45),
            Drum("shaker", level=0.04, beats=(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5), pan=-0.4),
        ),
        lead=Part("marimba", octave=2, every=0.5, length=0.7, level=0.26, figure=(), pan=0.25),
        echo=0.16,
    ),
    "tense": Mood(
        tempo=72,
        scale=HARMONIC_MINOR,
        chord=THIRDS,
        key=43,
        roots=((0, 0, 5, 4), (0, 3, 0, 4), (5, 4, 0, 0)),
        pad="strings",
        pad_level=0.20,
        parts=(
            Part("bass", octave=-1, every=0.5, length=0.4, level=0.22, figure=(0, 0, 0, 0, 0, 0, 0, 0)),
            Part("breath", octave=1, every=4.0, length=3.8, level=0.07, figure=(2,), pan=0.4),
        ),
        drums=(Drum("tick", level=0.05, beats=(0.0, 1.0, 2.0, 3.0), pan=0.35), Drum("taiko", level=0.26, beats=(0.0,), bars=2)),
        lead=Part("bell", octave=2, every=2.0, length=3.0, level=0.10, figure=(), pan=-0.35),
        echo=0.42,
    ),
    "heroic": Mood(
        tempo=92,
        scale=DORIAN,
        chord=THIRDS,
        key=45,
        roots=((0, 6, 3, 0), (0, 2, 6, 3), (0, 3, 6, 4)),
        pad="strings",
        pad_level=0.17,
        parts=(
            Part("pluck", octave=1, every=0.5, length=1.0, level=0.15, figure=(0, 2, 3, 2, 1, 2, 3, 2), pan=0.3),
            Part("bass", octave=-1, every=1.0, length=0.9, level=0.28, figure=(0, 0, 2, 0)),
        ),
        drums=(Drum("taiko", level=0.34, beats=(0.0, 1.5, 2.0, 3.5)), Drum("snare", level=0.05, beats=(1.0, 3.0), pan=-0.2)),
        lead=Part("horn", octave=1, every=1.0, length=1.4, level=0.20, figure=(), pan=-0.2),
        echo=0.36,
    ),
}
