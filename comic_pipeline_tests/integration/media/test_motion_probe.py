"""Clips and films really made bad: what is measured of them closes the gate by the rule that names the fault."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from comic_pipeline.media.film_probe import measure_film
from comic_pipeline.media.likeness import likeness
from comic_pipeline.media.motion_probe import MotionFacts, measure_motion
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.model.measured import ClipFacts, SoundFacts
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Severity
from comic_pipeline.quality.clips import judge_clips
from comic_pipeline.quality.film import judge_film
from comic_pipeline.quality.voices import judge_voices
from comic_pipeline_tests.integration.media.conftest import Make
from comic_pipeline_tests.sandbox.clips import ClipPlan, render_clip
from comic_pipeline_tests.sandbox.pictures import draw_picture, encode_picture
from comic_pipeline_tests.unit.quality.material import BOARD, clips, lines, voice

SIZE = Frame(width=320, height=180)
SHORT = BOARD.model_copy(update={"shots": tuple(shot.model_copy(update={"duration_ms": 1_500}) for shot in BOARD.shots[:1])})
PICTURE = encode_picture(draw_picture(text="小猫在月球种花", width=640, height=360), "png")
OTHER = encode_picture(draw_picture(text="星星在唱歌", width=640, height=360), "png")

_H264 = ("-pix_fmt", "yuv420p", "-preset", "ultrafast")


def moving(picture: bytes = PICTURE, *, audio: bool = False) -> bytes:
    """A clip that starts at the picture and drifts over it."""
    return render_clip(ClipPlan(prompt="", first=picture, width=320, height=180, frames=36, audio=audio))


def facts_of(motion: MotionFacts) -> ClipFacts:
    video = motion.video
    return ClipFacts(
        width=video.width,
        height=video.height,
        fps=video.fps,
        duration_ms=video.duration_ms,
        black=motion.black,
        still=motion.still,
        likeness=likeness(motion.first, PICTURE),
        sound_dbfs=video.audio.rms_dbfs if video.audio else None,
    )


def findings(source: bytes | Path, *, board: Storyboard = SHORT) -> set[tuple[str, Severity]]:
    """What the gate says about one clip."""
    found = judge_clips(clips(0), board, frame=SIZE, measured={0: facts_of(measure_motion(source))})
    return {(finding.rule, finding.severity) for finding in found}


def test_a_slow_camera_over_its_picture_passes() -> None:
    """A third of a pixel of the small copy a frame is motion; the first frame is the picture."""
    facts = facts_of(measure_motion(moving()))
    assert findings(moving()) == set()
    assert facts.likeness > 0.9
    assert facts.still.length_ms < 800
    assert facts.black.length_ms == 0


def test_a_clip_of_another_shots_picture_is_noticed() -> None:
    """Shuffled results: every clip is good and none is where it belongs."""
    assert findings(moving(OTHER)) == {("starts_from_its_picture", Severity.ERROR)}


def test_a_camera_that_starts_close_to_its_picture_still_resembles_it() -> None:
    """The offline camera begins at a part of 1 / 1.14 of the panel, wherever that lies; a plain SSIM there says 0.4."""
    with Image.open(io.BytesIO(PICTURE)) as whole:
        part = io.BytesIO()
        whole.crop((78, 40, 78 + 561, 40 + 316)).resize((480, 270)).save(part, "PNG")
    assert likeness(part.getvalue(), PICTURE) > 0.7
    assert likeness(part.getvalue(), OTHER) < 0.5


def test_a_picture_of_another_shape_is_compared_with_its_middle() -> None:
    """OpenAI draws 3:2; the clip shows 16:9 of it."""
    tall = draw_picture(text="小猫在月球种花", width=600, height=400)
    shown = io.BytesIO()
    tall.crop((0, 31, 600, 369)).resize((480, 270)).save(shown, "PNG")
    assert likeness(shown.getvalue(), encode_picture(tall, "png")) > 0.8


def test_a_turned_clip_is_compared_as_it_is_shown(make: Make, tmp_path: Path) -> None:
    """A clip that is stored lying and played standing starts from its standing picture."""
    lying = tmp_path / "lying.mp4"
    lying.write_bytes(moving())
    turned = make("turned-clip.mp4", "-display_rotation", "90", "-i", str(lying), "-c", "copy")
    with Image.open(io.BytesIO(PICTURE)) as picture:
        standing = io.BytesIO()
        picture.rotate(90, expand=True).save(standing, "PNG")
    assert likeness(measure_motion(turned).first, standing.getvalue()) > 0.9


@pytest.mark.parametrize(
    ("source", "rule", "severity"),
    [
        ("color=black:s=320x180:r=24:d=1.5", "not_black", Severity.ERROR),
        ("testsrc2=s=320x180:r=24:d=1.5,fade=out:st=0.5:d=0.1", "not_black", Severity.ERROR),
        ("testsrc2=s=320x180:r=24:d=1.5,loop=36:1,trim=end_frame=36", "moves", Severity.ERROR),
        ("testsrc2=s=320x180:r=24:d=1.5,noise=alls=4:allf=t,loop=36:1,trim=end_frame=36", "moves", Severity.ERROR),
        ("testsrc2=s=320x180:r=8:d=1.5", "frame_rate", Severity.ERROR),
        ("testsrc2=s=320x180:r=25:d=1.5", "frame_rate", Severity.WARN),
        ("testsrc2=s=180x320:r=24:d=1.5", "aspect_as_asked", Severity.ERROR),
        ("testsrc2=s=320x180:r=24:d=0.6", "clip_long_enough", Severity.ERROR),
        ("testsrc2=s=320x180:r=24:d=3.5", "clip_not_longer", Severity.WARN),
    ],
)
def test_a_bad_clip_is_told_by_its_rule(make: Make, source: str, rule: str, severity: Severity) -> None:
    """Black, black from the middle on, frozen, frozen with an encoder's noise, a slide show, turned, too short, too long."""
    path = make(f"bad-{abs(hash(source))}.mp4", "-f", "lavfi", "-i", source, *_H264)
    assert (rule, severity) in findings(path)


