"""Volcengine Ark's picture models, Seedream: one synchronous call, one picture."""

from decimal import Decimal
from functools import partial

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Frame
from comic_pipeline.providers.adapter import AtOnceAdapter
from comic_pipeline.providers.ark_errors import ark_failure, ark_refusal
from comic_pipeline.providers.catalog_image import ark_image_model, ark_image_price, image_size
from comic_pipeline.providers.download import IMAGE_LIMITS
from comic_pipeline.providers.envelope import VendorError, read_error
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.image_answer import Made, read_image
from comic_pipeline.providers.interface import Done, Go, ImageRequest, JsonObject, at_once

IMAGE_SECONDS = 300.0
# -1 (any) to 2^31-1 is what all versions take; ours are never "any".
SEEDS = 2**31


class ArkImage(AtOnceAdapter[ImageRequest]):
    """A Seedream model."""

    def __init__(self, service: Service, *, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(service, model=model, create_seconds=IMAGE_SECONDS, limits=IMAGE_LIMITS, transport=transport)

    def describe(self, request: ImageRequest) -> JsonObject:
        """The body of the call. Raises ProviderFault(INPUT_INVALID): no prompt, or no size that the model accepts."""
        if not request.prompt.strip():
            raise ProviderFault(ErrorCode.INPUT_INVALID, "the picture has no prompt")
        size = self._size(request)
        body: JsonObject = {
            "model": self.model,
            "prompt": request.prompt,
            "size": f"{size.width}x{size.height}",
            "seed": request.seed % SEEDS,
            "response_format": "url",
            # The vendor's default is true.
            "watermark": False,
        }
        # Whether an unknown field is an error or ignored is undocumented, so each model gets only what it knows.
        if ark_image_model(self.model).knows_sequence:
            body["sequential_image_generation"] = "disabled"
        return body

    def estimate(self, request: ImageRequest) -> Decimal:
        """CNY for one picture of the size that is asked for."""
        size = self._size(request)
        return ark_image_price(ark_image_model(self.model), pixels=size.width * size.height)

    async def submit(self, request: ImageRequest, *, go: Go = at_once) -> Done:
        """Draw once. Raises ProviderFault as Ark's codes say, EMPTY_RESPONSE without a picture, OutcomeUnknown."""
        reply = await self._wire.create("/images/generations", self.describe(request), go=go)
        document = reply.document()
        error = read_error(document)
        if not reply.ok:
            raise ark_refusal(reply, error, service=self.name, secrets=self._secrets)
        if error is not None:
            raise self._failure(error)
        price = partial(self._cost, request)
        return read_image(reply, document, service=self.name, failure=self._failure, price=price)

    def _cost(self, request: ImageRequest, made: Made) -> Decimal:
        size = made.size or self._size(request)
        return ark_image_price(ark_image_model(self.model), pixels=size.width * size.height, images=made.images)

    def _size(self, request: ImageRequest) -> Frame:
        return image_size(ark_image_model(self.model), aspect=request.aspect, resolution=request.resolution)

    def _failure(self, error: VendorError) -> ProviderFault:
        return ark_failure(error, service=self.name, secrets=self._secrets)
