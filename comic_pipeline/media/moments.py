"""Single pictures out of a film, for sheets that people look at.

Belongs here: finding them without decoding the whole film. Does not: which moments a sheet shows (`stages/film.py`).
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from comic_pipeline.model.errors import ErrorCode, MediaFault

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame


def moments_of(film: Path, milliseconds: Sequence[int], *, width: int) -> list[bytes]:
    """The picture shown at each of these times, give or take two frames, as PNG; the last one where the film is shorter.

    Each is decoded from the key frame before it, so a long film costs as little a picture as a short one; frames that no other
    needs are left out, which halves that. Raises MediaFault(FFMPEG_FAILED) when the film does not decode there.
    """
    import av

    try:
        with av.open(str(film), format="mp4") as container:
            container.streams.video[0].codec_context.skip_frame = "NONREF"
            return [_png(_shown_at(container, ms), width) for ms in milliseconds]
    except (av.FFmpegError, IndexError) as broken:  # IndexError: no video stream
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"no picture of {film.name}: {broken}") from broken


def _shown_at(container: "InputContainer", ms: int) -> "VideoFrame":
    container.seek(ms * 1000)
    shown: VideoFrame | None = None
    for frame in container.decode(video=0):
        if shown is not None and frame.time is not None and round(frame.time * 1000) > ms:
            break
        shown = frame
    if shown is None:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"there is no frame at {ms} ms")
    return shown


def _png(frame: "VideoFrame", width: int) -> bytes:
    png = io.BytesIO()
    frame.to_image(width=width, height=round(width * frame.height / frame.width)).save(png, "PNG", compress_level=1)  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
    return png.getvalue()
