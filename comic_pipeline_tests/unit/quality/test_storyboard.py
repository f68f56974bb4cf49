"""The storyboard's gate: each rule broken alone."""

from typing import Any

import pytest

from comic_pipeline.model.project import BucketPlan
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.verdict import Severity
from comic_pipeline.quality.findings import closes_gate
from comic_pipeline.quality.storyboard import found_words, judge_storyboard, speech_ms

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
    assert {finding.rule for finding in findings} == {rule}
    assert closes_gate(findings)


def test_a_line_of_somebody_who_is_not_in_the_picture_is_a_warning() -> None:
    """drama-skills #94, PR#137: a shot claims a line of someone not in frame. Off-screen voices exist, so it goes to review."""
    (finding,) = judge_storyboard(a_board(speaker="Lin"), bucket=BUCKET)
    assert (finding.rule, finding.severity, finding.seq, finding.measured) == ("speaker_in_frame", Severity.WARN, 1, "Lin")
    assert not closes_gate([finding])


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("好" * 20, None),
        ("好" * 30, Severity.WARN),
        ("好" * 60, Severity.ERROR),
        ("word " * 12, None),
        ("word " * 18, Severity.WARN),
    ],
)
def test_a_line_must_be_speakable_within_its_shot(text: str, severity: Severity | None) -> None:
    """ZJT #411: 5.2 s of speech for 3 s of shot. The film holds the shot, so it is a WARN until it is another film."""
    findings = judge_storyboard(a_board(dialogue=text), bucket=BUCKET)
    assert [(finding.rule, finding.severity, finding.seq) for finding in findings] == (
        [("line_fits_shot", severity, 1)] if severity else []
    )


def test_speech_is_counted_in_characters_and_words() -> None:
    """A Chinese character takes as long as it takes; an English word is one word, however it is written."""
    assert speech_ms("你好，世界！") == 4 * 220
    assert speech_ms("It's a well-known star.") == 5 * 370
    assert speech_ms("他说 hello") == 2 * 220 + 370
    assert speech_ms("……！？") == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a glass of water", []),
        ("What an ASS he is", ["ass"]),
        ("Ｂａｄ　Word here", ["bad word"]),
        ("他在赌 · 博场里", ["赌博"]),
        ("赌气不如博弈", []),
    ],
)
def test_banned_words_are_found_however_they_are_written(text: str, found: list[str]) -> None:
    """Case, full-width letters and signs between characters hide nothing; a word inside another one is not it."""
    assert found_words(text, ("ass", "bad word", "赌博")) == found


def test_a_banned_word_closes_the_gate_and_names_shot_and_word() -> None:
    """Whoever must rewrite it knows where; the title is a place of its own."""
    board = a_board(narration="他去赌博").model_copy(update={"title": "赌博之夜"})
    findings = judge_storyboard(board, bucket=BUCKET, banned=("赌博",))
    assert [(finding.rule, finding.seq, finding.measured) for finding in findings] == [
        ("words_allowed", None, "赌博"),
        ("words_allowed", 1, "赌博"),
    ]
    assert closes_gate(findings)
