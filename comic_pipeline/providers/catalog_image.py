"""Picture models: which sizes they accept, which fields they know, what a picture costs, and the size to ask for.

Limits by Ark's image API, prices by quotes of its product page on the day named. Pure tables and arithmetic.
"""

import functools
from dataclasses import dataclass, replace
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import cny
from comic_pipeline.model.project import Aspect, Frame, Resolution, film_size
from comic_pipeline.providers.catalog import CNY_PER_USD, read_model_id, warn_unlisted

# Both sides are multiples of 8 times the aspect's numbers, so a picture has exactly the film's aspect and codec-friendly sides.
_GRID = 8
_RATIOS: dict[Aspect, tuple[int, int]] = {Aspect.WIDE: (16, 9), Aspect.TALL: (9, 16), Aspect.SQUARE: (1, 1)}


@dataclass(frozen=True)
class ImageModel:
    """One Seedream family.

    Sizes are total pixels; `price_large` holds above `large_from` pixels; `knows_sequence`: it has the field
    `sequential_image_generation`, which must not be sent to others.
    """

    family: str
    min_pixels: int
    max_pixels: int
    knows_sequence: bool
    price: Decimal
    price_large: Decimal
    large_from: int
    source: str


def _model(family: str, *, pixels: tuple[int, int], knows_sequence: bool, price: str, source: str) -> ImageModel:
    amount = Decimal(price)
    return ImageModel(
        family=family,
        min_pixels=pixels[0],
        max_pixels=pixels[1],
        knows_sequence=knows_sequence,
        price=amount,
        price_large=amount,
        large_from=pixels[1],
        source=source,
    )


_SMALL, _LARGE, _MOST = 921_600, 3_686_400, 16_777_216

ARK_IMAGE_MODELS: dict[str, ImageModel] = {
    model.family: model
    for model in (
        replace(
            _model(
                "seedream-5-0-pro",
                pixels=(_SMALL, 4_624_220),
                knows_sequence=False,
                price="0.30",
                source="product page, 2026-07-30",
            ),
            price_large=Decimal("0.60"),
            large_from=2_360_000,
        ),
        _model(
            "seedream-5-0",
            pixels=(_LARGE, _MOST),
            knows_sequence=True,
            price="0.22",
            source="product page, 2026-07",
        ),
        _model(
            "seedream-4-5",
            pixels=(_LARGE, _MOST),
            knows_sequence=True,
            price="0.25",
            source="product page, 2026-07",
        ),
        _model(
            "seedream-4-0",
            pixels=(_SMALL, _MOST),
            knows_sequence=True,
            price="0.20",
            source="product page, 2026-07",
        ),
    )
}
# 3,686,400 pixels is a size that every listed family accepts; the price is the dearest one: 5.0-pro overseas, 0.09 USD.
_DEAREST = cny(Decimal("0.09") * CNY_PER_USD)
_GENERIC = ImageModel(
    family="",
    min_pixels=_LARGE,
    max_pixels=4_624_220,
    knows_sequence=False,
    price=_DEAREST,
    price_large=_DEAREST,
    large_from=4_624_220,
    source="strictest of all families",
)


@functools.cache
def ark_image_model(model: str) -> ImageModel:
    """The entry of an Ark picture model. One that is not listed gets limits all accept and the dearest price, with a warning.

    The overseas twin has the limits of its family and the dearest price, for its own is in dollars.
    """
    known = read_model_id(model)
    entry = ARK_IMAGE_MODELS.get(known.family, _GENERIC) if known is not None else _GENERIC
    if known is not None and entry is not _GENERIC and not known.overseas:
        return entry
    warn_unlisted(model, f"{_GENERIC.price} CNY a picture")
    return replace(entry, price=_GENERIC.price, price_large=_GENERIC.price)


def image_size(model: ImageModel, *, aspect: Aspect, resolution: Resolution) -> Frame:
    """The smallest size with exactly the film's aspect that the model accepts and that is at least as large as the film.

    Raises ProviderFault(INPUT_INVALID) when there is none: checked before any spend (4.5 and 5.0 refuse a 1280x720 picture).
    """
    across, down = _RATIOS[aspect]
    film = film_size(aspect, resolution)
    steps = 1
    while across * steps * _GRID < film.width or across * down * (steps * _GRID) ** 2 < model.min_pixels:
        steps += 1
    size = Frame(width=across * steps * _GRID, height=down * steps * _GRID)
    if size.width * size.height > model.max_pixels:
        raise ProviderFault(
            ErrorCode.INPUT_INVALID,
            f"a {aspect} {resolution} picture needs {size.width}x{size.height}; the model allows {model.max_pixels} pixels",
        )
    return size


def ark_image_price(model: ImageModel, *, pixels: int, images: int = 1) -> Decimal:
    """CNY for `images` pictures of `pixels` each; only successful ones are billed."""
    return cny((model.price_large if pixels > model.large_from else model.price) * images)


# OpenAI's own sizes: none has a film's 16:9, so pictures come as 3:2 and are cropped to the film by the media layer.
OPENAI_SIZES: dict[Aspect, Frame] = {
    Aspect.WIDE: Frame(width=1536, height=1024),
    Aspect.TALL: Frame(width=1024, height=1536),
    Aspect.SQUARE: Frame(width=1024, height=1024),
}
OPENAI_QUALITY = "medium"
# Output tokens of one medium picture by size, at 40 USD per million; prompt text at 5 USD per million (OpenAI, read 2026-11).
OPENAI_MEDIUM_TOKENS: dict[Aspect, int] = {Aspect.WIDE: 1_568, Aspect.TALL: 1_584, Aspect.SQUARE: 1_056}
_OPENAI_PICTURE_TOKEN = 40 * CNY_PER_USD / 1_000_000
_OPENAI_TEXT_TOKEN = 5 * CNY_PER_USD / 1_000_000
# The most that one picture of the listed family costs (high, 1024x1536: 0.25 USD); also the price of models that are not listed.
_OPENAI_DEAREST = Decimal("0.25") * CNY_PER_USD


@functools.cache
def openai_counts_tokens(model: str) -> bool:
    """Whether the model is one of the gpt-image family, which knows `quality` and reports tokens. Warns once about others."""
    if model.startswith("gpt-image-1"):
        return True
    warn_unlisted(model, f"{_OPENAI_DEAREST} CNY a picture")
    return False


def openai_image_price(model: str, *, prompt_tokens: int, picture_tokens: int) -> Decimal:
    """CNY for one picture: by tokens for the gpt-image family, else the dearest picture's price."""
    if not openai_counts_tokens(model):
        return cny(_OPENAI_DEAREST)
    return cny(_OPENAI_TEXT_TOKEN * prompt_tokens + _OPENAI_PICTURE_TOKEN * picture_tokens)
