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
_FORMS_OF_BE = frozenset(
    ("is", "are", "was", "were", "has", "have", "had", "can", "will", "must", "could", "would", "does", "did")
)
_CLOSED = _DETERMINERS | _PREPOSITIONS | _BREAKERS | frozenset(("i", "we", "you", "what", "how", "why", "there", "here", "once"))
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
_THEMES_TEXT = (
    "love friendship family time life death hope freedom courage loneliness memory memories childhood war peace happiness "
    "sadness kindness trust fate future past science history christmas birthday graduation spring summer autumn winter "
    "adventure travel school work music home dreams dream space magic nature climate environment recycling"
)
_THEMES = frozenset(_THEMES_TEXT.split())
# Who acts when only a pronoun does; "" leaves it to the style.
_PRONOUNS = {"he": "boy", "she": "girl", "i": "", "we": "", "they": "", "you": "", "it": ""}
# Verbs that are no pastime: nobody is `falling` or `becoming` all day.
_EVENTS_TEXT = "fall lose become turn start begin go come leave return enter get take decide forget wake"
_EVENTS = frozenset(_EVENTS_TEXT.split())
_COUNTS_TEXT = "two three four five six seven some several many"
_COUNTS = frozenset(_COUNTS_TEXT.split())
# Where things are kept, not where a story happens: a letter in a bottle.
_HOLDERS = ("bottle", "box", "bag", "hand", "hands", "pocket", "head", "heart", "mind", "secret", "mirror")
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?…\n]")
_TITLES = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.")
_EN_BREAK = re.compile(r"[.;:!?…\n]+(?=[\s\"”’')\]]|$)|,(?=\s)")


def read_english(idea: str) -> Premise:
    """The parts of an English idea; emoji are read when there are no words."""
    text = _TITLES.sub(r"\1", _spell_emoji(idea))
    tokens = _TOKEN.findall(text)
    theme = _theme_of(tokens)
    if theme:
        return Premise(hero="", place="", action="", met="", clauses=(), theme=theme)
    clauses = _whole_clauses(text)
    name = _proper_name(tokens)
    hero, after = (name, len(name.split())) if name else _english_hero(tokens)
    met = _english_met(tokens, hero=hero)
    if not name:
        many = tokens[0].lower() in _COUNTS if tokens else False
        hero = _singular(hero)
        met = met or (f"other {hero}" if many and hero else "")
    return Premise(
        hero=hero,
        place=_english_place(tokens),
        action=_english_action(tokens[after:]),
        met=met,
        clauses=clauses,
        theme=_noun_phrase(tokens),
        named=bool(name),
    )


def _theme_of(tokens: list[str]) -> str:
    """The idea itself when it names nobody: `love`, `time travel`, `1984`."""
    words = [token.lower() for token in tokens if token[0].isalnum()]
    if words and len(words) <= 3 and (all(word in _THEMES for word in words) or not any(map(str.isalpha, "".join(words)))):
        return " ".join(words)
    return ""


def _noun_phrase(tokens: list[str]) -> str:
    """The idea when it has no verb (`My grandfather's old radio`): no sentence, so it cannot be told as one."""
    words = [token for token in tokens if token[0].isalnum()]
    acting = any(_is_verb(words, at) or words[at].lower() in _FORMS_OF_BE for at in range(1, len(words)))
    if not words or len(words) > 12 or acting or len(words) != len(tokens):
        return ""
    bare = " ".join(words)
    if words[0].lower() in _DETERMINERS:
        return bare[:1].lower() + bare[1:]
    if len(words) > 1:
        return bare
    alone = bare.lower()
    return alone if alone.endswith("s") else f"{'an' if alone[0] in 'aeiou' else 'a'} {alone}"


def _whole_clauses(text: str) -> tuple[str, ...]:
    """Clauses of at most 24 words that can stand alone: one or two words (one day) are read with what follows them."""
    whole: list[str] = []
    lead = ""
    for part in _EN_BREAK.split(text):
        clause = " ".join(_TOKEN.findall(part))
        lead = f"{lead}, {clause}" if lead and clause else lead or clause
        if len(lead.split()) > 2:
            whole.append(lead)
            lead = ""
    if lead and not whole:
        whole.append(lead)
    return tuple(clause for clause in whole if len(clause.split()) <= 24)


