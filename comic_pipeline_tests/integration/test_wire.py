"""Real sockets under each vendor's adapter: a create waits at its gate with the connection open and nothing sent."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault, WorkStopped
from comic_pipeline.providers import http
from comic_pipeline.providers.ark_image import ArkImage
from comic_pipeline.providers.ark_text import ArkText
from comic_pipeline.providers.ark_video import ArkVideo
from comic_pipeline.providers.http import Service, Wire
from comic_pipeline.providers.interface import Provider
from comic_pipeline.providers.openai_image import OpenAiImage
from comic_pipeline.providers.openai_text import OpenAiText
from comic_pipeline.providers.openai_voice import OpenAiVoice
from comic_pipeline.providers.openspeech_v1 import OpenSpeechV1
from comic_pipeline.providers.openspeech_v3 import OpenSpeechV3
from comic_pipeline_tests.unit.providers.vendor import clip_request, image_request, service, text_request, voice_request

_SEEDREAM, _SEEDANCE, _SEED = "doubao-seedream-4-0-250828", "doubao-seedance-2-0-260128", "doubao-seed-2-1-pro-260628"
# How each adapter is built on an account, and what it is asked for.
ADAPTERS: dict[str, tuple[Callable[[Service], Provider[Any]], Callable[[], object]]] = {
    "ark_text": (lambda account: ArkText(account, model=_SEED), text_request),
    "ark_image": (lambda account: ArkImage(account, model=_SEEDREAM), image_request),
    "ark_video": (lambda account: ArkVideo(account, model=_SEEDANCE), clip_request),
    "openspeech_v1": (lambda account: OpenSpeechV1(account, app_id="a", cluster="c", voice="v"), voice_request),
    "openspeech_v3": (lambda account: OpenSpeechV3(account, resource="seed-tts-2.0", voice="v"), voice_request),
    "openai_text": (lambda account: OpenAiText(account, model="gpt-4.1"), text_request),
    "openai_image": (lambda account: OpenAiImage(account, model="gpt-image-1"), image_request),
    "openai_voice": (lambda account: OpenAiVoice(account, model="gpt-4o-mini-tts", voice="alloy"), voice_request),
}


@dataclass
class Line:
    """A server that refuses everything and knows how many connections it has and what came over them."""

    url: str = ""
    connections: int = 0
    received: bytearray = field(default_factory=bytearray)
    serving: set["asyncio.Task[None]"] = field(default_factory=set)

    def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A new connection."""
        self.connections += 1
        self.serving.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received += (head := await reader.read(65_536))
        if head:
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        writer.close()
        # The other end may have gone first.
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def listening() -> AsyncIterator[Line]:
    line = Line()
    server = await asyncio.start_server(line.answer, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield line
    # Each connection is closed before its loop is, by the client's `close` at the latest.
    await asyncio.gather(*line.serving)


def _adapter(name: str, line: Line) -> tuple[Provider[Any], Any]:
    build, ask = ADAPTERS[name]
    return build(service(name, base_url=line.url)), ask()


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_create_waits_at_its_gate_with_nothing_sent(name: str) -> None:
    """The gate is asked once, when the connection stands: what comes after it on the wire takes no time worth the name."""

    async def main() -> None:
        async with listening() as line:
            provider, request = _adapter(name, line)
            seen: list[tuple[int, int]] = []

            async def go() -> None:
                await asyncio.sleep(0.02)
                seen.append((line.connections, len(line.received)))

            with pytest.raises(ProviderFault):
                await provider.submit(request, go=go)
            await provider.close()
            assert seen == [(1, 0)]
            assert line.received.startswith(b"POST /")

    asyncio.run(main())


def test_a_create_that_is_stopped_at_its_gate_is_never_sent() -> None:
    """Cancelled, or told no: the connection is closed, not one byte has left, and it is no unknown outcome."""

    async def main() -> None:
        async with listening() as line:
            provider, request = _adapter("ark_video", line)
            waiting = asyncio.Event()

            async def wait() -> None:
                waiting.set()
                await asyncio.sleep(60)

            async def refuse() -> None:
                raise WorkStopped(ErrorCode.CANCELLED, "enough")

            creating = asyncio.ensure_future(provider.submit(request, go=wait))
            await waiting.wait()
            creating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await creating
            with pytest.raises(WorkStopped):
                await provider.submit(request, go=refuse)
            await provider.close()
            await asyncio.sleep(0.05)
            assert (line.connections, bytes(line.received)) == (2, b"")

    asyncio.run(main())


def test_the_wait_at_the_gate_is_not_the_providers_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A create may wait longer for its moment than its answer may take; otherwise the wait would be taken for a lost answer."""
    monkeypatch.setattr(http, "CONNECT_SECONDS", 1.0)

    async def main() -> None:
        async with listening() as line:
            wire = Wire(service(base_url=line.url), create_seconds=1.0)
            reply = await wire.create("/x", {}, go=lambda: asyncio.sleep(2.2))
            await wire.close()
            assert reply.status == 400

    asyncio.run(main())
