"""Subtitles as they are seen: where they stand in frames of every shape, and in which letters."""

import asyncio
import io
import math
from pathlib import Path
from typing import Protocol

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageStat

from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.media.fonts import load_font
from comic_pipeline.media.label import label_place
from comic_pipeline.media.probe import frame_at
from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language
from comic_pipeline_tests.integration.media.conftest import Make
from comic_pipeline_tests.pixels import grey

TWO_LINES_ZH = "我要在月球上种一片会发光的花园，让星星都歇歇脚。"
TWO_LINES_EN = "I will plant a garden on the moon for stars."
LABEL = AiLabel(text="AI生成", whole_film=True, mark=AigcMark(content_producer="a", produce_id="b"))


class Inked(Protocol):
    """How a test gets the letters of its words."""

    def __call__(self, text: str, size: str, *, label: AiLabel | None = ..., bright: bool = ...) -> Image.Image: ...


@pytest.fixture
def inked(ffmpeg: str, make: Make, tmp_path: Path) -> Inked:
    """`inked(text, size)`: what the words alone put on a mid-grey picture, as a black-and-white mask."""

    def _film(size: str, text: str, label: AiLabel | None) -> Image.Image:
        width, height = map(int, size.split("x"))
        grey = make(f"grey-{size}.mp4", "-f", "lavfi", "-i", f"color=gray:s={size}:r=24:d=0.2", "-pix_fmt", "yuv420p")
        plan = FilmPlan(
            frame=Frame(width=width, height=height),
            fps=24,
            shots=(FilmShot(seq=0, clip=grey, length_ms=200, voice=None, voice_offset_ms=0),),
            cues=(Cue(start_ms=0, end_ms=200, text=text),),
            title="t",
            language=Language.ZH,
            label=label,
        )
        out = tmp_path / "words.mp4"
        asyncio.run(render_film(plan, out, ffmpeg=ffmpeg, timeout=60))
        return Image.open(io.BytesIO(frame_at(out, 0))).convert("L")

    def _inked(text: str, size: str, *, label: AiLabel | None = None, bright: bool = False) -> Image.Image:
        words = _film(size, text, label)
        if bright:  # the letters without their dark outline
            return words.point(lambda value: 255 if value > 190 else 0)
        background = grey(words, (0, 0))
        return words.point(lambda value: 255 if abs(value - background) > 40 else 0)

    return _inked


@pytest.mark.parametrize("text", [TWO_LINES_ZH, TWO_LINES_EN])
@pytest.mark.parametrize(
    ("size", "side", "bottom"), [("640x360", 0.06, 0.065), ("360x640", 0.125, 0.2), ("360x360", 0.06, 0.065)]
)
def test_words_keep_clear_of_the_edges_and_of_a_players_buttons(
    inked: Inked, text: str, size: str, side: float, bottom: float
) -> None:
    """Measured in the picture: side margins, the foot, no more than two lines, the upper half free."""
    mask = inked(text, size)
    left, top, right, low = _box(mask)
    width, height = mask.size
    outline = 0.08 * 0.058 * min(width, height) + 2
    assert left >= side * width - outline
    assert right <= (1 - side) * width + outline
    assert low <= (1 - bottom) * height + outline
    assert low - top <= 2 * 1.45 * 0.058 * min(width, height) + 2 * outline


@pytest.mark.parametrize("size", ["640x360", "360x640", "360x360"])
def test_words_and_label_never_meet(inked: Inked, size: str) -> None:
    """Both at once, in every shape: there is a free band between the label's plate and the first line."""
    mask = inked(TWO_LINES_ZH, size, label=LABEL)
    width, height = mask.size
    place = label_place(LABEL.text, Frame(width=width, height=height))
    band = mask.crop((0, place.bottom + 2, width, height))
    assert mask.crop((place.left, place.top, place.right, place.bottom)).getbbox() is not None
    assert _box(band)[1] > 0.2 * height


@pytest.mark.parametrize("char", ["国", "语", "é", "W"])
def test_words_are_drawn_in_the_bundled_font_not_as_boxes(inked: Inked, char: str) -> None:
    """VideoLingo #335, openshorts #57, jrottenberg/ffmpeg #51: CJK came as boxes where the machine has no Chinese font."""
    mask = inked(char * 2, "1280x720", bright=True)
    drawn = mask.crop(mask.getbbox())
    likeness = {letter: _likeness(drawn, letter * 2) for letter in (char, "口", "□")}
    assert likeness[char] > 0.6
    assert likeness[char] > max(likeness["口"], likeness["□"]) + 0.15, likeness


def _box(mask: Image.Image) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is inked; a mask without ink fails the test."""
    box = mask.getbbox()
    assert box is not None
    return box


def _likeness(drawn: Image.Image, text: str) -> float:
    """Correlation of a mask with the text as the bundled font draws it, at the same size."""
    letters = Image.new("L", (600, 300), 0)
    ImageDraw.Draw(letters).text((100, 100), text, font=load_font(100), fill=255)
    wanted = letters.crop(letters.getbbox()).resize(drawn.size)
    one, other = ImageStat.Stat(drawn), ImageStat.Stat(wanted)
    together = ImageStat.Stat(ImageChops.multiply(drawn, wanted)).mean[0] * 255
    return (together - one.mean[0] * other.mean[0]) / math.sqrt(one.var[0] * other.var[0])
