"""Which video requests Ark takes: content items and their roles, settings by model, legacy flags in the prompt.

Belongs here: a body in, a valid `VideoOrder` or an ApiError out. Does not: jobs and answers (`jobs.py`, `ark_video.py`).
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from comic_pipeline_tests.sandbox.catalog import RATIOS, VideoModel
from comic_pipeline_tests.sandbox.validation import VIDEO_INPUT, Fields, decode_picture, invalid, missing
from comic_pipeline_tests.sandbox.wire import JsonObject

RATIO_CHOICES = (*RATIOS, "adaptive")
_ROLES = {
    "image_url": ("first_frame", "last_frame", "reference_image"),
    "video_url": ("reference_video",),
    "audio_url": ("reference_audio",),
}
_FLAGS = {
    "rs": "resolution",
    "resolution": "resolution",
    "rt": "ratio",
    "ratio": "ratio",
    "dur": "duration",
    "duration": "duration",
    "seed": "seed",
    "cf": "camera_fixed",
    "camerafixed": "camera_fixed",
    "wm": "watermark",
    "watermark": "watermark",
}
_FLAG = re.compile(r"\s--([a-z]+)\s+(\S+)")
UNSUPPORTED = "InvalidParameter.UnsupportedParameter"


@dataclass(frozen=True)
class Inputs:
    """What the content items hold. Frames are picture bytes, or None when the picture lies behind a foreign URL."""

    text: str
    roles: Counter[str]
    first: bytes | None = field(default=None, repr=False)
    last: bytes | None = field(default=None, repr=False)
    draft_task: str = ""


@dataclass(frozen=True)
class VideoOrder:
    """A valid request. `seconds` -1 = the model chooses; `frames` only for 1.0 models; `ratio` may be adaptive."""

    model: VideoModel
    inputs: Inputs
    resolution: str
    ratio: str
    seconds: int
    frames: int | None
    seed: int
    audio: bool
    watermark: bool
    return_last_frame: bool
    service_tier: str
    priority: int
    expires_after: int
    draft: bool
    output_format: str
    safety_identifier: str


def read_video_order(body: JsonObject, model: VideoModel, resolve: Callable[[str], bytes | None]) -> VideoOrder:
    """Check a create body. `resolve` gives the bytes behind a URL, None for foreign ones. Raises ApiError."""
    inputs = _read_inputs(Fields(body), model, resolve)
    inputs, legacy = _legacy_flags(inputs) if model.generation.startswith("1") else (inputs, {})
    fields = Fields({**legacy, **{key: value for key, value in body.items() if value is not None}})
    resolution = fields.text("resolution", model.default_resolution, choices=model.resolutions)
    ratio = fields.text("ratio", "adaptive" if inputs.roles else "16:9", choices=RATIO_CHOICES)
    _check_frames_ratio(fields, model, inputs)
    draft = fields.flag("draft", default=False)
    if draft and (model.generation != "1.5" or resolution != "480p"):
        raise invalid("draft", "only seedance 1.5 pro makes drafts, at 480p", code=UNSUPPORTED)
    return VideoOrder(
        model=model,
        inputs=inputs,
        resolution=resolution,
        ratio=ratio,
        seconds=_seconds(fields, model),
        frames=_frames(fields, model),
        seed=fields.integer("seed", -1, low=-1, high=2**32 - 1),
        audio=model.audio and fields.flag("generate_audio", default=True),
        watermark=fields.flag("watermark", default=False),
        return_last_frame=fields.flag("return_last_frame", default=False),
        service_tier=_tier(fields, model),
        priority=_priority(fields, model),
        expires_after=fields.integer("execution_expires_after", 172_800, low=3_600, high=259_200),
        draft=draft,
        output_format=_format(fields, model),
        safety_identifier=fields.text("safety_identifier"),
    )


def _read_inputs(fields: Fields, model: VideoModel, resolve: Callable[[str], bytes | None]) -> Inputs:
    texts: list[str] = []
    roles: Counter[str] = Counter()
    frames: dict[str, bytes | None] = {}
    draft_task = ""
    items = fields.items("content", required=True)
    images = sum(isinstance(item, dict) and item.get("type") == "image_url" for item in items)
    for index, raw in enumerate(items):
        item = Fields(raw, where=f"content[{index}]")
        kind = item.text("type", required=True, choices=("text", "image_url", "video_url", "audio_url", "draft_task"))
        if kind == "text":
            texts.append(item.text("text", required=True))
        elif kind == "draft_task":
            draft_task = item.object("draft_task", required=True).text("id", required=True)
        else:
            role = _role(item, kind, single=images == 1)
            roles[role] += 1
            frames[role] = _material(item, kind, resolve)
    _check_roles(roles, model)
    if not texts and not roles and not draft_task:
        raise missing("content.text")
    return Inputs("\n".join(texts), roles, frames.get("first_frame"), frames.get("last_frame"), draft_task)


def _role(item: Fields, kind: str, *, single: bool) -> str:
    if not item.has("role"):
        if kind == "image_url" and single:
            return "first_frame"
        raise missing(item.name("role"))
    return item.text("role", choices=_ROLES[kind])


def _material(item: Fields, kind: str, resolve: Callable[[str], bytes | None]) -> bytes | None:
    holder = item.object(kind, required=True)
    url, name = holder.text("url", required=True), holder.name("url")
    if url.startswith("asset://"):
        return None
    if url.startswith(("http://", "https://")):
        return resolve(url)
    if kind == "image_url":
        return decode_picture(url, VIDEO_INPUT, param=name)
    if kind == "audio_url" and url.startswith("data:audio/"):
        return None
    raise invalid(name, "a web URL is expected")


def _check_roles(roles: Counter[str], model: VideoModel) -> None:
    frames = {role for role in roles if role.endswith("_frame")}
    references = set(roles) - frames
    if frames and references:
        raise invalid("content", "first/last frame images cannot be mixed with reference media")
    for role in sorted(frames):
        if roles[role] > 1:
            raise invalid("content", f"at most one {role} is allowed")
        if role.removesuffix("_frame") not in model.modes:
            raise invalid("content", f"{model.id} does not support the role {role}")
    if frames == {"last_frame"}:
        raise invalid("content", "a last frame needs a first frame")
    if references and "reference" not in model.modes:
        raise invalid("content", f"{model.id} does not support reference media")
    limits = dict(zip(("reference_image", "reference_video", "reference_audio"), model.references, strict=True))
    for role in sorted(references):
        if roles[role] > limits[role]:
            raise invalid("content", f"{model.id} takes at most {limits[role]} of {role}")
    if references == {"reference_audio"}:
        raise invalid("content", "audio needs a picture or a video beside it")


def _check_frames_ratio(fields: Fields, model: VideoModel, inputs: Inputs) -> None:
    fixed = fields.has("ratio") and fields.raw("ratio") != "adaptive"
    if model.generation == "2.5" and fixed and "first_frame" in inputs.roles:
        code = "InvalidParameter.TaskTypeConstraint"
        raise invalid("ratio", "with first or last frames the ratio must be absent or adaptive", code=code)
    if fields.flag("camera_fixed", default=False) and not model.generation.startswith("1"):
        raise invalid("camera_fixed", f"{model.id} does not support it", code=UNSUPPORTED)


def _legacy_flags(inputs: Inputs) -> tuple[Inputs, JsonObject]:
    """Settings written behind the prompt (` --rs 720p --dur 5`), and the prompt without them."""
    values: JsonObject = {}
    for flag, word in _FLAG.findall(inputs.text):
        name = _FLAGS.get(flag)
        if name:
            values[name] = word == "true" if word in ("true", "false") else int(word) if re.fullmatch(r"-?\d+", word) else word
    return Inputs(_FLAG.sub("", inputs.text), inputs.roles, inputs.first, inputs.last, inputs.draft_task), values


def _seconds(fields: Fields, model: VideoModel) -> int:
    low, high = model.seconds
    if model.automatic and fields.raw("duration") == -1:
        return -1
    return fields.integer("duration", 5, low=low, high=high)


def _frames(fields: Fields, model: VideoModel) -> int | None:
    if not fields.has("frames"):
        return None
    if model.generation != "1.0":
        raise invalid("frames", f"{model.id} does not support it", code=UNSUPPORTED)
    frames = fields.integer("frames", 0, low=29, high=289)
    if (frames - 25) % 4:
        raise invalid("frames", f"25 + 4n frames are expected, not {frames}")
    return frames


def _tier(fields: Fields, model: VideoModel) -> str:
    tier = fields.text("service_tier", "default", choices=("default", "flex"))
    if tier == "flex" and model.generation.startswith("2"):
        raise invalid("service_tier", f"{model.id} does not support flex", code=UNSUPPORTED)
    return tier


def _priority(fields: Fields, model: VideoModel) -> int:
    if fields.has("priority") and model.generation != "2.0":
        raise invalid("priority", f"{model.id} does not support it", code=UNSUPPORTED)
    return fields.integer("priority", 0, low=0, high=9)


def _format(fields: Fields, model: VideoModel) -> str:
    if fields.has("output_format") and model.generation != "2.5":
        raise invalid("output_format", f"{model.id} always answers mp4", code=UNSUPPORTED)
    return fields.text("output_format", "mp4", choices=("mp4", "mov"))
