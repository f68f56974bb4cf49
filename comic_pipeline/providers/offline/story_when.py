"""The hour and the weather that an idea names, as words that light every shot.

Belongs here: finding them and saying them. Does not: the light of a style, when the idea names none (`story_arc_*.py`), how they
are drawn (`panel_reading.py`).
"""

import re

from comic_pipeline.model.project import Language

# What each pattern finds; words that only hold the character (夜市, 雪山, a night watchman) are no weather.
_HOURS = {
    "night": r"(?<![守熬])夜(?![市莺总])|晚上|凌晨|\b(?:mid)?night\b(?! watch)",
    "dusk": r"黄昏|傍晚|日落|夕阳|\b(?:dusk|sunset|evening)\b",
    "dawn": r"清晨|早晨|早上|黎明|日出|\b(?:dawn|sunrise|morning)\b",
}
_WEATHERS = {
    "rain": r"[暴大下细小阵]雨|雨[夜天中里]|\b(?:rain|rainy|rainstorm|storm|stormy)\b",
    "snow": r"[大下]雪(?![山原人])|暴风雪|雪[夜天中地]|\b(?:snow|snowy|snowing|snowstorm|blizzard)\b",
}
_SAID = {
    Language.ZH: {
        "night": "夜色沉沉",
        "dusk": "黄昏时分",
        "dawn": "清晨的微光",
        "rain": "雨下个不停",
        "snow": "大雪纷飞",
        "night rain": "雨夜的微光",
        "night snow": "下雪的夜晚",
        "dusk rain": "黄昏的细雨",
        "dusk snow": "黄昏的飞雪",
        "dawn rain": "清晨的细雨",
        "dawn snow": "清晨的飞雪",
    },
    Language.EN: {
        "night": "a quiet night",
        "dusk": "the light of dusk",
        "dawn": "the light of dawn",
        "rain": "steady rain",
        "snow": "falling snow",
        "night rain": "a rainy night",
        "night snow": "a snowy night",
        "dusk rain": "rain at dusk",
        "dusk snow": "snow at dusk",
        "dawn rain": "rain at dawn",
        "dawn snow": "snow at dawn",
    },
}


def read_when(idea: str, *, language: Language) -> str:
    """Hour and weather in the story's language; empty when `idea` names neither. Of two, the first one counts."""
    found = [_first(idea, patterns) for patterns in (_HOURS, _WEATHERS)]
    return _SAID[language].get(" ".join(filter(None, found)), "")


def _first(idea: str, patterns: dict[str, str]) -> str:
    places = {kind: found.start() for kind, pattern in patterns.items() if (found := re.search(pattern, idea, re.IGNORECASE))}
    return min(places, key=places.__getitem__, default="")
