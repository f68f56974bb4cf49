"""What a panel's caption says."""

import pytest

from comic_pipeline.model.storyboard import Shot
from comic_pipeline.stages.pictures import _caption


@pytest.mark.parametrize(
    ("scene", "caption"),
    [
        ("月球上，小猫种花。", "月球上，小猫种花"),
        ("忽然，天空暗了下来，小猫吃惊地看着星星", "忽然，天空暗了下来"),
        ("月球上，" + "国" * 60, "月球上"),
        ("night, the robot walks on, all is quiet", "night, the robot walks on"),
        ("An old lighthouse keeper saves a lost whale", "An old lighthouse keeper saves a lost whale"),
        (
            "An old lighthouse keeper with a red scarf saves a lost whale in winter",
            "An old lighthouse keeper with a red scarf saves a lost whale…",
        ),
        ("a" * 80, "a" * 63 + "…"),
        ("国" * 60, "国" * 39 + "…"),
        ("x" * 40, "x" * 40),
    ],
)
def test_a_caption_says_something_and_tears_no_word(scene: str, caption: str) -> None:
    """Seen in a demo film: "saves a lost wh" for a lost whale."""
    shot = Shot(seq=0, scene_desc=scene, duration_ms=5_000, image_prompt="x")
    assert _caption(shot) == caption


@pytest.mark.parametrize(
    ("scene", "spoken", "caption"),
    [
        ("一只小猫在月球上种花，月球上，淡淡的微光", "一只小猫在月球上种花。", "月球上，淡淡的微光"),
        ("A robot paints the sea; a pale shimmer in the garden", "A robot paints the sea.", "a pale shimmer in the garden"),
        ("一只小猫在月球上种花", "一只小猫在月球上种花。", ""),
    ],
)
def test_a_caption_does_not_repeat_the_subtitle(scene: str, spoken: str, caption: str) -> None:
    """Seen: the same sentence in the box above and as the subtitle below."""
    shot = Shot(seq=0, scene_desc=scene, narration=spoken, duration_ms=5_000, image_prompt="x")
    assert _caption(shot) == caption
