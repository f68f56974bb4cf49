"""The built-in voice: eSpeak NG in a child process. Robotic, but it speaks every word, and alike every time.

Belongs here: which voice says a line, and the child's life. Does not: the engine itself (`voice_child.py`).
"""

import io
import json
import re
import unicodedata
import wave
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Language, detect_language
from comic_pipeline.model.voices import Age, Gender, Voice
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, VoiceRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.child import run_child

MAX_CHARS = 1_000
TIMEOUT = 60.0  # seconds; a line of 20 characters takes 0.1 s, one of 1,000 about 1.5 s


@dataclass(frozen=True)
class _Timbre:
    """How the engine makes a voice: variant (an unknown one would silently be the plain one), pitch 0–99, share of the pace."""

    variant: str
    pitch: int
    pace: float = 1.0


_F, _M = Gender.FEMALE, Gender.MALE
_TIMBRES: dict[Voice, _Timbre] = {
    Voice("plain"): _Timbre("", 50),
    Voice("f2", _F): _Timbre("f2", 60),
    Voice("m3", _M): _Timbre("m3", 36),
    Voice("f4", _F, Age.YOUNG): _Timbre("f4", 68, 1.05),
    Voice("m1", _M, Age.YOUNG): _Timbre("m1", 56, 1.05),
    Voice("f5", _F, Age.CHILD): _Timbre("f5", 88, 1.05),
    Voice("m6", _M, Age.CHILD): _Timbre("m6", 80, 1.05),
    Voice("f1", _F, Age.OLD): _Timbre("f1", 30, 0.85),
    Voice("m7", _M, Age.OLD): _Timbre("m7", 24, 0.85),
    Voice("f3", _F): _Timbre("f3", 48),
    Voice("m2", _M): _Timbre("m2", 44),
    Voice("m4", _M): _Timbre("m4", 50, 0.95),
    Voice("m5", _M): _Timbre("m5", 30),
}
# In the order in which they are given out; the first one is the narrator's.
OFFLINE_VOICES: tuple[Voice, ...] = tuple(_TIMBRES)
_BY_NAME = {voice.name: timbre for voice, timbre in _TIMBRES.items()}
# Words a minute by the engine's count: 4.1 characters (zh) and 3 words (en) a second, measured with pauses.
_WORDS_PER_MINUTE = {Language.ZH: 190, Language.EN: 150}

# What the two voices can pronounce: Latin letters, digits, Chinese characters. Other scripts come out as "letter, letter".
_SPEAKABLE = re.compile(r"[0-9A-Za-z\u00c0-\u024f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
# The engine skips full-width digits and spells full-width letters.
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}


@dataclass(frozen=True)
class Utterance:
    """What the child is told, in the engine's terms: pitch 0–99, rate in words a minute."""

    text: str
    voice: str
    pitch: int
    rate: int


def plan_utterance(request: VoiceRequest) -> Utterance:
    """Who says what, how: `request.voice` is one of OFFLINE_VOICES, empty for the first. Raises ProviderFault(INPUT_INVALID).

    English text with Chinese in it is left to the Mandarin voice, which reads both.
    """
    text = _speakable(request.text)
    mandarin = request.language is Language.ZH or detect_language(text) is Language.ZH
    language = Language.ZH if mandarin else Language.EN
    base = "cmn" if mandarin else "en-us"
    timbre = _BY_NAME.get(request.voice or OFFLINE_VOICES[0].name)
    if timbre is None:
        raise ProviderFault(
            ErrorCode.INPUT_INVALID, f"voice {request.voice[:40]!r} is unknown to offline_voice; one of: {', '.join(_BY_NAME)}"
        )
    return Utterance(
        text=text,
        voice=f"{base}+{timbre.variant}" if timbre.variant else base,
        pitch=timbre.pitch,
        rate=round(_WORDS_PER_MINUTE[language] * timbre.pace),
    )


def _speakable(text: str) -> str:
    if len(text) > MAX_CHARS:
        raise ProviderFault(ErrorCode.INPUT_INVALID, f"the line has {len(text)} characters, at most {MAX_CHARS} can be spoken")
    plain = "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text.translate(_HALF_WIDTH)).strip()
    if not _SPEAKABLE.search(plain):
        raise ProviderFault(
            ErrorCode.INPUT_INVALID,
            f"nothing in the line {text[:40]!r} can be spoken: it has no Chinese or Latin word and no number",
        )
    return plain


class OfflineVoice(AnswersAtOnce):
    """Speaks Mandarin and English without a network; `Provider[VoiceRequest]`. Results are WAV, 22,050 Hz, mono, 16 bits."""

    name = "offline_voice"
    model = "espeak-ng-1.52"
    base_url = ""
    asynchronous = False
    offline = True

    def describe(self, request: VoiceRequest) -> JsonObject:
        """Everything that decides the sound. Raises ProviderFault(INPUT_INVALID) when nothing in the text can be spoken."""
        return asdict(plan_utterance(request))

    def estimate(self, request: VoiceRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Always zero."""
        return Decimal(0)

    async def submit(self, request: VoiceRequest, *, go: Go = at_once) -> Done:
        """Speak the line. Raises ProviderFault: INPUT_INVALID (nothing to say), PROVIDER_TIMEOUT or PROVIDER_ERROR."""
        await go()
        utterance = plan_utterance(request)
        wav = await speak(utterance, timeout=TIMEOUT)
        with wave.open(io.BytesIO(wav)) as sound:
            if sound.getnframes() == 0:
                raise ProviderFault(ErrorCode.INPUT_INVALID, f"the line {request.text[:40]!r} made no sound")
        return Done(output=Inline(wav), usage={"characters": len(utterance.text)}, cost=Decimal(0))


async def speak(utterance: Utterance, *, timeout: float) -> bytes:  # noqa: ASYNC109 - the child must be killed at the limit
    """WAV bytes from a child process. Raises ProviderFault as `run_child` does."""
    # Started as a file, not with -m: the packages above it would be imported first (0.40 s a line instead of 0.13 s).
    child = Path(__file__).with_name("voice_child.py")
    return await run_child((str(child),), json.dumps(asdict(utterance)).encode(), what="voice", limit=timeout)
