"""Clip models: how long, how large, which fields they know, how many tokens a clip is, and what a token costs.

Limits and fields by page 1520757, token formula and prices by page 1544106 on the day named. Tables and arithmetic.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import cny
from comic_pipeline.model.project import Aspect, Frame, Resolution
from comic_pipeline.providers.catalog import read_model_id, warn_unlisted

_HD, _FULL = Resolution.HD, Resolution.FULL_HD

# Sizes tokens are counted with. 2.x and 1.5: 1280x720 fits the token counts that were seen, other shapes keep its area.
_SIZES: dict[tuple[Aspect, Resolution], Frame] = {
    (Aspect.WIDE, _HD): Frame(width=1280, height=720),
    (Aspect.TALL, _HD): Frame(width=720, height=1280),
    (Aspect.SQUARE, _HD): Frame(width=960, height=960),
    (Aspect.WIDE, _FULL): Frame(width=1920, height=1080),
    (Aspect.TALL, _FULL): Frame(width=1080, height=1920),
    (Aspect.SQUARE, _FULL): Frame(width=1440, height=1440),
}
# 1.0 makes slightly smaller pictures at 720p; its 1080p sizes are not listed and taken as above.
_SIZES_1_0 = _SIZES | {
    (Aspect.WIDE, _HD): Frame(width=1248, height=704),
    (Aspect.TALL, _HD): Frame(width=704, height=1248),
}


@dataclass(frozen=True)
class VideoModel:
    """One Seedance family.

    `seconds` is the shortest and longest clip; `prices` are CNY per million tokens of a silent clip; `sound`: it knows
    `generate_audio`, whose default is true; `follows_frame`: with a first frame `ratio` must be `adaptive`; `token_fps`: frames a
    second that tokens are counted with.
    """

    family: str
    seconds: tuple[int, int]
    prices: Mapping[Resolution, Decimal]
    source: str
    sound: bool = True
    follows_frame: bool = False
    token_fps: int = 24
    sizes: Mapping[tuple[Aspect, Resolution], Frame] = field(default_factory=lambda: _SIZES)


# The dearest price of the table (2.5). It also stands for prices that are not published: 1.0 at all, 2.5 at 1080p.
_DEAREST = Decimal(70)


def _prices(hd: str, full: str | None) -> dict[Resolution, Decimal]:
    return {_HD: Decimal(hd)} | ({_FULL: Decimal(full)} if full else {})


_GENERIC = VideoModel(
    family="",
    # What every family from 1.5 on accepts. A wrong resolution is refused by Ark before any spend, so both are let through.
    seconds=(4, 12),
    prices=_prices("70", "70"),
    source="strictest and dearest of all families",
    # Sound left on would cost twice as much at 1.5 and is a common copyright hit, so it is switched off explicitly.
    sound=True,
    # `adaptive` is a value of the field for all, and the only one that 2.5 takes with a first frame.
    follows_frame=True,
    token_fps=48,
)

ARK_VIDEO_MODELS: dict[str, VideoModel] = {
    model.family: model
    for model in (
        VideoModel(
            family="seedance-1-0-pro",
            seconds=(2, 12),
            prices=_prices("70", "70"),
            source="no price published",
            sound=False,
            sizes=_SIZES_1_0,
        ),
        VideoModel(
            family="seedance-1-0-pro-fast",
            seconds=(2, 12),
            prices=_prices("70", "70"),
            source="no price published",
            sound=False,
            sizes=_SIZES_1_0,
        ),
        VideoModel(family="seedance-1-5-pro", seconds=(4, 12), prices=_prices("8", "8"), source="page 1544106, 2026-07-29"),
        VideoModel(family="seedance-2-0", seconds=(4, 15), prices=_prices("46", "51"), source="page 1544106, 2026-06"),
        VideoModel(family="seedance-2-0-fast", seconds=(4, 15), prices=_prices("37", None), source="page 1544106, 2026-06"),
        VideoModel(family="seedance-2-0-mini", seconds=(4, 15), prices=_prices("23", None), source="page 1544106, 2026-06"),
        VideoModel(
            family="seedance-2-5",
            seconds=(4, 30),
            prices=_prices("70", "70"),
            source="page 1544106, 2026-07-31; 1080p not published",
            follows_frame=True,
            # Seen to count twice the frames.
            token_fps=48,
        ),
    )
}
_UNPRICED = frozenset({"seedance-1-0-pro", "seedance-1-0-pro-fast"})


@functools.cache
def ark_video_model(model: str) -> VideoModel:
    """The entry of an Ark clip model. One that is not listed gets limits that all accept and the dearest price, with a warning.

    The overseas twin has the limits of its family and the dearest price, for its own is in dollars.
    """
    known = read_model_id(model)
    entry = ARK_VIDEO_MODELS.get(known.family, _GENERIC) if known is not None else _GENERIC
    if known is None or entry is _GENERIC or known.overseas or entry.family in _UNPRICED:
        warn_unlisted(model, f"{_DEAREST} CNY per million tokens")
        return replace(entry, prices=dict.fromkeys(entry.prices, _DEAREST))
    return entry


def clip_seconds(model: VideoModel, duration_ms: int) -> int:
    """Whole seconds to ask for: no shorter than the shot, within what the model makes. A longer shot gets the longest clip."""
    shortest, longest = model.seconds
    return min(max(-(-duration_ms // 1000), shortest), longest)


def check_resolution(model: VideoModel, resolution: Resolution) -> None:
    """Raise ProviderFault(INPUT_INVALID) unless the model makes clips of this resolution."""
    if resolution not in model.prices:
        known = ", ".join(sorted(model.prices))
        raise ProviderFault(ErrorCode.INPUT_INVALID, f"{model.family} makes no {resolution} clips, only {known}")


def clip_tokens(model: VideoModel, *, seconds: int, aspect: Aspect, resolution: Resolution) -> int:
    """Tokens of a clip: (seconds * fps + 1) * width * height / 1024, rounded up (5 s of 1280x720 are 108,900)."""
    size = model.sizes[aspect, resolution]
    return -(-(seconds * model.token_fps + 1) * size.width * size.height // 1024)


def clip_price(model: VideoModel, *, tokens: int, resolution: Resolution) -> Decimal:
    """CNY for a silent clip of so many tokens; only successful jobs are billed (page 1520757)."""
    return cny(model.prices[resolution] * tokens / 1_000_000)
