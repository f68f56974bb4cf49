"""Volcengine Ark's chat models: what they add to the shared chat wire."""

import httpx

from comic_pipeline.model.errors import ProviderFault
from comic_pipeline.providers.ark_errors import ark_refusal
from comic_pipeline.providers.catalog import TextPrice, ark_text_price
from comic_pipeline.providers.chat import TEXT_SECONDS, ChatAdapter
from comic_pipeline.providers.download import TEXT_LIMITS
from comic_pipeline.providers.envelope import Reply, VendorError
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import JsonObject, TextRequest


class ArkText(ChatAdapter):
    """A Doubao chat model."""

    def __init__(self, service: Service, *, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=TEXT_SECONDS, limits=TEXT_LIMITS, transport=transport)

    def _vendor_fields(self, request: TextRequest) -> JsonObject:
        # Seed models think unless told not to: 33 s against 1.6-4.1 s for one measured call.
        return {"thinking": {"type": "disabled"}, "max_tokens": request.max_tokens, "user": request.user_hash}

    def _refusal(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        return ark_refusal(reply, error, service=self.name, secrets=self._secrets)

    def _price(self) -> TextPrice:
        return ark_text_price(self.model)
