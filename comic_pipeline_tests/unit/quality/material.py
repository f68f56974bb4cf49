"""Documents and numbers of good material, for tests that spoil one thing at a time."""

from decimal import Decimal
from typing import Any

from comic_pipeline.model.measured import NO_RUN, ClipFacts, FilmFacts, PictureFacts, SoundFacts
from comic_pipeline.model.media import Clip, Clips, FrameImage, FrameImages, MediaRef, Production, VoiceLine, VoiceLines
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import Shot, Storyboard

WIDE = Frame(width=1280, height=720)
MADE = Production(task_id="t", provider="p", model="m", cost=Decimal(0), template_hash="", seconds=1.0, reused=False)
BOARD = Storyboard(
    title="t",
    shots=tuple(Shot(seq=seq, scene_desc="s", narration="你好，世界", duration_ms=5_000, image_prompt="p") for seq in (0, 1)),
)


def media(name: str, *, mime: str = "image/png") -> MediaRef:
    """Stored bytes that are called `name`."""
    return MediaRef(key=name, sha256=name, size=1, mime=mime)


def frames(*seqs: int) -> FrameImages:
    """A picture for each number."""
    return FrameImages(frames=tuple(FrameImage(seq=seq, media=media(f"f{seq}"), made=MADE) for seq in seqs))


def clips(*seqs: int) -> Clips:
    """A clip for each number."""
    return Clips(clips=tuple(Clip(seq=seq, media=media(f"c{seq}", mime="video/mp4"), made=MADE) for seq in seqs))


def lines(**change: Any) -> VoiceLines:
    """A good line, and one with `change`."""
    good: dict[str, Any] = {"text": "你好，世界", "speaker": "", "media": media("v", mime="audio/wav"), "made": MADE}
    return VoiceLines(lines=(VoiceLine(seq=0, **good), VoiceLine(**({"seq": 1} | good | change))))


def picture(seq: int = 0, **change: Any) -> PictureFacts:
    """A good picture; those of different shots differ in every bit."""
    good: dict[str, Any] = {
        "mime": "image/png",
        "width": 1920,
        "height": 1080,
        "brightness": 120.0,
        "contrast": 50.0,
        "sharpness": 700.0,
    }
    return PictureFacts(**(good | {"fingerprint": -seq % 2**256} | change))


def voice(**change: Any) -> SoundFacts:
    """A good voice of 1.5 s."""
    good: dict[str, Any] = {
        "mime": "audio/wav",
        "duration_ms": 1_500,
        "peak_dbfs": -1.5,
        "rms_dbfs": -18.6,
        "lufs": -18.7,
        "peak_share": 0.00004,
    }
    return SoundFacts(**(good | change))


def clip(**change: Any) -> ClipFacts:
    """A good clip of 5 s."""
    good: dict[str, Any] = {"width": 1280, "height": 720, "fps": 24.0, "duration_ms": 5_000, "black": NO_RUN, "still": NO_RUN}
    return ClipFacts(**(good | {"likeness": 0.87, "sound_dbfs": None} | change))


def film(**change: Any) -> FilmFacts:
    """A good film of 10 s with three cues."""
    streams: dict[str, Any] = {
        "codec": "h264",
        "pix_fmt": "yuv420p",
        "width": 1280,
        "height": 720,
        "fps": 24.0,
        "faststart": True,
    }
    times = {"start_ms": 0, "duration_ms": 10_000, "audio_start_ms": 0, "audio_ms": 10_021, "black": NO_RUN}
    sound = {"audio_codec": "aac", "lufs": -16.4, "true_peak_dbtp": -1.6}
    return FilmFacts(**(streams | times | sound | {"subtitle_streams": 1, "cues": 3} | change))
