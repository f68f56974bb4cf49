"""Finding the JSON document in a model's answer: thoughts, fences and prose around it, trailing commas, bare keys, comments.

Belongs here: text to plain JSON values. Does not: what the document must hold (`model/storyboard.py`), asking again (the stage).
Repair works on what lies between strings only; the inside of a string is never touched, so a time like 00:00:01,000 stays.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from comic_pipeline.model.errors import InvalidAnswer

# A storyboard of 12 shots has about 20,000 characters and is 4 deep.
MAX_CHARS = 500_000
MAX_DEPTH = 64
# Each bracket that is never closed costs a look through the rest of the text.
MAX_UNCLOSED = 20

_ASK = "Answer with one JSON document and nothing else: no prose, no code fence."
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# `“title”:` and `'title':`, also with unequal quotes; a straight double quote begins an ordinary string and never comes here.
_QUOTED_KEY = re.compile(r"[“”‘’'](?P<key>[^“”‘’'\"\\\n]{1,80})[“”‘’'\"](?=\s*[:：])")
_BARE_KEY = re.compile(r"(?P<key>[^\W\d]\w{0,79})(?=\s*[:：])")
_SMART_VALUE = re.compile(r"“(?P<value>[^“”]*)”(?=\s*[,，}\]])")
_TRAILING_COMMA = re.compile(r"[,，](?=\s*[}\]])")
_PLAIN = re.compile(r"[^\s\"“”‘’',，:：{}\[\]]+|\s+")
# Not the slashes of an address. One that is never closed costs a look ahead of 120 characters, not of the whole text.
_COMMENT = r"(?<!:)//[^\n]*|/\*.{0,120}?\*/"
_STRING_OR_COMMENT = re.compile(rf"(?P<string>{_STRING.pattern})|{_COMMENT}", re.DOTALL)
_OPENERS = {"{": "}", "[": "]"}
_OPENER = re.compile(r"[{\[]")
_MARK = re.compile(rf"{_COMMENT}|[\"{{}}\[\]]", re.DOTALL)
_THOUGHT_ENDS = "</think>"


@dataclass(frozen=True)
class _Span:
    start: int
    end: int


def parse_json_answer(text: str) -> object:
    """The JSON object or list that `text` holds; the largest one when there are several. Wrapper objects stay as they are.

    Raises InvalidAnswer, whose `problems` tell the model what to mend: empty, no document, cut short, not JSON, too large.
    """
    text = _without_thoughts(text.strip().lstrip("\ufeff"))
    if not text:
        raise InvalidAnswer("the answer is empty", problems=f"The answer is empty. {_ASK}")
    if len(text) > MAX_CHARS:
        raise InvalidAnswer(
            f"the answer has {len(text)} characters, at most {MAX_CHARS} are read", problems=f"The answer is too long. {_ASK}"
        )
    spans = sorted(_outermost_spans(text), key=lambda span: span.end - span.start, reverse=True)
    if not spans:
        reason = "the JSON document is cut short" if "{" in text or "[" in text else "there is no JSON document in the answer"
        raise InvalidAnswer(f"{reason}: {text[:80]!r}", problems=f"{reason[0].upper()}{reason[1:]}. {_ASK}")
    problem = ""
    for span in spans:
        document = text[span.start : span.end]
        for candidate in (document, _repaired(document)):
            try:
                return _load(candidate)
            except ValueError as invalid:
                # What is wrong with the largest candidate after repair is what the model should hear.
                problem = problem if span is not spans[0] else str(invalid)
    raise InvalidAnswer(f"the answer is not JSON: {problem}", problems=f"The JSON is not valid: {problem}. {_ASK}")


def _without_thoughts(text: str) -> str:
    """What follows the thoughts of a reasoning model, whose server may have swallowed the tag that opens them.

    A draft among them is not the answer. A text that begins with its document has no thoughts before it.
    """
    _, ends, answer = text.partition(_THOUGHT_ENDS)
    return answer.strip() if ends and not text.startswith(("{", "[", "```")) else text


def _load(document: str) -> object:
    # strict=False: models write raw line breaks inside strings.
    value: object = json.loads(document, strict=False, parse_constant=_refuse_constant)
    # Half of a surrogate pair has no UTF-8 and would break whatever stores it.
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _outermost_spans(text: str) -> Iterator[_Span]:
    """Balanced brackets outside strings that lie in no other such span. Fences and prose lie between them."""
    position = 0
    unclosed = 0
    while unclosed <= MAX_UNCLOSED and (opener := _OPENER.search(text, position)) is not None:
        end = _end_of(text, opener.start())
        if end is None:
            # A bracket of the prose, or of a document that is cut short: what follows it may still hold one.
            unclosed += 1
            position = opener.end()
            continue
        yield _Span(opener.start(), end)
        position = end


def _end_of(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed; None when it is not. Raises InvalidAnswer for an inside deeper than MAX_DEPTH."""
    expected: list[str] = []
    position = start
    while (mark := _MARK.search(text, position)) is not None:
        position = mark.end()
        char = mark.group()
        if char[0] == "/":
            continue
        if char == '"':
            string = _STRING.match(text, mark.start())
            if string is None:
                return None
            position = string.end()
        elif char in _OPENERS:
            expected.append(_OPENERS[char])
            if len(expected) > MAX_DEPTH:
                raise InvalidAnswer(f"the answer is more than {MAX_DEPTH} levels deep", problems=f"The JSON is too deep. {_ASK}")
        elif char != expected.pop():
            return None
        elif not expected:
            return position
    return None


def _repaired(document: str) -> str:
    """`document` without comments and trailing commas, with keys quoted, full-width signs and spaces plain; strings stay."""
    document = _STRING_OR_COMMENT.sub(lambda found: found["string"] or " ", document)
    pieces: list[str] = []
    position = 0
    before = ""
    while position < len(document):
        piece, position = _next_piece(document, position, before)
        pieces.append(piece)
        before = piece.strip()[-1:] or before
    return "".join(pieces)


def _next_piece(document: str, position: int, before: str) -> tuple[str, int]:
    """The next token, repaired, and where the one after it begins. `before` is the last character that counts."""
    string = _STRING.match(document, position)
    if string is not None:
        return string.group(), string.end()
    comma = _TRAILING_COMMA.match(document, position)
    if comma is not None:
        return "", comma.end()
    if before in ("{", ","):
        key = _QUOTED_KEY.match(document, position) or _BARE_KEY.match(document, position)
        if key is not None:
            return f'"{key["key"]}"', key.end()
    value = _SMART_VALUE.match(document, position)
    if value is not None and before in (":", ",", "["):
        inside = value["value"].replace('"', '\\"')
        return f'"{inside}"', value.end()
    plain = _PLAIN.match(document, position)
    if plain is not None:
        # JSON knows four kinds of white space; Chinese texts have more.
        return plain.group().strip() or " ", plain.end()
    return {"，": ",", "：": ":"}.get(document[position], document[position]), position + 1
