"""Models of text and voice services with their prices, how a model id is recognised, and whose hosts serve results.

Belongs here: dated numbers with their source, and pure arithmetic on them. Pictures are in `catalog_image.py`, clips in
`catalog_video.py`. Prices are list prices in CNY before discounts, as read by 2026-11-30. A model
that is not listed costs what the dearest of its kind costs, with one warning: an unknown price must never look like nothing.
"""

import functools
import logging
import re
from dataclasses import dataclass
from decimal import Decimal

from comic_pipeline.model.money import cny

logger = logging.getLogger(__name__)

# Ark's results lie in TOS buckets of the region; byteimg.com is the vendor's picture CDN.
ARK_RESULT_HOSTS = (".volces.com", ".bytepluses.com", ".byteimg.com")
OPENAI_RESULT_HOSTS = ("oaidalleapiprodscus.blob.core.windows.net",)

# OpenAI publishes dollars; budgets are yuan. A planning rate on the dear side, 2026-11.
CNY_PER_USD = Decimal("7.2")

_MILLION = Decimal(1_000_000)
# `doubao-<family>-<yymmdd>` at home, without `doubao-` overseas.
_DATED_ID = re.compile(r"^(?P<home>doubao-)?(?P<family>[a-z][a-z0-9-]*)-(?P<date>\d{6})$")


@dataclass(frozen=True)
class ModelId:
    """A model id taken apart. `overseas`: the BytePlus twin, whose limits are equal and whose prices are not."""

    family: str
    overseas: bool


def read_model_id(model: str) -> ModelId | None:
    """The family of an Ark model id; None for an endpoint id (`ep-…`) or anything else that does not name its model."""
    match = _DATED_ID.match(model)
    return None if match is None else ModelId(family=match["family"], overseas=match["home"] is None)


@dataclass(frozen=True)
class TextPrice:
    """CNY per million tokens. `cached` is for input that the vendor had in its cache."""

    fresh: Decimal
    cached: Decimal
    out: Decimal
    source: str

    def of(self, *, prompt: int, cached: int, completion: int) -> Decimal:
        """CNY for a call; `cached` of the `prompt` tokens came from the cache."""
        cached = min(cached, prompt)
        return cny((self.fresh * (prompt - cached) + self.cached * cached + self.out * completion) / _MILLION)


def _yuan(fresh: str, cached: str, out: str, *, source: str) -> TextPrice:
    return TextPrice(fresh=Decimal(fresh), cached=Decimal(cached), out=Decimal(out), source=source)


def _dollars(fresh: str, cached: str, out: str, *, source: str) -> TextPrice:
    fresh_, cached_, out_ = (Decimal(price) * CNY_PER_USD for price in (fresh, cached, out))
    return TextPrice(fresh=fresh_, cached=cached_, out=out_, source=source)


# A cached price that is not published is taken as the fresh one.
_ARK_TEXT: dict[str, TextPrice] = {
    "seed-2-1-lite": _yuan("0.80", "0.16", "2.70", source="page 1544106, 2026-10-04"),
    "seed-2-1-turbo": _yuan("3", "3", "15", source="page 1544106, 2026"),
    "seed-2-1-pro": _yuan("6", "6", "30", source="page 1544106, 2026"),
}
_ARK_TEXT_DEAREST = _ARK_TEXT["seed-2-1-pro"]

_OPENAI_TEXT: dict[str, TextPrice] = {
    "gpt-4.1": _dollars("2.00", "0.50", "8.00", source="OpenAI list price, read 2026-11"),
    "gpt-4.1-mini": _dollars("0.40", "0.10", "1.60", source="OpenAI list price, read 2026-05"),
    "gpt-5.4": _dollars("2.50", "0.25", "15.00", source="OpenAI list price, read 2026-03"),
}
_OPENAI_TEXT_DEAREST = _OPENAI_TEXT["gpt-5.4"]


@functools.cache
def ark_text_price(model: str) -> TextPrice:
    """The price of an Ark chat model; the dearest family's for one that is not listed, with a warning the first time."""
    known = read_model_id(model)
    price = _ARK_TEXT.get(known.family) if known is not None and not known.overseas else None
    if price is None:
        warn_unlisted(model, f"{_ARK_TEXT_DEAREST.fresh}/{_ARK_TEXT_DEAREST.out} CNY per million tokens")
    return price or _ARK_TEXT_DEAREST


@functools.cache
def openai_text_price(model: str) -> TextPrice:
    """The price of a chat model at an OpenAI-compatible service; the dearest listed one when it is not listed, with a warning."""
    price = _OPENAI_TEXT.get(re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model))
    if price is None:
        warn_unlisted(model, f"{_OPENAI_TEXT_DEAREST.fresh}/{_OPENAI_TEXT_DEAREST.out} CNY per million tokens")
    return price or _OPENAI_TEXT_DEAREST


def guess_tokens(text: str) -> int:
    """A little more than the tokens of `text`: one for each three UTF-8 bytes, that is one a Chinese character."""
    return -(-len(text.encode("utf-8", errors="replace")) // 3)


# Speech is sold by the character. Ark: 3 CNY per 10,000 (page 1598757, 2026-07-29); the page of V1 names no other price.
_OPENSPEECH_PER_CHARACTER = Decimal(3) / 10_000
# gpt-4o-mini-tts: about 0.015 USD a minute; Chinese is spoken at about 4 characters a second, so 5 CNY per 10,000 covers it.
# tts-1: 15 USD per million characters. OpenAI's list prices, read 2025-11.
_OPENAI_PER_CHARACTER: dict[str, Decimal] = {
    "gpt-4o-mini-tts": Decimal(5) / 10_000,
    "tts-1": 15 * CNY_PER_USD / _MILLION,
    "tts-1-hd": 30 * CNY_PER_USD / _MILLION,
}
_OPENAI_PER_CHARACTER_DEAREST = max(_OPENAI_PER_CHARACTER.values())


def openspeech_price(characters: int) -> Decimal:
    """CNY for a line of so many characters."""
    return cny(_OPENSPEECH_PER_CHARACTER * characters)


@functools.cache
def _openai_voice_rate(model: str) -> Decimal:
    rate = _OPENAI_PER_CHARACTER.get(model)
    if rate is None:
        warn_unlisted(model, f"{_OPENAI_PER_CHARACTER_DEAREST * 10_000} CNY per 10,000 characters")
    return rate or _OPENAI_PER_CHARACTER_DEAREST


def openai_voice_price(model: str, characters: int) -> Decimal:
    """CNY for a line of so many characters at an OpenAI-compatible service."""
    return cny(_openai_voice_rate(model) * characters)


def warn_unlisted(model: str, price: str) -> None:
    """Say that a model's price is a guess. Callers cache their answer, so this is said once a process and model."""
    logger.warning("model %r has no listed price: costs are booked at %s, the dearest of its kind", model[:80], price)
