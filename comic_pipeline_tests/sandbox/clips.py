"""Real films, made with ffmpeg: the first frame drifts over the screen for the asked time at 24 frames a second.

Belongs here: film and last-frame bytes. Does not: tasks and tokens (`jobs.py`).
"""

import hashlib
import io
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import imageio_ffmpeg

from comic_pipeline_tests.sandbox.pictures import HTML_PAGE, draw_picture, encode_picture

if TYPE_CHECKING:
    from PIL import Image

FPS = 24
# How far the picture drifts, as a share of each side.
_DRIFT = 0.08


@dataclass(frozen=True)
class ClipPlan:
    """What to film. `first` = picture bytes of the first frame; without it a picture is drawn from the prompt."""

    prompt: str
    first: bytes | None = field(repr=False)
    width: int
    height: int
    frames: int
    audio: bool = False
    look: str = ""
    type: str = ""
    seed: int = -1

    @property
    def content(self) -> str:
        """Equal for equal films."""
        first = hashlib.sha256(self.first or b"").hexdigest()
        values = (self.prompt, first, self.width, self.height, self.frames, self.audio, self.look, self.type, self.seed)
        return "|".join(map(str, values))


def render_clip(plan: ClipPlan) -> bytes:
    """An MP4 (H.264, yuv420p; mono AAC if `audio`). Frame 0 is the first frame itself. Raises CalledProcessError."""
    if plan.type in ("html", "empty"):
        return HTML_PAGE if plan.type == "html" else b""
    canvas, left, top = _canvas(plan)
    if plan.type:
        return encode_picture(canvas, plan.type)
    seconds = plan.frames / FPS
    drift = f"crop={plan.width}:{plan.height}:x='{left}+{left}*n/{plan.frames}':y='{top}-{top}*n/{plan.frames}'"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "clip.mp4"
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-threads", "1"]
        command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{canvas.width}x{canvas.height}", "-r", str(FPS), "-i", "-"]
        command += ["-f", "lavfi", "-i", f"sine=frequency=220:duration={seconds}"] if plan.audio else []
        command += ["-filter:v", f"format=yuv420p,loop=loop={plan.frames - 1}:size=1,{drift},setsar=1"]
        command += ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", "-pix_fmt", "yuv420p", "-r", str(FPS)]
        command += ["-frames:v", str(plan.frames), "-threads", "1", "-movflags", "+faststart"]
        command += ["-c:a", "aac", "-ac", "1", "-t", f"{seconds}"] if plan.audio else ["-an"]
        subprocess.run([*command, str(target)], input=canvas.tobytes(), check=True, capture_output=True)
        return target.read_bytes()


def render_last_frame(plan: ClipPlan) -> bytes:
    """A PNG of where the drift ends."""
    canvas, left, _ = _canvas(plan)
    return encode_picture(canvas.crop((2 * left, 0, 2 * left + plan.width, plan.height)), "png")


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height of a picture."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return picture.size


def _canvas(plan: ClipPlan) -> "tuple[Image.Image, int, int]":
    """The first frame on a larger ground of itself, and where on it the frame lies."""
    from PIL import Image, ImageOps

    size = (plan.width, plan.height)
    if plan.first and not plan.look:
        with Image.open(io.BytesIO(plan.first)) as given:
            frame = ImageOps.fit(given.convert("RGB"), size, Image.Resampling.BICUBIC)
    else:
        frame = draw_picture(text=plan.prompt, width=plan.width, height=plan.height, salt=str(plan.seed), look=plan.look)
    left, top = (int(side * _DRIFT / 2) // 2 * 2 for side in size)
    canvas = frame.resize((plan.width + 2 * left, plan.height + 2 * top), Image.Resampling.BILINEAR)
    canvas.paste(frame, (left, top))
    return canvas, left, top
