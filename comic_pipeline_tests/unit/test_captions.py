"""What a panel's caption says."""

import pytest

from comic_pipeline.model.storyboard import Shot
from comic_pipeline.stages.pictures import _caption


@pytest.mark.parametrize(
    ("scene", "caption"),
    [
        ("月球上，小猫种花。", "月球上"),
        ("An old lighthouse keeper saves a lost whale", "An old lighthouse keeper saves a lost…"),
        ("a" * 60, "a" * 39 + "…"),
        ("国" * 60, "国" * 39 + "…"),
        ("x" * 40, "x" * 40),
    ],
)
def test_a_caption_is_one_clause_and_tears_no_word(scene: str, caption: str) -> None:
    """Seen in a demo film: "saves a lost wh" for a lost whale."""
    shot = Shot(seq=0, scene_desc=scene, duration_ms=5_000, image_prompt="x")
    assert _caption(shot) == caption
