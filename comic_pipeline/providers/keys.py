"""Whether the keys of the chosen services are good, asked by calls that cost nothing.

Belongs here: one free look a service. Does not: creating anything (the adapters). OpenSpeech has no free call: it is not asked.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from comic_pipeline.model.errors import Refused
from comic_pipeline.providers.envelope import read_date
from comic_pipeline.providers.http import Service, open_client
from comic_pipeline.providers.registry import ark_service, openai_service
from comic_pipeline.settings import Settings

_SECONDS = 10.0
# Listing: an account's video tasks at Ark, the models of an OpenAI-compatible service.
_ARK_LOOK, _OPENAI_LOOK = "/contents/generations/tasks?page_num=1&page_size=1", "/models"
_REFUSALS = (401, 403)


@dataclass(frozen=True)
class KeyAnswer:
    """What one service said. `good` is None when nobody can tell; `clock_ahead`: seconds by which its clock is ahead of ours."""

    service: str
    good: bool | None
    detail: str
    clock_ahead: float | None = None


async def ask_services(settings: Settings) -> list[KeyAnswer]:
    """One answer for each service that a chosen provider needs and that has a key. Never raises for what a service says."""
    chosen = {
        settings.text_provider.value,
        settings.image_provider.value,
        settings.voice_provider.value,
        settings.video_provider.value,
    }
    answers = []
    if "ark" in chosen and settings.ark_api_key.get_secret_value():
        answers.append(await _ask(lambda: ark_service(settings, "ark"), "ark", _ARK_LOOK))
    if "openai" in chosen and settings.openai_api_key.get_secret_value():
        answers.append(await _ask(lambda: openai_service(settings, "openai"), "openai", _OPENAI_LOOK))
    if "openspeech" in chosen and settings.openspeech_token.get_secret_value():
        answers.append(KeyAnswer("openspeech", None, "not checked: every call of it costs"))
    return answers


async def _ask(make: Callable[[], Service], name: str, path: str) -> KeyAnswer:
    try:
        service = make()
    except Refused as refused:
        return KeyAnswer(name, good=False, detail=refused.detail)
    base = service.base_url.rstrip("/")
    try:
        async with asyncio.timeout(2 * _SECONDS), open_client(base, timeout=_SECONDS) as client:
            began = time.time()
            # Status and headers say it all: a body without end is not waited for.
            async with client.stream("GET", base + path, headers=dict(service.headers)) as response:
                middle = (began + time.time()) / 2
    except Refused as refused:
        return KeyAnswer(name, good=False, detail=refused.detail)
    except (httpx.HTTPError, TimeoutError, UnicodeError) as fault:
        return KeyAnswer(name, good=False, detail=f"no answer from {base} ({type(fault).__name__})")
    ahead = _clock_ahead(response.headers.get("date"), middle)
    if response.is_success:
        return KeyAnswer(name, good=True, detail="the key is accepted", clock_ahead=ahead)
    if response.status_code in _REFUSALS:
        return KeyAnswer(name, good=False, detail=f"the key is refused (HTTP {response.status_code})", clock_ahead=ahead)
    return KeyAnswer(name, good=None, detail=f"not checked: {base} answered HTTP {response.status_code}", clock_ahead=ahead)


def _clock_ahead(header: str | None, ours: float) -> float | None:
    """A Date header has whole seconds: less than a second of difference says nothing."""
    moment = read_date(header or "")
    return None if moment is None else moment.timestamp() - ours
