"""Speech of OpenAI-compatible services: `POST /audio/speech` answers with the raw bytes of the sound."""

from decimal import Decimal

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.adapter import AtOnceAdapter
from comic_pipeline.providers.catalog import openai_voice_price
from comic_pipeline.providers.download import AUDIO_LIMITS
from comic_pipeline.providers.envelope import read_error
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, VoiceRequest, at_once
from comic_pipeline.providers.openai_errors import openai_refusal
from comic_pipeline.providers.openspeech import VOICE_SECONDS, check_speakable


class OpenAiVoice(AtOnceAdapter[VoiceRequest]):
    """A voice behind an OpenAI-compatible address. `voice` speaks when a request names none."""

    def __init__(self, service: Service, *, model: str, voice: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=VOICE_SECONDS, limits=AUDIO_LIMITS, transport=transport)
        self._voice = voice

    def describe(self, request: VoiceRequest) -> JsonObject:
        """The body of the call. Raises ProviderFault(INPUT_INVALID) when there is nothing to say."""
        check_speakable(request.text)
        return {
            "model": self.model,
            "input": request.text,
            "voice": request.voice or self._voice,
            "response_format": "mp3",
        }

    def estimate(self, request: VoiceRequest) -> Decimal:
        """CNY for the characters of the line."""
        return openai_voice_price(self.model, len(request.text))

    async def submit(self, request: VoiceRequest, *, go: Go = at_once) -> Done:
        """Speak once. Raises ProviderFault by the vendor's code, EMPTY_RESPONSE without sound, OutcomeUnknown."""
        reply = await self._wire.create("/audio/speech", self.describe(request), go=go)
        document = reply.document()
        # Sound is never JSON or a page: either in a 200 is a failure that some server told with the wrong status.
        if reply.ok and not reply.body:
            raise ProviderFault(ErrorCode.EMPTY_RESPONSE, f"{self.name} sent no sound", request_id=reply.request_id)
        if not reply.ok or document is not None or reply.content_type in ("application/json", "text/html"):
            raise openai_refusal(reply, read_error(document), service=self.name, secrets=self._secrets)
        return Done(
            output=Inline(reply.body),
            usage={"characters": len(request.text)},
            cost=self.estimate(request),
            request_id=reply.request_id,
        )
