"""Everything the environment can set: one class, one table in the README. `os.environ` is read nowhere else.

The class is put together from its parts, one module a concern.
"""

from comic_pipeline.settings.choices import (
    NO_MUSIC,
    SYNTH_MUSIC,
    Cleanup,
    FrameFailure,
    ImageProviderName,
    TextProviderName,
    VideoProviderName,
    VoiceFailure,
    VoiceProviderName,
    WebhookStyle,
)
from comic_pipeline.settings.reading import (
    Settings,
    child_environment,
    container_environment,
    load_settings,
    misspelled,
    process_environment,
)

__all__ = [
    "NO_MUSIC",
    "SYNTH_MUSIC",
    "Cleanup",
    "FrameFailure",
    "ImageProviderName",
    "Settings",
    "TextProviderName",
    "VideoProviderName",
    "VoiceFailure",
    "VoiceProviderName",
    "WebhookStyle",
    "child_environment",
    "container_environment",
    "load_settings",
    "misspelled",
    "process_environment",
]
