"""Pictures really made bad: what is measured of them closes the gate by the rule that names the fault."""

import io

import pytest
from PIL import Image, ImageEnhance, ImageFilter

from comic_pipeline.media.picture_probe import measure_picture
from comic_pipeline.model.errors import MediaFault
from comic_pipeline.model.media import FrameImages
from comic_pipeline.model.project import Frame
from comic_pipeline.model.verdict import Severity
from comic_pipeline.quality.frames import closest, judge_frames
from comic_pipeline_tests.sandbox.pictures import draw_picture
from comic_pipeline_tests.unit.quality.material import BOARD, frames

SIZE = Frame(width=640, height=360)
GOOD = draw_picture(text="小猫在月球种花", width=640, height=360)
OTHER = draw_picture(text="星星在唱歌", width=640, height=360)


def encoded(picture: Image.Image, form: str = "PNG", **options: int) -> bytes:
    data = io.BytesIO()
    picture.save(data, form, **options)
    return data.getvalue()


def findings(first: bytes, second: bytes, *, document: FrameImages | None = None) -> set[tuple[str, Severity, int | None]]:
    """What the gate says about two pictures."""
    measured = {0: measure_picture(first), 1: measure_picture(second)}
    found = judge_frames(document or frames(0, 1), BOARD, frame=SIZE, measured=measured, cards_allowed=False)
    return {(finding.rule, finding.severity, finding.seq) for finding in found}


def test_two_good_pictures_pass() -> None:
    """Different scenes are far apart, each is sharp, and neither dark nor bright."""
    assert findings(encoded(GOOD), encoded(OTHER)) == set()
    facts = {0: measure_picture(encoded(GOOD)), 1: measure_picture(encoded(OTHER))}
    assert (facts[0].mime, facts[0].width, facts[0].height) == ("image/png", 640, 360)
    apart = closest(0, facts)
    assert apart is not None
    assert apart > 60


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (Image.new("RGB", GOOD.size, "white"), "not_flat"),
        (Image.new("RGB", GOOD.size, (96, 112, 128)), "not_flat"),
        (Image.new("RGBA", GOOD.size, (200, 30, 30, 0)), "not_flat"),
        (OTHER.filter(ImageFilter.GaussianBlur(6)), "sharp_enough"),
        (OTHER.convert("L").point(lambda level: 60 if level > 190 else 0), "bright_enough"),
        (OTHER.resize((1280, 720)).crop((320, 0, 960, 640)), "aspect_as_asked"),
        (OTHER.resize((280, 158)), "large_enough"),
    ],
)
def test_a_bad_picture_is_told_by_its_rule(bad: Image.Image, rule: str) -> None:
    """Blank, transparent, blurred, nearly black, square, tiny."""
    found = findings(encoded(GOOD), encoded(bad))
    assert (rule, Severity.ERROR, 1) in found


@pytest.mark.parametrize(
    ("picture", "form", "options"),
    [(GOOD, "JPEG", {"quality": 50}), (GOOD.resize((960, 540)), "PNG", {}), (GOOD, "WEBP", {"quality": 40})],
)
def test_the_same_picture_in_other_clothes_is_the_same_picture(picture: Image.Image, form: str, options: dict[str, int]) -> None:
    """Other bytes, another size, another form: a hash of the bytes would not notice."""
    assert ("pictures_differ", Severity.ERROR, 1) in findings(encoded(GOOD), encoded(picture, form, **options))


def test_a_fog_is_not_taken_for_a_blur_nor_a_night_for_black() -> None:
    """Weak contrast and little light are a look; at most a person is asked."""
    fog = Image.blend(OTHER, Image.new("RGB", OTHER.size, (215, 220, 225)), 0.6)
    night = ImageEnhance.Brightness(OTHER).enhance(0.3)
    for look in (fog, night):
        assert not {name for name, severity, _ in findings(encoded(GOOD), encoded(look)) if severity is Severity.ERROR}


def test_a_jpeg_that_was_stored_as_png_is_named() -> None:
    """ArcReel PR#2046: bytes decide, not names."""
    found = findings(encoded(GOOD), encoded(OTHER, "JPEG"))
    assert found == {("type_as_named", Severity.ERROR, 1)}


def test_what_is_no_picture_cannot_be_measured() -> None:
    """An error page, and a picture that breaks off."""
    for data in (b"<!DOCTYPE html><html></html>", encoded(GOOD)[:20_000]):
        with pytest.raises(MediaFault, match="expected an image"):
            measure_picture(data)
