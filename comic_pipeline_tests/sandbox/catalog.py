"""The models the sandbox knows: limits, picture sizes and list prices, each as the vendors' pages state them.

Belongs here: facts about models. Does not: checking a request against them (`validation.py`, `video_rules.py`). Source of every
number: the vendors' pages that `comic_pipeline/providers/__init__.py` names. What they lack is absent here (price None = unknown,
booked as unpriced).
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class TextModel:
    """A chat model. Prices are CNY per million tokens, None when no price is known."""

    id: str
    input_price: Decimal | None
    output_price: Decimal | None

    def cost(self, *, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """CNY for one call."""
        if self.input_price is None or self.output_price is None:
            return None
        return (self.input_price * prompt_tokens + self.output_price * completion_tokens) / MILLION


_SEED_PRICES = {"lite": ("0.80", "2.70"), "turbo": ("3.00", "15.00"), "pro": ("6.00", "30.00")}
_SEED_ID = re.compile(r"^doubao-seed-2-1-(lite|turbo|pro)-\d{6}$")
_OPENAI_TEXT = frozenset({"gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini"})


def text_model(model_id: str, *, openai: bool) -> TextModel | None:
    """The chat model of this id; None for a bare family name or an unknown one. `openai` adds OpenAI's own, without prices."""
    match = _SEED_ID.match(model_id)
    if match:
        price_in, price_out = _SEED_PRICES[match.group(1)]
        return TextModel(model_id, Decimal(price_in), Decimal(price_out))
    return TextModel(model_id, None, None) if openai and model_id in _OPENAI_TEXT else None


@dataclass(frozen=True)
class ImageModel:
    """A Seedream model. Pixel limits hold for explicit WxH sizes; `keywords` are the K sizes it takes."""

    id: str
    max_references: int
    keywords: tuple[str, ...]
    default_size: str
    min_pixels: int
    max_pixels: int
    groups: bool
    formats: tuple[str, ...]

    def cost(self, sizes: list[tuple[int, int]], *, references: int) -> Decimal:
        """CNY for these output pictures."""
        if self.id.startswith("doubao-seedream-5-0-pro"):
            outputs = sum((Decimal("0.30") if w * h <= 2_360_000 else Decimal("0.60") for w, h in sizes), Decimal(0))
            return outputs + Decimal("0.02") * max(0, references - 1)
        return _IMAGE_PRICES[self.id] * len(sizes)


_IMAGE_PRICES = {
    "doubao-seedream-5-0-260128": Decimal("0.22"),
    "doubao-seedream-4-5-251128": Decimal("0.25"),
    "doubao-seedream-4-0-250828": Decimal("0.20"),
}
IMAGE_MODELS = {
    model.id: model
    for model in (
        ImageModel("doubao-seedream-5-0-pro-260628", 10, ("1K", "1.5K", "2K"), "2K", 921_600, 4_624_220, False, ("jpeg", "png")),
        ImageModel(
            "doubao-seedream-5-0-260128", 14, ("2K", "3K", "4K"), "2048x2048", 3_686_400, 16_777_216, True, ("jpeg", "png")
        ),
        ImageModel("doubao-seedream-4-5-251128", 14, ("2K", "4K"), "2048x2048", 3_686_400, 16_777_216, True, ("jpeg",)),
        ImageModel("doubao-seedream-4-0-250828", 14, ("1K", "2K", "4K"), "2048x2048", 921_600, 16_777_216, True, ("jpeg",)),
    )
}
# gpt-image models always answer base64 and refuse `response_format`; the dall-e ones take it (openai SDK, images.generate).
OPENAI_IMAGE_SIZES = {
    "gpt-image-1": ("1024x1024", "1536x1024", "1024x1536", "auto"),
    "gpt-image-1-mini": ("1024x1024", "1536x1024", "1024x1536", "auto"),
    "dall-e-3": ("1024x1024", "1792x1024", "1024x1792"),
}
# Output tokens a picture by quality: square, landscape, portrait (indices 0, 1, -1), from OpenAI's image generation guide.
OPENAI_IMAGE_TOKENS = {
    "low": (272, 400, 408),
    "medium": (1_056, 1_568, 1_584),
    "high": (4_160, 6_208, 6_240),
    "auto": (4_160, 6_208, 6_240),
}
OPENAI_SPEECH_MODELS = frozenset({"gpt-4o-mini-tts", "tts-1", "tts-1-hd"})


def keyword_size(keyword: str, ratio: tuple[int, int]) -> tuple[int, int]:
    """Pixels for a K size: about K*K pixels in that ratio, sides in steps of 16 (2K at 16:9 is 2736x1536)."""
    side = float(keyword[:-1]) * 1_024
    scale = (ratio[0] / ratio[1]) ** 0.5
    return round(side * scale / 16) * 16, round(side / scale / 16) * 16


