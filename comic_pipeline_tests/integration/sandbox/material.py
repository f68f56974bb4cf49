"""Requests that the tests of this folder share: models, pictures, task bodies, and how results are measured."""

import base64
import io
from dataclasses import dataclass

import av
from openai.types.chat import ChatCompletionMessageParam
from PIL import Image, ImageDraw

TEXT_MODEL = "doubao-seed-2-1-pro-260628"
IMAGE_MODEL = "doubao-seedream-5-0-260128"
GROUP_MODEL = "doubao-seedream-4-0-250828"
PRO_IMAGE_MODEL = "doubao-seedream-5-0-pro-260628"
VIDEO_MODEL = "doubao-seedance-2-0-260128"
OLD_VIDEO_MODEL = "doubao-seedance-1-0-pro-250528"
TASKS = "/api/v3/contents/generations/tasks"
STORY: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "请写一个分镜，3 shots of 5000 milliseconds each，只输出 JSON：一只小猫在月球上种花"}
]


def picture_bytes(width: int = 1280, height: int = 720, kind: str = "JPEG") -> bytes:
    """A picture with one bright square in its middle."""
    picture = Image.new("RGB", (width, height), (20, 40, 90))
    box = (width // 3, height // 3, 2 * width // 3, 2 * height // 3)
    ImageDraw.Draw(picture).rectangle(box, fill=(250, 220, 30))
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def picture_uri(width: int = 1280, height: int = 720, kind: str = "JPEG", mime: str = "image/jpeg") -> str:
    """The same as a data URI."""
    return f"data:{mime};base64,{base64.b64encode(picture_bytes(width, height, kind)).decode()}"


def first_frame(url: str, role: str | None = "first_frame") -> dict[str, object]:
    """A content item with a picture; no role if None."""
    item: dict[str, object] = {"type": "image_url", "image_url": {"url": url}}
    return item if role is None else {**item, "role": role}


def task_body(**changes: object) -> dict[str, object]:
    """A create body that is valid; a change to None leaves the field out by the wire's own rule."""
    body: dict[str, object] = {
        "model": VIDEO_MODEL,
        "content": [{"type": "text", "text": "小猫推开门"}, first_frame(picture_uri())],
        "resolution": "720p",
        "ratio": "16:9",
        "duration": 4,
        "generate_audio": False,
        "safety_identifier": "project-1",
    }
    return {**body, **changes}


@dataclass(frozen=True)
class Film:
    """What a film file really holds."""

    width: int
    height: int
    frames: int
    fps: float
    audio: bool
    first: Image.Image


def measure_film(data: bytes) -> Film:
    """Decode a film."""
    with av.open(io.BytesIO(data), mode="r") as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        return Film(
            width=stream.width,
            height=stream.height,
            frames=len(frames),
            fps=float(stream.average_rate or 0),
            audio=bool(container.streams.audio),
            first=frames[0].to_image(),  # type: ignore[no-untyped-call]  # PyAV has no types for Pillow
        )


def measure_sound(data: bytes) -> tuple[float, int]:
    """Seconds and the loudest sample (of 32767) of an audio file, decoded to the end."""
    with av.open(io.BytesIO(data), mode="r") as container:
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="s16", layout="mono", rate=24_000)
        samples, loudest = 0, 0
        for frame in container.decode(stream):
            for part in resampler.resample(frame):
                wave = memoryview(bytes(part.planes[0])[: part.samples * 2]).cast("h")
                samples += len(wave)
                loudest = max(loudest, max(map(abs, wave), default=0))
        return samples / 24_000, loudest


def measure_picture(data: bytes) -> tuple[str, int, int, int]:
    """Format, width, height and how many different colours a small version has."""
    with Image.open(io.BytesIO(data)) as picture:
        small = picture.convert("RGB").resize((64, 64))
        return str(picture.format), picture.width, picture.height, len(small.getcolors(64 * 64) or [])
