"""The gate of clips: each rule broken alone, with plain numbers."""

from typing import Any

import pytest

from comic_pipeline.model.measured import ClipFacts, Run, Unreadable
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.clips import judge_clips
from comic_pipeline_tests.unit.quality.material import BOARD, WIDE, clip, clips


def judged(second: ClipFacts | Unreadable) -> list[Finding]:
    """The findings about a good clip and a second one."""
    return judge_clips(clips(0, 1), BOARD, frame=WIDE, measured={0: clip(), 1: second})


@pytest.mark.parametrize(
    "change",
    [
        {"duration_ms": 4_960},
        {"duration_ms": 6_000},
        {"width": 1280, "height": 704},
        {"still": Run(start_ms=0, length_ms=1_000)},
        {"black": Run(start_ms=0, length_ms=200)},
        {"sound_dbfs": -70.0},
    ],
)
def test_what_providers_do_has_no_findings(change: dict[str, Any]) -> None:
    """A frame less, a second more, a size on the model's grid, a moment of rest, a blink, an empty sound track."""
    assert judged(clip(**change)) == []


@pytest.mark.parametrize(
    ("change", "rule", "severity"),
    [
        ({"width": 720, "height": 1280}, "aspect_as_asked", Severity.ERROR),
        ({"width": 864, "height": 486}, "large_enough", Severity.WARN),
        ({"duration_ms": 3_000}, "clip_long_enough", Severity.ERROR),
        ({"duration_ms": 8_000}, "clip_not_longer", Severity.WARN),
        ({"fps": 30.0}, "frame_rate", Severity.WARN),
        ({"fps": 8.0}, "frame_rate", Severity.ERROR),
        ({"black": Run(start_ms=3_000, length_ms=500)}, "not_black", Severity.ERROR),
        ({"still": Run(start_ms=0, length_ms=5_000)}, "moves", Severity.ERROR),
        ({"still": Run(start_ms=2_000, length_ms=2_000)}, "moves", Severity.WARN),
        ({"likeness": 0.4}, "starts_from_its_picture", Severity.ERROR),
        ({"likeness": 0.55}, "starts_from_its_picture", Severity.WARN),
        ({"sound_dbfs": -20.0}, "no_unasked_sound", Severity.WARN),
    ],
)
def test_each_rule_of_a_clip(change: dict[str, Any], rule: str, severity: Severity) -> None:
    """One broken rule, one finding that names its shot."""
    (finding,) = judged(clip(**change))
    assert (finding.rule, finding.severity, finding.seq) == (rule, severity, 1)


def test_a_short_clip_that_stands_still_is_still() -> None:
    """The limit of 1.5 s would let a clip of one second through."""
    findings = judged(clip(duration_ms=1_000, still=Run(start_ms=0, length_ms=1_000)))
    assert ("moves", Severity.ERROR) in [(finding.rule, finding.severity) for finding in findings]


def test_a_black_clip_is_black_and_not_also_still_and_unlike() -> None:
    """One cause, one finding, with the moment at which it begins."""
    whole = Run(start_ms=0, length_ms=5_000)
    (finding,) = judged(clip(black=whole, still=whole, likeness=0.1))
    assert (finding.rule, finding.measured) == ("not_black", "5000 ms from 0 ms on")


def test_missing_and_unreadable_clips_name_their_shots() -> None:
    """What follows re-makes exactly these shots."""
    found = judge_clips(clips(1), BOARD, frame=WIDE, measured={1: Unreadable("its last 500 bytes are missing")})
    assert [(finding.rule, finding.seq) for finding in found] == [("clip_for_every_shot", 0), ("clip_readable", 1)]
