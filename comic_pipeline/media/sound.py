"""Measuring sound while it is decoded: level, peaks, loudness (EBU R128), length; and how much louder a voice must be.

Belongs here: numbers about sound. Does not: opening files (`probe.py`), mixing (`mix.py`).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.filter import Graph

# What digital silence measures as: numbers stay finite in documents and comparisons.
SILENCE_DB = -120.0
# Quieter than this there is no speech in it, only noise that must not be made louder.
SPEECH_FLOOR_LUFS = -55.0
VOICE_TARGET_LUFS = -16.0
MAX_BOOST_DB = 24.0
MIX_RATE = 48_000

# ffmpeg's filters by name with their arguments, one after another.
Filters = tuple[tuple[str, str], ...]

# 24 kHz mono and 48 kHz stereo become comparable only in the form in which they are mixed, so loudness is measured in that form.
_CHAIN: Filters = (
    ("astats", "metadata=1:measure_perchannel=none:measure_overall=Peak_level+RMS_level+Peak_count"),
    ("aresample", f"{MIX_RATE}"),
    ("aformat", f"sample_rates={MIX_RATE}:channel_layouts=stereo"),
    ("ebur128", "metadata=1:peak=true"),
)


@dataclass(frozen=True)
class Levels:
    """A whole piece of sound: length in milliseconds, rate in Hz, sample peak and RMS in dBFS, integrated loudness in LUFS.

    `true_peak_dbtp` is the peak between the samples, over both ears after conversion to stereo. `peak_share` is the share of
    samples at the very peak, which is high where a wave was cut off. Silence measures as -120 dBFS and, by the rules of R128,
    -70 LUFS.
    """

    duration_ms: int
    sample_rate: int
    channels: int
    peak_dbfs: float
    rms_dbfs: float
    lufs: float
    true_peak_dbtp: float
    peak_share: float


class LevelMeter:
    """Takes decoded frames one by one and says at the end how loud and long they were together, after the filters `through`."""

    def __init__(self, *, through: Filters = ()) -> None:
        self._through = through
        self._graph: Graph | None = None
        self._samples = 0
        self._rate = 0
        self._channels = 0
        self._last: dict[str, str] = {}

    @property
    def samples(self) -> int:
        """Samples per channel so far."""
        return self._samples

    @property
    def seconds(self) -> float:
        """How long it has played so far."""
        return self._samples / self._rate if self._rate else 0.0

    def add(self, frame: "AudioFrame") -> None:
        """Measure one frame. Raises av.FFmpegError when it does not have the form of the first one."""
        if self._graph is None:
            self._graph = _open_graph(frame, (*self._through, *_CHAIN))
            self._rate, self._channels = frame.sample_rate, frame.layout.nb_channels
        self._samples += frame.samples
        self._graph.push(frame)
        self._drain()

    def levels(self, *, declared_s: float | None) -> Levels:
        """The numbers over everything that was added. Raises LookupError when nothing was.

        `declared_s` is the track's length by its header: AAC and MP3 decode in whole blocks, and the header says where to stop.
        """
        if self._graph is None:
            raise LookupError("no sound was measured")
        decoded = self._samples / self._rate
        self._graph.push(None)
        self._drain()
        return Levels(
            duration_ms=round(min(decoded, declared_s or decoded) * 1000),
            sample_rate=self._rate,
            channels=self._channels,
            peak_dbfs=self._number("lavfi.astats.Overall.Peak_level"),
            rms_dbfs=self._number("lavfi.astats.Overall.RMS_level"),
            lufs=self._number("lavfi.r128.I"),
            true_peak_dbtp=self._true_peak(),
            peak_share=float(self._last.get("lavfi.astats.Overall.Peak_count", 0.0)) / self._samples,
        )

    def _drain(self) -> None:
        import av

        while self._graph is not None:
            try:
                self._last |= self._graph.pull().metadata
            except (av.BlockingIOError, av.EOFError):  # it wants more input, or has given all
                return

    def _true_peak(self) -> float:
        # The one number here that ffmpeg gives as a factor.
        factor = float(self._last.get("lavfi.r128.true_peak", 0.0))
        return max(SILENCE_DB, round(20 * math.log10(factor), 2)) if factor > 0 else SILENCE_DB

    def _number(self, key: str) -> float:
        return max(SILENCE_DB, round(float(self._last.get(key, SILENCE_DB)), 2))


def voice_gain_db(levels: Levels) -> float:
    """How much louder (dB, negative: quieter) a voice must be to reach -16 LUFS; 0 for what holds no speech.

    A fixed gain per line, not ffmpeg's one-pass `loudnorm`: that one rides the level up in pauses, so that it pumps, and it makes
    the noise of a silent film loud. Lines shorter than the 400 ms that R128 needs are judged by their RMS.
    """
    loudness = levels.lufs if levels.lufs > -70.0 else levels.rms_dbfs
    if loudness < SPEECH_FLOOR_LUFS:
        return 0.0
    return round(min(MAX_BOOST_DB, VOICE_TARGET_LUFS - loudness), 2)


def _open_graph(frame: "AudioFrame", filters: Filters) -> "Graph":
    import av.filter

    graph = av.filter.Graph()
    source = graph.add_abuffer(sample_rate=frame.sample_rate, format=frame.format.name, layout=frame.layout.name)
    links = [source, *(graph.add(name, arguments) for name, arguments in filters), graph.add("abuffersink")]
    graph.link_nodes(*links).configure()
    return graph
