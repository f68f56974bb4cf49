"""The finished film in numbers: what the film's gate and nobody else wants to know.

Belongs here: gathering them from one pass over the file. Does not: decoding (`probe.py`), limits (`quality/thresholds.py`).
"""

from collections.abc import Iterable
from pathlib import Path

from comic_pipeline.media.fonts import missing_glyphs
from comic_pipeline.media.motion_probe import measure_motion
from comic_pipeline.media.probe import shown_cues
from comic_pipeline.media.sound import SILENCE_DB
from comic_pipeline.model.measured import FilmFacts


def measure_film(source: Path, *, words: Iterable[str]) -> FilmFacts:
    """Decode the film once and measure it; `words` are the texts of its cues. Raises MediaFault like `measure_video`."""
    motion = measure_motion(source)
    video, sound = motion.video, motion.video.audio
    return FilmFacts(
        codec=video.codec,
        pix_fmt=video.pix_fmt,
        width=video.width,
        height=video.height,
        fps=video.fps,
        start_ms=motion.start_ms,
        duration_ms=video.duration_ms,
        audio_codec=sound.codec if sound else "",
        audio_start_ms=motion.audio_start_ms or 0,
        audio_ms=sound.duration_ms if sound else 0,
        lufs=sound.lufs if sound else SILENCE_DB,
        true_peak_dbtp=sound.true_peak_dbtp if sound else SILENCE_DB,
        subtitle_streams=video.subtitle_streams,
        cues=shown_cues(source),
        faststart=video.faststart,
        black=motion.black,
        missing_glyphs="".join(sorted(missing_glyphs("".join(words)))),
    )
