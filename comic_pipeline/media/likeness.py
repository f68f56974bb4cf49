"""How much the first picture of a clip resembles the image that it was started from.

Belongs here: finding the part of the image that the clip shows (a camera may start close to it), and SSIM. Does not: decoding,
limits (`quality/thresholds.py`).
"""

from itertools import product
from typing import TYPE_CHECKING

from comic_pipeline.media.probe import decode_image
from comic_pipeline.quality.thresholds import LIKENESS_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image

# Shares of the image that a clip may begin with: the offline camera starts at 1 / 1.14 of it.
_ZOOMS = (1.0, 0.95, 0.9, 0.85, 0.8)
# Pixels of the longer side while looking for the place: a step of one is 2 % of the picture, and the second look is finer.
_COARSE_SIDE = 48
_Box = tuple[float, float, float, float]


def likeness(shown: bytes, picture: bytes) -> float:
    """SSIM (up to 1) of the frame `shown` with the best fitting part, of its shape, of `picture`; both are encoded pictures.

    Raises MediaFault(PROVIDER_ERROR) when one does not decode.
    """
    frame, whole = _grey(shown), _grey(picture)
    width, height = _fitted(frame.width, frame.height, LIKENESS_SIDE)
    box = _near(frame, whole, _rough(frame, whole))
    return ssim(_scaled(frame, width, height), _scaled(whole, width, height, box))


def ssim(one: "Image", other: "Image") -> float:
    """The structural similarity of two grey pictures of equal size, by ffmpeg's filter (8x8 windows)."""
    import av.filter
    from av import VideoFrame

    graph = av.filter.Graph()
    form = f"video_size={one.width}x{one.height}:pix_fmt=gray:time_base=1/1:pixel_aspect=1/1"
    sources = [graph.add("buffer", form), graph.add("buffer", form)]
    compare, sink = graph.add("ssim"), graph.add("buffersink")
    for pad, source in enumerate(sources):
        source.link_to(compare, 0, pad)
    compare.link_to(sink)
    graph.configure()
    for source, picture in zip(sources, (one, other), strict=True):
        frame = VideoFrame(picture.width, picture.height, "gray")
        stride = frame.planes[0].line_size
        rows = (picture.crop((0, row, picture.width, row + 1)).tobytes().ljust(stride, b"\0") for row in range(picture.height))
        frame.planes[0].update(b"".join(rows))
        frame.pts = 0
        source.push(frame)
        source.push(None)
    result = sink.pull()
    if not isinstance(result, VideoFrame):
        raise TypeError(f"the ssim filter gave {type(result).__name__}")
    return round(float(result.metadata["lavfi.ssim.All"]), 3)


def _rough(frame: "Image", whole: "Image") -> _Box:
    """The part of `whole` that fits best, to a pixel of a small copy."""
    width, height = _fitted(frame.width, frame.height, _COARSE_SIDE)
    small = _scaled(frame, width, height)
    middle = _largest(frame, whole)
    best: tuple[float, _Box] = (float("inf"), middle)
    for zoom in _ZOOMS:
        across, down = round(width / zoom), round(height / zoom)
        canvas = _scaled(whole, across, down, middle)
        for left, top in product(range(across - width + 1), range(down - height + 1)):
            apart = _apart(small, canvas.crop((left, top, left + width, top + height)))
            if apart < best[0]:
                best = apart, _inside(middle, left / across, top / down, width / across, height / down)
    return best[1]


def _near(frame: "Image", whole: "Image", found: _Box) -> _Box:
    """The best fitting part near `found`, to a third of the small copy's pixel."""
    width, height = _fitted(frame.width, frame.height, LIKENESS_SIDE)
    small = _scaled(frame, width, height)
    left, top, right, bottom = found
    across, down = right - left, bottom - top
    best: tuple[float, _Box] = (float("inf"), found)
    for zoom, right_by, down_by in product((0.98, 1.0, 1.02), (-2, -1, 0, 1, 2), (-2, -1, 0, 1, 2)):
        x = left + across * ((1 - zoom) / 2 + right_by / LIKENESS_SIDE)
        y = top + down * ((1 - zoom) / 2 + down_by / LIKENESS_SIDE)
        box = (max(0.0, x), max(0.0, y), min(whole.width, x + across * zoom), min(whole.height, y + down * zoom))
        apart = _apart(small, _scaled(whole, width, height, box))
        if apart < best[0]:
            best = apart, box
    return best[1]


def _largest(frame: "Image", whole: "Image") -> _Box:
    """The largest part of `whole`, in its middle, that has the frame's shape."""
    shape = frame.width / frame.height
    width, height = min(whole.width, whole.height * shape), min(whole.height, whole.width / shape)
    left, top = (whole.width - width) / 2, (whole.height - height) / 2
    return left, top, left + width, top + height


def _inside(box: _Box, left: float, top: float, width: float, height: float) -> _Box:
    """A part of `box`, given in shares of it."""
    across, down = box[2] - box[0], box[3] - box[1]
    x, y = box[0] + left * across, box[1] + top * down
    return x, y, x + width * across, y + height * down


def _apart(one: "Image", other: "Image") -> float:
    from PIL import ImageChops, ImageStat

    return float(ImageStat.Stat(ImageChops.difference(one, other)).mean[0])


def _fitted(width: int, height: int, side: int) -> tuple[int, int]:
    shrink = side / max(width, height)
    return max(8, round(width * shrink)), max(8, round(height * shrink))


def _grey(data: bytes) -> "Image":
    _, picture = decode_image(data)
    grey = picture.convert("L")
    return grey.reduce(max(1, max(grey.size) // (2 * LIKENESS_SIDE)))


def _scaled(picture: "Image", width: int, height: int, box: _Box | None = None) -> "Image":
    from PIL import Image

    return picture.resize((width, height), Image.Resampling.BOX, box=box)
