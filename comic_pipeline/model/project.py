"""A project: one film to make, what was asked for, and which values are legal.

Belongs here: the enums, the request's validation, sizes. Does not: states and transitions (`workflow.py`), the storyboard.
"""

import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.style import STYLES, Style
from comic_pipeline.model.workflow import ProjectState, Stage

PROJECT_ID = re.compile(r"^[A-Za-z0-9_-]{1,63}$")
# Who asks, who decides: what the columns of the tables take.
PERSON_MAX_CHARS = 128
IDEA_MAX_CHARS = 2_000
SCRIPT_MAX_CHARS = 20_000
DEFAULT_IDEA = "一只小猫在月球上种花，遇到了会唱歌的星星"
FPS = 24

_E = TypeVar("_E", bound=StrEnum)


class Tier(StrEnum):
    """What the user has paid for; decides quota, budget and place in the queue."""

    FREE = "free"
    PREVIEW = "preview"
    PAID = "paid"
    PREMIUM = "premium"


class ProjectKind(StrEnum):
    """What the film is made from."""

    IDEA = "idea"
    SCRIPT = "script"


class Language(StrEnum):
    """The language that is spoken and written in the film."""

    ZH = "zh"
    EN = "en"


class Aspect(StrEnum):
    """Width to height."""

    WIDE = "16:9"
    TALL = "9:16"
    SQUARE = "1:1"


class Resolution(StrEnum):
    """Pixels of the film's shorter side."""

    HD = "720p"
    FULL_HD = "1080p"


class DurationBucket(StrEnum):
    """How long the film is meant to be."""

    SHORT_15 = "short_15"
    SHORT_30 = "short_30"
    MEDIUM_60 = "medium_60"
    LONG_120 = "long_120"


class BucketPlan(BaseModel):
    """How many shots of how many milliseconds a bucket asks for."""

    model_config = ConfigDict(frozen=True)

    shots: int
    shot_ms: int


BUCKETS: dict[DurationBucket, BucketPlan] = {
    DurationBucket.SHORT_15: BucketPlan(shots=3, shot_ms=5_000),
    DurationBucket.SHORT_30: BucketPlan(shots=3, shot_ms=10_000),
    DurationBucket.MEDIUM_60: BucketPlan(shots=6, shot_ms=10_000),
    DurationBucket.LONG_120: BucketPlan(shots=12, shot_ms=10_000),
}


class Frame(BaseModel):
    """A picture's size in pixels."""

    model_config = ConfigDict(frozen=True)

    width: int
    height: int


_FILM_SIZES: dict[tuple[Aspect, Resolution], tuple[int, int]] = {
    (Aspect.WIDE, Resolution.HD): (1280, 720),
    (Aspect.TALL, Resolution.HD): (720, 1280),
    (Aspect.SQUARE, Resolution.HD): (720, 720),
    (Aspect.WIDE, Resolution.FULL_HD): (1920, 1080),
    (Aspect.TALL, Resolution.FULL_HD): (1080, 1920),
    (Aspect.SQUARE, Resolution.FULL_HD): (1080, 1080),
}


def film_size(aspect: Aspect, resolution: Resolution) -> Frame:
    """The film's size in pixels: the shorter side is the resolution's number."""
    width, height = _FILM_SIZES[aspect, resolution]
    return Frame(width=width, height=height)


