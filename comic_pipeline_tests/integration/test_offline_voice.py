"""The built-in voice with the real engine: it says the whole text, alike every time, and nothing of it stays behind."""

import array
import asyncio
import io
import os
import time
import wave
from dataclasses import replace
from pathlib import Path

import espeakng_loader
import psutil
import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Language
from comic_pipeline.providers.interface import Done, Inline, VoiceRequest
from comic_pipeline.providers.offline import voice
from comic_pipeline.providers.offline.voice import MAX_CHARS, OFFLINE_VOICES, OfflineVoice, Utterance, plan_utterance, speak
from comic_pipeline.providers.offline.voice_child import level, trim

ZH = "月光洒在银色的沙丘上，小猫轻轻种下第一朵花。"
EN = "Moonlight falls on the silver dunes, and the little cat plants her first flower."


def line(text: str = ZH, *, language: Language = Language.ZH, speaker: str = "", name: str = "") -> VoiceRequest:
    return VoiceRequest(text=text, language=language, speaker=speaker, voice=name, user_hash="u")


def spoken(request: VoiceRequest) -> bytes:
    return sound_of(asyncio.run(OfflineVoice().submit(request)))


def sound_of(done: Done) -> bytes:
    assert isinstance(done.output, Inline)
    return done.output.data


