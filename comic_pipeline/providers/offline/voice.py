"""The built-in voice: eSpeak NG in a child process. Robotic, but it speaks every word, and alike every time.

Belongs here: which voice says a line, and the child's life. Does not: the engine itself (`voice_child.py`).
"""

import hashlib
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
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, VoiceRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.child import run_child

MAX_CHARS = 1_000
TIMEOUT = 60.0  # seconds; a line of 20 characters takes 0.1 s, one of 1,000 about 1.5 s

# The variants of the engine that still sound like people; an unknown one would silently become the default.
VARIANTS = ("f1", "f2", "f3", "f4", "f5", "m1", "m2", "m3", "m4", "m5", "m6", "m7")
_NARRATOR_PITCH = 50
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
    """Who says what, how: the same speaker always has the same voice. Raises ProviderFault(INPUT_INVALID).

    A named speaker gets a variant and a pitch from the hash of the name, the narrator (no name) the plain voice. `request.voice`
    may name one of VARIANTS. English text with Chinese in it is left to the Mandarin voice, which reads both.
    """
    text = _speakable(request.text)
    mandarin = request.language is Language.ZH or detect_language(text) is Language.ZH
    language = Language.ZH if mandarin else Language.EN
    base = "cmn" if mandarin else "en-us"
    if request.voice and request.voice not in VARIANTS:
        raise ProviderFault(
            ErrorCode.INPUT_INVALID, f"voice {request.voice[:40]!r} is unknown to offline_voice; one of: {', '.join(VARIANTS)}"
        )
    variant, pitch = request.voice, _NARRATOR_PITCH
    if request.speaker:
        digest = hashlib.sha256(request.speaker.encode("utf-8", "replace")).digest()
        variant = request.voice or VARIANTS[digest[0] % len(VARIANTS)]
        pitch = 36 + digest[1] % 29
    return Utterance(text=text, voice=f"{base}+{variant}" if variant else base, pitch=pitch, rate=_WORDS_PER_MINUTE[language])


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
