"""A finished script as shots: its own lines are spoken, its own descriptions are shown.

Belongs here: reading `名字：台词` and `Name: line`, headings, directions, prose; dealing the lines out to the shots. Does
not: making up anything that the script does not hold (`story.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from comic_pipeline.model.project import Language

# What can be spoken at an easy pace; a second of the shot stays free.
ZH_CHARS_A_SECOND = 4.0
EN_WORDS_A_SECOND = 2.5
AIR_SECONDS = 1.0


class Part(Enum):
    """What a line of a script is for."""

    PLACE = "place"
    SEEN = "seen"
    TOLD = "told"
    SAID = "said"


@dataclass(frozen=True)
class ScriptLine:
    """One line: what it is for, who says it (only for SAID), and the text, without directions when it is spoken."""

    part: Part
    who: str
    text: str


@dataclass(frozen=True)
class ScriptShot:
    """What one shot shows and says. `who` is empty for narration, `spoken` is empty for a silent shot."""

    scene: str
    who: str
    spoken: str


_DIRECTION = re.compile(r"（[^）]*）|\([^)]*\)|【[^】]*】|\[[^\]]*\]|\*[^*\n]*\*")
_QUOTES = re.compile(r"[“”\"「」『』《》]")
_HEADING = re.compile(r"^(?:第.{1,5}[场幕镜集回章]|(?:INT|EXT|内景|外景)[.．\s、]|(?:scene|act)\s+\S+)", re.IGNORECASE)
_LEAD = re.compile(r"^(?:[#>*·•\-—\s]+|\d{1,3}[.、)）]\s*)+")
_SPEECH = re.compile(r"^(?P<who>[^：:，。！？,.!?;；“”\"]{1,24}?)\s*(?:[（(][^）)]*[）)])?\s*[：:]\s*(?P<text>\S.*)$")
_SAYS = re.compile(
    r"(?:大声|轻声|小声|笑着|忽然)?(?:说道|问道|喊道|笑道|回答|说|道|问|喊|叫)$|\s+(?:says|said|asks|asked)$", re.IGNORECASE
)
_SHOWN_TEXT = "场景 时间 地点 人物 角色 镜头 画面 动作 景别 字幕 音效 音乐 scene place time cast camera action sound music"
_SHOWN = frozenset(_SHOWN_TEXT.split())
_TELLER_TEXT = "旁白 画外音 解说 独白 narrator narration voiceover vo"
_TELLER = frozenset(_TELLER_TEXT.split())
_TITLE = re.compile(
    r"^(?:标题|片名|剧名|title)\s*[：:]\s*(?P<label>.+)$|^《(?P<marks>[^》]{1,30})》$", re.IGNORECASE | re.MULTILINE
)
_SENTENCE = re.compile(r"[^。！？!?…\n.]+(?:[。！？!?…]+|\.(?=\s|$)|\.|$)")
_CLAUSE = re.compile(r"[^，、；,;]+[，、；,;]*")


def script_title(script: str) -> str:
    """The title that the script gives itself, or empty."""
    found = _TITLE.search(script)
    return (found["label"] or found["marks"]).strip("《》 \t")[:40] if found else ""


def sentences_of(text: str) -> list[str]:
    """The sentences of `text` that hold a word."""
    return [one.strip() for one in _SENTENCE.findall(text) if any(char.isalnum() for char in one)]


def read_script(script: str) -> tuple[ScriptLine, ...]:
    """The lines of a script in order. Never raises; lines without any letter or digit are left out."""
    lines = []
    for raw in _TITLE.sub("", script).splitlines():
        text = _LEAD.sub("", raw).strip()
        if any(char.isalnum() for char in text):
            line = _read_line(text)
            if any(char.isalnum() for char in line.text):
                lines.append(line)
    return tuple(lines)


def _read_line(text: str) -> ScriptLine:
    if _HEADING.match(text):
        return ScriptLine(part=Part.PLACE, who="", text=text)
    speech = _SPEECH.match(text)
    if speech is None:
        return ScriptLine(part=Part.SEEN, who="", text=text)
    who = _SAYS.sub("", speech["who"].strip()).strip()
    label = who.lower()
    if label in ("场景", "地点", "scene", "place"):
        return ScriptLine(part=Part.PLACE, who="", text=speech["text"])
    if label in _SHOWN or not _can_be_name(who) or speech["text"].startswith("//"):
        return ScriptLine(part=Part.SEEN, who="", text=speech["text"] if label in _SHOWN else text)
    spoken = clean_spoken(speech["text"])
    if label in _TELLER:
        return ScriptLine(part=Part.TOLD, who="", text=spoken)
    return ScriptLine(part=Part.SAID, who=who, text=spoken)


def _can_be_name(who: str) -> bool:
    return any(char.isalpha() for char in who) and not who[0].isdigit() and len(who) <= 20 and len(who.split()) <= 3


def clean_spoken(text: str) -> str:
    """`text` without stage directions, quotation marks and doubled spaces."""
    return re.sub(r"\s+", " ", _QUOTES.sub("", _DIRECTION.sub("", text))).strip(" 　，,、")


def room_for_speech(shot_ms: int, *, language: Language) -> int:
    """How much fits into a shot: Chinese characters or English words."""
    seconds = max(0.0, shot_ms / 1000 - AIR_SECONDS)
    return int(seconds * (ZH_CHARS_A_SECOND if language is Language.ZH else EN_WORDS_A_SECOND))


def speech_size(text: str, *, language: Language) -> int:
    """How much `text` takes of that room. A run of letters counts once more for every 12, so that nothing hides in one word."""
    if language is Language.ZH:
        return len(text)
    return sum(1 + len(word) // 12 for word in text.split())


def shorten(text: str, *, room: int, language: Language) -> str:
    """As much of `text` as fits: whole sentences, else whole clauses, else words; empty when not even one fits."""
    for pieces in (_SENTENCE.findall(text), _CLAUSE.findall(text), text.split() if language is Language.EN else list(text)):
        kept = ""
        for piece in pieces:
            longer = f"{kept} {piece.strip()}".strip() if language is Language.EN else kept + piece.strip()
            if speech_size(longer, language=language) > room:
                break
            kept = longer
        if kept:
            return kept.rstrip("，、；,;")
    return ""


def deal_out(lines: Sequence[ScriptLine], *, shots: int, room: int, language: Language) -> tuple[ScriptShot, ...]:
    """Exactly `shots` shots from at least one line, in the script's order. `room` as in `room_for_speech`.

    A script of pure prose is narrated; in one with dialogue, descriptions are only shown. With fewer lines than shots, long lines
    are told over several shots, and what then is still missing is a silent look at the same scene.
    """
    finer = _split_until(lines, wanted=shots)
    prose = not any(line.part in (Part.SAID, Part.TOLD) for line in finer)
    place, scene = "", ""
    dealt = []
    for number in range(shots):
        group = finer[-(-number * len(finer) // shots) : -(-(number + 1) * len(finer) // shots)]
        place = next((line.text for line in group if line.part is Part.PLACE), place)
        scene = _scene_of(group, place=place, language=language) or scene or finer[0].text
        who, spoken = _speech_of(group, prose=prose, room=room, language=language)
        dealt.append(ScriptShot(scene=scene[:160], who=who, spoken=spoken))
    return tuple(dealt)


def _split_until(lines: Sequence[ScriptLine], *, wanted: int) -> list[ScriptLine]:
    """Lines cut into sentences, the longest first, until there are `wanted` or nothing is left to cut."""
    finer = list(lines)
    while len(finer) < wanted:
        cuttable = [at for at, line in enumerate(finer) if len(_SENTENCE.findall(line.text)) > 1]
        if not cuttable:
            return finer
        at = max(cuttable, key=lambda index: len(finer[index].text))
        line = finer[at]
        finer[at : at + 1] = [
            ScriptLine(part=line.part, who=line.who, text=text.strip()) for text in _SENTENCE.findall(line.text) if text.strip()
        ]
    return finer


def _scene_of(group: Sequence[ScriptLine], *, place: str, language: Language) -> str:
    seen = [line.text for line in group if line.part in (Part.SEEN, Part.TOLD)]
    speakers = list(dict.fromkeys(line.who for line in group if line.part is Part.SAID))
    acting = [f"{who}正在说话" if language is Language.ZH else f"{who} is speaking" for who in speakers]
    joint = "，" if language is Language.ZH else ", "
    parts = [part.strip("。.，, ") for part in (place, *seen, *acting)]
    return joint.join(filter(None, parts)) if group else ""


def _speech_of(group: Sequence[ScriptLine], *, prose: bool, room: int, language: Language) -> tuple[str, str]:
    audible = [line for line in group if line.part in (Part.SAID, Part.TOLD) or (prose and line.part is Part.SEEN)]
    if not audible:
        return "", ""
    first = next((line for line in audible if line.part is Part.SAID), audible[0])
    same = [clean_spoken(line.text) for line in audible if line.who == first.who]
    joint = "" if language is Language.ZH else " "
    if prose:
        same = _from_the_first_that_fits(same, room=room, language=language)
    return first.who, shorten(joint.join(same), room=room, language=language)


def _from_the_first_that_fits(told: Sequence[str], *, room: int, language: Language) -> list[str]:
    """Whole sentences from the first one that can be said in the shot; all of them when none can."""
    sentences = [sentence for text in told for sentence in sentences_of(text)]
    fits = [at for at, sentence in enumerate(sentences) if speech_size(sentence, language=language) <= room]
    return sentences[fits[0] :] if fits else sentences
