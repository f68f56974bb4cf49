"""What the sandbox's chat model writes: storyboards for prompts that ask for one, sentences for the others, and broken versions.

Belongs here: texts, deterministic from the prompt. Does not: the chat route (`chat.py`).
"""

import json
import random
import re
from typing import Any

from comic_pipeline_tests.sandbox.faults import Fault, Kind

JsonObject = dict[str, Any]
_SHOTS = (
    re.compile(r"(?<!\d)(\d{1,3})\s+(?:\w+\s+)?shots\b", re.IGNORECASE),
    re.compile(r"(?<![\d第])(?<!第 )(\d{1,3})\s*(?:个\s*)?(?:镜头|分镜|镜)(?!\s*\d)"),
    re.compile(r"(?:镜头数|分镜数|number of shots|shot count|shots?[\"']?\s*[:=：])\D{0,12}?(\d{1,3})(?!\d)", re.IGNORECASE),
)
_SHOT_MS = (
    re.compile(r"(?:shot_ms|duration_ms)\W{0,6}(?:about\s+|is\s+|of\s+)?(\d{4,5})(?!\d)", re.IGNORECASE),
    re.compile(r"(?<!\d)(\d{4,5})\s*(?:ms\b|毫秒|milliseconds)", re.IGNORECASE),
)
_ENGLISH = re.compile(r"\b(?:in|language\W{0,3}(?:is\s)?)\s*(?:english|\ben\b)|英文|英语", re.IGNORECASE)
_CHINESE = re.compile(r"\bchinese\b|中文|language\W{0,4}zh\b", re.IGNORECASE)
_HAN = re.compile(r"[一-鿿]")
_ZH = {
    "who": ("小猫", "少女阿澜", "老船长", "机器人七号", "狐狸书生"),
    "where": ("月球花田", "雨夜小巷", "云端车站", "海底图书馆", "雪山木屋"),
    "does": ("捧起一粒发光的种子", "推开吱呀作响的木门", "望着远处升起的星星", "把信折成纸船", "停下脚步回头微笑"),
    "says": ("你听见星星在唱歌吗？", "别怕，我们一起走。", "这就是我要找的地方。", "明天，花就开了。", "原来你一直在等我。"),
    "camera": ("镜头缓缓推近", "镜头向右平移", "镜头轻轻拉远", "镜头自下而上升起"),
}
_EN = {
    "who": ("the small cat", "a girl named Lan", "an old captain", "robot seven", "a fox scholar"),
    "where": (
        "a garden on the moon",
        "a lane in night rain",
        "a station in the clouds",
        "a library under the sea",
        "a snow cabin",
    ),
    "does": (
        "lifts a glowing seed",
        "opens a creaking door",
        "watches a rising star",
        "folds a letter into a boat",
        "looks back smiling",
    ),
    "says": (
        "Can you hear the stars sing?",
        "Do not be afraid.",
        "This is the place.",
        "Tomorrow it will bloom.",
        "You waited for me.",
    ),
    "camera": ("slow push in", "pan to the right", "gentle pull back", "rise from below"),
}


def wants_storyboard(text: str) -> bool:
    """Whether the messages ask for a storyboard in JSON."""
    low = text.lower()
    return "json" in low and any(word in low for word in ("shots", "storyboard", "分镜", "镜头"))


def asked_shots(text: str) -> int:
    """The number of shots the prompt names, else 3."""
    return _first_number(_SHOTS, text, 3, low=1, high=60)


def asked_shot_ms(text: str) -> int:
    """The milliseconds a shot the prompt names, else 5000."""
    return _first_number(_SHOT_MS, text, 5_000, low=1_000, high=30_000)


def write_storyboard(text: str) -> JsonObject:
    """A storyboard for this prompt: the same prompt gives the same one."""
    dice = random.Random(text)
    words = _EN if _english(text) else _ZH
    who = dice.choice(words["who"])
    shots = [_shot(number, dice, words, who, asked_shot_ms(text)) for number in range(asked_shots(text))]
    title = f"The Song of {who.title()}" if words is _EN else f"{who}与{dice.choice(words['where'])}"
    return {"title": title, "shots": shots}


def write_answer(text: str) -> str:
    """Any other answer."""
    if "json" in text.lower():
        return json.dumps({"answer": f"{len(text)} characters read"})
    return f"收到，共 {len(text)} 个字。"


def _shot(number: int, dice: random.Random, words: dict[str, tuple[str, ...]], who: str, milliseconds: int) -> JsonObject:
    where, does, camera = dice.choice(words["where"]), dice.choice(words["does"]), dice.choice(words["camera"])
    gap = " " if words is _EN else ""
    scene = f"{who}{gap or '在'}{'in ' if gap else ''}{where}{gap or '，'}{does}"
    speaks = number % 2 == 0
    return {
        "seq": number,
        "scene_desc": scene,
        "speaker": who if speaks else "",
        "dialogue": dice.choice(words["says"]) if speaks else "",
        "narration": "" if speaks else scene,
        "duration_ms": milliseconds,
        "image_prompt": f"{number + 1}: {scene}, anime illustration, soft light",
        "motion_prompt": camera,
    }


def _english(text: str) -> bool:
    if _ENGLISH.search(text):
        return True
    return not _CHINESE.search(text) and not _HAN.search(text)


def _first_number(patterns: tuple[re.Pattern[str], ...], text: str, default: int, *, low: int, high: int) -> int:
    for pattern in patterns:
        for match in pattern.finditer(text):
            if low <= int(match.group(1)) <= high:
                return int(match.group(1))
    return default


def spoil(document: JsonObject, fault: Fault) -> JsonObject:
    """The storyboard with keys missing, renamed or wrapped."""
    if fault.kind is Kind.MISSING_TITLE:
        return {key: value for key, value in document.items() if key != "title"}
    if fault.kind is Kind.FRAMES_KEY:
        return {("frames" if key == "shots" else key): value for key, value in document.items()}
    if fault.kind is Kind.WRAPPED:
        return {"storyboard": document}
    if fault.kind is Kind.SYNONYMS:
        names = {"scene_desc": "scene", "dialogue": "line", "narration": "voiceover", "seq": "index", "motion_prompt": "camera"}
        renamed = [{names.get(key, key): value for key, value in shot.items()} for shot in document.get("shots", [])]
        return {**document, "shots": renamed}
    return document


def spoil_text(text: str, fault: Fault) -> str:
    """The answer with a fence, prose around it, trailing commas, or nothing at all."""
    if fault.kind is Kind.FENCED:
        return f"```json\n{text}\n```"
    if fault.kind is Kind.PROSE:
        return f"好的，以下是按要求生成的分镜：\n\n{text}\n\n如需修改请告诉我。"
    if fault.kind is Kind.TRAILING_COMMAS:
        return re.sub(r"(\}|\]|\")(\s*)(\}|\])", r"\1,\2\3", text)
    return "" if fault.kind is Kind.BLANK else text
