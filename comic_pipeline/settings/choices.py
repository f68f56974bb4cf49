"""The words that some variables take."""

from enum import StrEnum

SYNTH_MUSIC, NO_MUSIC = "synth", "none"


class TextProviderName(StrEnum):
    """Who writes."""

    OFFLINE = "offline"
    ARK = "ark"
    OPENAI = "openai"


class ImageProviderName(StrEnum):
    """Who draws."""

    OFFLINE = "offline"
    ARK = "ark"
    OPENAI = "openai"


class VoiceProviderName(StrEnum):
    """Who speaks."""

    OFFLINE = "offline"
    OPENSPEECH = "openspeech"
    OPENAI = "openai"


class VideoProviderName(StrEnum):
    """Who moves pictures."""

    OFFLINE = "offline"
    ARK = "ark"


class VoiceFailure(StrEnum):
    """What a line that cannot be spoken does to the film."""

    SILENCE = "silence"
    FAIL = "fail"


class FrameFailure(StrEnum):
    """What a picture that cannot be made does to the film."""

    FAIL = "fail"
    PLACEHOLDER = "placeholder"


class WebhookStyle(StrEnum):
    """Who receives notices."""

    JSON = "json"
    FEISHU = "feishu"
    DINGTALK = "dingtalk"
    SLACK = "slack"


class Cleanup(StrEnum):
    """What the daily clean-up does about what it finds."""

    REPORT = "report"
    DELETE = "delete"
