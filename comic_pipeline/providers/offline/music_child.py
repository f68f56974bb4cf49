"""The process that plays one piece: a request as JSON on standard input, WAV on standard output. Started by `music.py` alone.

Belongs here: mixing notes to stereo. A piece is a ring: what sounds beyond its end is laid over its beginning, so that it repeats
without a seam.

A stereo sample is one complex number, left real and right imaginary: adding or scaling both ears costs as much as one, and a
plain sample times `left + right j` is that sample panned.
"""

import io
import json
import sys
import wave
from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice, repeat
from math import cos, pi, sin
from operator import add, attrgetter, mul

from comic_pipeline.providers.offline.music_moods import MOODS
from comic_pipeline.providers.offline.music_score import Score, compose
from comic_pipeline.providers.offline.music_tones import RATE, VOICES, stroke, tone

Stereo = list[complex]

_PEAK = 0.5  # -6 dBFS: how loud it is in the film is decided there
# Echoes: after how many beats, with what share of the echo's strength. Times `j` they come from the other side.
_ECHOES = ((0.33, 0.5j), (0.75, 0.65), (1.5, 0.4j))


def main() -> None:
    """Play what is asked for."""
    asked = json.load(sys.stdin)
    score = compose(MOODS[asked["mood"]], seed=asked["seed"], length_ms=asked["length_ms"])
    sys.stdout.buffer.write(to_wav(play(score)))


def play(score: Score) -> Stereo:
    """The piece, at whatever level it comes out."""
    bus: Stereo = [0j] * round(score.beats * score.seconds_a_beat * RATE)
    for note in score.notes:
        samples = _panned(note.instrument, note.pitch, round(note.length * score.seconds_a_beat, 4), note.level, note.pan)
        _lay(bus, round(note.start * score.seconds_a_beat * RATE), samples)
    # A minute of stereo takes 115 MB as a list: the notes go, and the echoes run over the one list without further ones.
    _panned.cache_clear()
    wet: Iterable[complex] = bus
    for beats, share in _ECHOES:
        late = round(beats * score.seconds_a_beat * RATE)
        wet = map(add, wet, map(mul, chain(islice(bus, len(bus) - late, None), bus), repeat(score.echo * share)))
    return list(wet)


# Note after note of one player, who repeats few of them: at most 22 over 200 seeds of each mood. One takes about 9 MB.
@lru_cache(maxsize=24)
def _panned(instrument: str, pitch: int, seconds: float, level: float, pan: float) -> Stereo:
    turn = (pan + 1) * pi / 4  # equal power from left to right
    left, right = level * cos(turn), level * sin(turn)
    if instrument not in VOICES:
        return list(map(mul, stroke(instrument), repeat(complex(left, right))))
    if not VOICES[instrument].wide:
        return list(map(mul, tone(instrument, pitch, seconds), repeat(complex(left, right))))
    near, far = tone(instrument, pitch, seconds, cents=-4), tone(instrument, pitch, seconds, cents=4)
    return list(map(complex, map(mul, near, repeat(left)), map(mul, far, repeat(right))))


def _lay(bus: Stereo, start: int, samples: Stereo) -> None:
    fits = min(len(samples), len(bus) - start)
    bus[start : start + fits] = map(add, bus[start : start + fits], samples[:fits])
    rest = len(samples) - fits
    bus[:rest] = map(add, bus[:rest], samples[fits:])


def to_wav(samples: Stereo) -> bytes:
    """16-bit stereo WAV at 48 kHz; its loudest sample is at -6 dBFS."""
    ears = [array("d", map(attrgetter(part), samples)) for part in ("real", "imag")]
    factor = _PEAK * 32_767 / max(abs(sample) for ear in ears for sample in (max(ear), min(ear)))
    words = array("h", bytes(4 * len(samples)))
    for offset, ear in enumerate(ears):
        words[offset::2] = array("h", map(int, map(mul, ear, repeat(factor))))
    if sys.byteorder == "big":
        words.byteswap()
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(words.tobytes())
    return buffer.getvalue()


if __name__ == "__main__":
    main()
