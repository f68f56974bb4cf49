"""The AI label of pictures: what is asked of it, drawing it, the mark in the file, and finding both again."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw, PngImagePlugin

from comic_pipeline.media.aigc import mark_picture, read_aigc
from comic_pipeline.media.fonts import load_font
from comic_pipeline.media.label import draw_label, label_likeness, label_place
from comic_pipeline.model.errors import ErrorCode, MediaFault, Refused
from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.project import Frame
from comic_pipeline.model.verdict import Severity
from comic_pipeline.providers.registry import build_providers
from comic_pipeline.quality.label import judge_label
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.studio import Commission
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.pixels import greys

FRAMES = [
    Frame(width=1280, height=720),
    Frame(width=720, height=1280),
    Frame(width=720, height=720),
    Frame(width=320, height=180),
]
MARK = AigcMark(content_producer='某公司 "A&B" <x>', produce_id="p1-0123456789abcdef")
TEXT = "AI生成"


def _picture(kind: str = "PNG", *, size: tuple[int, int] = (320, 180), colour: str = "white", **options: object) -> bytes:
    image = Image.new("RGB", size, colour)
    ImageDraw.Draw(image).ellipse((40, 40, size[0] - 40, size[1] - 40), fill="teal")
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def _open(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def test_the_mark_is_the_json_of_the_standard() -> None:
    """GB 45438-2025: these seven names, Label "1" for content that AI made."""
    assert MARK.to_json() == (
        r'{"Label":"1","ContentProducer":"某公司 \"A&B\" <x>","ProduceID":"p1-0123456789abcdef","ReservedCode1":"",'
        r'"ContentPropagator":"","PropagateID":"","ReservedCode2":""}'
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_mark_is_written_and_read_without_touching_the_picture(kind: str) -> None:
    """The pixels are the same bits, Pillow finds the XMP where readers look, and marking again replaces the mark."""
    plain = _picture(kind)
    marked = mark_picture(plain, MARK)
    assert read_aigc(plain) is None
    assert read_aigc(marked) == MARK
    assert ImageChops.difference(_open(plain), _open(marked)).getbbox() is None
    with Image.open(io.BytesIO(marked)) as image:
        image.load()
        assert image.getxmp()["xmpmeta"]["RDF"]["Description"]["AIGC"] == MARK.to_json()
    other = AigcMark(content_producer="B", produce_id="2")
    again = mark_picture(marked, other)
    assert read_aigc(again) == other
    assert len(again) < len(marked)


def test_a_mark_leaves_other_words_in_the_file_alone() -> None:
    """A camera's EXIF and a PNG's own text stay; a JPEG still begins with its EXIF."""
    exif = Image.Exif()
    exif[0x010E] = "a cat"
    with Image.open(io.BytesIO(mark_picture(_picture("JPEG", exif=exif), MARK))) as jpeg:
        assert jpeg.getexif()[0x010E] == "a cat"
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "a cat")
    with Image.open(io.BytesIO(mark_picture(_picture("PNG", pnginfo=info), MARK))) as png:
        assert isinstance(png, PngImagePlugin.PngImageFile)
        png.load()
        assert png.text["Title"] == "a cat"


@pytest.mark.parametrize("data", [b"", b"<html></html>", _picture("WEBP")])
def test_what_is_neither_png_nor_jpeg_cannot_be_marked(data: bytes) -> None:
    """It would become a broken file, or one that nobody finds the mark in."""
    with pytest.raises(MediaFault) as refused:
        mark_picture(data, MARK)
    assert refused.value.code == ErrorCode.PROVIDER_ERROR


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The reader says which file, as all measuring does."""
    with pytest.raises(MediaFault, match=r"missing\.png") as refused:
        read_aigc(tmp_path / "missing.png")
    assert refused.value.code == ErrorCode.INPUT_INVALID


def test_a_mark_that_is_not_the_standards_counts_as_none() -> None:
    """Label 9 or a missing producer says nothing that can be trusted."""
    marked = mark_picture(_picture(), MARK)
    broken = marked.replace(b"Label&quot;:&quot;1", b"Label&quot;:&quot;9")
    assert broken != marked
    assert read_aigc(broken) is None


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("text", [TEXT, "AI-generated", "人工智能合成内容"])
def test_the_lowest_letter_is_five_percent_of_the_shorter_side(frame: Frame, text: str) -> None:
    """Measured on the drawn letters, capital A and Chinese characters alike; all of it inside the frame, above the middle."""
    place = label_place(text, frame)
    for letter in "A人生成":
        _, top, _, bottom = load_font(place.em).getbbox(letter, anchor="ls")
        assert bottom - top >= 0.05 * min(frame.width, frame.height)
    assert place.left > 0
    assert place.right < 0.94 * frame.width
    assert 0 < place.top < place.bottom < frame.height / 3


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("colour", ["white", "black", "gray", "red"])
def test_a_drawn_label_is_found_on_any_background_and_nowhere_else(frame: Frame, colour: str) -> None:
    """Readable on white as on black; without the label, or with another one, the place looks like nothing."""
    plain = _picture(size=(frame.width, frame.height), colour=colour)
    drawn = draw_label(plain, TEXT)
    assert label_likeness(drawn, TEXT) > 0.9
    assert label_likeness(plain, TEXT) < 0.2
    assert label_likeness(draw_label(plain, "人工智能合成内容"), TEXT) < 0.6