class ProduceRequest(BaseModel):
    """What a user asks for: exactly the payload of a `produce` submission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    idea: str = ""
    script: str = ""
    style: Style = STYLES["healing"]
    duration: DurationBucket = DurationBucket.SHORT_15
    aspect: Aspect = Aspect.WIDE
    resolution: Resolution = Resolution.HD

    @property
    def kind(self) -> ProjectKind:
        """A script wins over an idea when both are given."""
        return ProjectKind.SCRIPT if self.script else ProjectKind.IDEA

    @property
    def language(self) -> Language:
        """Chinese when the text has any Chinese character, English otherwise."""
        return detect_language(self.script or self.idea)


class Project(BaseModel):
    """One row of `projects`: what is made, for whom, and where it stands. Times are UTC, money is CNY."""

    model_config = ConfigDict(frozen=True)

    id: str
    user_id: str
    tier: Tier
    kind: ProjectKind
    title: str
    idea: str
    script: str
    style: str
    duration_bucket: DurationBucket
    aspect: Aspect
    resolution: Resolution
    language: Language
    status: ProjectState
    fail_stage: Stage | None = None
    retry_count: int = 0
    budget: Decimal
    cancel_requested: bool = False
    cancel_requested_at: datetime | None = None
    cancel_reason: str | None = None
    cancelled_at: datetime | None = None
    error_code: ErrorCode | None = None
    error_message: str | None = None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None

    @property
    def bucket(self) -> BucketPlan:
        """The number and length of the shots that were asked for."""
        return BUCKETS[self.duration_bucket]

    @property
    def size(self) -> Frame:
        """The film's size in pixels."""
        return film_size(self.aspect, self.resolution)

    @property
    def look(self) -> Style:
        """The style's words, palette and mood."""
        return STYLES[self.style]


class RawProduceRequest(BaseModel):
    """The same as it comes from outside: plain text in every field, nothing checked yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    idea: str = ""
    script: str = ""
    style: str = Field(default="healing", max_length=200)
    duration: str = Field(default=DurationBucket.SHORT_15.value, max_length=200)
    aspect: str = Field(default=Aspect.WIDE.value, max_length=200)
    resolution: str = Field(default=Resolution.HD.value, max_length=200)

    def checked(self) -> ProduceRequest:
        """The typed request. Raises Refused(INPUT_INVALID) naming the field, the value and what is allowed."""
        return ProduceRequest(
            idea=clean_text("idea", self.idea, limit=IDEA_MAX_CHARS, required=not self.script.strip()),
            script=clean_text("script", self.script, limit=SCRIPT_MAX_CHARS, required=bool(self.script.strip())),
            style=find_style(self.style),
            duration=_choice(DurationBucket, "duration", self.duration),
            aspect=_choice(Aspect, "aspect", self.aspect),
            resolution=_choice(Resolution, "resolution", self.resolution),
        )


def detect_language(text: str) -> Language:
    """Chinese when `text` has any CJK ideograph, English otherwise."""
    return Language.ZH if re.search(r"[\u3400-\u9fff]", text) else Language.EN


def clean_text(field: str, text: str, *, limit: int, required: bool) -> str:
    """Normalise user text (NFC, one kind of line end, stripped). Emoji stay. Raises Refused(INPUT_INVALID).

    Control characters are refused, not removed: they are a sign that something else than text was sent.
    """
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if required and not any(unicodedata.category(char)[0] in "LNS" for char in cleaned):
        raise Refused(ErrorCode.INPUT_INVALID, f"{field} is empty: write one sentence about what happens / 内容不能为空")
    if len(cleaned) > limit:
        raise Refused(ErrorCode.INPUT_INVALID, f"{field} has {len(cleaned)} characters, at most {limit} are allowed / 内容过长")
    bad = next((char for char in cleaned if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"), None)
    if bad is not None:
        raise Refused(ErrorCode.INPUT_INVALID, f"{field} has the control character U+{ord(bad):04X}; remove it / 含有控制字符")
    return cleaned


def check_project_id(value: str) -> str:
    """`value` if it can be a project id (a partition key, a path, a tag). Raises Refused(INPUT_INVALID)."""
    # `fullmatch`, because `$` alone lets a line end through.
    if not PROJECT_ID.fullmatch(value):
        raise Refused(ErrorCode.INPUT_INVALID, f"project id {value[:80]!r} must match {PROJECT_ID.pattern}")
    return value


def find_style(name: str) -> Style:
    """The style called `name` (its key or its Chinese name). Raises Refused(INPUT_INVALID) listing the known ones."""
    for style in STYLES.values():
        if name in (style.key, style.zh):
            return style
    known = ", ".join(f"{style.key} ({style.zh})" for style in STYLES.values())
    raise Refused(ErrorCode.INPUT_INVALID, f"style {name[:80]!r} is unknown; one of: {known}")


def _choice(kind: type[_E], field: str, value: str) -> _E:
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(member.value for member in kind)
        raise Refused(ErrorCode.INPUT_INVALID, f"{field} {value[:80]!r} is unknown; one of: {allowed}") from None
