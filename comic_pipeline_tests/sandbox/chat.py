"""POST chat/completions, for Ark and for OpenAI-compatible services: one JSON answer, or the same as a stream.

Belongs here: the chat envelope, tokens, streaming. Does not: what is written (`storyboards.py`).
"""

import asyncio
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response

from comic_pipeline_tests.sandbox.catalog import text_model
from comic_pipeline_tests.sandbox.faults import Fault, Kind
from comic_pipeline_tests.sandbox.storyboards import spoil, spoil_text, wants_storyboard, write_answer, write_storyboard
from comic_pipeline_tests.sandbox.validation import Fields, check_chat
from comic_pipeline_tests.sandbox.wire import Call, Dialect, EventStream, JsonObject, dumps
from comic_pipeline_tests.sandbox.world import World

_CHUNK = 12


@dataclass(frozen=True)
class Answer:
    """What the model said. Tokens are characters / 2, rounded up."""

    id: str
    model: str
    created: int
    text: str
    reasoning: str
    finish: str
    prompt_tokens: int

    @property
    def usage(self) -> JsonObject:
        """The wire's usage object."""
        thought = tokens(self.reasoning)
        completion = tokens(self.text) + thought
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }


def tokens(text: str) -> int:
    """About two characters a token."""
    return math.ceil(len(text) / 2)


async def complete(world: World, call: Call) -> Response:
    """Answer a chat. Raises ApiError."""
    fields = Fields(call.body)
    model_id = fields.text("model", required=True)
    model = text_model(model_id, openai=call.dialect is Dialect.OPENAI)
    world.check_open(call, model_id, known=model is not None)
    assert model is not None
    check_chat(call.body)
    prompt = _all_text(call.body)
    answer = _answer(world, call, model_id, prompt)
    world.accept(call, model=model_id, units=1, reference=answer.id)
    usage = answer.usage
    world.charge(call, cost=model.cost(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"]))
    await asyncio.sleep(world.latency.text)
    if call.body.get("stream"):
        options = fields.object("stream_options")
        return EventStream(_frames(answer, include_usage=options.flag("include_usage", default=False)))
    return JSONResponse(_completion(answer, no_choices=_is(call.fault, Kind.NO_CHOICES), ark=call.dialect is Dialect.ARK))


def _answer(world: World, call: Call, model_id: str, prompt: str) -> Answer:
    text = _text(world, prompt, call.fault)
    thinks = call.dialect is Dialect.ARK and (call.body.get("thinking") or {}).get("type") != "disabled"
    reasoning = "先确定人物与地点，再安排镜头的起承转合。" if thinks else ""
    limit = call.body.get("max_tokens")
    whole = call.body.get("max_completion_tokens")
    if whole is not None:
        limit = max(0, whole - tokens(reasoning))
    finish = "content_filter" if _is(call.fault, Kind.FILTERED) else "stop"
    if _is(call.fault, Kind.CUT):
        limit = tokens(text) // 2
    if limit is not None and tokens(text) > limit:
        text, finish = text[: limit * 2], "length"
    now = int(world.clock.now())
    return Answer(call.request_id, model_id, now, text, reasoning, finish, tokens(prompt))


def _text(world: World, prompt: str, fault: Fault | None) -> str:
    if world.answers:
        text = world.answers.popleft()
    elif wants_storyboard(prompt):
        document = write_storyboard(prompt)
        text = json.dumps(spoil(document, fault) if fault else document, ensure_ascii=False, indent=1)
    else:
        text = write_answer(prompt)
    return spoil_text(text, fault) if fault else text


def _all_text(body: JsonObject) -> str:
    """Every message's text, the user's own first: numbers in the last words of the user count most."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for message in body["messages"]:
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content if isinstance(part, dict)]
        texts[message["role"] == "user"].extend(parts)
    return "\n".join(texts[True] + texts[False])


def _completion(answer: Answer, *, no_choices: bool, ark: bool) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    choice = {"index": 0, "finish_reason": answer.finish, "logprobs": None, "message": message}
    body: JsonObject = {
        "id": answer.id,
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [] if no_choices else [choice],
        "usage": answer.usage,
    }
    return {**body, "service_tier": "default"} if ark else body


def _frames(answer: Answer, *, include_usage: bool) -> Iterator[str]:
    def frame(choices: list[JsonObject], **more: object) -> str:
        chunk = {"id": answer.id, "object": "chat.completion.chunk", "created": answer.created, "model": answer.model}
        return f"data: {dumps({**chunk, 'choices': choices, **more})}\n\n"

    def delta(finish: str | None = None, **values: str) -> list[JsonObject]:
        return [{"index": 0, "delta": {"role": "assistant", **values}, "finish_reason": finish}]

    if answer.reasoning:
        yield frame(delta(content="", reasoning_content=answer.reasoning))
    for start in range(0, len(answer.text), _CHUNK):
        yield frame(delta(content=answer.text[start : start + _CHUNK]))
    yield frame(delta(answer.finish, content=""))
    if include_usage:
        yield frame([], usage=answer.usage)
    yield "data: [DONE]\n\n"


def _is(fault: Fault | None, kind: Kind) -> bool:
    return fault is not None and fault.kind is kind
