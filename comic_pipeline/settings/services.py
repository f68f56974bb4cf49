"""Who does the work: providers, their addresses, keys and models."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from comic_pipeline.settings.choices import ImageProviderName, TextProviderName, VideoProviderName, VoiceProviderName
from comic_pipeline.settings.sources import CONFIG

_VOICES_HELP = "one voice for all speakers, or several by comma: the narrator's first; empty: the public ones, one a speaker"


class Services(BaseSettings):
    """The chosen providers. Nothing falls back to another one."""

    model_config = CONFIG

    text_provider: TextProviderName = Field(default=TextProviderName.OFFLINE, alias="COMIC_TEXT_PROVIDER")
    image_provider: ImageProviderName = Field(default=ImageProviderName.OFFLINE, alias="COMIC_IMAGE_PROVIDER")
    voice_provider: VoiceProviderName = Field(default=VoiceProviderName.OFFLINE, alias="COMIC_VOICE_PROVIDER")
    video_provider: VideoProviderName = Field(default=VideoProviderName.OFFLINE, alias="COMIC_VIDEO_PROVIDER")

    ark_api_key: SecretStr = Field(default=SecretStr(""), alias="ARK_API_KEY")
    ark_base_url: str = Field(default="https://ark.cn-beijing.volces.com/api/v3", alias="ARK_BASE_URL")
    ark_text_model: str = Field(default="doubao-seed-2-1-pro-260628", alias="ARK_TEXT_MODEL")
    ark_image_model: str = Field(default="doubao-seedream-5-0-260128", alias="ARK_IMAGE_MODEL")
    ark_video_model: str = Field(default="doubao-seedance-2-0-260128", alias="ARK_VIDEO_MODEL")
    openspeech_app_id: str = Field(default="", alias="OPENSPEECH_APP_ID", description="app id; empty for the new console's key")
    openspeech_token: SecretStr = Field(
        default=SecretStr(""), alias="OPENSPEECH_TOKEN", description="access token, or API key of the new console (v3)"
    )
    openspeech_base_url: str = Field(default="https://openspeech.bytedance.com", alias="OPENSPEECH_BASE_URL")
    openspeech_api: str = Field(
        default="v3", alias="OPENSPEECH_API", pattern="^v[13]$", description="v1 one-shot or v3 one-way stream"
    )
    openspeech_resource: str = Field(
        default="seed-tts-2.0", alias="OPENSPEECH_RESOURCE", description="v3 resource id, v1 cluster"
    )
    openspeech_voice: str = Field(default="", alias="OPENSPEECH_VOICE", description=_VOICES_HELP)
    openai_api_key: SecretStr = Field(default=SecretStr(""), alias="OPENAI_API_KEY")
    openai_base_url: str = Field(default="https://api.openai.com/v1", alias="OPENAI_BASE_URL")
    openai_text_model: str = Field(default="gpt-4.1", alias="OPENAI_TEXT_MODEL")
    openai_image_model: str = Field(default="gpt-image-1", alias="OPENAI_IMAGE_MODEL")
    openai_voice_model: str = Field(default="gpt-4o-mini-tts", alias="OPENAI_VOICE_MODEL")
    openai_voice: str = Field(default="", alias="OPENAI_VOICE", description=_VOICES_HELP)
    hash_salt: SecretStr = Field(
        default=SecretStr("comic"), alias="COMIC_HASH_SALT", description="salts the user hash sent to providers"
    )
    ffmpeg: str = Field(default="", alias="COMIC_FFMPEG", description="another ffmpeg than the bundled one")
    provider_hosts: str = Field(
        default="", alias="COMIC_PROVIDER_HOSTS", description="extra hosts that results may be fetched from, plain http allowed"
    )

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Extra hosts for results, as `host` or `host:port`."""
        return frozenset(filter(None, (host.strip() for host in self.provider_hosts.split(","))))

    def missing_keys(self) -> list[str]:
        """Environment variables that the chosen providers need and that are empty."""
        chosen = {self.text_provider.value, self.image_provider.value, self.voice_provider.value, self.video_provider.value}
        missing = []
        if "ark" in chosen and not self.ark_api_key.get_secret_value():
            missing.append("ARK_API_KEY")
        if "openai" in chosen and not self.openai_api_key.get_secret_value():
            missing.append("OPENAI_API_KEY")
        if "openspeech" in chosen:
            has_token = bool(self.openspeech_token.get_secret_value())
            # The new console gives one key and no app; V1 does not know it.
            if not self.openspeech_app_id and not (has_token and self.openspeech_api == "v3"):
                missing.append("OPENSPEECH_APP_ID")
            if not has_token:
                missing.append("OPENSPEECH_TOKEN")
        return missing
