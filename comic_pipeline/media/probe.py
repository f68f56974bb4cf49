"""What bytes really are: typed numbers measured by decoding them to the end, whatever their name or header promised.

Belongs here: sniffing, measuring, one frame of a video. Does not: deciding whether the numbers are good (`quality/`).
Every `measure_*` raises MediaFault(PROVIDER_ERROR) that says what was expected and what was found, and
MediaFault(INPUT_INVALID) for a file that is not there.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from comic_pipeline.media.boxes import boxes
from comic_pipeline.media.container import AUDIO_MIMES, VIDEO_MIMES, opened, reader, unlike
from comic_pipeline.media.signature import sniff
from comic_pipeline.media.sound import Filters, LevelMeter, Levels
from comic_pipeline.model.errors import ErrorCode, MediaFault

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
    from PIL.Image import Image

    Watch = Callable[[VideoFrame | AudioFrame], None]

IMAGE_MIMES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
# What may be decoded, against bytes that unpack to thousands of times their size. The largest that providers and films have:
# pictures of 4096x4096, clips and films of two minutes in 4K at 60 frames a second, music of an hour.
IMAGE_PIXELS = 40_000_000
VIDEO_FRAME_PIXELS = 4_096 * 4_096
VIDEO_FRAMES = 40_000
VIDEO_PIXELS = 100_000_000_000
SOUND_SECONDS = 3_600
_EMPTY_CUE = 2


@dataclass(frozen=True)
class ImageFacts:
    """A picture: MIME type of its bytes and size in pixels."""

    mime: str
    width: int
    height: int


@dataclass(frozen=True)
class AudioFacts(Levels):
    """A piece of sound: its levels, and the MIME type of its bytes."""

    mime: str


@dataclass(frozen=True)
class AudioStreamFacts(Levels):
    """The first sound track of a video: its levels, and its codec."""

    codec: str


@dataclass(frozen=True)
class VideoFacts:
    """A video as it plays: size in pixels after rotation, frames a second, decoded frames, length of the picture in milliseconds.

    `fps` and `duration_ms` are 0 for a single frame whose container states no rate.

    `faststart`: an MP4 whose index comes before its data, so that a browser can play it while it loads.
    """

    mime: str
    codec: str
    pix_fmt: str
    width: int
    height: int
    fps: float
    frames: int
    duration_ms: int
    audio: AudioStreamFacts | None
    subtitle_streams: int
    faststart: bool


def measure_image(data: bytes) -> ImageFacts:
    """Decode a PNG, JPEG, WebP or GIF completely."""
    mime, picture = decode_image(data)
    return ImageFacts(mime=mime, width=picture.width, height=picture.height)


def decode_image(data: bytes) -> "tuple[str, Image]":
    """The MIME type and the pixels of a PNG, JPEG, WebP or GIF."""
    from PIL import Image

    mime = sniff(data)
    if mime not in IMAGE_MIMES:
        raise unlike("an image", mime, len(data))
    try:
        picture = Image.open(io.BytesIO(data), formats=(IMAGE_MIMES[mime],))
        if picture.width * picture.height > IMAGE_PIXELS:
            raise unlike("an image", mime, len(data), f"{picture.width}x{picture.height} pixels are too many")
        picture.load()
    # Pillow's decoders raise any of these for damaged data, and the warning where warnings are errors.
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning) as broken:
        raise unlike("an image", mime, len(data), broken) from broken
    return mime, picture


def measure_audio(source: bytes | Path, *, through: Filters = ()) -> AudioFacts:
    """Decode the first sound track to its end; its levels are those after the filters `through`."""
    import av

    meter = LevelMeter(through=through)
    with opened(source, "sound", AUDIO_MIMES | VIDEO_MIMES) as (container, mime, size):
        if not container.streams.audio:
            raise unlike("sound", mime, size, "it has no sound track")
        stream = container.streams.audio[0]
        try:
            for frame in container.decode(stream):
                meter.add(frame)
                _check_length(meter)
        except av.FFmpegError as broken:
            raise unlike("sound", mime, size, broken) from broken
        if meter.samples == 0:
            raise unlike("sound", mime, size, "no samples can be decoded")
        return AudioFacts(mime=mime, **vars(meter.levels(declared_s=_declared(stream))))


def measure_video(source: bytes | Path, *, watch: "Watch | None" = None) -> VideoFacts:
    """Decode picture and first sound track to their ends. Frame count, rate and length come from what was decoded.

    `watch` is shown every decoded piece of picture and sound, so that more can be measured without decoding again.
    """
    import av

    with opened(source, "a video", VIDEO_MIMES) as (container, mime, size):
        if not container.streams.video:
            raise unlike("a video", mime, size, "it has no picture")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        stream.codec_context.options = {"max_pixels": str(VIDEO_FRAME_PIXELS)}
        tally, meter = _Tally(), LevelMeter()
        try:
            _decode_into(container, tally, meter, watch)
        except av.FFmpegError as broken:
            raise unlike("a video", mime, size, broken) from broken
        if tally.frames == 0 or tally.corrupt:
            raise unlike("a video", mime, size, f"{tally.frames} frames decode, {tally.corrupt} of them damaged")
        fps = tally.fps(stream)
        return VideoFacts(
            mime=mime,
            codec=stream.codec_context.name,
            pix_fmt=tally.pix_fmt,
            width=tally.width,
            height=tally.height,
            fps=fps,
            frames=tally.frames,
            duration_ms=round((tally.span + (1 / fps if fps else 0.0)) * 1000),
            audio=_sound_of(container.streams.audio[0], meter) if meter.samples else None,
            subtitle_streams=len(container.streams.subtitles),
            faststart=_index_first(source),
        )


def promised_frames(source: bytes | Path) -> int:
    """How many frames a video's header speaks of (0: it does not say). Decodes nothing, but checks that no byte is missing."""
    with opened(source, "a video", VIDEO_MIMES) as (container, mime, size):
        if not container.streams.video:
            raise unlike("a video", mime, size, "it has no picture")
        return container.streams.video[0].frames


