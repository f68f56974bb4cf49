"""The gate of the film: each rule broken alone, with plain numbers."""

from typing import Any

import pytest

from comic_pipeline.model.measured import FilmFacts, Run
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.film import judge_film
from comic_pipeline_tests.unit.quality.material import WIDE, film


def judged(facts: FilmFacts, *, cues: int = 3, audible: bool = True) -> list[Finding]:
    """The findings about a film planned for 10 s."""
    return judge_film(facts, frame=WIDE, planned_ms=10_000, cues=cues, audible=audible)


def test_a_good_film_has_no_findings() -> None:
    """Also one without words, without a subtitle track, and silent."""
    assert judged(film()) == []
    assert judged(film(subtitle_streams=0, cues=0, lufs=-70.0, true_peak_dbtp=-120.0), cues=0, audible=False) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"codec": "hevc"}, "video_is_h264_yuv420p"),
        ({"pix_fmt": "yuv444p"}, "video_is_h264_yuv420p"),
        ({"audio_codec": "", "audio_ms": 0}, "audio_is_aac"),
        ({"width": 720, "height": 1280}, "size_as_asked"),
        ({"fps": 30.0}, "frame_rate"),
        ({"duration_ms": 9_700, "audio_ms": 9_700}, "length_as_planned"),
        ({"audio_ms": 9_000}, "sound_as_long_as_picture"),
        ({"audio_start_ms": 60}, "picture_and_sound_start_together"),
        ({"lufs": -18.0}, "loudness"),
        ({"lufs": -14.5}, "loudness"),
        ({"true_peak_dbtp": -0.9}, "true_peak"),
        ({"black": Run(start_ms=4_000, length_ms=600)}, "not_black"),
        ({"subtitle_streams": 0, "cues": 0}, "soft_subtitles"),
        ({"cues": 2}, "every_cue_shown"),
        ({"missing_glyphs": "กข"}, "glyphs_for_all_words"),
        ({"faststart": False}, "starts_before_it_is_loaded"),
    ],
)
def test_each_rule_of_the_film(change: dict[str, Any], rule: str) -> None:
    """One broken rule, one finding about the whole film that closes the gate."""
    (finding,) = judged(film(**change))
    assert (finding.rule, finding.severity, finding.seq) == (rule, Severity.ERROR, None)


def test_an_emoji_that_the_font_cannot_draw_is_a_warning() -> None:
    """It is left out of the picture and stays in the soft track; no word is lost."""
    (finding,) = judged(film(missing_glyphs="🌙🦊"))
    assert (finding.rule, finding.severity) == ("glyphs_for_all_words", Severity.WARN)
    assert "U+1F319" in finding.measured
