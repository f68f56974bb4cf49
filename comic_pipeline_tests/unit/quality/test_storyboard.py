"""The storyboard's gate: each rule broken alone."""

from typing import Any

import pytest

from comic_pipeline.model.project import BucketPlan
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.verdict import Severity
from comic_pipeline.quality.findings import closes_gate
from comic_pipeline.quality.storyboard import judge_storyboard

BUCKET = BucketPlan(shots=2, shot_ms=5_000)


def a_board(**changes: Any) -> Storyboard:
    """Two good shots, the second with `changes`."""
    good: dict[str, Any] = {
        "scene_desc": "Xiaoyu stands at the sea",
        "dialogue": "Look!",
        "speaker": "Xiaoyu",
        "duration_ms": 5_000,
        "image_prompt": "Xiaoyu points at the waves",
    }
    return Storyboard(title="t", shots=(Shot(seq=0, **good), Shot(**({"seq": 1} | good | changes))))


def test_a_good_storyboard_has_no_findings() -> None:
    """Nothing to say, nothing said."""
    assert judge_storyboard(a_board(), bucket=BUCKET) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"seq": 0}, "shot_for_every_shot"),
        ({"duration_ms": 7_500}, "length_as_asked"),
        ({"image_prompt": " "}, "prompts_not_empty"),
        ({"speaker": ""}, "speaker_known"),
    ],
)
def test_each_rule_closes_the_gate(changes: dict[str, Any], rule: str) -> None:
    """One broken rule, one finding with its numbers."""
    findings = judge_storyboard(a_board(**changes), bucket=BUCKET)
    assert [finding.rule for finding in findings] == [rule]
    assert closes_gate(findings)


def test_a_line_of_somebody_who_is_not_in_the_picture_is_a_warning() -> None:
    """drama-skills #94, PR#137: a shot claims a line of someone not in frame. Off-screen voices exist, so it goes to review."""
    (finding,) = judge_storyboard(a_board(speaker="Lin"), bucket=BUCKET)
    assert (finding.rule, finding.severity, finding.seq, finding.measured) == ("speaker_in_frame", Severity.WARN, 1, "Lin")
    assert not closes_gate([finding])