Mode = Literal["text", "first", "last", "reference"]
_FRAMES: frozenset[Mode] = frozenset({"text", "first", "last"})
_OMNI: frozenset[Mode] = frozenset({"text", "first", "last", "reference"})


@dataclass(frozen=True)
class VideoModel:
    """A Seedance model. `references` = most images, videos, audios; `token_fps` = frames a second that are billed."""

    id: str
    seconds: tuple[int, int]
    automatic: bool
    resolutions: tuple[str, ...]
    default_resolution: str
    modes: frozenset[Mode]
    references: tuple[int, int, int] = (0, 0, 0)
    audio: bool = False
    token_fps: int = 24

    @property
    def generation(self) -> str:
        """`1.0`, `1.5`, `2.0` or `2.5`."""
        major, minor = self.id.split("-")[2:4]
        return f"{major}.{minor}"

    def size(self, resolution: str, ratio: str) -> tuple[int, int]:
        """Pixels of the film."""
        sizes = _SIZES[resolution] | ({} if self.generation == "1.0" else _NEW_SIZES.get(resolution, {}))
        return sizes[ratio]

    def tokens(self, *, seconds: int, frames: int | None, width: int, height: int) -> int:
        """Billed tokens: (seconds * fps + 1) * W * H / 1024."""
        billed = frames if frames is not None else seconds * self.token_fps + 1
        return round(billed * width * height / 1_024)

    def price(self, *, resolution: str, video_input: bool, audio: bool) -> Decimal | None:
        """CNY per million tokens; None where no list price is known."""
        if self.generation == "1.5":
            return Decimal(16 if audio else 8)
        prices = _VIDEO_PRICES.get(self.id, {}).get(resolution)
        return None if prices is None else Decimal(prices[1 if video_input else 0])


_LOW = ("480p", "720p")
_HD = ("480p", "720p", "1080p")
VIDEO_MODELS = {
    model.id: model
    for model in (
        VideoModel("doubao-seedance-1-0-pro-250528", (2, 12), False, _HD, "1080p", _FRAMES),
        VideoModel("doubao-seedance-1-0-pro-fast-251015", (2, 12), False, _HD, "1080p", frozenset({"text", "first"})),
        VideoModel("doubao-seedance-1-5-pro-251215", (4, 12), True, _HD, "720p", _FRAMES, audio=True),
        VideoModel("doubao-seedance-2-0-260128", (4, 15), True, (*_HD, "4k"), "720p", _OMNI, (9, 3, 3), audio=True),
        VideoModel("doubao-seedance-2-0-fast-260128", (4, 15), True, _LOW, "720p", _OMNI, (9, 3, 3), audio=True),
        VideoModel("doubao-seedance-2-0-mini-260615", (4, 15), True, _LOW, "720p", _OMNI, (9, 3, 3), audio=True),
        VideoModel("doubao-seedance-2-5-260628", (4, 30), True, _HD, "720p", _OMNI, (30, 10, 10), audio=True, token_fps=48),
    )
}
_VIDEO_PRICES: dict[str, dict[str, tuple[int, int]]] = {
    "doubao-seedance-2-0-260128": {"480p": (46, 28), "720p": (46, 28), "1080p": (51, 31), "4k": (26, 16)},
    "doubao-seedance-2-0-fast-260128": {"480p": (37, 22), "720p": (37, 22)},
    "doubao-seedance-2-0-mini-260615": {"480p": (23, 14), "720p": (23, 14)},
    "doubao-seedance-2-5-260628": {"480p": (70, 42), "720p": (70, 42)},
}
RATIOS = {"16:9": 16 / 9, "4:3": 4 / 3, "1:1": 1.0, "3:4": 3 / 4, "9:16": 9 / 16, "21:9": 21 / 9}


def _sizes(*sides: tuple[int, int]) -> dict[str, tuple[int, int]]:
    return dict(zip(RATIOS, sides, strict=True))


_SIZES = {
    "480p": _sizes((864, 480), (736, 544), (640, 640), (544, 736), (480, 864), (960, 416)),
    "720p": _sizes((1248, 704), (1120, 832), (960, 960), (832, 1120), (704, 1248), (1504, 640)),
    "1080p": _sizes((1920, 1088), (1664, 1248), (1440, 1440), (1248, 1664), (1088, 1920), (2176, 928)),
    "4k": _sizes((3840, 2160), (3328, 2496), (2880, 2880), (2496, 3328), (2160, 3840), (4352, 1856)),
}
_NEW_SIZES = {
    "720p": {"16:9": (1280, 720), "9:16": (720, 1280)},
    "1080p": {"16:9": (1920, 1080), "9:16": (1080, 1920)},
}
# Seed TTS 2.0: 3 CNY for 10,000 characters; the same is booked for V1.
VOICE_PRICE = Decimal(3) / Decimal(10_000)


def nearest_ratio(width: int, height: int) -> str:
    """The supported ratio that a picture comes closest to, for `adaptive`."""
    return min(RATIOS, key=lambda name: abs(RATIOS[name] - width / height))