def test_letters_stand_out_from_a_white_picture() -> None:
    """Contrast of 7:1 at least (WCAG AAA): white letters, and a plate dark enough on the brightest picture."""
    place = label_place(TEXT, FRAMES[0])
    label = (
        _open(draw_label(_picture(size=(1280, 720)), TEXT)).convert("L").crop((place.left, place.top, place.right, place.bottom))
    )
    dark, light = greys(label)
    contrast = ((light / 255) ** 2.2 + 0.05) / ((dark / 255) ** 2.2 + 0.05)
    assert contrast > 7


def test_a_covered_label_is_not_found() -> None:
    """Something drawn over half of it is what the check is for."""
    image = _open(draw_label(_picture(size=(1280, 720)), TEXT))
    place = label_place(TEXT, FRAMES[0])
    ImageDraw.Draw(image).rectangle((place.left + 60, place.top, place.right, place.bottom), fill="orange")
    data = io.BytesIO()
    image.save(data, "PNG")
    assert label_likeness(data.getvalue(), TEXT) < 0.6


def test_a_label_keeps_the_kind_of_picture() -> None:
    """A PNG stays lossless; a JPEG, and what cannot carry a mark (WebP), become JPEG."""
    assert draw_label(_picture("PNG"), TEXT).startswith(b"\x89PNG")
    assert draw_label(_picture("JPEG"), TEXT).startswith(b"\xff\xd8")
    assert draw_label(_picture("WEBP"), TEXT).startswith(b"\xff\xd8")


def test_a_film_shows_its_label_for_two_seconds_or_all_through() -> None:
    """A film that is shorter shows it to its end."""
    brief = AiLabel(text=TEXT, whole_film=False, mark=MARK)
    whole = brief.model_copy(update={"whole_film": True})
    assert 2_000 <= brief.shown_ms(15_000) < 3_000
    assert (brief.shown_ms(1_200), whole.shown_ms(15_000)) == (1_200, 15_000)


def test_what_is_missing_of_a_label_is_an_error() -> None:
    """Each half of the label is its own finding, and each closes the gate. None names a shot: a second take would be paid."""
    label = AiLabel(text=TEXT, whole_film=False, mark=MARK)
    assert judge_label(label, mark=MARK, likeness=[0.97, 0.96], what="film") == []
    missing = judge_label(label, mark=None, likeness=[0.97, 0.1], what="picture 2")
    assert [(one.rule, one.severity, one.seq) for one in missing] == [
        ("ai_label_seen", Severity.ERROR, None),
        ("ai_mark_in_file", Severity.ERROR, None),
    ]
    other = MARK.model_copy(update={"content_producer": "somebody else"})
    assert [one.rule for one in judge_label(label, mark=other, likeness=[0.97], what="film")] == ["ai_mark_in_file"]


def _label_of(**settings: str) -> AiLabel | None:
    offline = load_settings(**settings)
    commission = Commission(project=a_project(), settings=offline, providers=build_providers(offline))
    return commission.ai_label("0123456789abcdef" * 4)


def _mark_of(**settings: str) -> AigcMark:
    label = _label_of(**settings)
    assert label is not None
    return label.mark


def test_the_mark_names_the_producer_and_the_material() -> None:
    """COMIC_AI_LABEL_PRODUCER, and the project's id with a hash of what went in: the same for the same material."""
    made = _mark_of(COMIC_AI_LABEL_PRODUCER="001191110102MAD55U9H0F10002")
    assert made == _mark_of(COMIC_AI_LABEL_PRODUCER="001191110102MAD55U9H0F10002")
    assert made == AigcMark(content_producer="001191110102MAD55U9H0F10002", produce_id="p1-0123456789abcdef")


def test_the_mark_names_the_propagator_if_there_is_one() -> None:
    """COMIC_AI_LABEL_PROPAGATOR: whoever publishes, under the same number; nobody by default."""
    mark = _mark_of(COMIC_AI_LABEL_PROPAGATOR="某平台")
    assert (mark.content_propagator, mark.propagate_id) == ("某平台", mark.produce_id)
    assert (_mark_of().content_propagator, _mark_of().propagate_id) == ("", "")


def test_labels_can_be_switched_off() -> None:
    """COMIC_AI_LABEL=false, for deployments that the measures do not bind."""
    assert _label_of(COMIC_AI_LABEL="false") is None


@pytest.mark.parametrize("text", ["AI生成", "人工智能合成", "AI-generated", "AI 生成内容"])
def test_wordings_that_name_ai_and_generation_are_accepted(text: str) -> None:
    """The standard asks for both elements."""
    assert load_settings(COMIC_AI_LABEL_TEXT=text).ai_label_text == text


@pytest.mark.parametrize("text", ["生成", "AI", "made by AI", "AI生成{\\b1}", "AI生成🎬", "AI生成" * 5, r"AI生成\N"])
def test_wordings_that_do_not_say_it_or_cannot_be_drawn_are_refused(text: str) -> None:
    """By the variable's name, before any film is made."""
    with pytest.raises(Refused, match="COMIC_AI_LABEL_TEXT"):
        load_settings(COMIC_AI_LABEL_TEXT=text)
