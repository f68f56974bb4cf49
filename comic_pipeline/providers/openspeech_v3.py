"""Volcengine speech V3 (page 1598757): `POST /api/v3/tts/unidirectional`, one JSON object a line, sound in pieces.

An error can be a line inside an HTTP 200 stream; a stream without its end line is a failure, and its sound is thrown away.
"""

import json
from collections.abc import Iterator

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import ZERO
from comic_pipeline.providers.catalog import openspeech_price
from comic_pipeline.providers.download import AUDIO_LIMITS
from comic_pipeline.providers.envelope import Reply, read_usage
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.image_answer import decode_base64
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, VoiceRequest, at_once
from comic_pipeline.providers.openspeech import SAMPLE_RATE, VOICE_SECONDS, OpenSpeechAdapter, check_speakable, read_code

_PIECE = 0
_END = 20_000_000


class OpenSpeechV3(OpenSpeechAdapter):
    """The one-way stream. `resource` must be the one that the voice belongs to; `voice` speaks when a request names none."""

    def __init__(self, service: Service, *, resource: str, voice: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=resource, create_seconds=VOICE_SECONDS, limits=AUDIO_LIMITS, transport=transport)
        self._voice = voice

    def describe(self, request: VoiceRequest) -> JsonObject:
        """The resource (a header) and the body of the call. Raises ProviderFault(INPUT_INVALID) when there is nothing to say."""
        check_speakable(request.text)
        return {
            "resource": self.model,
            "user": {"uid": request.user_hash},
            "req_params": {
                "text": request.text,
                "speaker": request.voice or self._voice,
                "audio_params": {"format": "mp3", "sample_rate": SAMPLE_RATE},
            },
        }

    async def submit(self, request: VoiceRequest, *, go: Go = at_once) -> Done:
        """Speak once. Raises ProviderFault by code and message, PROVIDER_ERROR for a stream without its end, OutcomeUnknown."""
        body = self.describe(request)
        del body["resource"]
        reply = await self._wire.create("/api/v3/tts/unidirectional", body, go=go)
        sound, usage = self._assemble(reply, text=request.text)
        if not sound:
            raise ProviderFault(ErrorCode.EMPTY_RESPONSE, f"{self.name} sent no sound", request_id=reply.request_id)
        characters = usage.get("text_words") or len(request.text)
        return Done(
            output=Inline(sound),
            usage=usage | {"characters": len(request.text)},
            cost=openspeech_price(characters),
            request_id=reply.request_id,
        )

    def _assemble(self, reply: Reply, *, text: str) -> tuple[bytes, dict[str, int]]:
        sound, spoken = bytearray(), openspeech_price(len(text))
        for line in self._objects(reply):
            # Some gateways put code and message into a `header` object.
            told = line["header"] if isinstance(line.get("header"), dict) else line
            code = read_code(told.get("code"))
            if code == _END and reply.ok:
                return bytes(sound), read_usage(line.get("usage"))
            if code != _PIECE or not reply.ok:
                # What came before the error was spoken, and characters are what is billed.
                raise self._fault(reply, code, str(told.get("message") or reply.shape), cost=spoken if sound else ZERO)
            data = line.get("data")
            if isinstance(data, str):
                sound += decode_base64(data, service=self.name, cost=spoken)
        if not reply.ok:
            raise self._fault(reply, None, reply.shape)
        raise ProviderFault(
            ErrorCode.PROVIDER_ERROR,
            f"{self.name}: the stream ended without its end line; {len(sound)} bytes of sound are thrown away",
            http_status=reply.status,
            request_id=reply.request_id,
            cost=spoken if sound else ZERO,
        )

    def _objects(self, reply: Reply) -> Iterator[JsonObject]:
        """The JSON objects of the stream, however they are cut: one a line, two glued on a line, one over two lines."""
        decoder = json.JSONDecoder()
        # JSON writes a line break inside a string as an escape, so a raw one is either white space or a cut through a string.
        text = reply.body.replace(b"\r", b"").replace(b"\n", b"").decode("utf-8-sig", errors="replace")
        position = 0
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            try:
                value, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError):
                # The rest is cut short or is not JSON: there is no end line in it.
                return
            if isinstance(value, dict):
                yield value
