"""Delivered bytes against what they must be: decoded, measured, named by what they are and not by what was said of them."""

from comic_pipeline.media.probe import measure_audio, measure_image, measure_video
from comic_pipeline.media.sound import SPEECH_FLOOR_LUFS
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline.work.orders import Verified

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/aac": "aac",
    "audio/mp4": "m4a",
    "video/mp4": "mp4",
    "video/quicktime": "mov",
}


def verify_image(data: bytes) -> Verified:
    """A still picture. Raises MediaFault."""
    facts = measure_image(data)
    return Verified(data, mime=facts.mime, ending=_ending(facts.mime), width=facts.width, height=facts.height)


def verify_voice(data: bytes) -> Verified:
    """A sound with a length. Raises MediaFault."""
    facts = measure_audio(data)
    if facts.duration_ms <= 0:
        raise MediaFault(ErrorCode.PROVIDER_ERROR, "the delivered voice has no sound in it (0 ms)")
    return Verified(data, mime=facts.mime, ending=_ending(facts.mime), duration_ms=facts.duration_ms)


def verify_music(data: bytes) -> Verified:
    """A sound that can be heard: silence or faint noise would only be made louder. Raises MediaFault."""
    facts = measure_audio(data)
    if facts.lufs < SPEECH_FLOOR_LUFS:
        raise MediaFault(ErrorCode.PROVIDER_ERROR, f"the music cannot be heard: it measures {facts.lufs} LUFS")
    return Verified(data, mime=facts.mime, ending=_ending(facts.mime), duration_ms=facts.duration_ms)


def verify_video(data: bytes) -> Verified:
    """A moving picture that decodes to its end. Raises MediaFault."""
    facts = measure_video(data)
    return Verified(
        data, mime=facts.mime, ending=_ending(facts.mime), width=facts.width, height=facts.height, duration_ms=facts.duration_ms
    )


def _ending(mime: str) -> str:
    ending = _ENDINGS.get(mime)
    if ending is None:
        raise MediaFault(ErrorCode.PROVIDER_ERROR, f"the delivered file is {mime}, which no stage can use")
    return ending
