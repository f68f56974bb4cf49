"""The gate of pictures: each rule broken alone, with plain numbers."""

from typing import Any

import pytest

from comic_pipeline.model.measured import PictureFacts, Unreadable
from comic_pipeline.model.media import FrameImages
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.frames import closest, judge_frames
from comic_pipeline_tests.unit.quality.material import BOARD, WIDE, frames, picture


def judged(second: PictureFacts | Unreadable, *, document: FrameImages | None = None, cards: bool = False) -> list[Finding]:
    """The findings about a good picture and a second one."""
    measured = {0: picture(0), 1: second}
    return judge_frames(document or frames(0, 1), BOARD, frame=WIDE, measured=measured, cards_allowed=cards)


def test_good_pictures_have_no_findings() -> None:
    """Sizes that a model rounds to its own grid are good too."""
    assert judged(picture(1, width=2720, height=1536)) == []


@pytest.mark.parametrize(
    ("change", "rule", "severity"),
    [
        ({"width": 640, "height": 640}, "aspect_as_asked", Severity.ERROR),
        ({"width": 1080, "height": 1920}, "aspect_as_asked", Severity.ERROR),
        ({"width": 1536, "height": 1024}, "aspect_as_asked", Severity.WARN),
        ({"width": 960, "height": 540}, "large_enough", Severity.WARN),
        ({"width": 512, "height": 288}, "large_enough", Severity.ERROR),
        ({"width": 0}, "has_a_size", Severity.ERROR),
        ({"mime": "image/jpeg"}, "type_as_named", Severity.ERROR),
        ({"contrast": 2.0, "sharpness": 0.0}, "not_flat", Severity.ERROR),
        ({"brightness": 5.0}, "bright_enough", Severity.ERROR),
        ({"brightness": 250.0}, "bright_enough", Severity.ERROR),
        ({"brightness": 15.0}, "bright_enough", Severity.WARN),
        ({"brightness": 240.0}, "bright_enough", Severity.WARN),
        ({"sharpness": 9.0}, "sharp_enough", Severity.ERROR),
        ({"sharpness": 40.0}, "sharp_enough", Severity.WARN),
        ({"fingerprint": 0b111}, "pictures_differ", Severity.ERROR),
        ({"fingerprint": 2**30 - 1}, "pictures_differ", Severity.WARN),
    ],
)
def test_each_rule_of_a_picture(change: dict[str, Any], rule: str, severity: Severity) -> None:
    """Dramaclaw #165, #656: 640x640 or 9:16 for 16:9. OpenAI's 3:2 is cropped, which a person should see, and nothing worse."""
    found = {finding.rule: finding for finding in judged(picture(1, **change))}
    assert (found[rule].severity, found[rule].seq) == (severity, 1)
    assert found.keys() <= {rule, "large_enough"}  # 640x640 is also small


def test_a_picture_that_cannot_be_decoded_is_its_shots_fault() -> None:
    """The reason is said, and no other rule is asked about it."""
    (finding,) = judged(Unreadable("found 54 bytes of text/html"))
    assert (finding.rule, finding.seq, finding.measured) == ("picture_readable", 1, "found 54 bytes of text/html")


def test_each_missing_or_doubled_picture_is_named_by_its_shot() -> None:
    """story-flicks #32: a missing 1.png; the round that follows re-makes exactly that shot."""
    found = judge_frames(frames(0, 0, 2), BOARD, frame=WIDE, measured={0: picture(0), 2: picture(2)}, cards_allowed=False)
    missing = [(finding.seq, finding.measured, finding.wanted) for finding in found if finding.rule == "picture_for_every_shot"]
    assert missing == [(0, "2", "1"), (1, "0", "1"), (2, "1", "0")]


@pytest.mark.parametrize(("allowed", "severity"), [(True, Severity.WARN), (False, Severity.ERROR)])
def test_a_card_in_a_pictures_place_blocks_unless_the_policy_allows_it(*, allowed: bool, severity: Severity) -> None:
    """A card from a time when the policy was another does not slip through; it is not judged as a picture."""
    board = frames(0, 1)
    marked = board.model_copy(update={"frames": (board.frames[0], board.frames[1].model_copy(update={"fallback": True}))})
    (finding,) = judged(picture(1, contrast=0.0), document=marked, cards=allowed)
    assert (finding.rule, finding.severity, finding.seq) == ("picture_drawn", severity, 1)


def test_the_later_of_two_alike_pictures_is_at_fault() -> None:
    """Only one of them has to be made anew; the finding names the other one."""
    (finding,) = judged(picture(0))
    assert (finding.rule, finding.seq, finding.measured) == ("pictures_differ", 1, "0 of 256 bits from shot 0")


def test_two_blank_pictures_are_blank_and_not_also_alike() -> None:
    """One cause, one finding a shot."""
    measured = {0: picture(0, contrast=0.0), 1: picture(0, contrast=0.0)}
    found = judge_frames(frames(0, 1), BOARD, frame=WIDE, measured=measured, cards_allowed=False)
    assert [(finding.rule, finding.seq) for finding in found] == [("not_flat", 0), ("not_flat", 1)]


def test_the_table_shows_how_close_the_most_similar_picture_is() -> None:
    """Also when all is well; a shot alone or unreadable has no neighbour."""
    facts: dict[int, PictureFacts | Unreadable] = {0: picture(0), 1: picture(fingerprint=0b1111), 2: Unreadable("html")}
    assert [closest(seq, facts) for seq in facts] == [4, 4, None]
    assert closest(0, {0: picture(0)}) is None
