"""What a film must be: label, music, what is checked, what is done when something is missing."""

import re
from functools import cached_property
from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from comic_pipeline.model.limits import parse_tiers
from comic_pipeline.model.project import Tier
from comic_pipeline.settings.choices import SYNTH_MUSIC, FrameFailure, VoiceFailure
from comic_pipeline.settings.places import expanded
from comic_pipeline.settings.sources import CONFIG

# Words that every glyph of the bundled font is there for, and of the two kinds that the standard asks for.
_LABEL_WORDS = re.compile(r"(?=.*(?:生成|合成|[Gg]enerated|GENERATED))[0-9A-Za-z一-龥 ·\-]+")
_LABEL_EM = 12


class Film(BaseSettings):
    """The look, the sound and the quality of films."""

    model_config = CONFIG

    on_voice_failure: VoiceFailure = Field(default=VoiceFailure.SILENCE, alias="COMIC_ON_VOICE_FAILURE")
    on_frame_failure: FrameFailure = Field(default=FrameFailure.FAIL, alias="COMIC_ON_FRAME_FAILURE")
    ai_label: bool = Field(
        default=True, alias="COMIC_AI_LABEL", description="label films, pictures and covers as made by AI (GB 45438-2025)"
    )
    ai_label_text: str = Field(default="AI生成", alias="COMIC_AI_LABEL_TEXT", description="its words in the picture")
    ai_label_whole_film: bool = Field(
        default=False, alias="COMIC_AI_LABEL_WHOLE_FILM", description="show it all through the film, not only at its beginning"
    )
    ai_label_producer: str = Field(
        default="comic_pipeline",
        min_length=1,
        max_length=128,
        alias="COMIC_AI_LABEL_PRODUCER",
        description="name or code of who makes the films, for the mark in files",
    )
    ai_label_propagator: str = Field(
        default="", max_length=128, alias="COMIC_AI_LABEL_PROPAGATOR", description="name or code of who publishes them, if known"
    )
    music: str = Field(
        default=SYNTH_MUSIC,
        alias="COMIC_MUSIC",
        min_length=1,
        description="`synth`, `none`, a file of this machine (begins with / ./ ../ ~) or an object key",
    )
    crossfade_ms: int = Field(
        default=0, ge=0, le=2_000, alias="COMIC_CROSSFADE_MS", description="how long shots fade into each other; 0: they are cut"
    )
    qc_remakes: int = Field(
        default=1, ge=0, le=4, alias="COMIC_QC_REMAKES", description="rounds by which a closed gate has its shots made anew"
    )
    auto_approve_text: str = Field(
        default="", alias="COMIC_AUTO_APPROVE", description="tiers released without a person when no check found anything"
    )
    banned_words_text: str = Field(
        default="", alias="COMIC_BANNED_WORDS", description="words that close the storyboard's gate, separated by commas"
    )

    @field_validator("ai_label_text")
    @classmethod
    def _label_says_so(cls, text: str) -> str:
        if not _LABEL_WORDS.fullmatch(text) or not re.search(r"AI|人工智能", text):
            raise ValueError("write letters and Chinese characters that name AI or 人工智能, and 生成, 合成 or generated")
        if sum(1.0 if ord(char) > 0x2E7F else 0.6 for char in text) > _LABEL_EM:
            raise ValueError(f"at most {_LABEL_EM} Chinese characters or {round(_LABEL_EM / 0.6)} letters fit into the picture")
        return text

    @field_validator("music")
    @classmethod
    def _music_expandable(cls, music: str) -> str:
        expanded(Path(music))
        return music

    @field_validator("auto_approve_text")
    @classmethod
    def _tiers_readable(cls, text: str) -> str:
        parse_tiers(text)
        return text

    @cached_property
    def banned_words(self) -> tuple[str, ...]:
        """Words that may not occur in a storyboard; full-width commas separate as well."""
        return tuple(filter(None, (word.strip() for word in self.banned_words_text.replace("，", ",").split(","))))

    @cached_property
    def auto_approve(self) -> frozenset[Tier]:
        """Tiers whose films need no person when nothing was found; premium never does."""
        return parse_tiers(self.auto_approve_text)
