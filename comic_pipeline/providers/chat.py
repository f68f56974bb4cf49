"""The chat wire that Ark and OpenAI-compatible services share: `POST /chat/completions`, one JSON document asked for.

Belongs here: messages, JSON mode, reading choices and usage. Does not: parsing the document (`json_answer.py`).
"""

import logging
import re
from collections.abc import Mapping
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.money import ZERO
from comic_pipeline.providers.adapter import AtOnceAdapter
from comic_pipeline.providers.catalog import TextPrice, guess_tokens
from comic_pipeline.providers.envelope import Reply, VendorError, make_fault, read_error, read_id, read_usage, safe_text
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, TextRequest, at_once

logger = logging.getLogger(__name__)

# Thinking is off; a storyboard of 12 shots is about 6,000 tokens. The stage's deadline is 180 s.
TEXT_SECONDS = 150.0
# How services say that a model has no JSON mode: by the field, by the mode, in words.
_NO_JSON_MODE = re.compile(r"(?i)response_format|json_object|json mode")


class ChatAdapter(AtOnceAdapter[TextRequest]):
    """A chat model asked for one JSON document. Children say which fields the vendor adds and what its errors mean.

    JSON mode is a capability of the model, not of the request: always described, so that the key of the work stays the same, and
    left out of the body once the model has refused it. The refusal is raised as a retryable fault, since a submit is one HTTP
    request; the caller's next try goes without.
    """

    _json_mode = True

    def describe(self, request: TextRequest) -> JsonObject:
        """The body of the call. Raises nothing: any text can be asked."""
        body: JsonObject = {"model": self.model, "messages": _messages(request), "response_format": {"type": "json_object"}}
        return body | self._vendor_fields(request)

    def estimate(self, request: TextRequest) -> Decimal:
        """CNY for the prompt and for an answer as long as it may be."""
        prompt = sum(guess_tokens(message["content"]) for message in _messages(request))
        return self._price().of(prompt=prompt, cached=0, completion=request.max_tokens)

    async def submit(self, request: TextRequest, *, go: Go = at_once) -> Done:
        """Ask once; the output is the answer's text in UTF-8.

        Raises ProviderFault: EMPTY_RESPONSE (no body, choices or text), MODERATION_REJECTED, PROVIDER_ERROR (cut at max_tokens,
        or JSON mode refused: the next try goes plain), and what the vendor's error means. Raises OutcomeUnknown.
        """
        body = self.describe(request)
        if not self._json_mode:
            del body["response_format"]
        reply = await self._wire.create("/chat/completions", body, go=go)
        document = reply.document()
        error = read_error(document)
        if not reply.ok or error is not None:
            raise self._refused(reply, error)
        return self._read(reply, document, request)

    def _vendor_fields(self, request: TextRequest) -> JsonObject:
        raise NotImplementedError

    def _refusal(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        raise NotImplementedError

    def _price(self) -> TextPrice:
        raise NotImplementedError

    def _refused(self, reply: Reply, error: VendorError | None) -> ProviderFault:
        named = error is not None and _NO_JSON_MODE.search(f"{error.code} {error.param} {error.message}")
        if reply.status in (400, 422) and named and self._json_mode:
            self._json_mode = False
            logger.warning("%s: model %s has no JSON mode; it is asked in plain words from now on", self.name, self.model)
            advice = "the model has no JSON mode; the next try asks without it"
            return make_fault(
                ErrorCode.PROVIDER_ERROR, reply, service=self.name, error=error, secrets=self._secrets, advice=advice
            )
        return self._refusal(reply, error)

    def _read(self, reply: Reply, document: JsonObject | None, request: TextRequest) -> Done:
        choices = document.get("choices") if document else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        if document is None or not isinstance(choice, Mapping):
            # Tokens that are named were used, whatever became of the answer.
            billed = self._cost(document["usage"], request) if document and read_usage(document.get("usage")) else ZERO
            raise self._empty(f"an answer without choices ({reply.shape})", reply, cost=billed)
        ending = choice.get("finish_reason")
        # finish_reason: stop, length, tool_calls, content_filter, function_call.
        if ending == "content_filter":
            reason = safe_text(str(choice.get("moderation_hit_type") or "no reason given"), secrets=self._secrets, limit=60)
            raise ProviderFault(
                ErrorCode.MODERATION_REJECTED,
                f"{self.name}: the answer was stopped by the content filter ({reason})",
                provider_code="content_filter",
                request_id=reply.request_id,
                cost=self._cost(document.get("usage"), request),
            )
        if ending == "length":
            raise ProviderFault(
                ErrorCode.PROVIDER_ERROR,
                f"{self.name}: the answer was cut at max_tokens ({request.max_tokens})",
                provider_code="length",
                request_id=reply.request_id,
                cost=self._cost(document.get("usage"), request),
            )
        content = _content(choice.get("message"))
        if not content.strip():
            raise self._empty("an answer without text", reply, cost=self._cost(document.get("usage"), request))
        usage = read_usage(document.get("usage"))
        return Done(
            # A lone surrogate, left by a cut emoji, has no UTF-8.
            output=Inline(content.encode("utf-8", errors="replace")),
            usage=usage,
            cost=self._cost(document.get("usage"), request),
            request_id=reply.request_id or read_id(document.get("id")),
        )

    def _cost(self, usage: object, request: TextRequest) -> Decimal:
        counts = read_usage(usage)
        # Some relays fill in zeros: nothing was asked and answered with no token.
        if not counts.get("prompt_tokens") or "completion_tokens" not in counts:
            logger.warning("%s reported no tokens; the call is booked at its estimate", self.name)
            return self.estimate(request)
        details = usage.get("prompt_tokens_details") if isinstance(usage, Mapping) else None
        cached = read_usage(details).get("cached_tokens", 0)
        return self._price().of(prompt=counts["prompt_tokens"], cached=cached, completion=counts["completion_tokens"])

    def _empty(self, what: str, reply: Reply, *, cost: Decimal = ZERO) -> ProviderFault:
        return ProviderFault(
            ErrorCode.EMPTY_RESPONSE,
            f"{self.name} gave {what}",
            http_status=reply.status,
            retry_after=reply.retry_after,
            request_id=reply.request_id,
            cost=cost,
        )


def _content(message: object) -> str:
    """The text of a message: plain, or in parts as some compatible services send it. Empty when there is none."""
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = [part.get("text") for part in content if isinstance(part, Mapping)] if isinstance(content, list) else [content]
    return "".join(part for part in parts if isinstance(part, str))


def _messages(request: TextRequest) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
    if request.repair_of:
        messages += [{"role": "assistant", "content": request.repair_of}, {"role": "user", "content": request.problems}]
    return messages
