"""Which provider does which craft: the four that the settings choose, and what users are called towards them.

A provider that is chosen without its key is refused here by the variable's name; nothing falls back to another provider.
"""

import hashlib
from dataclasses import dataclass

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.voices import Voice
from comic_pipeline.providers.ark_image import ArkImage
from comic_pipeline.providers.ark_text import ArkText
from comic_pipeline.providers.ark_video import ArkVideo
from comic_pipeline.providers.catalog import ARK_RESULT_HOSTS, OPENAI_RESULT_HOSTS
from comic_pipeline.providers.catalog_voice import OPENAI_VOICES, openspeech_voices, read_voices
from comic_pipeline.providers.http import Service
from comic_pipeline.providers.interface import ClipRequest, ImageRequest, Provider, TextRequest, VoiceRequest
from comic_pipeline.providers.offline.motion import OfflineVideo
from comic_pipeline.providers.offline.panels import OfflineImage
from comic_pipeline.providers.offline.story import OfflineText
from comic_pipeline.providers.offline.voice import OFFLINE_VOICES, OfflineVoice
from comic_pipeline.providers.openai_image import OpenAiImage
from comic_pipeline.providers.openai_text import OpenAiText
from comic_pipeline.providers.openai_voice import OpenAiVoice
from comic_pipeline.providers.openspeech_v1 import OpenSpeechV1, v1_cluster
from comic_pipeline.providers.openspeech_v3 import OpenSpeechV3
from comic_pipeline.settings import ImageProviderName, Settings, TextProviderName, VideoProviderName, VoiceProviderName


@dataclass(frozen=True)
class Providers:
    """The chosen provider of each craft, and the voices that speakers are given."""

    text: Provider[TextRequest]
    image: Provider[ImageRequest]
    voice: Provider[VoiceRequest]
    video: Provider[ClipRequest]
    voices: tuple[Voice, ...]

    async def close(self) -> None:
        """Let go of all connections; the providers can be used again."""
        for provider in (self.text, self.image, self.voice, self.video):
            await provider.close()


def build_providers(settings: Settings) -> Providers:
    """The chosen four. No connection is made. Raises Refused(INPUT_INVALID) naming what is missing or cannot be used."""
    missing = settings.missing_keys()
    if missing:
        raise Refused(ErrorCode.INPUT_INVALID, f"a chosen provider has no key: set {', '.join(missing)}")
    voices = _voices(settings)
    return Providers(
        text=_text(settings),
        image=_image(settings),
        voice=_voice(settings, voices[0].name),
        video=_video(settings),
        voices=voices,
    )


def user_hash(settings: Settings, user_id: str) -> str:
    """What providers may know of a user: 32 hex characters of a salted SHA-256, equal for all calls of that user."""
    salted = f"{settings.hash_salt.get_secret_value()}\0{user_id}"
    return hashlib.sha256(salted.encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def _text(settings: Settings) -> Provider[TextRequest]:
    if settings.text_provider is TextProviderName.ARK:
        return ArkText(ark_service(settings, "ark_text"), model=settings.ark_text_model)
    if settings.text_provider is TextProviderName.OPENAI:
        return OpenAiText(openai_service(settings, "openai_text"), model=settings.openai_text_model)
    return OfflineText()


def _image(settings: Settings) -> Provider[ImageRequest]:
    if settings.image_provider is ImageProviderName.ARK:
        return ArkImage(ark_service(settings, "ark_image"), model=settings.ark_image_model)
    if settings.image_provider is ImageProviderName.OPENAI:
        return OpenAiImage(openai_service(settings, "openai_image"), model=settings.openai_image_model)
    return OfflineImage()


def _voices(settings: Settings) -> tuple[Voice, ...]:
    """The configured voices, else the public ones. Raises Refused when there are none: cloned voices have no public names."""
    if settings.voice_provider is VoiceProviderName.OFFLINE:
        return OFFLINE_VOICES
    if settings.voice_provider is VoiceProviderName.OPENAI:
        return read_voices(settings.openai_voice) or OPENAI_VOICES
    resource, one_shot = settings.openspeech_resource, settings.openspeech_api == "v1"
    voices = read_voices(settings.openspeech_voice) or openspeech_voices(resource, one_shot=one_shot)
    if not voices:
        raise Refused(ErrorCode.INPUT_INVALID, f"OPENSPEECH_VOICE must name the voices of the resource {resource}")
    return voices


def _voice(settings: Settings, first: str) -> Provider[VoiceRequest]:
    if settings.voice_provider is VoiceProviderName.OPENSPEECH:
        return _openspeech(settings, first)
    if settings.voice_provider is VoiceProviderName.OPENAI:
        service = openai_service(settings, "openai_voice")
        return OpenAiVoice(service, model=settings.openai_voice_model, voice=first)
    return OfflineVoice()


def _video(settings: Settings) -> Provider[ClipRequest]:
    if settings.video_provider is VideoProviderName.ARK:
        return ArkVideo(ark_service(settings, "ark_video"), model=settings.ark_video_model)
    return OfflineVideo(ffmpeg=ffmpeg_path(settings.ffmpeg))


def ark_service(settings: Settings, name: str) -> Service:
    """The account at Volcengine Ark; `name` is what its attempts are booked under."""
    key = settings.ark_api_key.get_secret_value()
    return Service(
        name=name,
        base_url=settings.ark_base_url,
        headers={"Authorization": f"Bearer {key}"},
        secrets=(key,),
        own_hosts=ARK_RESULT_HOSTS,
        allowed_hosts=settings.allowed_hosts,
    )


def openai_service(settings: Settings, name: str) -> Service:
    """The account at OpenAI or a compatible service; `name` is what its attempts are booked under."""
    key = settings.openai_api_key.get_secret_value()
    return Service(
        name=name,
        base_url=settings.openai_base_url,
        headers={"Authorization": f"Bearer {key}"},
        secrets=(key,),
        own_hosts=OPENAI_RESULT_HOSTS,
        allowed_hosts=settings.allowed_hosts,
    )


def _openspeech(settings: Settings, voice: str) -> Provider[VoiceRequest]:
    token = settings.openspeech_token.get_secret_value()
    app_id, resource = settings.openspeech_app_id, settings.openspeech_resource
    one_shot = settings.openspeech_api == "v1"
    # V1: semicolon, no space.
    headers = {"Authorization": f"Bearer;{token}"} if one_shot else _v3_headers(app_id, token, resource=resource)
    service = Service(name="openspeech_voice", base_url=settings.openspeech_base_url, headers=headers, secrets=(token,))
    if one_shot:
        return OpenSpeechV1(service, app_id=app_id, cluster=v1_cluster(resource), voice=voice)
    return OpenSpeechV3(service, resource=resource, voice=voice)


def _v3_headers(app_id: str, token: str, *, resource: str) -> dict[str, str]:
    """The old console's app and token, or the new console's one key: a mixture fails with "load grant"."""
    account = {"X-Api-App-Id": app_id, "X-Api-Access-Key": token} if app_id else {"X-Api-Key": token}
    # Usage comes only when it is asked for.
    return account | {"X-Api-Resource-Id": resource, "X-Control-Require-Usage-Tokens-Return": "*"}
