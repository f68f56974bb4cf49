"""The gate of voices: each rule broken alone, with plain numbers."""

from typing import Any

import pytest

from comic_pipeline.model.measured import SoundFacts, Unreadable
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.voices import judge_voices
from comic_pipeline_tests.unit.quality.material import BOARD, lines, voice


def judged(second: SoundFacts | Unreadable) -> list[Finding]:
    """The findings about a good voice and a second one."""
    return judge_voices(lines(), BOARD, measured={0: voice(), 1: second})


@pytest.mark.parametrize(
    "change", [{}, {"peak_dbfs": 0.0}, {"peak_dbfs": 0.6}, {"peak_share": 0.007}, {"lufs": -70.0, "rms_dbfs": -20.0}]
)
def test_good_voices_have_no_findings(change: dict[str, Any]) -> None:
    """Normalised to full scale, a little over it after decoding, a pure tone, a line too short for the loudness meter."""
    assert judged(voice(**change)) == []


@pytest.mark.parametrize(
    ("change", "rule", "severity"),
    [
        ({"duration_ms": 10}, "length_fits_text", Severity.ERROR),
        ({"duration_ms": 60_000}, "length_fits_text", Severity.ERROR),
        ({"duration_ms": 0}, "length_fits_text", Severity.ERROR),
        ({"lufs": -70.0, "rms_dbfs": -120.0}, "not_silent", Severity.ERROR),
        ({"lufs": -60.0, "rms_dbfs": -62.0}, "not_silent", Severity.ERROR),
        ({"lufs": -45.0}, "loud_enough", Severity.WARN),
        ({"peak_dbfs": 0.0, "peak_share": 0.009}, "not_clipped", Severity.ERROR),
        ({"peak_dbfs": 0.0, "peak_share": 0.002}, "not_clipped", Severity.WARN),
        ({"peak_dbfs": 5.0}, "not_clipped", Severity.ERROR),
        ({"peak_dbfs": 1.6}, "not_clipped", Severity.WARN),
    ],
)
def test_each_rule_of_a_voice(change: dict[str, Any], rule: str, severity: Severity) -> None:
    """Four characters in 10 ms or in a minute, silence, hiss, a whisper, cut waves, overdriven MP3."""
    (finding,) = judged(voice(**change))
    assert (finding.rule, finding.severity, finding.seq) == (rule, severity, 1)


def test_a_silenced_line_is_a_warning_and_a_forgotten_one_an_error() -> None:
    """The explicit policy shows and does not block; a line that nobody decided to silence does."""
    for silenced, severity in ((True, Severity.WARN), (False, Severity.ERROR)):
        (finding,) = judge_voices(lines(media=None, made=None, silenced=silenced), BOARD, measured={0: voice()})
        assert (finding.rule, finding.severity) == ("line_spoken", severity)
    assert judge_voices(lines(text="", media=None, made=None), BOARD, measured={0: voice()}) == []


def test_an_unreadable_voice_is_its_shots_fault() -> None:
    """The reason is said."""
    (finding,) = judged(Unreadable("it has no sound track"))
    assert (finding.rule, finding.seq, finding.measured) == ("voice_readable", 1, "it has no sound track")
