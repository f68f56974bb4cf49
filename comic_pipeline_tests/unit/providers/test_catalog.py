"""Sizes, lengths, tokens and prices against the vendor's published numbers."""

import logging
from collections.abc import Callable
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Aspect, Frame, Resolution, film_size
from comic_pipeline.providers.catalog import ark_text_price, guess_tokens, openai_text_price, openai_voice_price, openspeech_price
from comic_pipeline.providers.catalog_image import (
    ARK_IMAGE_MODELS,
    ark_image_model,
    ark_image_price,
    image_size,
    openai_image_price,
)
from comic_pipeline.providers.catalog_video import (
    ARK_VIDEO_MODELS,
    ark_video_model,
    check_resolution,
    clip_price,
    clip_seconds,
    clip_tokens,
)

HD, FULL = Resolution.HD, Resolution.FULL_HD
LITE = "doubao-seedream-5-0-260128"


@pytest.mark.parametrize(
    ("model", "aspect", "resolution", "size"),
    [
        (LITE, Aspect.WIDE, HD, (2560, 1440)),
        (LITE, Aspect.TALL, HD, (1440, 2560)),
        (LITE, Aspect.SQUARE, HD, (1920, 1920)),
        (LITE, Aspect.WIDE, FULL, (2560, 1440)),
        ("doubao-seedream-4-5-251128", Aspect.WIDE, HD, (2560, 1440)),
        ("doubao-seedream-4-0-250828", Aspect.WIDE, HD, (1280, 720)),
        ("doubao-seedream-4-0-250828", Aspect.SQUARE, HD, (960, 960)),
        ("doubao-seedream-5-0-pro-260628", Aspect.WIDE, FULL, (1920, 1080)),
        ("ep-20261130-abcde", Aspect.WIDE, HD, (2560, 1440)),
    ],
)
def test_size_is_the_smallest_that_the_model_accepts(
    model: str, aspect: Aspect, resolution: Resolution, size: tuple[int, int]
) -> None:
    """Never 1280x720 for 4.5 and 5.0 (huobao #22): it is below their minimum of 3,686,400 pixels."""
    assert image_size(ark_image_model(model), aspect=aspect, resolution=resolution) == Frame(width=size[0], height=size[1])


@pytest.mark.parametrize("family", ARK_IMAGE_MODELS)
@pytest.mark.parametrize("aspect", Aspect)
@pytest.mark.parametrize("resolution", Resolution)
def test_every_model_has_a_size_for_every_film(family: str, aspect: Aspect, resolution: Resolution) -> None:
    """A picture is at least as large as the film, has exactly its aspect, and lies within the model's limits."""
    model, film = ARK_IMAGE_MODELS[family], film_size(aspect, resolution)
    size = image_size(model, aspect=aspect, resolution=resolution)
    assert size.width * film.height == size.height * film.width
    assert size.width >= film.width
    assert model.min_pixels <= size.width * size.height <= model.max_pixels


def test_film_larger_than_the_model_draws_is_refused_before_any_spend() -> None:
    """A size over the limit is our INPUT_INVALID that names the numbers, not a 400 in the middle of a stage."""
    small = ark_image_model(LITE).__class__(**{**vars(ark_image_model(LITE)), "min_pixels": 1, "max_pixels": 1_000_000})
    with pytest.raises(ProviderFault) as caught:
        image_size(small, aspect=Aspect.WIDE, resolution=FULL)
    assert caught.value.code is ErrorCode.INPUT_INVALID
    assert "1920x1080" in str(caught.value)


