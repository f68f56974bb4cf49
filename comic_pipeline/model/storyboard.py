"""The storyboard: a title and the shots, in the shape that is asked of a model and stored.

Belongs here: the values, how raw model output becomes them, and how operators' overrides lie over them. Does not: finding JSON in
a model's prose (`providers/json_answer.py`), judging quality (`quality/storyboard.py`).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from comic_pipeline.model.errors import InvalidAnswer

UNTITLED = "未命名漫剧"
SHOT_MS_MIN = 1_000
SHOT_MS_MAX = 30_000
# Far above what the prompt asks for: what is longer is no line and no prompt, but would be paid for and drawn.
TEXT_MAX_CHARS = 4_000
NAME_MAX_CHARS = 200

_DIRECTION = re.compile(r"（[^（）]*）|\([^()]*\)|【[^【】]*】|\[[^\[\]]*\]|〔[^〔〕]*〕")


def said(text: str) -> str:
    """The words of a line that are spoken and shown: without bracketed stage directions."""
    while (bare := _DIRECTION.sub(" ", text)) != text:  # one pass for each depth of brackets
        text = bare
    return text.strip()


class Shot(BaseModel):
    """One frame and clip of the film. `seq` counts from 0; `duration_ms` alone decides the clip's length.

    `seed` is the picture's and `clip_seed` the clip's: a new seed for one must not pay for the other.
    """

    model_config = ConfigDict(frozen=True)

    seq: int
    scene_desc: str
    dialogue: str = ""
    narration: str = ""
    speaker: str = ""
    duration_ms: int
    image_prompt: str
    motion_prompt: str = ""
    seed: int | None = None
    clip_seed: int | None = None

    @property
    def spoken(self) -> str:
        """What is said: the dialogue, else the narration, else nothing. Stage directions are for the actor: nobody says them."""
        return said(self.dialogue) or said(self.narration)

    @property
    def voice_of(self) -> str:
        """Who says it: the speaker of a dialogue, or the narrator, written as an empty name."""
        return self.speaker if said(self.dialogue) else ""


class Storyboard(BaseModel):
    """A whole film in words. Shots are ordered and numbered from 0 without gaps."""

    model_config = ConfigDict(frozen=True)

    title: str
    shots: tuple[Shot, ...]

    def shot(self, seq: int) -> Shot:
        """The shot with this number. Raises LookupError."""
        for shot in self.shots:
            if shot.seq == seq:
                return shot
        raise LookupError(f"no shot {seq}; the storyboard has {len(self.shots)} shots")


class OverrideField(StrEnum):
    """What an operator may change in a shot. A `take_*` asks for the stage anew without changing words.

    `spoken` is what is said, whoever says it: a narrated shot stays a narrated one.
    """

    IMAGE_PROMPT = "image_prompt"
    MOTION_PROMPT = "motion_prompt"
    DIALOGUE = "dialogue"
    NARRATION = "narration"
    SPOKEN = "spoken"
    SEED = "seed"
    CLIP_SEED = "clip_seed"
    TAKE_STORYBOARD = "take_storyboard"
    TAKE_FRAMES = "take_frames"
    TAKE_VOICES = "take_voices"
    TAKE_CLIPS = "take_clips"
    TAKE_FILM = "take_film"


class ShotOverride(BaseModel):
    """One row of `shot_overrides`: the latest value of one field of one shot."""

    model_config = ConfigDict(frozen=True)

    seq: int
    field: OverrideField
    value: str


class Overrides(BaseModel):
    """All overrides of a project, merged over the storyboard by every stage."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ShotOverride, ...] = ()

    def apply(self, storyboard: Storyboard) -> Storyboard:
        """The storyboard as the operator wants it. Overrides of shots that do not exist change nothing."""
        shots = []
        for shot in storyboard.shots:
            changes = {
                item.field: item.value for item in self.items if item.seq == shot.seq and not item.field.startswith("take_")
            }
            shots.append(_changed(shot, changes))
        return storyboard.model_copy(update={"shots": tuple(shots)})

    def take(self, seq: int, field: OverrideField) -> int:
        """How often this shot's stage was asked for anew; 0 when never."""
        for item in self.items:
            if item.seq == seq and item.field is field:
                return int(item.value)
        return 0


def _changed(shot: Shot, changes: Mapping[OverrideField, str]) -> Shot:
    fields: dict[str, Any] = {field.value: value for field, value in changes.items() if field is not OverrideField.SPOKEN}
    for seed in (OverrideField.SEED, OverrideField.CLIP_SEED):
        if seed in changes:
            fields[seed.value] = int(changes[seed])
    changed = shot.model_copy(update=fields)
    if OverrideField.SPOKEN not in changes:
        return changed
    said_by = OverrideField.DIALOGUE if changed.dialogue else OverrideField.NARRATION
    return changed.model_copy(update={said_by.value: changes[OverrideField.SPOKEN]})


