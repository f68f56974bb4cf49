"""Reading an English idea by word classes and punctuation.

Belongs here: picking the parts out of English text. Does not: Chinese (`story_words_zh.py`), what a part is for
(`story_premise.py`).
"""

import re
import unicodedata

from comic_pipeline.providers.offline.story_premise import Premise

_DETERMINERS_TEXT = "a an the one two three some my his her its their our this that every another"
_DETERMINERS = frozenset(_DETERMINERS_TEXT.split())
_PREPOSITIONS_TEXT = (
    "in on at under inside near across beyond through into above beneath beside aboard atop of from to with without "
    "for by about up out down off after before during over behind between against toward towards along around"
)
_PREPOSITIONS = frozenset(_PREPOSITIONS_TEXT.split())
_PLACE_PREPOSITIONS_TEXT = "in on at under inside near across beyond above beneath beside aboard atop into through"
_PLACE_PREPOSITIONS = frozenset(_PLACE_PREPOSITIONS_TEXT.split())
_BREAKERS_TEXT = (
    "and or but who that which whose when while where as because so then until if is are was were be has have had can "
    "will must could would should does do did not never always just only finally suddenly one day he she it they him "
    "them"
)
_BREAKERS = frozenset(_BREAKERS_TEXT.split())
_MEETS_TEXT = (
    "meet find discover encounter see befriend hunt chase love save rescue seek receive follow spot face catch unlock "
    "open wake adopt fight free visit hear"
)
_MEETS = frozenset(_MEETS_TEXT.split())
_VERBS_TEXT = (
    "plant grow live walk run fly swim sing dance dream learn want try build make work cook paint draw write read "
    "travel sail climb dig search look wait sleep wander guard repair fix teach play fall lose hide steal deliver "
    "drive ride go come enter leave return become turn start begin decide get take carry collect keep help race bake "
    "sell watch listen remember forget talk"
)
_VERBS = _MEETS | frozenset(_VERBS_TEXT.split())
_IRREGULAR_TEXT = (
    "met:meet found:find saw:see lives:live lived:live flew:fly ran:run grew:grow sang:sing built:build made:make "
    "went:go came:come fell:fall lost:lose became:become caught:catch wrote:write woke:wake began:begin got:get "
    "took:take kept:keep heard:hear fought:fight left:leave"
)
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_TEXT.split())
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?…\n]")
_EN_BREAK = re.compile(r"[.;!?…\n]+|,(?=\s)")


def read_english(idea: str) -> Premise:
    """The parts of an English idea; emoji are read when there are no words."""
    text = _spell_emoji(idea)
    tokens = _TOKEN.findall(text)
    clauses = tuple(
        clause for part in _EN_BREAK.split(text) if (clause := " ".join(_TOKEN.findall(part))) and len(clause.split()) <= 24
    )
    hero, after = _english_hero(tokens)
    place = _english_place(tokens)
    met = _english_met(tokens, hero=hero)
    return Premise(hero=hero, place=place, action=_english_action(tokens[after:]), met=met, clauses=clauses)


def _spell_emoji(text: str) -> str:
    """Emoji as words when there is nothing else to read: 🐱 is a cat."""
    if any(char.isalnum() for char in text):
        return text
    names = [unicodedata.name(char, "") for char in text if unicodedata.category(char) == "So"]
    plain = [re.sub(r"\b(?:FACE|SIGN|SYMBOL|WITH .*|EMOJI|HEAVY|BLACK|WHITE)\b", "", name).strip().lower() for name in names]
    return ", ".join(filter(None, plain))


def _stem(word: str) -> str:
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and word[: -len(ending)] + instead in _VERBS:
            return word[: -len(ending)] + instead
    for ending in ("ing", "ed"):  # planning, planned
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and base[-1] == base[-2] and base[:-1] in _VERBS:
            return base[:-1]
    return word