def _proper_name(tokens: list[str]) -> str:
    """One to three words with a capital at the beginning that a verb follows: Alice finds …, Sherlock Holmes solves."""
    at = 0
    while at < min(3, len(tokens)) and tokens[at][:1].isupper() and tokens[at].lower() not in _CLOSED:
        at += 1
    if at == 0 or at >= len(tokens) or tokens[at].lower() in _PREPOSITIONS:
        return ""
    acting = _is_verb(tokens, at) or tokens[at].lower() in _BREAKERS
    # `Robots fall in love`: a plural is not a name. A name before `s` of the verb is.
    return " ".join(tokens[:at]) if acting and not (at == 1 and tokens[0].endswith("s") and _is_verb_of_many(tokens[at])) else ""


def _is_verb_of_many(word: str) -> bool:
    return word.lower() in _VERBS or word.lower() in ("are", "were", "have")


def _singular(name: str) -> str:
    """`sisters` → `sister`, `Cats` → `cat`: the story is told about one of them."""
    one = {"children": "child", "men": "man", "women": "woman", "mice": "mouse", "people": "stranger"}.get(name.lower())
    if one is not None or not re.search(r"[^sui]s$", name) or len(name) < 4:
        return one or name
    for ending, instead in (("ies", "y"), ("ves", "f"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", "")):
        if name.endswith(ending):
            name = name.removesuffix(ending) + instead
            break
    return name[:1].lower() + name[1:] if " " not in name else name


def _spell_emoji(text: str) -> str:
    """Emoji as words when there is nothing else to read: 🐱 is a cat."""
    if any(char.isalnum() for char in text):
        return text
    names = [unicodedata.name(char, "") for char in text if unicodedata.category(char) == "So"]
    plain = [re.sub(r"\b(?:FACE|SIGN|SYMBOL|WITH .*|EMOJI|HEAVY|BLACK|WHITE)\b", "", name).strip().lower() for name in names]
    return " and ".join(f"a {name}" for name in plain if name)


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


def _noun_phrase_at(tokens: list[str], start: int) -> tuple[str, int]:
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
    if tokens and tokens[0].lower() in _PRONOUNS:
        return _PRONOUNS[tokens[0].lower()], 1
    for at, token in enumerate(tokens):
        before = tokens[at - 1].lower() if at else ""
        if token.lower() in _DETERMINERS and before not in _PREPOSITIONS:
            name, end = _noun_phrase_at(tokens, at)
            if name and name.lower() not in ("day", "night", "time", "morning"):
                return name, end
    for at, token in enumerate(tokens):
        if token[0].isalnum() and token.lower() not in _PREPOSITIONS | _BREAKERS | _DETERMINERS:
            return _noun_phrase_at(tokens, at)
    return "", len(tokens)


def _english_place(tokens: list[str]) -> str:
    for at, token in enumerate(tokens):
        preposition = token.lower()
        if preposition not in _PLACE_PREPOSITIONS:
            continue
        name, _ = _noun_phrase_at(tokens, at + 1)
        if name and name.lower() not in (
            "day",
            "night",
            "time",
            "love",
            "fact",
            "search",
            "morning",
            "end",
            "rain",
            "snow",
            *_HOLDERS,
        ):
            article = tokens[at + 1] if tokens[at + 1].lower() in _DETERMINERS else ""
            return " ".join(filter(None, ({"into": "in"}.get(preposition, preposition), article.lower(), name)))
    return ""


def _english_met(tokens: list[str], *, hero: str) -> str:
    for at, token in enumerate(tokens):
        if _stem(token) not in _MEETS or at + 1 == len(tokens):
            continue
        name, _ = _noun_phrase_at(tokens, at + 1)
        # `discovers he …` and `wakes up` name nobody; `meets a lost girl` does, though `lost` looks like a verb.
        named = tokens[at + 1].lower() in _DETERMINERS or not _is_verb(tokens, at + 1)
        if name and name != hero and named:
            return name
    return _company(tokens, hero=hero)


def _company(tokens: list[str], *, hero: str) -> str:
    """Whom the hero is with (`a boy and his dog`), loves (`in love with a lighthouse`) or shares the idea with."""
    for at, token in enumerate(tokens[:-1]):
        loved = token.lower() == "with" and tokens[at - 1].lower() == "love"
        beside = token.lower() in ("and", "between") and at > 0 and tokens[at - 1] == (hero.split() or [""])[-1]
        if (loved or beside) and tokens[at + 1].lower() in _DETERMINERS:
            name, _ = _noun_phrase_at(tokens, at + 1)
            if name and name != hero:
                return name
    return ""


def _english_action(tokens: list[str]) -> str:
    if not tokens or not _is_verb(tokens, 0) or _stem(tokens[0]) in _MEETS | _EVENTS:
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
