"""Is the film what was planned: streams, size, rate, length, sound, words?"""

import unicodedata

from comic_pipeline.model.measured import FilmFacts
from comic_pipeline.model.project import FPS, Frame
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import broken
from comic_pipeline.quality.thresholds import (
    BLACK_RUN_MS,
    FILM_LUFS,
    FILM_LUFS_TOLERANCE,
    FILM_TOLERANCE_MS,
    FPS_TOLERANCE,
    SYNC_TOLERANCE_MS,
    TRUE_PEAK_DBTP,
    TRUE_PEAK_TOLERANCE,
)

_Rule = tuple[str, bool, object, object]


def judge_film(facts: FilmFacts, *, frame: Frame, planned_ms: int, cues: int, audible: bool) -> list[Finding]:
    """Findings about the film's file. `cues` are the planned ones; a film without voices and music need not be `audible`."""
    rules = [*_streams(facts, frame), *_times(facts, planned_ms), *_words(facts, cues), *_loudness(facts, audible=audible)]
    findings = [broken(rule, seq=None, measured=measured, wanted=wanted) for rule, holds, measured, wanted in rules if not holds]
    return findings + _glyphs(facts.missing_glyphs)


def _streams(facts: FilmFacts, frame: Frame) -> list[_Rule]:
    picture, size = (facts.codec, facts.pix_fmt), (facts.width, facts.height)
    return [
        ("video_is_h264_yuv420p", picture == ("h264", "yuv420p"), " ".join(picture), "h264 yuv420p"),
        ("audio_is_aac", facts.audio_codec == "aac", facts.audio_codec or "no sound", "aac"),
        ("size_as_asked", size == (frame.width, frame.height), "{}x{}".format(*size), f"{frame.width}x{frame.height}"),
        ("frame_rate", abs(facts.fps - FPS) <= FPS_TOLERANCE, f"{facts.fps:.3f}", FPS),
        ("starts_before_it_is_loaded", facts.faststart, "index at the end", "index first (faststart)"),
    ]


def _times(facts: FilmFacts, planned_ms: int) -> list[_Rule]:
    as_planned = abs(facts.duration_ms - planned_ms) <= FILM_TOLERANCE_MS
    black = facts.black
    rules: list[_Rule] = [
        ("length_as_planned", as_planned, f"{facts.duration_ms} ms", f"{planned_ms} ms"),
        (
            "not_black",
            black.length_ms < BLACK_RUN_MS,
            f"{black.length_ms} ms from {black.start_ms} ms on",
            f"less than {BLACK_RUN_MS} ms",
        ),
    ]
    if not facts.audio_codec:
        return rules
    ends = facts.start_ms + facts.duration_ms, facts.audio_start_ms + facts.audio_ms
    together = abs(facts.audio_start_ms - facts.start_ms) <= SYNC_TOLERANCE_MS
    return [
        *rules,
        ("picture_and_sound_start_together", together, f"sound at {facts.audio_start_ms} ms", f"{facts.start_ms} ms"),
        ("sound_as_long_as_picture", abs(ends[1] - ends[0]) <= FILM_TOLERANCE_MS, f"ends at {ends[1]} ms", f"{ends[0]} ms"),
    ]


def _loudness(facts: FilmFacts, *, audible: bool) -> list[_Rule]:
    if not facts.audio_codec or not audible:
        return []
    loud = abs(facts.lufs - FILM_LUFS) <= FILM_LUFS_TOLERANCE
    below = facts.true_peak_dbtp <= TRUE_PEAK_DBTP + TRUE_PEAK_TOLERANCE
    return [
        ("loudness", loud, f"{facts.lufs:.1f} LUFS", f"{FILM_LUFS:g} ± {FILM_LUFS_TOLERANCE:g} LUFS"),
        ("true_peak", below, f"{facts.true_peak_dbtp:.2f} dBTP", f"at most {TRUE_PEAK_DBTP:g} dBTP"),
    ]


def _words(facts: FilmFacts, cues: int) -> list[_Rule]:
    rules: list[_Rule] = [("soft_subtitles", (facts.subtitle_streams == 1) == (cues > 0), facts.subtitle_streams, int(cues > 0))]
    if facts.subtitle_streams:
        rules.append(("every_cue_shown", facts.cues == cues, facts.cues, cues))
    return rules


def _glyphs(missing: str) -> list[Finding]:
    """A letter that cannot be drawn is a lost word; a sign or an emoji is left out of the picture and stays in the soft track."""
    if not missing:
        return []
    letters = any(unicodedata.category(char)[0] in "LMN" for char in missing)
    severity = Severity.ERROR if letters else Severity.WARN
    shown = " ".join(f"{char} U+{ord(char):04X}" for char in missing[:20])
    return [broken("glyphs_for_all_words", seq=None, measured=shown, wanted="a glyph for every character", severity=severity)]