class _RawShot(BaseModel):
    """A shot as models write it: synonyms accepted, strings trimmed, nulls as empty."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    seq: int | None = Field(default=None, validation_alias=AliasChoices("seq", "index", "shot", "shot_no"))
    scene_desc: str = Field(
        min_length=1, validation_alias=AliasChoices("scene_desc", "scene", "scene_description", "description")
    )
    dialogue: str = Field(default="", validation_alias=AliasChoices("dialogue", "dialog", "line"))
    narration: str = Field(default="", validation_alias=AliasChoices("narration", "voiceover", "voice_over"))
    speaker: str = Field(default="", max_length=NAME_MAX_CHARS, validation_alias=AliasChoices("speaker", "character", "role"))
    duration_ms: int | None = Field(
        default=None, ge=SHOT_MS_MIN, le=SHOT_MS_MAX, validation_alias=AliasChoices("duration_ms", "durationMs")
    )
    image_prompt: str = Field(min_length=1, validation_alias=AliasChoices("image_prompt", "imagePrompt", "picture"))
    motion_prompt: str = Field(default="", validation_alias=AliasChoices("motion_prompt", "motionPrompt", "motion", "camera"))

    @field_validator("dialogue", "narration", "speaker", "motion_prompt", mode="before")
    @classmethod
    def _none_is_empty(cls, value: object) -> object:
        return "" if value is None else value

    @field_validator("scene_desc", "dialogue", "narration", "speaker", "image_prompt", "motion_prompt")
    @classmethod
    def _is_text(cls, value: str) -> str:
        if bad := _unreadable(value):
            raise ValueError(f"has the character {bad}, which is not text")
        if len(value) > TEXT_MAX_CHARS:
            raise ValueError(f"has {len(value)} characters, at most {TEXT_MAX_CHARS} are allowed")
        return value


def build_storyboard(document: object, *, shot_ms: int) -> Storyboard:
    """Turn a model's parsed JSON into a storyboard.

    Accepts `frames` for `shots`, one wrapper object around either, and a bare list of shots. A missing title becomes 未命名漫剧,
    a missing `duration_ms` becomes `shot_ms`. Raises InvalidAnswer whose `problems` names each shot and field that is wrong.
    """
    title, raw_shots = _find_shots(document)
    if not raw_shots:
        raise InvalidAnswer("the storyboard has no shots", problems="`shots` must be a list with at least one shot")
    title = " ".join(title.split())
    problems = [f"title: has the character {bad}, which is not text"] if (bad := _unreadable(title)) else []
    if len(title) > NAME_MAX_CHARS:
        problems.append(f"title: has {len(title)} characters, at most {NAME_MAX_CHARS} are allowed")
    shots: list[Shot] = []
    for position, raw in enumerate(raw_shots):
        try:
            parsed = _RawShot.model_validate(raw)
        except ValidationError as invalid:
            problems.extend(_explain(position, invalid))
            continue
        fields = parsed.model_dump()
        fields["seq"] = position if parsed.seq is None else parsed.seq
        fields["duration_ms"] = parsed.duration_ms or shot_ms
        shots.append(Shot.model_validate(fields))
    problems.extend(_numbering_problems([shot.seq for shot in shots]) if not problems else [])
    if problems:
        raise InvalidAnswer(f"the storyboard is not valid: {problems[0]}", problems="\n".join(problems))
    first = min(shot.seq for shot in shots)
    ordered = sorted(shots, key=lambda shot: shot.seq)
    # Models that number from 1 mean the same shots: only the origin differs.
    return Storyboard(
        title=title or UNTITLED,
        shots=tuple(shot.model_copy(update={"seq": shot.seq - first}) for shot in ordered),
    )


def _find_shots(document: object, *, outer_title: str = "") -> tuple[str, Sequence[object]]:
    if isinstance(document, list):
        return outer_title, document
    if not isinstance(document, Mapping):
        raise InvalidAnswer("the answer is not a JSON object", problems='Answer with one JSON object {"title", "shots"}')
    own_title = document.get("title")
    title = own_title if isinstance(own_title, str) and own_title.strip() else outer_title
    for key in ("shots", "frames", "items", "storyboard"):
        value = document.get(key)
        if isinstance(value, list):
            return title, value
    wrapped = [value for value in document.values() if isinstance(value, Mapping)]
    if len(wrapped) == 1:
        return _find_shots(wrapped[0], outer_title=title)
    raise InvalidAnswer(
        f"the answer has no list of shots, only {sorted(map(str, document))[:8]}", problems="the key `shots` (a list) is missing"
    )


def _unreadable(text: str) -> str | None:
    """The first character that ends a C string, breaks a line format, or cannot be stored: control characters and surrogates."""
    bad = next((char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\r\t"), None)
    return None if bad is None else f"U+{ord(bad):04X}"


def _numbering_problems(numbers: list[int]) -> list[str]:
    expected = list(range(min(numbers), min(numbers) + len(numbers)))
    if min(numbers) in (0, 1) and sorted(numbers) == expected:
        return []
    return [f"seq must count 0, 1, 2, … without gaps or repeats; got {numbers}"]


def _explain(position: int, invalid: ValidationError) -> list[str]:
    return [
        f"shot {position}: {'.'.join(map(str, error['loc'])) or 'shot'}: {error['msg']}"
        for error in invalid.errors(include_url=False, include_input=False)
    ]
