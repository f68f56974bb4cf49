"""The child process that speaks: one line in as JSON on stdin, one WAV out on stdout, then it ends.

Belongs here: everything that touches the eSpeak NG library, which keeps global state, cannot be interrupted and may crash; a
process of its own can be killed. Does not: the choice of voice (`voice.py`). Imports nothing of ours, to start fast.
"""

import array
import ctypes
import io
import json
import os
import sys
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import espeakng_loader

# The values of speak_lib.h that are used.
_SYNCHRONOUS, _DONT_EXIT, _UTF8 = 2, 0x8000, 1
_RATE, _VOLUME, _PITCH = 1, 2, 3

# At the default volume of 100 some voices hit the ceiling of 16 bits; at 60 the loudest of those used here peaks below 20,000.
_SYNTH_VOLUME = 60
_PEAK = 27_500  # -1.5 dBFS: the same loudest sample for every line, none clipped
_SILENCE = 300  # of 32,767: below this nothing is heard
_KEPT_SILENCE = 0.05  # seconds left before and after the words


def main() -> int:
    """Speak the line on stdin. Exit code 1 and the reason on stderr when the engine fails; no samples for no speech."""
    line = json.load(sys.stdin)
    try:
        samples, rate = _speak(line["text"], voice=line["voice"], pitch=line["pitch"], words_per_minute=line["rate"])
    except OSError as broken:
        sys.stderr.write(f"{broken}\n")
        return 1
    sys.stdout.buffer.write(to_wav(level(trim(samples, rate=rate)), rate=rate))
    return 0


def trim(samples: "array.array[int]", *, rate: int) -> "array.array[int]":
    """The samples without long silence at either end; empty when there is nothing but silence."""
    first = next((i for i, value in enumerate(samples) if abs(value) > _SILENCE), None)
    if first is None:
        return array.array("h")
    last = next(i for i in range(len(samples) - 1, -1, -1) if abs(samples[i]) > _SILENCE)
    kept = int(_KEPT_SILENCE * rate)
    return samples[max(0, first - kept) : last + 1 + kept]


def level(samples: "array.array[int]") -> "array.array[int]":
    """The samples scaled so that the loudest is at -1.5 dBFS."""
    peak = max((max(samples), -min(samples))) if samples else 0
    if peak == 0:
        return samples
    factor = _PEAK / peak
    return array.array("h", [round(value * factor) for value in samples])


def to_wav(samples: "array.array[int]", *, rate: int) -> bytes:
    """16-bit mono WAV."""
    if sys.byteorder == "big":
        samples = array.array("h", samples)
        samples.byteswap()
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return buffer.getvalue()


def _speak(text: str, *, voice: str, pitch: int, words_per_minute: int) -> tuple["array.array[int]", int]:
    """Samples and their rate. Raises OSError when the library cannot be loaded or refuses."""
    library, rate = _load()
    samples: array.array[int] = array.array("h")
    # The callback object must stay referenced until the synthesis has ended.
    collect = _collector(samples)
    library.espeak_SetSynthCallback(collect)
    _accepted(library.espeak_SetVoiceByName(voice.encode()), f"voice {voice!r}")
    for parameter, value in ((_RATE, words_per_minute), (_VOLUME, _SYNTH_VOLUME), (_PITCH, pitch)):
        _accepted(library.espeak_SetParameter(parameter, value, 0), f"parameter {parameter}={value}")
    data = text.encode() + b"\0"
    _accepted(library.espeak_Synth(data, len(data), 0, 1, 0, _UTF8, None, None), "the text")
    _accepted(library.espeak_Synchronize(), "the end of the text")
    return samples, rate


def _load() -> tuple[ctypes.CDLL, int]:
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    # The library keeps its data path in 160 bytes and fails on longer ones; "." is short wherever the wheel is installed.
    os.chdir(Path(espeakng_loader.get_data_path()).parent)
    rate = int(library.espeak_Initialize(_SYNCHRONOUS, 0, b".", _DONT_EXIT))
    if rate <= 0:
        raise OSError(f"eSpeak NG did not start (code {rate}): is its data folder complete?")
    # Its breath noise is seeded with the clock at start: without this the same line gives other bytes a second later.
    _accepted(library.espeak_ng_SetRandSeed(ctypes.c_long(1)), "the seed")
    return library, rate


def _collector(samples: "array.array[int]") -> Any:
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)

    def collect(chunk: Any, count: int, _events: Any) -> int:
        if chunk and count > 0:
            samples.frombytes(ctypes.string_at(chunk, count * 2))
        return 0

    wrap: Callable[[Any], Any] = callback
    return wrap(collect)


def _accepted(code: int, what: str) -> None:
    if code != 0:
        raise OSError(f"eSpeak NG refused {what} (code {code})")


if __name__ == "__main__":
    sys.exit(main())
