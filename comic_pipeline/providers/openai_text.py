"""Chat models of OpenAI-compatible services: what they add to the shared chat wire."""

import httpx

from comic_pipeline.model.errors import ProviderFault
from comic_pipeline.providers.catalog import TextPrice, openai_text_price
from comic_pipeline.providers.chat import TEXT_SECONDS, ChatAdapter
from comic_pipeline.providers.download import TEXT_LIMITS
from comic_pipeline.providers.envelope import Reply, VendorError
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import JsonObject, TextRequest
from comic_pipeline.providers.openai_errors import openai_refusal


class OpenAiText(ChatAdapter):
    """A chat model behind an OpenAI-compatible address."""

    def __init__(self, service: Service, *, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=TEXT_SECONDS, limits=TEXT_LIMITS, transport=transport)
        # OpenAI itself refuses max_tokens for its newer models; most compatible services know nothing else.
        at_home = httpx.URL(self.base_url).host == "api.openai.com"
        self._limit_field = "max_completion_tokens" if at_home else "max_tokens"

    def _vendor_fields(self, request: TextRequest) -> JsonObject:
        return {self._limit_field: request.max_tokens, "user": request.user_hash}

    def _refusal(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        return openai_refusal(reply, error, service=self.name, secrets=self._secrets)

    def _price(self) -> TextPrice:
        return openai_text_price(self.model)
