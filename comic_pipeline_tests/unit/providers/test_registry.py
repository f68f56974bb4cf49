"""Which provider is built, with which address and key, and what is refused."""

import json
from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.providers.catalog_voice import openspeech_voices
from comic_pipeline.providers.registry import build_providers, user_hash
from comic_pipeline.settings import Settings
from comic_pipeline_tests.sandbox.speech import _belongs
from comic_pipeline_tests.unit.providers.vendor import run, voice_request

ARK = {"text_provider": "ark", "image_provider": "ark", "video_provider": "ark", "ark_api_key": "k-ark-1"}
SPEECH = {"voice_provider": "openspeech", "openspeech_app_id": "123", "openspeech_token": "t-speech-1"}
OPENAI = {"text_provider": "openai", "image_provider": "openai", "voice_provider": "openai", "openai_api_key": "k-open-1"}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine must not decide what is built here."""
    import os

    for name in list(os.environ):
        if name.startswith(("COMIC_", "ARK_", "OPENAI_", "OPENSPEECH_")):
            monkeypatch.delenv(name)


def settings(**values: Any) -> Settings:
    return Settings(**values)


def headers(provider: Any) -> dict[str, str]:
    return dict(provider._wire.service.headers)


def test_default_is_offline() -> None:
    """Without any setting nothing of ours can spend money."""
    providers = build_providers(settings())
    chosen = (providers.text, providers.image, providers.voice, providers.video)
    assert [provider.name for provider in chosen] == ["offline_text", "offline_image", "offline_voice", "offline_video"]
    assert all(provider.offline for provider in chosen)
    run(providers.close())


def test_ark_and_openspeech_are_built_as_chosen() -> None:
    """Names key limits, tags and the ledger, so they are fixed."""
    providers = build_providers(settings(**ARK, **SPEECH))
    chosen = (providers.text, providers.image, providers.voice, providers.video)
    assert [provider.name for provider in chosen] == ["ark_text", "ark_image", "openspeech_voice", "ark_video"]
    assert [provider.asynchronous for provider in chosen] == [False, False, False, True]
    assert not any(provider.offline for provider in chosen)
    assert providers.video.base_url == "https://ark.cn-beijing.volces.com/api/v3"
    assert headers(providers.video) == {"Authorization": "Bearer k-ark-1"}
    assert providers.video.model == "doubao-seedance-2-0-260128"
    run(providers.close())


def test_openai_is_built_as_chosen() -> None:
    """A compatible service is reached by its own address and key."""
    providers = build_providers(settings(**OPENAI, openai_base_url="https://relay.example/v1/"))
    chosen = (providers.text, providers.image, providers.voice)
    assert [provider.name for provider in chosen] == ["openai_text", "openai_image", "openai_voice"]
    assert {provider.base_url for provider in chosen} == {"https://relay.example/v1"}
    assert headers(providers.voice) == {"Authorization": "Bearer k-open-1"}


def test_speech_headers_differ_by_api() -> None:
    """V1 wants `Bearer;token`, V3 the old console's three headers; mixing the consoles fails with "load grant"."""
    one = build_providers(settings(**SPEECH, openspeech_api="v1")).voice
    three = build_providers(settings(**SPEECH, openspeech_api="v3")).voice
    assert headers(one) == {"Authorization": "Bearer;t-speech-1"}
    assert one.model == "volcano_tts"
    assert headers(three) == {
        "X-Api-App-Id": "123",
        "X-Api-Access-Key": "t-speech-1",
        "X-Api-Resource-Id": "seed-tts-2.0",
        "X-Control-Require-Usage-Tokens-Return": "*",
    }
    assert three.model == "seed-tts-2.0"


def test_a_key_of_the_new_console_goes_alone() -> None:
    """That console gives no app: its users could not speak at all. App and key together fail with "load grant"."""
    provider = build_providers(settings(voice_provider="openspeech", openspeech_token="t-new-1")).voice
    assert headers(provider) == {
        "X-Api-Key": "t-new-1",
        "X-Api-Resource-Id": "seed-tts-2.0",
        "X-Control-Require-Usage-Tokens-Return": "*",
    }


@pytest.mark.parametrize(
    ("values", "first", "count"),
    [
        ({}, "plain", 13),
        ({**SPEECH}, "zh_female_vv_uranus_bigtts", 12),
        ({**SPEECH, "openspeech_resource": "seed-tts-1.0"}, "zh_female_shuangkuaisisi_moon_bigtts", 10),
        ({**SPEECH, "openspeech_api": "v1"}, "zh_female_shuangkuaisisi_moon_bigtts", 10),
        ({**SPEECH, "openspeech_voice": "S_one"}, "S_one", 1),
        ({**SPEECH, "openspeech_resource": "seed-icl-2.0", "openspeech_voice": " S_one, S_two,S_one,"}, "S_one", 2),
        ({**OPENAI}, "alloy", 9),
        ({**OPENAI, "openai_voice": "Cherry,Ethan"}, "Cherry", 2),
    ],
)
def test_voices_are_the_configured_ones_or_the_public_ones(values: dict[str, str], first: str, count: int) -> None:
    """Each name once; the first one also speaks for a request that names none. A generation's voices fit its resource only."""
    providers = build_providers(settings(**values))
    assert (providers.voices[0].name, len(providers.voices)) == (first, count)
    assert len({voice.name for voice in providers.voices}) == count
    described = json.dumps(providers.voice.describe(voice_request()))
    assert first in described or first == "plain"


def test_cloned_voices_must_be_named() -> None:
    """Only their owner knows them; a public voice with their resource is refused by the vendor (55000000)."""
    with pytest.raises(Refused, match=r"OPENSPEECH_VOICE must name the voices of the resource seed-icl-2\.0"):
        build_providers(settings(**SPEECH, openspeech_resource="seed-icl-2.0"))


@pytest.mark.parametrize("resource", ["seed-tts-2.0", "seed-tts-1.0"])
def test_the_sandbox_takes_every_public_voice_with_its_resource(resource: str) -> None:
    """The vendor refuses a voice of one generation with the resource of the other."""
    assert all(_belongs(voice.name, resource) for voice in openspeech_voices(resource, one_shot=False))


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"text_provider": "ark"}, ["ARK_API_KEY"]),
        ({"voice_provider": "openspeech"}, ["OPENSPEECH_APP_ID", "OPENSPEECH_TOKEN"]),
        ({"voice_provider": "openspeech", "openspeech_app_id": "1"}, ["OPENSPEECH_TOKEN"]),
        ({"image_provider": "openai", "video_provider": "ark"}, ["ARK_API_KEY", "OPENAI_API_KEY"]),
    ],
)
def test_provider_without_its_key_is_refused_by_name(values: dict[str, str], missing: list[str]) -> None:
    """A missing key must never turn into an offline film that looks like a real one."""
    with pytest.raises(Refused) as caught:
        build_providers(settings(**values))
    assert caught.value.code is ErrorCode.INPUT_INVALID
    assert all(name in str(caught.value) for name in missing)


def test_user_hash_is_stable_salted_and_says_nothing() -> None:
    """The vendor can tell users apart, but not who they are, and not across deployments."""
    one = user_hash(settings(hash_salt="a"), "user-1")
    assert len(one) == 32
    assert set(one) <= set("0123456789abcdef")
    assert one == user_hash(settings(hash_salt="a"), "user-1")
    assert one != user_hash(settings(hash_salt="b"), "user-1")
    assert one != user_hash(settings(hash_salt="a"), "user-2")
    assert "user" not in one
