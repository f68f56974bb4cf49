"""Reading an idea: who acts, where, what they do, whom they meet.

Belongs here: choosing the reader for a language, what every reader leaves out (markup, the words of the request itself), short
names. Does not: the readers (`story_words_zh.py`, `story_words_en.py`), making up what an idea leaves out (`story.py`).
"""

import re

from comic_pipeline.model.project import Language
from comic_pipeline.providers.offline.story_premise import Premise
from comic_pipeline.providers.offline.story_words_en import read_english
from comic_pipeline.providers.offline.story_words_zh import read_chinese

# Tags, escapes and format characters: nobody's words, they would be read aloud.
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,60}>|\\[A-Za-z]|%[sdf]\b|https?://\S+")
# What is asked of the studio, not told: 请帮我做一个关于环保的动画 is about 环保.
_WISH = r"(?:请|麻烦|我想要?|我要|能不能|可以|你|您|帮我|给我|为我|帮忙)"
_MAKE = r"(?:制作|做|写|创作|生成|画|拍|讲述|讲|来|编|设计)(?:一)?[个部段条集篇支]?"
_ASKED = re.compile(
    rf"^\s*(?:{_WISH}*(?:{_MAKE})?(?:一[个部段条集篇支])?(?:.{{0,8}}的)?(?:漫剧|动画|动漫|短片|短剧|视频|影片|电影|片子|漫画|故事)?"
    rf"[，,：: ]*(?:内容是|讲的是|关于|有关|主题是)|{_WISH}+{_MAKE})\s*"
)
_ASKED_TAIL = re.compile(r"的(?:漫剧|动画|动漫|短片|短剧|视频|影片|电影|片子|漫画|小?故事)[。！!]*$")
_WORK = r"(?:comic(?:-drama)?|story|tale|film|movie|video|animation|cartoon|clip|short)"
_ASKED_EN = re.compile(
    r"^\s*(?:please\s+)?(?:can you\s+|i want\s+(?:you to\s+)?)?"
    r"(?:(?:make|write|create|tell|generate|draw|give|show)\s+)?(?:me\s+|us\s+)?"
    rf"(?:an?\s+|the\s+|some\s+)?(?:[\w-]+\s+){{0,2}}?{_WORK}\s+(?:about|of|on|where|in which)\s+",
    re.IGNORECASE,
)

_LEAD_EN = re.compile(r"^(?:once upon a time|long ago|one day)\b[ ,]*(?:there (?:was|lived) )?", re.IGNORECASE)


def read_premise(idea: str, *, language: Language) -> Premise:
    """Pick the parts out of `idea`, whatever it holds. Never raises; an idea without words gives an empty premise."""
    told = told_part(idea, language=language)
    return read_chinese(told) if language is Language.ZH else read_english(told)


def told_part(idea: str, *, language: Language) -> str:
    """`idea` without markup and without the words that only ask for a film; as it was when nothing else would be left."""
    plain = re.sub(r"[ \t]+", " ", _MARKUP.sub(" ", idea)).strip()
    if language is Language.ZH:
        told = _ASKED.sub("", plain)
        told = _ASKED_TAIL.sub("", told) if told != plain else told
    else:
        told = _LEAD_EN.sub("", _ASKED_EN.sub("", plain))
    return told if any(char.isalnum() for char in told) else idea


def short_name(name: str, *, language: Language) -> str:
    """How others call `name`: without what describes it. At most 6 Chinese characters or 2 English words."""
    if language is Language.ZH:
        own = re.sub(r"^(?:最后|第)?[一二两三四五六七八九十]+[只个位名条头匹朵颗棵株枚]", "", name.rsplit("的", 1)[-1] or name)
        return (own or name)[-6:]
    return " ".join(re.split(r" (?:without|with|of|who|that|from) ", name)[0].split()[-2:])