@pytest.mark.parametrize(
    ("model", "pixels", "price"),
    [
        ("doubao-seedream-4-0-250828", 3_686_400, "0.20"),
        ("doubao-seedream-4-5-251128", 3_686_400, "0.25"),
        (LITE, 3_686_400, "0.22"),
        ("doubao-seedream-5-0-pro-260628", 2_073_600, "0.30"),
        ("doubao-seedream-5-0-pro-260628", 3_686_400, "0.60"),
    ],
)
def test_picture_prices_are_those_of_the_list(model: str, pixels: int, price: str) -> None:
    """Page 1544106; 5.0-pro costs twice as much above 2.36 megapixels."""
    assert ark_image_price(ark_image_model(model), pixels=pixels) == Decimal(price)


@pytest.mark.parametrize(
    ("model", "seconds", "tokens"),
    [
        ("doubao-seedance-2-0-260128", 5, 108_900),
        ("doubao-seedance-2-0-260128", 4, 87_300),
        ("doubao-seedance-2-5-260628", 30, 1_296_900),
    ],
)
def test_clip_tokens_match_the_bodies_that_were_seen(model: str, seconds: int, tokens: int) -> None:
    """The formula of page 1544106: (seconds * 24 + 1) * W * H / 1024, twice the frames at 2.5."""
    assert clip_tokens(ark_video_model(model), seconds=seconds, aspect=Aspect.WIDE, resolution=HD) == tokens


@pytest.mark.parametrize(
    ("model", "resolution", "price"),
    [
        ("doubao-seedance-2-0-260128", HD, "5.0094"),
        ("doubao-seedance-2-0-260128", FULL, "5.5539"),
        ("doubao-seedance-2-0-fast-260128", HD, "4.0293"),
        ("doubao-seedance-2-0-mini-260615", HD, "2.5047"),
        ("doubao-seedance-1-5-pro-251215", HD, "0.8712"),
        ("doubao-seedance-2-5-260628", HD, "7.623"),
    ],
)
def test_clip_prices_are_those_of_the_list(model: str, resolution: Resolution, price: str) -> None:
    """Page 1544106, for 108,900 tokens: 5.01 CNY at 2.0 and 4.03 at fast are its own examples."""
    assert clip_price(ark_video_model(model), tokens=108_900, resolution=resolution) == Decimal(price)


@pytest.mark.parametrize(
    ("model", "duration_ms", "seconds"),
    [
        ("doubao-seedance-2-0-260128", 5_000, 5),
        ("doubao-seedance-2-0-260128", 5_001, 6),
        ("doubao-seedance-2-0-260128", 1_000, 4),
        ("doubao-seedance-2-0-260128", 30_000, 15),
        ("doubao-seedance-1-0-pro-250528", 1_000, 2),
        ("doubao-seedance-1-5-pro-251215", 30_000, 12),
        ("doubao-seedance-2-5-260628", 30_000, 30),
        ("ep-20261130-abcde", 30_000, 12),
    ],
)
def test_clip_length_is_whole_seconds_within_the_model(model: str, duration_ms: int, seconds: int) -> None:
    """A clip is never shorter than its shot where the model can help it."""
    assert clip_seconds(ark_video_model(model), duration_ms) == seconds


@pytest.mark.parametrize("model", ["doubao-seedance-2-0-fast-260128", "doubao-seedance-2-0-mini-260615"])
def test_resolution_that_the_model_does_not_make_is_refused(model: str) -> None:
    """Fast and mini end at 720p; a 1080p film needs another model, and nobody is told otherwise."""
    check_resolution(ark_video_model(model), HD)
    with pytest.raises(ProviderFault) as caught:
        check_resolution(ark_video_model(model), FULL)
    assert caught.value.code is ErrorCode.INPUT_INVALID


@pytest.mark.parametrize("family", ARK_VIDEO_MODELS)
def test_every_clip_model_has_a_price_above_zero(family: str) -> None:
    """A price that was forgotten would make an endless budget."""
    assert ARK_VIDEO_MODELS[family].prices[HD] > 0