def _is_verb(tokens: list[str], at: int) -> bool:
    word = tokens[at].lower()
    if _stem(word) in _VERBS:
        return True
    following = tokens[at + 1].lower() if at + 1 < len(tokens) else ""
    ends_like_one = len(word) > 3 and (word.endswith(("ed", "ing")) or (word.endswith("s") and not word.endswith("ss")))
    return ends_like_one and (following in _DETERMINERS or following in _PREPOSITIONS)


def _noun_phrase(tokens: list[str], start: int) -> tuple[str, int]:
    """The words from `start` to the next verb, preposition, joint or mark, without the determiner, and where they end."""
    at = start + 1 if start < len(tokens) and tokens[start].lower() in _DETERMINERS else start
    words: list[str] = []
    while at < len(tokens) and len(words) < 5:
        word = tokens[at].lower()
        if not word[0].isalnum() or word in _PREPOSITIONS or word in _BREAKERS or word in _DETERMINERS:
            break
        if words and _is_verb(tokens, at) and not _describes(tokens, at):
            break
        words.append(tokens[at])
        at += 1
    return " ".join(words[-3:])[:40], at


def _describes(tokens: list[str], at: int) -> bool:
    """Whether an -ing word stands before a noun (`a singing star`), not after it (`a cat planting flowers`)."""
    return tokens[at].lower().endswith("ing") and at > 0 and tokens[at - 1].lower() in _DETERMINERS


def _english_hero(tokens: list[str]) -> tuple[str, int]:
    for at, token in enumerate(tokens):
        before = tokens[at - 1].lower() if at else ""
        if token.lower() in _DETERMINERS and before not in _PREPOSITIONS:
            name, end = _noun_phrase(tokens, at)
            if name and name.lower() not in ("day", "night", "time", "morning"):
                return name, end
    for at, token in enumerate(tokens):
        if token[0].isalnum() and token.lower() not in _PREPOSITIONS | _BREAKERS | _DETERMINERS:
            return _noun_phrase(tokens, at)
    return "", len(tokens)


def _english_place(tokens: list[str]) -> str:
    for at, token in enumerate(tokens):
        preposition = token.lower()
        if preposition not in _PLACE_PREPOSITIONS:
            continue
        name, _ = _noun_phrase(tokens, at + 1)
        if name and name.lower() not in ("day", "night", "time", "love", "fact", "search", "morning", "end", "rain", "snow"):
            article = tokens[at + 1] if tokens[at + 1].lower() in _DETERMINERS else ""
            return " ".join(filter(None, ({"into": "in"}.get(preposition, preposition), article.lower(), name)))
    return ""


def _english_met(tokens: list[str], *, hero: str) -> str:
    for at, token in enumerate(tokens):
        if _stem(token) not in _MEETS or at + 1 == len(tokens):
            continue
        name, _ = _noun_phrase(tokens, at + 1)
        # `discovers he …` and `wakes up` name nobody; `meets a lost girl` does, though `lost` looks like a verb.
        named = tokens[at + 1].lower() in _DETERMINERS or not _is_verb(tokens, at + 1)
        if name and name != hero and named:
            return name
    return ""


def _english_action(tokens: list[str]) -> str:
    if not tokens or not _is_verb(tokens, 0) or _stem(tokens[0]) in _MEETS:
        return ""
    words = []
    for token in tokens[:7]:
        if (
            not token[0].isalnum()
            or token.lower() in _PLACE_PREPOSITIONS
            or token.lower() in ("and", "but", "who", "when", "until")
        ):
            break
        words.append(token)
    return " ".join((_progressive(words[0]), *words[1:])) if words else ""


def _progressive(verb: str) -> str:
    """planted, plants → planting: phrases then fit after a form of `be`."""
    base = _stem(verb)
    if base == verb.lower() and base not in _VERBS:
        base = re.sub(r"(?:ing|ed|s)$", "", base)
    if base in ("run", "swim", "dig", "sit", "get", "begin"):
        return base + base[-1] + "ing"
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
