"""The gates of pictures, clips, voices and film: each rule broken alone."""

from decimal import Decimal
from typing import Any

import pytest

from comic_pipeline.model.media import Clip, Clips, FrameImage, FrameImages, MediaRef, Production, VoiceLine, VoiceLines
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.verdict import Severity
from comic_pipeline.quality.film import FilmFacts, judge_film
from comic_pipeline.quality.pictures import judge_clips, judge_frames
from comic_pipeline.quality.sound import judge_voices

WIDE = Frame(width=1280, height=720)
MADE = Production(task_id="t", provider="p", model="m", cost=Decimal(0), template_hash="", seconds=1.0, reused=False)
BOARD = Storyboard(
    title="t",
    shots=tuple(Shot(seq=seq, scene_desc="s", narration="你好，世界", duration_ms=5_000, image_prompt="p") for seq in (0, 1)),
)


def media(name: str, **facts: Any) -> MediaRef:
    """Stored bytes that are called `name`."""
    return MediaRef(key=name, sha256=name, size=1, mime="x/y", **({"width": 1280, "height": 720} | facts))


def frames(*changes: dict[str, Any]) -> FrameImages:
    """One picture for each change."""
    return FrameImages(
        frames=tuple(FrameImage(seq=seq, media=media(f"f{seq}", **change), made=MADE) for seq, change in enumerate(changes))
    )


def clips(*changes: dict[str, Any]) -> Clips:
    """One clip for each change."""
    return Clips(
        clips=tuple(
            Clip(seq=seq, media=media(f"c{seq}", **({"duration_ms": 5_000} | change)), made=MADE)
            for seq, change in enumerate(changes)
        )
    )


def lines(**change: Any) -> VoiceLines:
    """A good line, and one with `change`."""
    good = {"text": "你好，世界", "speaker": "", "media": media("v", duration_ms=1_500), "made": MADE}
    return VoiceLines(lines=(VoiceLine(seq=0, **good), VoiceLine(**({"seq": 1} | good | change))))


def test_good_media_have_no_findings() -> None:
    """Sizes that a model rounds to its own grid are good too."""
    assert judge_frames(frames({}, {"width": 2720, "height": 1536}), BOARD, frame=WIDE) == []
    assert judge_clips(clips({}, {"duration_ms": 4_960}), BOARD, frame=WIDE) == []
    assert judge_voices(lines(), BOARD) == []


@pytest.mark.parametrize(
    ("pictures", "rule"),
    [
        (frames({}), "picture_for_every_shot"),
        (frames({}, {"width": 640, "height": 640}), "aspect_as_asked"),
        (frames({}, {"width": 720, "height": 1280}), "aspect_as_asked"),
        (frames({}, {"width": None}), "has_a_size"),
    ],
)
def test_each_rule_of_pictures(pictures: FrameImages, rule: str) -> None:
    """Dramaclaw #165, #656: 16:9 asked, 640x640 or 9:16 delivered; story-flicks #32: a missing picture is named."""
    assert [finding.rule for finding in judge_frames(pictures, BOARD, frame=WIDE)] == [rule]


def test_a_card_in_a_pictures_place_is_a_warning() -> None:
    """Never shown as if it were the picture: WARN in QC and review."""
    board = frames({}, {})
    marked = board.model_copy(update={"frames": (board.frames[0], board.frames[1].model_copy(update={"fallback": True}))})
    (finding,) = judge_frames(marked, BOARD, frame=WIDE)
    assert (finding.rule, finding.severity, finding.seq) == ("picture_drawn", Severity.WARN, 1)


def test_two_shots_with_the_same_picture_are_noticed() -> None:
    """The second names the first."""
    twice = FrameImages(frames=tuple(FrameImage(seq=seq, media=media("same"), made=MADE) for seq in (0, 1)))
    (finding,) = judge_frames(twice, BOARD, frame=WIDE)
    assert (finding.rule, finding.seq, finding.measured) == ("pictures_differ", 1, "same bytes as shot 0")


@pytest.mark.parametrize(
    ("moving", "rule"),
    [
        (clips({}), "clip_for_every_shot"),
        (clips({}, {"width": 640, "height": 640}), "aspect_as_asked"),
        (clips({}, {"duration_ms": 3_000}), "clip_long_enough"),
    ],
)
def test_each_rule_of_clips(moving: Clips, rule: str) -> None:
    """A clip that is longer than asked is cut by the film and is no finding."""
    assert [finding.rule for finding in judge_clips(moving, BOARD, frame=WIDE)] == [rule]


@pytest.mark.parametrize("duration", [10, 60_000])
def test_a_line_of_impossible_length_closes_the_gate(duration: int) -> None:
    """Four characters in 10 ms, or in a minute."""
    (finding,) = judge_voices(lines(media=media("v", duration_ms=duration)), BOARD)
    assert (finding.rule, finding.severity) == ("length_fits_text", Severity.ERROR)


def test_a_silenced_line_is_a_warning() -> None:
    """The explicit policy shows; it does not block."""
    (finding,) = judge_voices(lines(media=None, made=None, silenced=True), BOARD)
    assert (finding.rule, finding.severity) == ("line_spoken", Severity.WARN)


GOOD = FilmFacts(
    codec="h264",
    pix_fmt="yuv420p",
    width=1280,
    height=720,
    fps=24.0,
    duration_ms=10_000,
    audio_codec="aac",
    audio_ms=10_021,
    subtitle_streams=1,
    faststart=True,
)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"codec": "hevc"}, "video_is_h264_yuv420p"),
        ({"pix_fmt": "yuv444p"}, "video_is_h264_yuv420p"),
        ({"audio_codec": "", "audio_ms": 10_000}, "audio_is_aac"),
        ({"width": 720, "height": 1280}, "size_as_asked"),
        ({"fps": 30.0}, "frame_rate"),
        ({"duration_ms": 9_700, "audio_ms": 9_700}, "length_as_planned"),
        ({"audio_ms": 9_000}, "sound_as_long_as_picture"),
        ({"subtitle_streams": 0}, "soft_subtitles"),
        ({"faststart": False}, "starts_before_it_is_loaded"),
    ],
)
def test_each_rule_of_the_film(change: dict[str, Any], rule: str) -> None:
    """A film without words needs no soft track; with words it needs one."""
    assert judge_film(GOOD, frame=WIDE, planned_ms=10_000, cues=3) == []
    findings = judge_film(GOOD.model_copy(update=change), frame=WIDE, planned_ms=10_000, cues=3)
    assert [finding.rule for finding in findings] == [rule]
