"""The built-in video with the real ffmpeg: exact, smooth, moving all the time, and the way the prompt says."""

import asyncio
import hashlib
import io
import random
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import av
import psutil
import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageStat

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Aspect, Frame, Resolution
from comic_pipeline.providers.interface import ClipRequest, Done, Inline, Picture
from comic_pipeline.providers.offline.motion import Move, OfflineVideo, choose_move, frame_count, plan_path
from comic_pipeline_tests.pixels import rgb

VIDEO = OfflineVideo(ffmpeg=ffmpeg_path())


def encoded(picture: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()


def panel(width: int, height: int) -> Image.Image:
    """Something to see everywhere: a gradient with many small discs."""
    picture = Image.merge("RGB", [Image.linear_gradient("L").resize((width, height)).rotate(turn) for turn in (0, 90, 180)])
    draw, dice = ImageDraw.Draw(picture), random.Random(1)
    for _ in range(120):
        x, y, r = dice.randrange(width), dice.randrange(height), dice.randrange(4, 5 + min(width, height) // 16)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(dice.randrange(256) for _ in range(3)))
    return picture


def clip_request(data: bytes, *, prompt: str = "", ms: int = 1_000, aspect: Aspect = Aspect.WIDE, seed: int = 0) -> ClipRequest:
    media = MediaRef(key="p/0.png", sha256=hashlib.sha256(data).hexdigest(), size=len(data), mime="image/png")
    return ClipRequest(
        prompt=prompt,
        first_frame=Picture(media, data),
        duration_ms=ms,
        aspect=aspect,
        resolution=Resolution.HD,
        seed=seed,
        user_hash="u",
    )


def rendered(request: ClipRequest) -> bytes:
    done = asyncio.run(VIDEO.submit(request))
    assert isinstance(done, Done)
    assert isinstance(done.output, Inline)
    return done.output.data


@dataclass(frozen=True)
class Decoded:
    """All frames of a clip, and what its container says."""

    frames: list[Image.Image]  # in grey, but for the first
    streams: list[str]
    codec: str
    pixels: str
    rate: int
    seconds: float


def grey(frame: av.VideoFrame) -> Image.Image:
    """The luma plane as it is, without a conversion."""
    plane = frame.planes[0]
    return Image.frombuffer("L", (frame.width, frame.height), bytes(plane), "raw", "L", plane.line_size, 1)


def decoded(data: bytes) -> Decoded:
    with av.open(io.BytesIO(data), "r") as container:
        video = container.streams.video[0]
        first, *others = container.decode(video)
        assert video.codec_context.pix_fmt is not None
        assert video.average_rate is not None
        assert video.duration is not None
        assert video.time_base is not None
        return Decoded(
            frames=[first.to_image(), *map(grey, others)],  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
            streams=[stream.type for stream in container.streams],
            codec=video.codec_context.name,
            pixels=video.codec_context.pix_fmt,
            rate=int(video.average_rate),
            seconds=float(video.duration * video.time_base),
        )


def change(one: Image.Image, other: Image.Image) -> float:
    """Mean difference of two frames, 0 to 255."""
    return ImageStat.Stat(ImageChops.difference(one.convert("L"), other.convert("L"))).mean[0]


def place(frame: Image.Image) -> tuple[float, float]:
    """Where the one bright disc of a black frame is, in pixels, to a small part of one."""
    bright = frame.convert("L").point(lambda value: max(0, value - 24))
    box = bright.getbbox()
    assert box is not None
    left, top, right, bottom = box
    cut = bright.crop((left, top, right, bottom))
    width, weights = right - left, cut.tobytes()
    total = sum(weights)
    x = sum(weight * (i % width) for i, weight in enumerate(weights)) / total
    y = sum(weight * (i // width) for i, weight in enumerate(weights)) / total
    return left + x, top + y


def one_disc() -> bytes:
    picture = Image.new("L", (720, 720))
    ImageDraw.Draw(picture).ellipse((210, 260, 250, 300), fill=255)
    return encoded(picture.filter(ImageFilter.GaussianBlur(5)).convert("RGB"))


@pytest.mark.parametrize(
    ("prompt", "move"),
    [
        ("Camera pans slowly to the left over the dunes", Move.PAN_LEFT),
        ("slow pan right, wind in the grass", Move.PAN_RIGHT),
        ("the camera moves from left to right", Move.PAN_RIGHT),
        ("Tilt up to the stars", Move.TILT_UP),
        ("crane down", Move.TILT_DOWN),
        ("slow push-in on the cat's face", Move.PUSH),
        ("Zooms in. The cat smiles.", Move.PUSH),
        ("the camera pulls back", Move.PULL),
        ("dolly out, then pan left", Move.PULL),
        ("zoom slowly out", Move.PULL),
        ("镜头缓缓推进，小猫抬头", Move.PUSH),
        ("镜头缓慢推到脸部", Move.PUSH),
        ("慢慢拉近", Move.PUSH),
        ("镜头拉远，露出整片沙丘", Move.PULL),
        ("镜头向后拉", Move.PULL),
        ("镜头从左到右横移", Move.PAN_RIGHT),
        ("镜头向左平移", Move.PAN_LEFT),
        ("镜头上摇，看见星空", Move.TILT_UP),
        ("镜头缓缓下降", Move.TILT_DOWN),
        ("固定镜头，花瓣飘落", Move.PUSH),
        ("static shot", Move.PUSH),
    ],
)
def test_the_prompt_chooses_the_move(prompt: str, move: Move) -> None:
    """Whatever the seed: the script's camera words are followed in both languages, the first ones first."""
    assert {choose_move(prompt, seed=seed) for seed in range(6)} == {move}


@pytest.mark.parametrize(
    ("prompt", "moves"),
    [
        ("", set(Move)),
        ("小猫在月球上种花", set(Move)),
        ("She left the company and pushed the door", set(Move)),
        ("横移镜头", {Move.PAN_LEFT, Move.PAN_RIGHT}),
        ("a tilting view", {Move.TILT_UP, Move.TILT_DOWN}),
        ("推拉镜头", {Move.PUSH, Move.PULL}),
    ],
)
def test_the_seed_chooses_what_the_prompt_leaves_open(prompt: str, moves: set[Move]) -> None:
    """Shots without camera words do not all move alike, and one shot always moves the same way."""
    assert {choose_move(prompt, seed=seed) for seed in range(-6, 60)} == moves


@pytest.mark.parametrize(
    ("ms", "frames"), [(1, 1), (41, 1), (1_000, 24), (4_979, 119), (4_980, 120), (5_000, 120), (5_020, 120), (10_000, 240)]
)
def test_lengths_are_whole_frames(ms: int, frames: int) -> None:
    """Rounded to the nearest frame of 24 a second, never to none."""
    assert frame_count(ms) == frames


@pytest.mark.parametrize("move", Move)
@pytest.mark.parametrize("size", [Frame(width=1280, height=720), Frame(width=720, height=1280), Frame(width=1080, height=1080)])
def test_the_window_stays_on_the_canvas(move: Move, size: Frame) -> None:
    """A window beyond the edge shows smeared pixels; a canvas of odd size cannot be yuv420p."""
    path = plan_path(move, size=size)

    assert (path.canvas.width % 2, path.canvas.height % 2) == (0, 0)
    for window in (path.start, path.end):
        assert min(window.left, window.top) >= 0
        assert window.left + window.width <= path.canvas.width + 1e-9
        assert window.top + window.height <= path.canvas.height + 1e-9
        assert window.width / window.height == pytest.approx(size.width / size.height)
    assert path.start != path.end


def test_a_clip_is_exactly_what_was_asked_for() -> None:
    """Frames, size, rate, pixel format and length; and no sound."""
    clip = decoded(rendered(clip_request(encoded(panel(1280, 720)), ms=5_000)))

    assert (len(clip.frames), clip.rate, clip.seconds) == (120, 24, 5.0)
    assert (clip.codec, clip.pixels, clip.streams) == ("h264", "yuv420p", ["video"])
    assert {frame.size for frame in clip.frames} == {(1280, 720)}


@pytest.mark.parametrize("move", ["pan left", "tilt up", "push in", "pull back"])
def test_every_part_of_the_clip_moves(move: str) -> None:
    """A clip that stands still at its ends is what freeze detection stops; the least moving quarter second must still move."""
    clip = decoded(rendered(clip_request(encoded(panel(1280, 720)), prompt=move, ms=2_000, aspect=Aspect.SQUARE)))

    changes = [change(clip.frames[i], clip.frames[i + 6]) for i in range(0, 42, 6)]
    assert min(changes) > 0.8
    assert max(changes) < 6 * min(changes)


@pytest.mark.parametrize(
    ("prompt", "dx", "dy"),
    [
        ("pan left", 100, 0),
        ("pan right", -100, 0),
        ("tilt up", 0, 100),
        ("tilt down", 0, -100),
        ("push in", -18, -11),
        ("pull back", 18, 11),
    ],
)
def test_the_move_goes_the_right_way_and_does_not_shake(prompt: str, dx: int, dy: int) -> None:
    """The picture goes against the camera, steadily, slower at the ends, and without the jumps of whole-pixel steps."""
    places = [
        place(frame)
        for frame in decoded(rendered(clip_request(one_disc(), prompt=prompt, ms=2_000, aspect=Aspect.SQUARE))).frames
    ]

    travelled = [places[-1][axis] - places[0][axis] for axis in (0, 1)]
    assert travelled == pytest.approx([dx, dy], abs=4)
    for axis in (0, 1):
        steps = [after[axis] - before[axis] for before, after in pairwise(places)]
        jerks = [after - before for before, after in pairwise(steps)]
        assert max(map(abs, jerks)) < 0.35  # pixels; the easing itself has 0.2 in a clip this short
        if abs(travelled[axis]) > 10:
            assert all(step * travelled[axis] > 0 for step in steps)
            assert abs(steps[0]) < abs(steps[len(steps) // 2]) > abs(steps[-1])


@pytest.mark.parametrize(
    ("picture", "kind"),
    [
        (panel(640, 640), "JPEG"),
        (panel(301, 997), "PNG"),
        (panel(3000, 500), "JPEG"),
        (panel(800, 600).convert("L"), "PNG"),
        (panel(800, 600).convert("P"), "PNG"),
        (panel(800, 600).convert("RGBA"), "PNG"),
        (panel(800, 600).convert("L").convert("I;16"), "PNG"),
        (panel(64, 64).convert("CMYK"), "JPEG"),
        (panel(3, 2), "PNG"),
    ],
)
@pytest.mark.parametrize("aspect", [Aspect.TALL, Aspect.SQUARE])
def test_any_picture_fills_the_film(picture: Image.Image, kind: str, aspect: Aspect) -> None:
    """Any size, shape and colour model, without bars and without distortion."""
    clip = decoded(rendered(clip_request(encoded(picture, kind), ms=125, aspect=aspect)))

    assert len(clip.frames) == 3
    assert clip.frames[0].size == {Aspect.TALL: (720, 1280), Aspect.SQUARE: (720, 720)}[aspect]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_colours_stay(kind: str) -> None:
    """Full and limited range, and the matrices of SD and HD, are easily taken for each other: black turns grey, skin green."""
    colours = [(250, 250, 250), (5, 5, 5), (220, 40, 40), (40, 180, 60), (40, 60, 210), (235, 190, 160)]
    picture = Image.new("RGB", (600, 600))
    for number, colour in enumerate(colours):
        picture.paste(colour, (number % 3 * 200, number // 3 * 300, number % 3 * 200 + 200, number // 3 * 300 + 300))

    frame = decoded(rendered(clip_request(encoded(picture, kind), ms=42, aspect=Aspect.SQUARE, prompt="push in"))).frames[0]

    for number, colour in enumerate(colours):
        seen = rgb(frame, (number % 3 * 240 + 120, number // 3 * 360 + 180))
        assert seen == pytest.approx(colour, abs=6)


def test_the_same_request_gives_the_same_bytes() -> None:
    """No dates, no library names: unchanged inputs are reused by hash and compared by hash."""
    request = clip_request(encoded(panel(640, 360)), ms=500)

    assert rendered(request) == rendered(request)


def test_describe_holds_everything_that_decides_the_clip() -> None:
    """It is a part of the input hash: two clips that look different must not share one."""
    data = encoded(panel(64, 36))

    assert VIDEO.describe(clip_request(data, prompt="镜头拉远", ms=5_000, aspect=Aspect.TALL, seed=7)) == {
        "first_frame": hashlib.sha256(data).hexdigest(),
        "move": "pull",
        "frames": 120,
        "fps": 24,
        "width": 720,
        "height": 1280,
        "seed": 7,
    }


@pytest.mark.parametrize(
    "request_",
    [
        clip_request(b"<html>404 Not Found</html>"),
        clip_request(b""),
        clip_request(encoded(panel(64, 36)), ms=0),
        clip_request(encoded(panel(64, 36)), ms=-5_000),
        clip_request(encoded(panel(64, 36)), ms=600_000),
    ],
    ids=["html", "empty", "no length", "negative length", "ten minutes"],
)
def test_what_cannot_become_a_clip_is_refused(request_: ClipRequest) -> None:
    """Before ffmpeg starts, with the code for bad input."""
    for ask in (VIDEO.describe, lambda request: asyncio.run(VIDEO.submit(request))):
        with pytest.raises(ProviderFault) as refused:
            ask(request_)
        assert refused.value.code is ErrorCode.INPUT_INVALID


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_damaged_picture_is_an_error(kind: str) -> None:
    """A download that was cut off must not become a clip that is grey in its lower half."""
    data = encoded(panel(800, 600), kind)

    with pytest.raises(ProviderFault) as fault:
        rendered(clip_request(data[: len(data) // 2]))
    assert fault.value.code is ErrorCode.FFMPEG_FAILED


def test_a_cancelled_clip_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No ffmpeg goes on rendering and no temporary folder stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def renderers() -> list[psutil.Process]:
        # A database server of other tests may be a child of this process too, with children that come and go.
        return [child for child in psutil.Process().children() if "ffmpeg" in child.name()]

    async def cancel_in_the_middle() -> None:
        rendering = asyncio.create_task(VIDEO.submit(clip_request(encoded(panel(1280, 720)), ms=60_000)))
        while not renderers():  # noqa: ASYNC110 - nothing signals the start of another process
            await asyncio.sleep(0.01)
        rendering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rendering

    asyncio.run(cancel_in_the_middle())

    assert renderers() == []
    assert list(tmp_path.iterdir()) == []
