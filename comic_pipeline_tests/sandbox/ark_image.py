"""POST images/generations: Ark's Seedream (URL, base64, groups, stream) and the OpenAI-compatible form.

Belongs here: the image envelopes. Does not: which bodies are valid (`validation.py`), drawing (`pictures.py`).
"""

import asyncio
import base64
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response

from comic_pipeline_tests.sandbox.catalog import IMAGE_MODELS, OPENAI_IMAGE_SIZES, OPENAI_IMAGE_TOKENS
from comic_pipeline_tests.sandbox.faults import Kind
from comic_pipeline_tests.sandbox.pictures import MIME, draw_picture, encode_picture
from comic_pipeline_tests.sandbox.validation import Fields, ImageOrder, invalid, read_image_order
from comic_pipeline_tests.sandbox.wire import ApiError, Call, Dialect, EventStream, JsonObject, dumps
from comic_pipeline_tests.sandbox.world import World


@dataclass(frozen=True)
class _Sheet:
    """One picture to draw, with what a media fault changed about it."""

    text: str
    salt: str
    width: int
    height: int
    format: str
    look: str
    watermark: bool

    @property
    def content(self) -> str:
        return "|".join(map(str, (self.text, self.salt, self.width, self.height, self.format, self.look, self.watermark)))

    def render(self) -> bytes:
        picture = draw_picture(
            text=self.text, width=self.width, height=self.height, salt=self.salt, look=self.look, watermark=self.watermark
        )
        return encode_picture(picture, self.format)


async def generate(world: World, call: Call) -> Response:
    """Make pictures with Seedream, or with an OpenAI model on the OpenAI route. Raises ApiError."""
    model_id = Fields(call.body).text("model", required=True)
    if call.dialect is Dialect.OPENAI and model_id in OPENAI_IMAGE_SIZES:
        return await _generate_openai(world, call, model_id)
    model = IMAGE_MODELS.get(model_id)
    world.check_open(call, model_id, known=model is not None)
    assert model is not None
    order = await asyncio.to_thread(read_image_order, call.body, model)
    failed = _moderated(call)
    if failed and order.count == 1:
        raise ApiError(400, failed["code"], failed["message"])
    sheets = [_sheet(call, order, index) for index in range(order.count)]
    made = sheets[1:] if failed else sheets
    await asyncio.sleep(world.latency.image)
    world.accept(call, model=model_id, units=len(made), reference=call.request_id)
    world.charge(call, cost=model.cost([(sheet.width, sheet.height) for sheet in made], references=order.references))
    items = [await _item(world, call, sheet, base64_wanted=order.base64) for sheet in sheets]
    if failed:
        items[0] = {"error": failed}
    if len(model.formats) > 1:
        items = [item if "error" in item else {**item, "output_format": order.format} for item in items]
    used = sum(sheet.width * sheet.height for sheet in made)
    usage = {"generated_images": len(made), "output_tokens": round(used / 256), "total_tokens": round(used / 256)}
    if order.references:
        usage["input_images"] = order.references
    created = int(world.clock.now())
    if order.stream:
        return EventStream(_frames(model_id, created, items, usage))
    return JSONResponse({"model": model_id, "created": created, "data": items, "usage": usage})


def _moderated(call: Call) -> JsonObject | None:
    if call.fault and call.fault.kind is Kind.TASK_ERROR:
        code = call.fault.code or "OutputImageSensitiveContentDetected"
        text = "The request failed because the output image may contain sensitive information."
        return {"code": code, "message": call.fault.message or text}
    return None


def _sheet(call: Call, order: ImageOrder, index: int) -> _Sheet:
    fault = call.fault if call.fault and call.fault.kind is Kind.MEDIA else None
    return _Sheet(
        text=order.prompt,
        salt=f"{order.seed}/{index}",
        width=(fault and fault.width) or order.width,
        height=(fault and fault.height) or order.height,
        format=(fault and fault.type) or order.format,
        look=fault.look if fault else "",
        watermark=order.watermark,
    )


async def _item(world: World, call: Call, sheet: _Sheet, *, base64_wanted: bool) -> JsonObject:
    size = f"{sheet.width}x{sheet.height}"
    if base64_wanted:
        data = await world.media.rendered(sheet.content, sheet.render)
        return {"b64_json": base64.b64encode(data).decode(), "size": size}
    # A format fault changes the bytes, not what the URL and its headers promise.
    kind = sheet.format if sheet.format in MIME else "jpeg"
    return {"url": _publish(world, call, kind, sheet.content, sheet.render, sheet.text), "size": size}


def _publish(world: World, call: Call, kind: str, content: str, render: Callable[[], bytes], about: str) -> str:
    name = world.media.put(suffix=kind, mime=MIME[kind], content=content, render=render, about=about)
    return world.media.url(call.base_url, name, world.clock.now())


def _frames(model: str, created: int, items: list[JsonObject], usage: JsonObject) -> Iterator[str]:
    for index, item in enumerate(items):
        kind = "image_generation.partial_failed" if "error" in item else "image_generation.partial_succeeded"
        body = {"type": kind, "model": model, "created": created, "image_index": index, **item}
        yield f"event: {kind}\ndata: {dumps(body)}\n\n"
    kind = "image_generation.completed"
    body = {"type": kind, "model": model, "created": created, "usage": usage}
    yield f"event: {kind}\ndata: {dumps(body)}\n\n"
    yield "data: [DONE]\n\n"


async def _generate_openai(world: World, call: Call, model_id: str) -> Response:
    world.check_open(call, model_id, known=True)
    fields, sizes = Fields(call.body), OPENAI_IMAGE_SIZES[model_id]
    prompt = fields.text("prompt", required=True)
    base64_only = model_id.startswith("gpt-image")
    if base64_only and fields.has("response_format"):
        raise ApiError(400, "unknown_parameter", "Unknown parameter: 'response_format'.", param="response_format")
    if not base64_only and fields.has("output_format"):
        raise invalid("output_format", f"{model_id} always answers png")
    size = fields.text("size", "1024x1024", choices=sizes)
    width, height = map(int, ("1024x1024" if size == "auto" else size).split("x"))
    kind = fields.text("output_format", "png", choices=tuple(MIME))
    quality = fields.text("quality", "high", choices=tuple(OPENAI_IMAGE_TOKENS)) if base64_only else "high"
    count = fields.integer("n", 1, low=1, high=10)
    order = ImageOrder(
        prompt=prompt,
        width=width,
        height=height,
        count=count,
        references=0,
        base64=base64_only or fields.text("response_format", "url", choices=("url", "b64_json")) == "b64_json",
        stream=False,
        watermark=False,
        format=kind,
        seed=-1,
    )
    failed = _moderated(call)
    if failed:
        raise ApiError(400, "moderation_blocked", "Your request was rejected by the safety system.")
    await asyncio.sleep(world.latency.image)
    world.accept(call, model=model_id, units=count, reference=call.request_id)
    world.charge(call, cost=None)
    sheets = [_sheet(call, order, index) for index in range(count)]
    items = [await _item(world, call, sheet, base64_wanted=order.base64) for sheet in sheets]
    data = [{key: value for key, value in item.items() if key != "size"} for item in items]
    read, used = math.ceil(len(prompt) / 2), count * OPENAI_IMAGE_TOKENS[quality][(width > height) - (width < height)]
    usage = {"input_tokens": read, "output_tokens": used, "total_tokens": read + used}
    return JSONResponse({"created": int(world.clock.now()), "data": data, "usage": usage})
