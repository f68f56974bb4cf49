"""Is the film what was planned: streams, size, rate, length, sound, words?"""

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.project import FPS, Frame
from comic_pipeline.model.verdict import Finding
from comic_pipeline.quality.findings import broken
from comic_pipeline.quality.thresholds import FILM_TOLERANCE_MS


class FilmFacts(BaseModel):
    """What was measured in the film's file. Lengths in milliseconds, `audio_ms` is 0 without a sound stream."""

    model_config = ConfigDict(frozen=True)

    codec: str
    pix_fmt: str
    width: int
    height: int
    fps: float
    duration_ms: int
    audio_codec: str
    audio_ms: int
    subtitle_streams: int
    faststart: bool


def judge_film(facts: FilmFacts, *, frame: Frame, planned_ms: int, cues: int) -> list[Finding]:
    """Findings about the film's file."""
    rules: list[tuple[str, bool, object, object]] = [
        (
            "video_is_h264_yuv420p",
            (facts.codec, facts.pix_fmt) == ("h264", "yuv420p"),
            f"{facts.codec} {facts.pix_fmt}",
            "h264 yuv420p",
        ),
        ("audio_is_aac", facts.audio_codec == "aac", facts.audio_codec or "no sound", "aac"),
        (
            "size_as_asked",
            (facts.width, facts.height) == (frame.width, frame.height),
            f"{facts.width}x{facts.height}",
            f"{frame.width}x{frame.height}",
        ),
        ("frame_rate", abs(facts.fps - FPS) < 0.05, f"{facts.fps:.3f}", FPS),
        (
            "length_as_planned",
            abs(facts.duration_ms - planned_ms) <= FILM_TOLERANCE_MS,
            f"{facts.duration_ms} ms",
            f"{planned_ms} ms",
        ),
        (
            "sound_as_long_as_picture",
            abs(facts.audio_ms - facts.duration_ms) <= FILM_TOLERANCE_MS,
            f"{facts.audio_ms} ms",
            f"{facts.duration_ms} ms",
        ),
        ("soft_subtitles", (facts.subtitle_streams == 1) == (cues > 0), facts.subtitle_streams, int(cues > 0)),
        ("starts_before_it_is_loaded", facts.faststart, "index at the end", "index first (faststart)"),
    ]
    return [broken(rule, seq=None, measured=measured, wanted=wanted) for rule, holds, measured, wanted in rules if not holds]
