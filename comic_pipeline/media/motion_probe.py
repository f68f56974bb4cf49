"""What happens in a video over time, measured in the one pass that decodes it: black, standing still, where streams begin.

Belongs here: watching decoded frames. Does not: decoding (`probe.py`), what counts as too long (`quality/thresholds.py`).
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from comic_pipeline.media.probe import VideoFacts, measure_video
from comic_pipeline.model.measured import NO_RUN, Run
from comic_pipeline.quality.thresholds import BLACK_SHARE, DARK_LEVEL, MOTION_SIDE, STILL_BLOCK_PX, STILL_LEVELS

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.video.frame import VideoFrame
    from PIL.Image import Image

_FIRST_WIDTH = 480


@dataclass(frozen=True)
class MotionFacts:
    """A video and what happens in it: the longest black and the longest stand-still, the first picture (PNG, 480 pixels wide).

    `start_ms` and `audio_start_ms` are the times of the first decoded picture and sound, None where there is none.
    """

    video: VideoFacts
    black: Run
    still: Run
    first: bytes
    start_ms: int
    audio_start_ms: int | None


def measure_motion(source: bytes | Path) -> MotionFacts:
    """Decode a video once and measure it over time. Raises MediaFault like `measure_video`."""
    watcher = _Watcher()
    video = measure_video(source, watch=watcher.see)
    frame_ms = 1000 / video.fps if video.fps else 0.0
    return MotionFacts(
        video=video,
        black=watcher.black.longest(frame_ms),
        still=watcher.still.longest(frame_ms),
        first=watcher.first,
        start_ms=round(watcher.start or 0.0),
        audio_start_ms=None if watcher.audio_start is None else round(watcher.audio_start),
    )


class _Stretches:
    """Remembers the longest stretch of time that was not interrupted. Times in milliseconds."""

    def __init__(self) -> None:
        self._start = self._end = 0.0
        self._best: tuple[float, float] | None = None

    def begin(self, at: float) -> None:
        self._start = at

    def goes_on(self, at: float) -> None:
        if self._best is None or at - self._start > self._best[1] - self._best[0]:
            self._best = self._start, at

    def longest(self, frame_ms: float) -> Run:
        """The longest one, with the time that its last frame is shown."""
        if self._best is None:
            return NO_RUN
        return Run(start_ms=round(self._best[0]), length_ms=round(self._best[1] - self._best[0] + frame_ms))


class _Watcher:
    """Looks at every frame in small and grey."""

    def __init__(self) -> None:
        from av.video.reformatter import VideoReformatter

        self.black, self.still = _Stretches(), _Stretches()
        self.first = b""
        self.start: float | None = None
        self.audio_start: float | None = None
        # One for all frames: each new one would build its scaler anew.
        self._scaler = VideoReformatter()
        self._was_black = False
        self._anchor: Image | None = None

    def see(self, frame: "VideoFrame | AudioFrame") -> None:
        from av import VideoFrame

        at = 0.0 if frame.time is None else frame.time * 1000
        if not isinstance(frame, VideoFrame):
            self.audio_start = at if self.audio_start is None else self.audio_start
            return
        if self.start is None:
            self.start, self.first = at, _upright(frame)
        small = self._small(frame)
        self._watch_black(small, at)
        self._watch_still(small, at)

    def _watch_black(self, small: "Image", at: float) -> None:
        black = sum(small.histogram()[:DARK_LEVEL]) >= BLACK_SHARE * small.width * small.height
        if black and not self._was_black:
            self.black.begin(at)
        if black:
            self.black.goes_on(at)
        self._was_black = black

    def _watch_still(self, small: "Image", at: float) -> None:
        """Compare with the picture that the stand-still began with: a slow camera hardly differs from one frame to the next."""
        from PIL import ImageChops

        if self._anchor is not None:
            # By blocks, because eyes that blink are a hundredth of the picture.
            change = ImageChops.difference(small, self._anchor).reduce(STILL_BLOCK_PX).getextrema()[1]
            if float(change) < STILL_LEVELS:  # type: ignore[arg-type]  # one channel: a pair of numbers
                self.still.goes_on(at)
                return
        self._anchor = small
        self.still.begin(at)

    def _small(self, frame: "VideoFrame") -> "Image":
        from av.video.reformatter import Interpolation
        from PIL import Image

        shrink = MOTION_SIDE / max(frame.width, frame.height)
        width, height = max(1, round(frame.width * shrink)), max(1, round(frame.height * shrink))
        grey = self._scaler.reformat(frame, width=width, height=height, format="gray", interpolation=Interpolation.AREA)
        plane = grey.planes[0]
        return Image.frombytes("L", (width, height), bytes(plane), "raw", "L", plane.line_size, 1)


def _upright(frame: "VideoFrame") -> bytes:
    """The frame as it is shown, turned by what its header says."""
    height = max(1, round(frame.height * _FIRST_WIDTH / frame.width))
    picture = frame.to_image(width=_FIRST_WIDTH, height=height)  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
    png = io.BytesIO()
    picture.rotate(frame.rotation, expand=True).save(png, "PNG", compress_level=1)
    return png.getvalue()
