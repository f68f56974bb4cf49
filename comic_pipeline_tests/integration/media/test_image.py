"""Contact sheet, cover and thumbnail, drawn by real Pillow with the bundled font."""

import io

import pytest
from PIL import Image, ImageChops, ImageStat

from comic_pipeline.media.fonts import drawable, font_name, font_path, has_glyph, missing_glyphs
from comic_pipeline.media.image import contact_sheet, make_cover, thumbnail
from comic_pipeline.media.probe import measure_image
from comic_pipeline.model.errors import MediaFault
from comic_pipeline.model.project import Frame
from comic_pipeline_tests.pixels import grey, greys, rgb

FRAMES = [Frame(width=640, height=360), Frame(width=360, height=640), Frame(width=360, height=360)]


def _plain(colour: str = "#c0c0c0") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (320, 180), colour).save(data, "PNG")
    return data.getvalue()


def _open(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def _changed(one: bytes, other: bytes) -> tuple[int, int, int, int] | None:
    difference = ImageChops.difference(_open(one), _open(other)).convert("L")
    return difference.point(lambda value: 255 * (value > 24)).getbbox()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "title", ["月", "一只小猫在月球上种花，遇到了会唱歌的星星", "The Kitten Who Planted a Garden on the Moon", "长" * 200]
)
def test_a_title_lies_inside_the_cover(frame: Frame, title: str) -> None:
    """However long and in whatever shape: fully inside the margins, in the lower half."""
    bare, lettered = (make_cover(_plain(), title=text, small_print="", frame=frame) for text in ("", title))
    facts = measure_image(lettered)
    assert (facts.mime, facts.width, facts.height) == ("image/png", frame.width, frame.height)
    letters = _open(lettered).convert("L").point(lambda value: 255 * (value > 225)).getbbox()
    assert letters is not None
    assert letters[0] >= 0.04 * frame.width
    assert letters[2] <= 0.96 * frame.width
    assert letters[1] > 0.4 * frame.height
    assert letters[3] < 0.97 * frame.height
    assert bare != lettered


@pytest.mark.parametrize("title", ["The Robot Who Found the Fox", "独居老奶奶与外卖骑手的约定", "小猫与星星"])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_usual_title_stands_below_the_faces(frame: Frame, title: str) -> None:
    """Seen: three large lines across the hero's face on a tall cover. Offline artists and people put faces above 0.59."""
    letters = _open(make_cover(_plain(), title=title, small_print="", frame=frame)).convert("L")
    box = letters.point(lambda value: 255 * (value > 225)).getbbox()
    assert box is not None
    assert box[1] > 0.59 * frame.height


def test_a_title_is_legible_on_a_white_picture() -> None:
    """White letters on white snow: the shade behind them makes the difference."""
    cover = _open(make_cover(_plain("white"), title="雪", small_print="", frame=FRAMES[0])).convert("L")
    assert grey(cover, (10, 340)) < 100
    assert grey(cover, (10, 10)) == 255


def test_the_small_print_stands_in_the_upper_right_corner() -> None:
    """It says that the film is AI-generated, and never covers the title."""
    bare, marked = (make_cover(_plain(), title="", small_print=text, frame=FRAMES[1]) for text in ("", "AI 生成"))
    box = _changed(bare, marked)
    assert box is not None
    assert box[0] > 360 * 0.5
    assert box[3] < 640 * 0.1


def test_emoji_in_a_title_are_left_out_not_drawn_as_boxes() -> None:
    """The font has no emoji; the title is the same as without them."""
    plain, decorated = (
        make_cover(_plain(), title=text, small_print="", frame=FRAMES[0]) for text in ("月亮 花", "月亮👨‍👩‍👧 🌙花❤️")
    )
    assert _changed(plain, decorated) is None
    assert make_cover(_plain(), title="🌙", small_print="", frame=FRAMES[0]) == make_cover(
        _plain(), title="", small_print="", frame=FRAMES[0]
    )


def test_a_jpeg_named_png_is_taken_for_what_it_is() -> None:
    """Pictures are opened by their bytes, and a sideways photo is turned upright."""
    data = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (40, 20), "red").save(data, "JPEG", exif=exif)
    assert _open(thumbnail(data.getvalue(), width=100)).size == (20, 40)


def test_what_is_no_picture_is_refused() -> None:
    """A broken reference must not become an empty cell of the sheet."""
    with pytest.raises(MediaFault, match="text/html"):
        contact_sheet([_plain(), b"<html></html>"], columns=2, width=320)


def test_a_contact_sheet_shows_every_picture_in_order_with_its_number() -> None:
    """Five pictures in three columns: two rows, colours where they belong, a number in each corner."""
    colours = ["red", "lime", "blue", "yellow", "white"]
    data = contact_sheet([_plain(colour) for colour in colours], columns=3, width=640)
    assert measure_image(data).mime == "image/jpeg"
    sheet = _open(data)
    assert sheet.width == 640
    cell_w, cell_h = 640 / 3, sheet.height / 2
    for number, colour in enumerate(colours):
        left, top = number % 3 * cell_w, number // 3 * cell_h
        wanted = rgb(Image.new("RGB", (1, 1), colour), (0, 0))
        middle = rgb(sheet, (round(left + cell_w * 0.6), round(top + cell_h * 0.6)))
        assert all(abs(one - other) < 40 for one, other in zip(middle, wanted, strict=True)), number
        corner = sheet.crop((round(left) + 6, round(top) + 6, round(left) + 16, round(top) + 20)).convert("L")
        darkest, brightest = greys(corner)
        assert darkest < 40
        assert brightest > 150


def test_numbers_of_a_contact_sheet_differ() -> None:
    """Each cell carries its own number, not one picture of a number."""
    sheet = _open(contact_sheet([_plain("white")] * 2, columns=2, width=640))
    first, second = sheet.crop((0, 0, 60, 60)), sheet.crop((318, 0, 378, 60))
    assert ImageStat.Stat(ImageChops.difference(first, second).convert("L")).mean[0] > 2


def test_a_contact_sheet_without_pictures_is_refused() -> None:
    """There is nothing to look at."""
    with pytest.raises(ValueError, match="at least one"):
        contact_sheet([], columns=3, width=640)


def test_a_thumbnail_is_never_enlarged() -> None:
    """160 wide from 320; 320 stays 320."""
    assert _open(thumbnail(_plain(), width=160)).size == (160, 90)
    assert _open(thumbnail(_plain(), width=1_000)).size == (320, 180)
    assert measure_image(thumbnail(_plain(), width=160)).mime == "image/jpeg"


def test_the_font_knows_what_it_can_draw() -> None:
    """CJK as boxes is a fault that QC must be able to see (VideoLingo #335)."""
    assert font_path().is_file()
    assert font_name() == "Noto Sans SC"
    assert all(map(has_glyph, "你好，龘Aé€→…—“”％"))
    assert missing_glyphs("你好 😀\n🌙 a") == {"😀", "🌙"}
    assert drawable("  你😀好 \n 👨‍👩‍👧 a❤️ ") == "你好 a❤" if has_glyph("❤") else "你好 a"
