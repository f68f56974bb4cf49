"""The built-in musician's notes and tones: every style has its music, and none of it clicks, drones or is out of tune."""

import math
from collections import Counter

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.style import STYLES
from comic_pipeline.providers.interface import MusicRequest
from comic_pipeline.providers.offline.music import OfflineMusic
from comic_pipeline.providers.offline.music_moods import MOODS
from comic_pipeline.providers.offline.music_score import BEATS_A_BAR, compose
from comic_pipeline.providers.offline.music_tones import RATE, VOICES, stroke, tone

STYLE_MOODS = sorted(style.mood for style in STYLES.values())


def test_every_style_has_a_mood_of_its_own_that_can_be_played() -> None:
    """A style that is added without music would fail its film; two styles with the same music would be one mistake of copying."""
    assert sorted(MOODS) == STYLE_MOODS
    pieces = {mood: compose(MOODS[mood], seed=1, length_ms=15_000) for mood in MOODS}
    assert len({piece.seconds_a_beat for piece in pieces.values()}) == len(MOODS)
    assert len({frozenset(note.instrument for note in piece.notes) for piece in pieces.values()}) == len(MOODS)


@pytest.mark.parametrize("mood", STYLE_MOODS)
def test_a_piece_is_music_and_no_drone(mood: str) -> None:
    """Chords that change, several players, notes that begin all through the piece, every pitch one that speakers can give."""
    piece = compose(MOODS[mood], seed=5, length_ms=15_000)
    chords = {
        frozenset(note.pitch for note in piece.notes if note.instrument == MOODS[mood].pad and note.start == bar)
        for bar in range(0, piece.beats, BEATS_A_BAR)
    }
    begun = Counter(int(note.start) // BEATS_A_BAR for note in piece.notes)
    assert len(chords) >= 2
    assert len({note.instrument for note in piece.notes}) >= 4
    assert min(begun[bar] for bar in range(piece.beats // BEATS_A_BAR)) >= 6
    assert all(0 <= note.start < piece.beats for note in piece.notes)
    assert all(24 <= note.pitch <= 100 for note in piece.notes if note.instrument in VOICES)


def test_a_seed_writes_one_piece_and_another_seed_another() -> None:
    """Films of one style are told apart; the same film has the same music on every machine."""
    mood = MOODS["calm"]
    assert compose(mood, seed=1, length_ms=9_000) == compose(mood, seed=1, length_ms=9_000)
    assert len({compose(mood, seed=seed, length_ms=9_000) for seed in range(8)}) == 8


@pytest.mark.parametrize(("length_ms", "bars"), [(0, 4), (9_000, 4), (20_000, 8), (60_000, 16), (600_000, 16)])
def test_a_piece_is_about_as_long_as_its_film(length_ms: int, bars: int) -> None:
    """A short film is not played a minute of music that nobody hears; a long one repeats a piece of sixteen bars."""
    assert compose(MOODS["calm"], seed=1, length_ms=length_ms).beats == bars * BEATS_A_BAR


@pytest.mark.parametrize("instrument", sorted(VOICES))
def test_a_note_begins_and_ends_in_silence(instrument: str) -> None:
    """A sample that jumps is heard as a click: at both ends, and for a note that is shorter than its own attack."""
    for seconds in (0.6, 0.05):
        samples = tone(instrument, 60, seconds)
        assert len(samples) == round(seconds * RATE)
        assert max(map(abs, (*samples[:3], *samples[-3:]))) < 0.02
        assert 0.05 < max(map(abs, samples)) <= 1.0


@pytest.mark.parametrize("instrument", ["kick", "taiko", "snare", "hat", "shaker", "wood", "tick"])
def test_a_stroke_begins_and_ends_in_silence(instrument: str) -> None:
    """The same for drums."""
    samples = stroke(instrument)
    assert max(map(abs, (*samples[:2], *samples[-3:]))) < 0.05
    assert 0.02 < max(map(abs, samples)) <= 2.0


@pytest.mark.parametrize("pitch", [26, 45, 60, 69, 84, 98])
def test_notes_are_in_tune(pitch: int) -> None:
    """Repeated tables must hold whole periods: less than two cents off, which nobody hears."""
    samples = tone("horn", pitch, 0.8)[RATE // 5 : RATE // 2]
    wanted = 440 * 2 ** ((pitch - 69) / 12)

    def strength(frequency: float) -> float:
        turn = math.tau * frequency / RATE
        real = sum(sample * math.cos(turn * index) for index, sample in enumerate(samples))
        return math.hypot(real, sum(sample * math.sin(turn * index) for index, sample in enumerate(samples)))

    # The peak of a parabola through three points beside the pitch is where the tone really is.
    step = RATE / len(samples) / 2
    below, at, above = (strength(wanted + shift * step) for shift in (-1, 0, 1))
    off = (below - above) / (2 * (below - 2 * at + above)) * step
    assert abs(1_200 * math.log2((wanted + off) / wanted)) < 2 + 60 / wanted


def test_an_unknown_mood_is_refused_by_name() -> None:
    """Before a task is made; the message says what there is."""
    with pytest.raises(ProviderFault) as refused:
        OfflineMusic().describe(MusicRequest(mood="angry", seed=1, length_ms=9_000))
    assert refused.value.code is ErrorCode.INPUT_INVALID
    assert "'angry'" in refused.value.detail
    assert "calm" in refused.value.detail
