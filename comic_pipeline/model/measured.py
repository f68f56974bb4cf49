"""What was measured in a file, as plain numbers: filled in by `media/`, judged by `quality/`.

Belongs here: the values and their units. Does not: measuring, limits. Lengths and times in milliseconds, sizes in pixels, grey
levels from 0 (black) to 255.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unreadable:
    """A file that could not be measured, and why."""

    reason: str


@dataclass(frozen=True)
class PictureFacts:
    """A still picture: MIME type of its bytes, size, mean level, standard deviation of the levels, variance of the Laplacian.

    `fingerprint` is a perceptual hash of 256 bits: similar pictures differ in few of them.
    """

    mime: str
    width: int
    height: int
    brightness: float
    contrast: float
    sharpness: float
    fingerprint: int


@dataclass(frozen=True)
class SoundFacts:
    """A voice: length, sample peak and RMS in dBFS, loudness in LUFS, and the share of samples that lie at the peak."""

    mime: str
    duration_ms: int
    peak_dbfs: float
    rms_dbfs: float
    lufs: float
    peak_share: float


@dataclass(frozen=True)
class Run:
    """A stretch of time within a video."""

    start_ms: int
    length_ms: int


NO_RUN = Run(start_ms=0, length_ms=0)


@dataclass(frozen=True)
class ClipFacts:
    """A clip as it plays. `black` and `still`: the longest time without light, and without visible change.

    `likeness` is the SSIM of its first picture with the best fitting part of the image that it was started from, up to 1.
    `sound_dbfs` is the RMS of a sound track, None where there is none.
    """

    width: int
    height: int
    fps: float
    duration_ms: int
    black: Run
    still: Run
    likeness: float
    sound_dbfs: float | None


@dataclass(frozen=True)
class FilmFacts:
    """The film's file. Without a sound track `audio_codec` is empty and its numbers are those of silence.

    `cues` counts the words that the soft track shows; `missing_glyphs` are characters of the cues that the font cannot draw.
    """

    codec: str
    pix_fmt: str
    width: int
    height: int
    fps: float
    start_ms: int
    duration_ms: int
    audio_codec: str
    audio_start_ms: int
    audio_ms: int
    lufs: float
    true_peak_dbtp: float
    subtitle_streams: int
    cues: int
    faststart: bool
    black: Run
    missing_glyphs: str = ""
