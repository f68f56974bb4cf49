"""Environments for deployments and in-process projects under test."""

from comic_pipeline_tests.sandbox.process import Sandbox


def sandbox_environment(sandbox: Sandbox, **changes: str) -> dict[str, str]:
    """Settings of a deployment whose every provider is the sandbox, with short waits."""
    return {
        "COMIC_TEXT_PROVIDER": "ark",
        "COMIC_IMAGE_PROVIDER": "ark",
        "COMIC_VOICE_PROVIDER": "openspeech",
        "COMIC_VIDEO_PROVIDER": "ark",
        "ARK_API_KEY": sandbox.api_key,
        "ARK_BASE_URL": sandbox.ark_base_url,
        "OPENSPEECH_APP_ID": sandbox.app_id,
        "OPENSPEECH_TOKEN": sandbox.api_key,
        "OPENSPEECH_BASE_URL": sandbox.openspeech_base_url,
        "COMIC_PROVIDER_HOSTS": sandbox.host,
        # Seconds of playing that most tests are not about; the demo and the tests of music play.
        "COMIC_MUSIC": "none",
        "COMIC_POLL_SECONDS": "0.5",
        "COMIC_RETRY_DELAYS": "0.5,0.5,0.5",
        "COMIC_LEASE_SECONDS": "10",
        "COMIC_LOST_GRACE": "2",
        "COMIC_LIMITS": "ark_video=10/20,ark_image=10/20,ark_text=5/20,openspeech_voice=10/20",
        **changes,
    }
