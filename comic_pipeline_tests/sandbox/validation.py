"""Reading a request body as Ark does: null is absent, unknown keys are ignored, wrong values are refused by name.

Belongs here: typed reading of fields, pictures in requests, the image and chat bodies. Does not: video bodies (`video_rules.py`).
"""

import base64
import binascii
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from comic_pipeline_tests.sandbox.catalog import ImageModel, keyword_size
from comic_pipeline_tests.sandbox.wire import ApiError, JsonObject, without_nulls

_DATA_URI = re.compile(r"^data:(image/[a-z.+-]+);base64,(.*)$", re.DOTALL)
_EXPLICIT_SIZE = re.compile(r"^(\d{2,5})x(\d{2,5})$")
_PROMPT_RATIO = re.compile(r"(?<!\d)(\d{1,2})\s*[:：]\s*(\d{1,2})(?!\d)")
_PROMPT_COUNT = re.compile(r"(\d+)\s*(?:images|pictures|张|幅)")
MIB = 1024 * 1024


def invalid(param: str, reason: str, *, code: str = "InvalidParameter") -> ApiError:
    """A 400 that names the field."""
    return ApiError(400, code, f"The parameter `{param}` specified in the request is not valid: {reason}.", param=param)


def missing(param: str) -> ApiError:
    """A 400 for a required field."""
    return ApiError(400, "MissingParameter", f"The request failed because it is missing `{param}` parameter.", param=param)