def test_text_price_counts_cached_input_apart() -> None:
    """Page 1544106: lite 0.80 fresh, 0.16 cached, 2.70 out per million tokens."""
    price = ark_text_price("doubao-seed-2-1-lite-261001")
    assert price.of(prompt=1_000_000, cached=500_000, completion=1_000_000) == Decimal("3.18")
    assert price.of(prompt=100, cached=1_000_000, completion=0) == Decimal("0.000016")


@pytest.mark.parametrize(
    ("price", "floor"),
    [
        (lambda: ark_text_price("ep-text-1").of(prompt=1_000_000, cached=0, completion=0), "6"),
        (lambda: openai_text_price("some-model").of(prompt=0, cached=0, completion=1_000_000), "108"),
        (lambda: ark_image_price(ark_image_model("ep-image-1"), pixels=1_000_000), "0.648"),
        (lambda: ark_image_price(ark_image_model("seedream-4-0-250828"), pixels=1_000_000), "0.648"),
        (lambda: openai_image_price("other-image", prompt_tokens=10, picture_tokens=10), "1.8"),
        (lambda: openai_voice_price("other-voice", 10_000), "5"),
        (lambda: clip_price(ark_video_model("ep-video-1"), tokens=1_000_000, resolution=HD), "70"),
        (lambda: clip_price(ark_video_model("seedance-2-0-260128"), tokens=1_000_000, resolution=HD), "70"),
        (lambda: clip_price(ark_video_model("doubao-seedance-1-0-pro-250528"), tokens=1_000_000, resolution=HD), "70"),
        (lambda: clip_price(ark_video_model("doubao-seedance-9-9-290101"), tokens=1_000_000, resolution=HD), "70"),
    ],
    ids=range(10),
)
def test_unlisted_model_costs_the_dearest_price_and_says_so(
    price: Callable[[], Decimal], floor: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint id hides its model: its work must not look free, or no budget would ever close."""
    for cached in (ark_text_price, openai_text_price, ark_image_model, ark_video_model):
        cached.cache_clear()
    from comic_pipeline.providers import catalog, catalog_image

    catalog._openai_voice_rate.cache_clear()
    catalog_image.openai_counts_tokens.cache_clear()
    with caplog.at_level(logging.WARNING, logger="comic_pipeline.providers.catalog"):
        assert price() == Decimal(floor)
        assert price() == Decimal(floor)
    assert caplog.text.count("no listed price") == 1


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("seedream-4-0-250828", "0.03"),
        ("seedream-4-5-251128", "0.04"),
        ("seedream-5-0-260128", "0.035"),
        ("seedream-5-0-pro-260628", "0.09"),
    ],
)
def test_overseas_picture_is_never_booked_below_its_list_price(model: str, dollars: str) -> None:
    """Section 1.5, in dollars: 0.09 for a large one of 5.0-pro is more than its 0.60 CNY at home."""
    assert ark_image_price(ark_image_model(model), pixels=3_686_400) >= Decimal(dollars) * Decimal("7.2")
    assert clip_price(ark_video_model("seedance-2-0-260128"), tokens=1_000_000, resolution=HD) >= Decimal(7) * Decimal("7.2")


def test_overseas_twin_has_the_limits_of_its_family() -> None:
    """BytePlus drops `doubao-` from ids; the wire and the limits are equal."""
    assert image_size(ark_image_model("seedream-4-0-250828"), aspect=Aspect.WIDE, resolution=HD) == Frame(width=1280, height=720)
    assert ark_video_model("seedance-2-0-260128").seconds == (4, 15)


def test_speech_is_priced_by_the_character() -> None:
    """3 CNY for 10,000 characters (2.2)."""
    assert openspeech_price(10_000) == Decimal(3)
    assert openspeech_price(5) == Decimal("0.0015")


def test_tokens_are_guessed_on_the_high_side() -> None:
    """An estimate reserves the budget, so it may be too high but not too low."""
    assert guess_tokens("一只小猫") == 4
    assert guess_tokens("hello world!") == 4
    assert guess_tokens("") == 0
