"""What an idea is about, in its own words: who, where, doing what, meeting whom.

Belongs here: the one door to reading, and short names. Does not: the reading itself (`story_words_zh.py`,
`story_words_en.py`), making up what an idea leaves out (`story.py`).
"""

import re

from comic_pipeline.model.project import Language
from comic_pipeline.providers.offline.story_premise import Premise
from comic_pipeline.providers.offline.story_words_en import read_english
from comic_pipeline.providers.offline.story_words_zh import read_chinese


def read_premise(idea: str, *, language: Language) -> Premise:
    """Pick the parts out of `idea`, whatever it holds. Never raises; an idea without words gives an empty premise."""
    return read_chinese(idea) if language is Language.ZH else read_english(idea)


def short_name(name: str, *, language: Language) -> str:
    """How others call `name`: without what describes it. At most 6 Chinese characters or 2 English words."""
    if language is Language.ZH:
        return (name.rsplit("的", 1)[-1] or name)[-6:]
    return " ".join(re.split(r" (?:without|with|of|who|that|from) ", name)[0].split()[-2:])