class Fields:
    """Typed reading of one JSON object. Every method raises ApiError for a value of the wrong kind."""

    def __init__(self, values: object, *, where: str = "") -> None:
        if not isinstance(values, dict):
            raise invalid(where or "body", "an object is expected")
        self._values = without_nulls(values)
        self._where = f"{where}." if where else ""

    def has(self, name: str) -> bool:
        """Whether the field is given."""
        return name in self._values

    def name(self, name: str) -> str:
        """The field's full name."""
        return self._where + name

    def text(self, name: str, default: str = "", *, choices: Sequence[str] = (), required: bool = False) -> str:
        """A string, out of `choices` if given."""
        value = self._get(name, default, required=required)
        if not isinstance(value, str):
            raise invalid(self.name(name), f"a string is expected, not {value!r}")
        if required and not value.strip():
            raise missing(self.name(name))
        if choices and name in self._values and value not in choices:
            raise invalid(self.name(name), f"{value!r} is not one of {', '.join(choices)}")
        return value

    def integer(self, name: str, default: int, *, low: int, high: int) -> int:
        """A whole number in [low, high]; the default is not checked."""
        if name not in self._values:
            return default
        value = self._values[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise invalid(self.name(name), f"a whole number from {low} to {high} is expected, not {value!r}")
        return value

    def number(self, name: str, default: float, *, low: float, high: float) -> float:
        """A number in [low, high]."""
        value = self._values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise invalid(self.name(name), f"a number from {low} to {high} is expected, not {value!r}")
        return float(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._values.get(name, default)
        if not isinstance(value, bool):
            raise invalid(self.name(name), f"a boolean is expected, not {value!r}")
        return value

    def items(self, name: str, *, required: bool = False) -> list[Any]:
        """A list, empty when absent."""
        value = self._get(name, [], required=required)
        if not isinstance(value, list):
            raise invalid(self.name(name), "an array is expected")
        if required and not value:
            raise missing(self.name(name))
        return value

    def object(self, name: str, *, required: bool = False) -> "Fields":
        """A nested object, empty when absent."""
        return Fields(self._get(name, {}, required=required), where=self.name(name))

    def raw(self, name: str) -> Any:
        """The value as it came, or None."""
        return self._values.get(name)

    def _get(self, name: str, default: Any, *, required: bool) -> Any:
        if required and name not in self._values:
            raise missing(self.name(name))
        return self._values.get(name, default)


@dataclass(frozen=True)
class PictureRule:
    """What a picture in a request must be like. Sides in pixels, `ratio` is width / height."""

    sides: tuple[int, int]
    ratio: tuple[float, float]
    max_pixels: int
    max_bytes: int = 30 * MIB


VIDEO_INPUT = PictureRule(sides=(300, 6_000), ratio=(0.4, 2.5), max_pixels=36_000_000)
IMAGE_INPUT = PictureRule(sides=(15, 36_000_000), ratio=(1 / 16, 16.0), max_pixels=36_000_000)


def decode_picture(uri: str, rule: PictureRule, *, param: str) -> bytes:
    """The bytes in a data URI, really decoded and measured. Raises ApiError."""
    from PIL import Image, UnidentifiedImageError

    match = _DATA_URI.match(uri)
    if not match:
        raise invalid(param, "a URL or data:image/<lowercase format>;base64,<data> is expected")
    try:
        data = base64.b64decode(match.group(2), validate=True)
    except binascii.Error as wrong:
        raise invalid(param, "the base64 data cannot be decoded") from wrong
    if len(data) > rule.max_bytes:
        raise invalid(param, f"the image has {len(data)} bytes, more than {rule.max_bytes}")
    try:
        with Image.open(io.BytesIO(data)) as picture:
            declared, actual = match.group(1), f"image/{str(picture.format).lower()}"
            if declared.replace("jpg", "jpeg") != actual:
                raise invalid(param, f"declared {declared}, but the bytes are {actual}")
            _measure(picture.width, picture.height, rule, param)
            picture.load()
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as wrong:
        raise invalid(param, "the image cannot be decoded") from wrong
    return data


def _measure(width: int, height: int, rule: PictureRule, param: str) -> None:
    low, high = rule.sides
    if not (low <= width <= high and low <= height <= high):
        raise invalid(param, f"the image is {width}x{height}; each side must have {low} to {high} pixels")
    if width * height > rule.max_pixels:
        raise invalid(param, f"the image has {width * height} pixels, more than {rule.max_pixels}")
    if not rule.ratio[0] <= width / height <= rule.ratio[1]:
        raise invalid(param, f"the image's ratio {width / height:.2f} is outside {rule.ratio[0]:.2f} to {rule.ratio[1]:.2f}")


@dataclass(frozen=True)
class ImageOrder:
    """A valid Seedream request. `count` pictures of `width` x `height`."""

    prompt: str
    width: int
    height: int
    count: int
    references: int
    base64: bool
    stream: bool
    watermark: bool
    format: str
    seed: int


def read_image_order(body: JsonObject, model: ImageModel) -> ImageOrder:
    """Check a Seedream body. Raises ApiError."""
    fields = Fields(body)
    prompt = fields.text("prompt", required=True)
    references = _references(fields, model)
    width, height = _image_size(fields.text("size", model.default_size), model, prompt)
    base64_wanted = fields.text("response_format", "url", choices=("url", "b64_json")) == "b64_json"
    stream = fields.flag("stream", default=False)
    if stream and not model.groups:
        raise invalid("stream", f"{model.id} does not stream", code="InvalidParameter.UnsupportedParameter")
    if fields.has("output_format") and len(model.formats) == 1:
        raise invalid("output_format", f"{model.id} always answers jpeg", code="InvalidParameter.UnsupportedParameter")
    return ImageOrder(
        prompt=prompt,
        width=width,
        height=height,
        count=_group(fields, model, prompt, references),
        references=references,
        base64=base64_wanted,
        stream=stream,
        watermark=fields.flag("watermark", default=True),
        format=fields.text("output_format", "jpeg", choices=model.formats),
        seed=fields.integer("seed", -1, low=-1, high=2**31 - 1),
    )


def _references(fields: Fields, model: ImageModel) -> int:
    value = fields.raw("image")
    pictures = [] if value is None else value if isinstance(value, list) else [value]
    if len(pictures) > model.max_references:
        raise invalid("image", f"{model.id} takes at most {model.max_references} images")
    for picture in pictures:
        if not isinstance(picture, str) or not picture:
            raise invalid("image", "a string or an array of strings is expected")
        if not picture.startswith(("http://", "https://")):
            decode_picture(picture, IMAGE_INPUT, param="image")
    return len(pictures)


def _image_size(size: str, model: ImageModel, prompt: str) -> tuple[int, int]:
    if size in model.keywords:
        # With a keyword the model reads the ratio out of the prompt.
        ratio = _PROMPT_RATIO.search(prompt)
        wanted = (int(ratio.group(1)), int(ratio.group(2))) if ratio else (1, 1)
        return keyword_size(size, wanted if min(wanted) and 1 / 16 <= wanted[0] / wanted[1] <= 16 else (1, 1))
    match = _EXPLICIT_SIZE.match(size)
    if not match:
        raise invalid("size", f"{size!r} is neither WxH nor one of {', '.join(model.keywords)}")
    width, height = int(match.group(1)), int(match.group(2))
    if not model.min_pixels <= width * height <= model.max_pixels:
        raise invalid("size", f"image size must have {model.min_pixels} to {model.max_pixels} pixels, not {width * height}")
    if not 1 / 16 <= width / height <= 16:
        raise invalid("size", "the ratio must be from 1:16 to 16:1")
    return width, height


def _group(fields: Fields, model: ImageModel, prompt: str, references: int) -> int:
    mode = fields.text("sequential_image_generation", "disabled", choices=("auto", "disabled"))
    if mode == "disabled":
        return 1
    if not model.groups:
        code = "InvalidParameter.UnsupportedParameter"
        raise invalid("sequential_image_generation", f"{model.id} makes single images", code=code)
    options = fields.object("sequential_image_generation_options")
    most = min(options.integer("max_images", 15, low=1, high=15), 15 - references)
    if most < 1:
        raise invalid("sequential_image_generation_options.max_images", "references and outputs may be 15 together")
    asked = _PROMPT_COUNT.search(prompt)
    return min(most, max(1, int(asked.group(1)) if asked else 2))


def check_chat(body: JsonObject) -> None:
    """Check a chat body. Raises ApiError."""
    fields = Fields(body)
    for index, item in enumerate(fields.items("messages", required=True)):
        message = Fields(item, where=f"messages[{index}]")
        message.text("role", choices=("system", "developer", "user", "assistant", "tool"), required=True)
        content = message.raw("content")
        if content is not None and not isinstance(content, str | list):
            raise invalid(message.name("content"), "a string or an array is expected")
    shape = fields.object("response_format")
    kind = shape.text("type", "text", choices=("text", "json_object", "json_schema"))
    if kind == "json_object" and "json" not in str(body["messages"]).lower():
        raise invalid("messages", "they must contain the word JSON to use response_format json_object")
    if kind == "json_schema":
        schema = shape.object("json_schema", required=True)
        schema.text("name", required=True)
        schema.object("schema", required=True)
    fields.number("temperature", 1.0, low=0, high=2)
    fields.number("top_p", 0.7, low=0, high=1)
    fields.integer("max_tokens", 0, low=1, high=10**6)
    fields.integer("max_completion_tokens", 0, low=1, high=10**6)
    fields.flag("stream", default=False)
    fields.object("thinking").text("type", "enabled", choices=("enabled", "disabled", "auto"))
    fields.text("reasoning_effort", "medium", choices=("minimal", "low", "medium", "high"))
