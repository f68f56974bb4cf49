"""Real sound for speech: one tone burst for every character, as long as somebody would speak it, encoded with ffmpeg.

Belongs here: audio bytes for a text. Does not: the speech routes (`speech.py`).
"""

import math
import subprocess
from array import array
from functools import lru_cache

import imageio_ffmpeg

_RATE = 24_000
_HAN_SECONDS = 0.25
_LETTER_SECONDS = 0.07
_CODECS = {
    "mp3": ("-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"),
    "ogg_opus": ("-c:a", "libopus", "-b:a", "32k", "-f", "ogg"),
    "opus": ("-c:a", "libopus", "-b:a", "32k", "-f", "ogg"),
    "aac": ("-c:a", "aac", "-f", "adts"),
    "flac": ("-c:a", "flac", "-f", "flac"),
    "wav": ("-c:a", "pcm_s16le", "-f", "wav"),
    "pcm": ("-c:a", "pcm_s16le", "-f", "s16le"),
}
MIME = {
    "mp3": "audio/mpeg",
    "ogg_opus": "audio/ogg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}


def spoken_seconds(text: str, speed: float = 1.0) -> float:
    """How long the text takes: 0.25 s a Chinese character or mark, 0.07 s a letter, at least 0.3 s."""
    return max(0.3, sum(_pause(char) for char in text) / speed)


def speak(text: str, *, format: str, rate: int = _RATE, speed: float = 1.0, look: str = "") -> bytes:  # noqa: A002  the wire's name
    """Mono audio for the text in that container; `look` silent gives quiet of the right length. Raises CalledProcessError."""
    wave = array("h")
    for char in text:
        wave.extend(_burst(ord(char) % 24, round(_pause(char) / speed, 3), voiced=char.isalnum() and look != "silent"))
    short = round(spoken_seconds(text, speed) * _RATE) - len(wave)
    wave.extend([0] * max(0, short))
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "s16le", "-ar", str(_RATE), "-ac", "1", "-i", "-"]
    command += ["-ar", "48000" if "opus" in format else str(rate), *_CODECS[format], "-"]
    return subprocess.run(command, input=wave.tobytes(), check=True, capture_output=True).stdout


def _pause(char: str) -> float:
    return _HAN_SECONDS if ord(char) >= 0x2E80 else _LETTER_SECONDS


@lru_cache(maxsize=512)
def _burst(pitch: int, seconds: float, *, voiced: bool) -> "array[int]":
    """A decaying tone with two overtones over three quarters of the time, then quiet."""
    samples = round(seconds * _RATE)
    loud = samples * 3 // 4 if voiced else 0
    step = 2 * math.pi * (140 + 8 * pitch) / _RATE
    tone = (
        int(
            9_000
            * math.sin(math.pi * n / loud)
            * (math.sin(step * n) + 0.5 * math.sin(2 * step * n) + 0.3 * math.sin(5 * step * n))
        )
        for n in range(loud)
    )
    wave = array("h", tone)
    wave.extend([0] * (samples - loud))
    return wave