def samples_of(wav: bytes) -> "array.array[int]":
    with wave.open(io.BytesIO(wav)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (22_050, 1, 2)
        return array.array("h", sound.readframes(sound.getnframes()))


def seconds(wav: bytes) -> float:
    return len(samples_of(wav)) / 22_050


@pytest.mark.parametrize(
    ("request_", "shortest", "longest"),
    [
        (line(), 4.0, 6.5),
        (line("你好"), 0.3, 1.0),
        (line("啊"), 0.08, 0.5),
        (line("2026年11月30日，气温-3.5度，涨了20%！"), 3.0, 9.0),
        (line("小猫说：hello world。"), 1.0, 3.0),
        (line(EN, language=Language.EN), 4.0, 6.5),
        (line("１２３"), 0.5, 2.0),
        (line("小猫 and the star", language=Language.EN), 0.8, 3.0),
        (line("第一行\r\n第二行\x00第三行\ud800"), 1.5, 4.5),
    ],
)
def test_a_line_lasts_as_long_as_its_words(request_: VoiceRequest, shortest: float, longest: float) -> None:
    """Words that are skipped make a line too short; letters that are spelled make it too long."""
    assert shortest < seconds(spoken(request_)) < longest


@pytest.mark.parametrize("name", ["", "f2", "m7", "f5"])
def test_a_line_is_loud_not_clipped_and_not_padded(name: str) -> None:
    """Levels are alike for all voices, and silence at the ends is short: the timeline adds its own."""
    samples = samples_of(spoken(line(name=name)))

    loudest = max(abs(value) for value in samples)
    assert 27_000 < loudest < 28_000
    assert sum(1 for value in samples if abs(value) > 1_000) > len(samples) / 5
    for end in (samples, reversed(samples)):
        assert next(i for i, value in enumerate(end) if abs(value) > 300) <= 0.06 * 22_050


def test_the_same_line_is_the_same_sound() -> None:
    """Unchanged inputs are reused by hash, so outputs must not differ; the engine seeds its noise with the clock's second."""
    first = spoken(line(name="f3"))
    time.sleep(1.1)

    assert spoken(line(name="f3")) == first


def test_the_first_voice_is_the_plain_one() -> None:
    """The narrator's; who asks for no voice gets it, whoever the speaker is."""
    assert plan_utterance(line()) == plan_utterance(line(speaker="小猫")) == plan_utterance(line(name="plain"))
    assert (plan_utterance(line()).voice, plan_utterance(line()).pitch) == ("cmn", 50)


def test_every_voice_sounds_different() -> None:
    """An unknown variant is no error for the engine: it silently speaks with the default voice. Pitch and pace differ too."""
    sounds = {voice.name: spoken(line("你好", name=voice.name)) for voice in OFFLINE_VOICES}
    assert len(set(sounds.values())) == len(OFFLINE_VOICES) == 13
    plain = [replace(plan_utterance(line("你好", name=name)), pitch=50, rate=190) for name in sounds]
    assert len({asyncio.run(speak(one, timeout=10)) for one in plain}) == len(OFFLINE_VOICES)


def test_each_language_has_its_voice() -> None:
    """English read by the Mandarin voice, or Chinese spelled out by the English one, is rubbish that measures like speech."""
    assert plan_utterance(line(EN, language=Language.EN)).voice == "en-us"
    assert plan_utterance(line("Hello!", language=Language.ZH)).voice == "cmn"
    assert plan_utterance(line("小猫 and the star", language=Language.EN)).voice == "cmn"


@pytest.mark.parametrize(
    "text", ["", "   ", "\n", "……", "！！！", "😀🎉", "♪～", "สวัสดี", "\x00", "-_-", "()", "啊" * (MAX_CHARS + 1)]
)
def test_a_line_that_cannot_be_spoken_is_refused(text: str) -> None:
    """Before any work, with the code for bad input: silence must not be sold as speech."""
    for ask in (OfflineVoice().describe, lambda request: asyncio.run(OfflineVoice().submit(request))):
        with pytest.raises(ProviderFault) as refused:
            ask(line(text))
        assert refused.value.code is ErrorCode.INPUT_INVALID


def test_a_voice_of_another_service_is_refused() -> None:
    """A voice name left over from another provider is an error, not the default voice."""
    with pytest.raises(ProviderFault, match=r"zh_female_vv_uranus_bigtts.*one of: plain") as refused:
        OfflineVoice().describe(line(name="zh_female_vv_uranus_bigtts"))
    assert refused.value.code is ErrorCode.INPUT_INVALID


def test_describe_holds_everything_that_decides_the_sound() -> None:
    """It is a part of the input hash: two lines that sound different must not share one."""
    described = OfflineVoice().describe(line(name="m7"))

    assert described == {"text": ZH, "voice": "cmn+m7", "pitch": 24, "rate": 162}


def test_many_lines_at_once() -> None:
    """The engine keeps global state; in processes of their own lines do not disturb each other."""
    texts = [f"第{number}句话" for number in range(6)]

    async def all_at_once() -> list[bytes]:
        dones = await asyncio.gather(*(OfflineVoice().submit(line(text)) for text in texts))
        return [sound_of(done) for done in dones]

    assert asyncio.run(all_at_once()) == [spoken(line(text)) for text in texts]


def speakers() -> list[int]:
    """Voices at work. A database server of other tests may be a child of this process too, with children that come and go."""
    return [child.pid for child in psutil.Process().children() if any("voice_child" in part for part in child.cmdline())]


def test_a_cancelled_line_leaves_no_process() -> None:
    """A stopped run must not leave voices talking on; the child is dead and reaped when the cancellation arrives."""

    async def cancel_in_the_middle() -> None:
        speaking = asyncio.create_task(OfflineVoice().submit(line("月" * MAX_CHARS)))
        while not speakers():  # noqa: ASYNC110 - nothing signals the start of another process
            await asyncio.sleep(0.005)
        speaking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await speaking
        assert speakers() == []

    asyncio.run(cancel_in_the_middle())


def test_a_line_that_takes_too_long_is_stopped() -> None:
    """The limit ends the child too."""
    with pytest.raises(ProviderFault) as late:
        asyncio.run(speak(Utterance(text="月" * MAX_CHARS, voice="cmn", pitch=50, rate=190), timeout=0.2))

    assert late.value.code is ErrorCode.PROVIDER_TIMEOUT
    assert speakers() == []


def test_what_the_engine_refuses_is_reported() -> None:
    """The child's own words reach the operator."""
    with pytest.raises(ProviderFault, match="refused voice 'no-such-voice'") as fault:
        asyncio.run(speak(Utterance(text="hello", voice="no-such-voice", pitch=50, rate=190), timeout=30))
    assert fault.value.code is ErrorCode.PROVIDER_ERROR


def test_the_engine_works_from_a_very_long_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine keeps its data path in 160 bytes; a deeply nested environment must speak all the same."""
    deep = tmp_path.joinpath(*["deeply-nested-环境"] * 12)
    deep.mkdir(parents=True)
    assert len(os.fsencode(deep)) > 200
    (deep / "espeakng_loader").symlink_to(Path(espeakng_loader.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", str(deep))

    assert seconds(spoken(line())) > 4


def test_a_line_starts_fast() -> None:
    """One process a line is affordable only while it imports next to nothing (measured 0.13 s; with pydantic 0.40 s)."""
    source = Path(voice.__file__).with_name("voice_child.py").read_text(encoding="utf-8")

    assert "comic_pipeline" not in source


def test_trim_keeps_a_breath_of_silence() -> None:
    """Silence is cut to 50 ms at each end; nothing but silence becomes nothing."""
    silence, tone = array.array("h", [0] * 1_000), array.array("h", [5_000] * 100)

    assert len(trim(silence + tone + silence, rate=1_000)) == 50 + 100 + 50
    assert len(trim(tone, rate=1_000)) == 100
    assert len(trim(silence, rate=1_000)) == 0


def test_level_handles_the_extremes() -> None:
    """The lowest sample has no positive twin in 16 bits; no samples and silence stay what they are."""
    assert list(level(array.array("h", [-32_768, 16_384]))) == [-27_500, 13_750]
    assert list(level(array.array("h", [0, 0]))) == [0, 0]
    assert list(level(array.array("h"))) == []
