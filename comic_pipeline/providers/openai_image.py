"""Picture models of OpenAI-compatible services: one synchronous call, one picture as base64 or as a URL."""

from decimal import Decimal
from functools import partial

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.adapter import AtOnceAdapter
from comic_pipeline.providers.catalog import guess_tokens
from comic_pipeline.providers.catalog_image import (
    OPENAI_MEDIUM_TOKENS,
    OPENAI_QUALITY,
    OPENAI_SIZES,
    openai_counts_tokens,
    openai_image_price,
)
from comic_pipeline.providers.download import IMAGE_LIMITS
from comic_pipeline.providers.envelope import Reply, VendorError, read_error
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.image_answer import Made, read_image
from comic_pipeline.providers.interface import Done, Go, ImageRequest, JsonObject, at_once
from comic_pipeline.providers.openai_errors import openai_refusal

IMAGE_SECONDS = 300.0


class OpenAiImage(AtOnceAdapter[ImageRequest]):
    """A picture model behind an OpenAI-compatible address. It takes no seed: two calls give two pictures."""

    def __init__(self, service: Service, *, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=IMAGE_SECONDS, limits=IMAGE_LIMITS, transport=transport)

    def describe(self, request: ImageRequest) -> JsonObject:
        """The body of the call. Raises ProviderFault(INPUT_INVALID) when there is no prompt."""
        if not request.prompt.strip():
            raise ProviderFault(ErrorCode.INPUT_INVALID, "the picture has no prompt")
        size = OPENAI_SIZES[request.aspect]
        body: JsonObject = {
            "model": self.model,
            "prompt": request.prompt,
            "n": 1,
            "size": f"{size.width}x{size.height}",
            "user": request.user_hash,
        }
        # A fixed quality makes the price known; `response_format` is refused by this family, which always sends base64.
        if openai_counts_tokens(self.model):
            body["quality"] = OPENAI_QUALITY
        return body

    def estimate(self, request: ImageRequest) -> Decimal:
        """CNY for the prompt and one picture of the size that is asked for."""
        return openai_image_price(
            self.model, prompt_tokens=guess_tokens(request.prompt), picture_tokens=OPENAI_MEDIUM_TOKENS[request.aspect]
        )

    async def submit(self, request: ImageRequest, *, go: Go = at_once) -> Done:
        """Draw once. Raises ProviderFault by the vendor's code, EMPTY_RESPONSE without a picture, OutcomeUnknown."""
        reply = await self._wire.create("/images/generations", self.describe(request), go=go)
        document = reply.document()
        error = read_error(document)
        if not reply.ok or error is not None:
            raise self._refusal(reply, error)
        refusal, price = partial(self._refusal, reply), partial(self._cost, request)
        return read_image(reply, document, service=self.name, failure=refusal, price=price)

    def _cost(self, request: ImageRequest, made: Made) -> Decimal:
        prompt, drawn = made.usage.get("input_tokens", 0), made.usage.get("output_tokens", 0)
        if drawn and openai_counts_tokens(self.model):
            return openai_image_price(self.model, prompt_tokens=prompt, picture_tokens=drawn)
        return self.estimate(request) * made.images

    def _refusal(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        return openai_refusal(reply, error, service=self.name, secrets=self._secrets)