def film_tags(source: bytes | Path) -> dict[str, str]:
    """What a video says about itself (title, AIGC, …), by key. Decodes nothing."""
    with opened(source, "a video", VIDEO_MIMES) as (container, _, _):
        return dict(container.metadata)


def shown_cues(source: bytes | Path) -> int:
    """How often the first subtitle track of a video shows words (0 without one). Decodes neither picture nor sound."""
    with opened(source, "a video", VIDEO_MIMES) as (container, _, _):
        if not container.streams.subtitles:
            return 0
        # Between two cues MP4 has an empty text: two bytes that give its length of 0.
        return sum(packet.size > _EMPTY_CUE for packet in container.demux(container.streams.subtitles[0]))


def frame_at(source: bytes | Path, ms: int) -> bytes:
    """The frame shown at `ms` as PNG; the last one when the video is shorter."""
    import av

    with opened(source, "a video", VIDEO_MIMES) as (container, mime, size):
        shown: VideoFrame | None = None
        try:
            for frame in container.decode(video=0):
                if shown is not None and frame.time is not None and round(frame.time * 1000) > ms:
                    break
                shown = frame
        except (av.FFmpegError, IndexError) as broken:  # IndexError: no video stream
            raise unlike("a video", mime, size, broken) from broken
        if shown is None:
            raise unlike("a video", mime, size, "no frame can be decoded")
        png = io.BytesIO()
        shown.to_image().save(png, "PNG")  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
        return png.getvalue()


class _Tally:
    """What the decoded pictures of one stream were."""

    def __init__(self) -> None:
        self.frames = 0
        self.corrupt = 0
        self._pixels = 0
        self.width = self.height = 0
        self.pix_fmt = ""
        self._first: float | None = None
        self._last = 0.0

    def add(self, frame: "VideoFrame") -> None:
        if self.frames == 0:
            turned = frame.rotation % 180 != 0
            self.width, self.height = (frame.height, frame.width) if turned else (frame.width, frame.height)
            self.pix_fmt = frame.format.name
        self.frames += 1
        self._pixels += frame.width * frame.height
        if self.frames > VIDEO_FRAMES or self._pixels > VIDEO_PIXELS:
            raise _endless(f"over {self.frames - 1} pictures of {frame.width}x{frame.height}")
        self.corrupt += frame.is_corrupt
        if frame.time is not None:
            self._first = frame.time if self._first is None else self._first
            self._last = frame.time

    @property
    def span(self) -> float:
        """Seconds from the first frame's time to the last one's."""
        return 0.0 if self._first is None else self._last - self._first

    def fps(self, stream: "VideoStream") -> float:
        """The header's rate, or what the frames' own times say where it has none (`0/0`); 0 for a single frame without a rate."""
        if stream.average_rate:
            return float(stream.average_rate)
        if self.span > 0:
            return (self.frames - 1) / self.span
        return 0.0


def _decode_into(container: "InputContainer", pictures: "_Tally", sound: LevelMeter, watch: "Watch | None") -> None:
    from av import AudioFrame, VideoFrame

    for packet in container.demux(container.streams.video[0], *container.streams.audio[:1]):
        for frame in packet.decode():
            if isinstance(frame, VideoFrame):
                pictures.add(frame)
            elif isinstance(frame, AudioFrame):
                sound.add(frame)
                _check_length(sound)
            if watch is not None and isinstance(frame, VideoFrame | AudioFrame):
                watch(frame)


def _check_length(sound: LevelMeter) -> None:
    if sound.seconds > SOUND_SECONDS:
        raise _endless(f"over {SOUND_SECONDS} seconds of sound")


def _endless(found: str) -> MediaFault:
    return MediaFault(ErrorCode.PROVIDER_ERROR, f"the file unpacks to more than anything of ours has: {found}")


def _sound_of(stream: "AudioStream", meter: LevelMeter) -> AudioStreamFacts:
    return AudioStreamFacts(codec=stream.codec_context.name, **vars(meter.levels(declared_s=_declared(stream))))


def _declared(stream: "AudioStream") -> float | None:
    return None if stream.duration is None or stream.time_base is None else float(stream.duration * stream.time_base)


def _index_first(source: bytes | Path) -> bool:
    with reader(source) as (stream, size):
        names = [box.name for box in boxes(stream, end=size)]
    return "moov" in names and "mdat" in names and names.index("moov") < names.index("mdat")
