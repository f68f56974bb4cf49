"""Volcengine speech V1 (page 1257584): `POST /api/v1/tts`, one JSON answer with the whole sound in base64."""

import uuid
from collections.abc import Callable

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.download import AUDIO_LIMITS
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.image_answer import decode_base64
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, VoiceRequest, at_once
from comic_pipeline.providers.openspeech import SAMPLE_RATE, VOICE_SECONDS, OpenSpeechAdapter, check_speakable, read_code

TEXT_BYTES = 1_024
_SUCCESS = 3000


def _new_id() -> str:
    return str(uuid.uuid4())


class OpenSpeechV1(OpenSpeechAdapter):
    """The one-shot API. `cluster` is volcano_tts, or volcano_icl for cloned voices; `voice` speaks when a request names none."""

    def __init__(
        self,
        service: Service,
        *,
        app_id: str,
        cluster: str,
        voice: str,
        transport: httpx.AsyncBaseTransport | None = None,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        super().__init__(service, model=cluster, create_seconds=VOICE_SECONDS, limits=AUDIO_LIMITS, transport=transport)
        self._app_id = app_id
        self._voice = voice
        self._new_id = new_id

    def describe(self, request: VoiceRequest) -> JsonObject:
        """The body of the call but for `reqid`, which is new in every call.

        Raises ProviderFault(INPUT_INVALID): nothing to say, or more than 1,024 bytes of UTF-8.
        """
        check_speakable(request.text)
        size = len(request.text.encode("utf-8", errors="replace"))
        if size > TEXT_BYTES:
            raise ProviderFault(
                ErrorCode.INPUT_INVALID, f"the line has {size} bytes of UTF-8, at most {TEXT_BYTES} can be spoken"
            )
        return {
            # Any non-empty token will do here: the real one is in the header.
            "app": {"appid": self._app_id, "token": "in-header", "cluster": self.model},
            "user": {"uid": request.user_hash},
            "audio": {"voice_type": request.voice or self._voice, "encoding": "mp3", "rate": SAMPLE_RATE},
            "request": {"text": request.text, "text_type": "plain", "operation": "query"},
        }

    async def submit(self, request: VoiceRequest, *, go: Go = at_once) -> Done:
        """Speak once. Raises ProviderFault by the body's code, not the status, EMPTY_RESPONSE without sound; OutcomeUnknown."""
        body = self.describe(request)
        body["request"] = body["request"] | {"reqid": self._new_id()}
        reply = await self._wire.create("/api/v1/tts", body, go=go)
        document = reply.document() or {}
        code = read_code(document.get("code"))
        message = str(document.get("message") or reply.shape)
        if code != _SUCCESS:
            raise self._fault(reply, code, message)
        data = document.get("data")
        if not isinstance(data, str) or not data:
            raise ProviderFault(ErrorCode.EMPTY_RESPONSE, f"{self.name} sent no sound", request_id=reply.request_id)
        cost, usage = self.estimate(request), {"characters": len(request.text)}
        addition = document.get("addition")
        # The length is a string of milliseconds.
        length = read_code(addition.get("duration")) if isinstance(addition, dict) else None
        return Done(
            output=Inline(decode_base64(data, service=self.name, cost=cost)),
            usage=usage if length is None else usage | {"duration_ms": length},
            cost=cost,
            request_id=reply.request_id,
        )


def v1_cluster(resource: str) -> str:
    """The V1 cluster for a configured resource: V3's resource ids are translated, clusters are taken as they are."""
    if resource.startswith("seed-"):
        return "volcano_icl" if resource.startswith("seed-icl") else "volcano_tts"
    return resource