def test_when_it_becomes_black_is_known(make: Make) -> None:
    """Whoever looks for it finds the moment."""
    path = make("half.mp4", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=24:d=1,tpad=stop_duration=0.5:color=black", *_H264)
    black = measure_motion(path).black
    assert (black.start_ms, black.length_ms) == (1_000, 500)


def test_sound_that_nobody_asked_for_is_shown() -> None:
    """The film does not use it, so it is a WARN; an empty track would be none."""
    assert findings(moving(audio=True)) == {("no_unasked_sound", Severity.WARN)}


# --- voices ---


@pytest.mark.parametrize(
    ("level", "suffix", "rule"),
    [
        ("0", "wav", None),
        ("0", "mp3", None),
        ("20", "wav", "not_clipped"),
        ("12", "mp3", "not_clipped"),
        ("-90", "wav", "not_silent"),
    ],
)
def test_voices_that_were_driven_too_hard_or_not_at_all(make: Make, level: str, suffix: str, rule: str | None) -> None:
    """Speech-like noise that swells and fades up to full scale, far above it (cut, or overshooting in MP3), and silence."""
    source = "anoisesrc=r=24000:d=1.5:a=0.9:c=pink:seed=1,volume='pow(abs(sin(PI*t)),2)':eval=frame,highpass=200"
    facts = measure_audio(make(f"said{level}.{suffix}", "-f", "lavfi", "-i", source, "-filter:a", f"volume={level}dB"))
    second = SoundFacts(
        mime=facts.mime,
        duration_ms=facts.duration_ms,
        peak_dbfs=facts.peak_dbfs,
        rms_dbfs=facts.rms_dbfs,
        lufs=facts.lufs,
        peak_share=facts.peak_share,
    )
    found = judge_voices(lines(), BOARD, measured={0: voice(), 1: second})
    assert {finding.rule for finding in found if finding.severity is Severity.ERROR} == ({rule} if rule else set()), second


# --- the film ---

WORDS = "1\n00:00:00,200 --> 00:00:00,900\n你好，月亮\n\n2\n00:00:01,000 --> 00:00:01,900\nHello, moon\n"
_TONE = "0.16*sin(2*PI*1000*t)"  # on both ears: -16 LUFS


@pytest.fixture(scope="module")
def a_film(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`a_film("name")`: two seconds of film as the gate wants it; each argument spoils one thing."""
    words = tmp_path_factory.mktemp("words") / "film.srt"
    words.write_text(WORDS, encoding="utf-8")

    def _film(
        name: str,
        *,
        picture: str = "null",
        tone: str = _TONE,
        late: str = "0",
        seconds: str = "2",
        subtitles: bool = True,
        flags: str = "+faststart",
    ) -> Path:
        inputs = ["-f", "lavfi", "-i", f"testsrc2=s=320x180:r=24:d=2,{picture}", "-itsoffset", late]
        inputs += ["-f", "lavfi", "-i", f"aevalsrc=exprs='{tone}|{tone}':s=48000:d={seconds}"]
        inputs += ["-i", str(words), "-map", "2:s", "-c:s", "mov_text"] if subtitles else []
        coding = ["-c:a", "aac", "-b:a", "160k", "-movflags", flags]
        return make(f"film-{name}.mp4", *inputs, "-map", "0:v", "-map", "1:a", *_H264, *coding)

    return _film


def film_findings(path: Path, *, words: str = WORDS, cues: int = 2) -> set[str]:
    """The rules that a film of two seconds breaks."""
    found = judge_film(measure_film(path, words=[words]), frame=SIZE, planned_ms=2_000, cues=cues, audible=True)
    return {finding.rule for finding in found}


def test_a_film_as_it_should_be_passes(a_film: Callable[..., Path]) -> None:
    """What the gate asks for can be made, and is measured to the decimal."""
    facts = measure_film(a_film("good"), words=[WORDS])
    assert film_findings(a_film("good")) == set()
    assert (facts.cues, facts.subtitle_streams, facts.faststart, facts.missing_glyphs) == (2, 1, True, "")
    assert facts.lufs == pytest.approx(-16.0, abs=0.3)
    assert facts.true_peak_dbtp == pytest.approx(-15.9, abs=0.6)


@pytest.mark.parametrize(
    ("spoiled", "rule"),
    [
        ({"picture": "drawbox=color=black:t=fill:enable='between(t,0.5,1.2)'"}, "not_black"),
        ({"tone": "0.032*sin(2*PI*1000*t)"}, "loudness"),
        ({"tone": f"{_TONE}+0.8*lt(abs(t-1),0.0004)"}, "true_peak"),
        ({"late": "0.3", "seconds": "1.7"}, "picture_and_sound_start_together"),
        ({"seconds": "1.5"}, "sound_as_long_as_picture"),
        ({"picture": "fps=30"}, "frame_rate"),
        ({"picture": "scale=180:320"}, "size_as_asked"),
        ({"subtitles": False}, "soft_subtitles"),
        ({"flags": "+use_metadata_tags"}, "starts_before_it_is_loaded"),
    ],
)
def test_a_spoiled_film_is_told_by_its_rule(a_film: Callable[..., Path], spoiled: dict[str, Any], rule: str) -> None:
    """A black gap, -30 LUFS, a click, sound late or short, another rate or size, no words, the index at the end."""
    assert film_findings(a_film(rule, **spoiled)) == {rule}


def test_words_that_are_not_shown_or_cannot_be_drawn(a_film: Callable[..., Path]) -> None:
    """A cue that got lost on the way into the file; a script that the font does not know."""
    assert film_findings(a_film("good"), cues=3) == {"every_cue_shown"}
    assert film_findings(a_film("good"), words="สวัสดี") == {"glyphs_for_all_words"}
