"""Words put into phrases, as grammar wants them: articles, capitals, full stops.

Belongs here: the words of one story by slot, filling a template of a phrase book, making a sentence of an idea's own clause. Does
not: the phrases (`story_arc_*.py`), which of them is said (`story.py`).
"""

import re
from collections.abc import Mapping

from comic_pipeline.model.project import Language
from comic_pipeline.model.style import Style
from comic_pipeline.providers.offline.story_arc import PhraseBook
from comic_pipeline.providers.offline.story_chance import Chance
from comic_pipeline.providers.offline.story_premise import Premise
from comic_pipeline.providers.offline.story_script import clean_spoken
from comic_pipeline.providers.offline.story_words import short_name

_SMALL = ("a", "an", "and", "the", "of", "who", "in", "on")
_ARTICLE = re.compile(r"\b(?P<article>the|a|an) \{(?P<slot>hero|name|met|friend)\}", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:吗|呢|为什么|会怎么?样|怎么办)$|^(?:what if|why|how (?:do|does|can)|who is|can|could|will)\b", re.IGNORECASE
)
# A clause without its subject; the one before it said whom it is about.
_VERB_FIRST = re.compile(
    r"(?:却|又|还|也|突然|忽然|意外|偶然|于是|最后|终于)?"
    r"(?:遇[到见上]|碰[到见]|发现|看[见到]|捡到|找到|爱上|救[下了]|认识|撞见|收到|结识|寻找|追踪|打开|守护|打败|决定|想要)"
)
_ENDED = re.compile(r"[。！？!?.…~～”\"]$")


def fill(template: str, words: Mapping[str, str]) -> str:
    """`template` with its slots filled. English: `a` or `an` by the next letter, no article before a name."""
    return _ARTICLE.sub(lambda found: _with_article(found, words), template).format_map(words)


def _with_article(found: re.Match[str], words: Mapping[str, str]) -> str:
    article, slot = found["article"], found["slot"]
    word = words[slot]
    if slot in ("hero", "name") and words["named"] == "yes":
        return f"{{{slot}}}"
    if article.lower() == "the":
        return f"{article} {{{slot}}}"
    if word.startswith("other "):
        return f"{article[0]}n{{{slot}}}"
    fitting = "an" if word[:1].lower() in "aeiou" else "a"
    return f"{fitting.capitalize() if article[0].isupper() else fitting} {{{slot}}}"


def title_case(text: str) -> str:
    """English title case: small words stay small inside."""
    words = text.split()
    return " ".join(word if at and word.lower() in _SMALL else word[:1].upper() + word[1:] for at, word in enumerate(words))


def spoken(template: str, words: Mapping[str, str], *, language: Language) -> str:
    """A line as it is said."""
    text = clean_spoken(fill(template, words))
    return text if language is Language.ZH else text[:1].upper() + text[1:]


def sentence_of(event: str, *, name: str, language: Language) -> str:
    """An idea's own clause as a sentence of the narrator; one that begins with its verb (遇到了…) is told of `name`."""
    text = clean_spoken(event)
    ended = text if _ENDED.search(text) else text + _mark(text, language=language)
    if language is Language.ZH:
        return name + ended if _VERB_FIRST.match(ended) else ended
    return ended[:1].upper() + ended[1:]


def _mark(text: str, *, language: Language) -> str:
    asks = _ASKS.search(text) is not None
    return ("？" if asks else "。") if language is Language.ZH else ("?" if asks else ".")


def complete(
    premise: Premise, *, when: str, book: PhraseBook, style: Style, language: Language, chance: Chance
) -> dict[str, str]:
    """The idea's words by slot; what it leaves out is drawn from the style, which must be one of the book's.

    `when` is the hour and weather that the idea names, or empty.
    """
    flavour = book.flavours[style.key]
    hero = premise.hero or chance.pick([one for one in flavour.heroes if one != premise.met])
    friends = [friend for friend in flavour.friends if short_name(friend, language=language) not in hero]
    met = premise.met or chance.pick(friends)
    place = premise.place or chance.pick(flavour.places)
    return {
        "hero": hero,
        "name": short_name(hero, language=language),
        "place": place,
        "spot": re.sub(r"(?<=..)[上里中]$", "", place),
        "deed": premise.action or chance.pick(flavour.deeds),
        "met": met,
        "friend": short_name(met, language=language),
        "light": when or chance.pick(flavour.lights),
        "named": "yes" if premise.named else "",
    }
