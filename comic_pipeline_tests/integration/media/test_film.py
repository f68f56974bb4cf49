"""Whole films rendered by real ffmpeg and measured from what they decode to.

Named after faults seen in the field: concat of unlike clips, rates of 0/0, words cut off, sound longer than the picture,
subtitles that are read as markup.
"""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import av
import psutil
import pytest
from PIL import Image, ImageChops, ImageStat

from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.media.probe import frame_at, measure_audio, measure_video
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language
from comic_pipeline_tests.integration.media.conftest import Clip, Make, Voice
from comic_pipeline_tests.integration.media.listening import level
from comic_pipeline_tests.pixels import greys, rgb

WIDE = Frame(width=320, height=180)
TALL = Frame(width=180, height=320)
HOSTILE = (
    "他说：“50%，对吗？” it's 'q' \"d\" a:b;c,d=e [v0] \\N \\h {\\an8}\\{\\b1} <i>x</i> 😀👨‍👩‍👧 C:\\new\\temp "
    "${HOME} `id` %{pts} 00:00:01,000 --> 00:00:02,000"
)


def _plan(
    *shots: FilmShot, frame: Frame = WIDE, cues: Sequence[Cue] = (), burn: bool = True, title: str = "月球花园"
) -> FilmPlan:
    return FilmPlan(frame=frame, fps=24, shots=shots, cues=tuple(cues), title=title, language=Language.ZH, burn=burn)


def _shot(seq: int, clip: Path, length_ms: int, voice: Path | None = None, offset_ms: int = 150) -> FilmShot:
    return FilmShot(seq=seq, clip=clip, length_ms=length_ms, voice=voice, voice_offset_ms=offset_ms)


class Render(Protocol):
    """How a test gets its film."""

    def __call__(self, plan: FilmPlan, name: str = ...) -> Path: ...


@pytest.fixture
def render(ffmpeg: str, tmp_path: Path) -> Render:
    """`render(plan)`: the film's path."""

    def _render(plan: FilmPlan, name: str = "film.mp4") -> Path:
        out = tmp_path / name
        asyncio.run(render_film(plan, out, ffmpeg=ffmpeg, timeout=60))
        return out

    return _render


def _picture(film: Path, ms: int) -> Image.Image:
    return Image.open(io.BytesIO(frame_at(film, ms))).convert("RGB")


def _difference(one: Image.Image, other: Image.Image) -> float:
    """Mean difference of two pictures, 0 to 255."""
    return sum(ImageStat.Stat(ImageChops.difference(one, other)).mean) / 3


def _soft_lines(film: Path) -> list[tuple[float, str]]:
    """(start in seconds, text) of each line in the first subtitle track."""
    lines = []
    with av.open(str(film)) as container:
        track = container.streams.subtitles[0]
        for packet in container.demux(track):
            text = bytes(packet)[2:].decode()  # mov_text: two bytes of length, then the text
            if text:
                assert packet.pts is not None
                assert track.time_base is not None
                lines.append((round(float(packet.pts * track.time_base), 2), text))
    return lines


def test_a_film_is_what_was_planned(clip: Clip, voice: Voice, render: Render) -> None:
    """Streams, size, rate, length to the frame, equal sound and picture, index first, language and title tags."""
    plan = _plan(
        _shot(0, clip(1.0), 1_000, voice(0.5)), _shot(1, clip(1.5), 1_500), cues=[Cue(start_ms=150, end_ms=650, text="你好。")]
    )
    film = render(plan)
    facts = measure_video(film)
    assert (facts.codec, facts.pix_fmt, facts.width, facts.height, facts.fps) == ("h264", "yuv420p", 320, 180, 24.0)
    assert (facts.frames, facts.duration_ms, facts.faststart, facts.subtitle_streams) == (60, 2_500, True, 1)
    assert facts.audio is not None
    assert (facts.audio.codec, facts.audio.sample_rate, facts.audio.channels) == ("aac", 48_000, 2)
    assert facts.audio.duration_ms == pytest.approx(2_500, abs=2)
    with av.open(str(film)) as container:
        assert container.metadata["title"] == "月球花园"
        assert [stream.language for stream in container.streams][1:] == ["zho", "zho"]


def test_lengths_that_are_no_whole_frames_do_not_drift(clip: Clip, render: Render) -> None:
    """Thirty shots of 208 or 209 ms (five frames of 24 a second) make 150 frames, not 149 or 151."""
    starts = [number * 5_000 // 24 for number in range(31)]
    plan = _plan(*(_shot(seq, clip(0.3), starts[seq + 1] - starts[seq]) for seq in range(30)))
    facts = measure_video(render(plan))
    assert facts.frames == 150
    assert facts.audio is not None
    assert facts.audio.duration_ms == pytest.approx(6_250, abs=2)


def test_a_shot_of_a_single_frame_is_refused(clip: Clip, render: Render) -> None:
    """The concat filter silently drops what follows it; the plan is refused instead."""
    with pytest.raises(MediaFault, match="shot 1: 42 ms is less than 2 frames"):
        render(_plan(_shot(0, clip(0.3), 300), _shot(1, clip(0.3), 42), _shot(2, clip(0.3), 300)))


def test_voices_sound_where_they_belong_and_nowhere_else(clip: Clip, voice: Voice, render: Render) -> None:
    """The line of the second shot starts 150 ms into that shot, and the rest of the film is silent."""
    film = render(_plan(_shot(0, clip(1.0), 1_000), _shot(1, clip(1.5), 1_500, voice(0.6)), _shot(2, clip(0.5), 500)))
    assert level(film, 0, 1_100) < -80
    assert level(film, 1_160, 1_740) > -30
    assert level(film, 1_800, 3_000) < -80


def test_loudness_is_16_lufs_whatever_the_voice_was(clip: Clip, voice: Voice, render: Render) -> None:
    """A whispering and a shouting voice service end up equally loud, without clipping."""
    film = render(_plan(_shot(0, clip(1.0), 2_000, voice(1.5, db=-15)), _shot(1, clip(1.0), 2_000, voice(1.5, db=12))))
    quiet, loud = level(film, 300, 1_500), level(film, 2_300, 3_500)
    assert quiet == pytest.approx(loud, abs=0.5)
    facts = measure_audio(film)
    assert facts.lufs == pytest.approx(-16.0, abs=1.0)
    assert facts.peak_dbfs < -0.5


def test_a_film_without_voices_stays_silent(clip: Clip, render: Render) -> None:
    """Loudness normalising must not turn nothing into noise; the sound track is there all the same."""
    facts = measure_video(render(_plan(_shot(0, clip(1.0), 1_000))))
    assert facts.audio is not None
    assert facts.audio.peak_dbfs <= -100
    assert facts.duration_ms == 1_000
    assert facts.audio.duration_ms == pytest.approx(1_000, abs=2)


def test_sound_in_clips_is_not_in_the_film(make: Make, clip: Clip, render: Render) -> None:
    """Source sound must not drown the voices (NarratoAI #215): two loud extra tracks, none is heard."""
    noisy = make(
        "noisy.mp4",
        *("-i", str(clip(1.0)), "-f", "lavfi", "-i", "sine=d=1,volume=20dB", "-f", "lavfi", "-i", "anoisesrc=d=1"),
        *("-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "copy"),
    )
    film = render(_plan(_shot(0, noisy, 1_000)))
    with av.open(str(film)) as container:
        assert len(container.streams.audio) == 1
    assert level(film, 0, 1_000) < -80


def test_a_line_longer_than_its_clip_is_heard_to_its_end(clip: Clip, voice: Voice, render: Render) -> None:
    """3 s clip, 5.2 s line (ZJT #411, ArcReel #1744), here 0.5 s and 1.6 s: the last frame holds, the last words are there."""
    film = render(_plan(_shot(0, clip(0.5), 2_100, voice(1.6)), _shot(1, clip(0.5), 500)))
    assert level(film, 1_550, 1_740) == pytest.approx(level(film, 600, 800), abs=1)
    assert _difference(_picture(film, 600), _picture(film, 2_000)) < 1
    assert _difference(_picture(film, 600), _picture(film, 2_150)) > 2


def test_a_line_that_would_be_cut_is_refused(clip: Clip, voice: Voice, render: Render) -> None:
    """A plan that ends a shot before its words is a mistake of the planner, found before anything is rendered."""
    with pytest.raises(MediaFault, match="shot 3: its line ends at 1750 ms, the shot at 1500 ms") as raised:
        render(_plan(_shot(3, clip(0.5), 1_500, voice(1.6))))
    assert raised.value.code is ErrorCode.INPUT_INVALID


def test_unlike_clips_become_one_film(make: Make, clip: Clip, render: Render) -> None:
    """Sizes, SAR, rates and pixel formats differ (tl-jockey #31, ffmpeg-concat #57); odd sizes and a 0.3 s clip among them."""
    shots = [
        _shot(0, clip(0.5), 500),
        _shot(1, clip(0.5, size="384x216", rate=30, extra=("-vf", "setsar=4/3", "-pix_fmt", "yuvj420p")), 500),
        _shot(2, clip(0.3, size="201x113", rate=25, extra=("-pix_fmt", "yuv444p")), 500),
        _shot(3, clip(0.5, size="180x320", rate=15), 500),
        _shot(4, make("clip.webm", "-f", "lavfi", "-i", "testsrc2=s=256x144:r=12:d=0.5", "-c:v", "libvpx"), 500),
    ]
    film = render(_plan(*shots))
    facts = measure_video(film)
    assert (facts.pix_fmt, facts.width, facts.height, facts.fps, facts.frames) == ("yuv420p", 320, 180, 24.0, 60)
    with av.open(str(film)) as container:
        assert container.streams.video[0].sample_aspect_ratio in (None, 1)


def test_wide_pixels_are_shown_wide(make: Make, render: Render) -> None:
    """160x180 with a SAR of 2:1 is a picture of 16:9: it fills the frame, no bars."""
    squeezed = make("sar.mp4", "-f", "lavfi", "-i", "color=white:s=160x180:r=24:d=0.5", "-vf", "setsar=2", "-pix_fmt", "yuv420p")
    picture = _picture(render(_plan(_shot(0, squeezed, 500))), 200)
    assert min(rgb(picture, (4, 90))) > 200
    assert min(rgb(picture, (315, 90))) > 200


def test_another_shape_gets_bars_and_a_near_one_is_cropped(make: Make, render: Render) -> None:
    """9:16 in a 16:9 film would lose the heads if it were cropped; 3:2 loses little."""
    tall, near = (
        make(f"white-{size}.mp4", "-f", "lavfi", "-i", f"color=white:s={size}:r=24:d=0.5", "-pix_fmt", "yuv420p")
        for size in ("180x320", "300x180")
    )
    film = render(_plan(_shot(0, tall, 500), _shot(1, near, 500)))
    barred, filled = _picture(film, 200), _picture(film, 700)
    assert max(rgb(barred, (20, 90))) < 30
    assert min(rgb(barred, (160, 4))) > 200
    assert min(rgb(filled, (1, 1))) > 200


def test_full_range_colours_are_not_clipped(make: Make, render: Render) -> None:
    """A JPEG-range clip beside a TV-range one: grey stays grey in both."""
    source = ("-f", "lavfi", "-i", "color=0x808080:s=320x180:r=24:d=0.5")
    full = make("full.mp4", *source, "-vf", "scale=out_range=full", "-pix_fmt", "yuvj420p")
    limited = make("limited.mp4", *source, "-pix_fmt", "yuv420p")
    film = render(_plan(_shot(0, full, 500), _shot(1, limited, 500)))
    for ms in (200, 700):
        assert rgb(_picture(film, ms), (160, 90))[1] == pytest.approx(128, abs=4)


def test_a_clip_with_a_rate_of_zero_over_zero_holds_its_frame(make: Make, render: Render, tmp_path: Path) -> None:
    """avg_frame_rate "0/0" (ArcReel #564): a single frame without a rate once gave a film without a picture."""
    data = make(
        "single.webm", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=24:d=1", "-frames:v", "1", "-c:v", "libvpx"
    ).read_bytes()
    at = data.index(b"\x23\xe3\x83")
    rateless = tmp_path / "rateless.webm"
    rateless.write_bytes(data[:at] + b"\xec\x86" + bytes(6) + data[at + 8 :])
    film = render(_plan(_shot(0, rateless, 1_000)))
    assert measure_video(film).frames == 24
    assert _difference(_picture(film, 0), _picture(film, 950)) < 1


def test_a_single_shot_is_a_film(clip: Clip, voice: Voice, render: Render) -> None:
    """Concat of one (ArcReel PR#578)."""
    assert measure_video(render(_plan(_shot(0, clip(1.0), 1_000, voice(0.5))))).duration_ms == 1_000


def test_a_clip_longer_than_its_shot_is_cut(clip: Clip, render: Render) -> None:
    """The timeline decides, not the clip."""
    film = render(_plan(_shot(0, clip(1.5), 500), _shot(1, clip(1.0), 500)))
    assert measure_video(film).frames == 24


def test_burned_words_are_seen_while_they_are_spoken(clip: Clip, render: Render) -> None:
    """Against the same film without them: the foot differs during the cue, nothing differs after it, the head never does."""
    cues = [Cue(start_ms=100, end_ms=600, text="月亮上的小猫在唱歌。")]
    shots = (_shot(0, clip(1.0), 1_000),)
    with_words = render(_plan(*shots, cues=cues), "with.mp4")
    without = render(_plan(*shots, cues=cues, burn=False), "without.mp4")
    foot, head = (0, 140, 320, 180), (0, 0, 320, 100)
    assert _difference(_picture(with_words, 300).crop(foot), _picture(without, 300).crop(foot)) > 5
    assert _difference(_picture(with_words, 300).crop(head), _picture(without, 300).crop(head)) < 3
    assert _difference(_picture(with_words, 800), _picture(without, 800)) < 3


def test_hostile_text_is_only_text(make: Make, render: Render) -> None:
    """Markup of ASS, SRT, filters and shells is shown as it stands: at the foot, upright, for its whole time."""
    black = make("black-wide.mp4", "-f", "lavfi", "-i", "color=black:s=320x180:r=24:d=1", "-pix_fmt", "yuv420p")
    film = render(_plan(_shot(0, black, 1_000), cues=[Cue(start_ms=0, end_ms=1_000, text=HOSTILE)], title=HOSTILE))
    picture = _picture(film, 500).convert("L")
    assert greys(picture.crop((0, 0, 320, 40)))[1] < 60
    assert greys(picture.crop((0, 90, 320, 180)))[1] > 200
    (line,) = _soft_lines(film)
    assert line[0] == 0.0
    for kept in ("他说：“50%，对吗？”", "it's 'q' \"d\" a:b;c,d=e [v0]", "an8", "😀👨‍👩‍👧", "new", "$｛HOME｝ `id` %｛pts｝"):
        assert kept in line[1]
    with av.open(str(film)) as container:
        assert container.metadata["title"] == HOSTILE


@pytest.mark.parametrize("text", [r"{\an8}", r"\N\N\N\N", "{", "}", "\\", "<b>", "{\\p1}m 0 0 l 100 0 100 100{\\p0}"])
def test_each_piece_of_markup_leaves_ink(make: Make, render: Render, text: str) -> None:
    """Text that is taken for a command draws nothing, or draws a shape; text that is text draws letters at the foot."""
    black = make("black-wide.mp4", "-f", "lavfi", "-i", "color=black:s=320x180:r=24:d=1", "-pix_fmt", "yuv420p")
    picture = _picture(render(_plan(_shot(0, black, 200), cues=[Cue(start_ms=0, end_ms=200, text=text)])), 100).convert("L")
    box = picture.point(lambda value: 255 * (value > 60)).getbbox()
    assert box is not None
    assert box[1] > 140
    assert box[3] - box[1] < 25


def test_the_soft_track_is_readable_and_switched_off(clip: Clip, render: Render) -> None:
    """Words and times survive; a player must not show them over the burned ones, and shows them when nothing is burned."""
    cues = [Cue(start_ms=100, end_ms=400, text="你好，世界。"), Cue(start_ms=500, end_ms=900, text="再见。")]
    shots = (_shot(0, clip(1.0), 1_000),)
    burned = render(_plan(*shots, cues=cues), "burned.mp4")
    assert _soft_lines(burned) == [(0.1, "你好，世界。"), (0.5, "再见。")]
    plain = render(_plan(*shots, cues=cues, burn=False), "plain.mp4")
    for film, shown in ((burned, False), (plain, True)):
        with av.open(str(film)) as container:
            assert bool(container.streams.subtitles[0].disposition & av.stream.Disposition.default) is shown
            assert bool(container.streams.video[0].disposition & av.stream.Disposition.default)


def test_all_missing_shots_are_listed_at_once(clip: Clip, voice: Voice, render: Render, tmp_path: Path) -> None:
    """A missing 1.png crashed an assembly half-way (story-flicks #32): the preflight names every shot, nothing is left behind."""
    (tmp_path / "page.mp4").write_bytes(b"<html>expired</html>")
    shots = [
        _shot(0, clip(1.0), 1_000, voice(0.5)),
        _shot(1, tmp_path / "gone.mp4", 1_000),
        _shot(2, clip(1.0), 1_000, tmp_path / "gone.mp3"),
        _shot(3, tmp_path / "page.mp4", 1_000),
    ]
    with pytest.raises(MediaFault) as raised:
        render(_plan(*shots))
    assert raised.value.code is ErrorCode.INPUT_INVALID
    for part in ("shot 1: cannot read", "shot 2: cannot read", "shot 3: expected a video, found 20 bytes of text/html"):
        assert part in raised.value.detail
    assert "shot 0" not in raised.value.detail
    assert [path.name for path in tmp_path.iterdir()] == ["page.mp4"]


def test_a_film_without_shots_is_refused(render: Render) -> None:
    """An empty storyboard is no film."""
    with pytest.raises(MediaFault, match="the film has no shots"):
        render(_plan())


def test_a_damaged_clip_fails_the_film(clip: Clip, render: Render, tmp_path: Path) -> None:
    """Left alone, ffmpeg goes on and holds the last good frame: a film that looks finished and is not. Nothing is left behind."""
    data = bytearray(clip(1.0, extra=("-movflags", "+faststart")).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4_000] = bytes(4_000)
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(data)
    with pytest.raises(MediaFault) as raised:
        render(_plan(_shot(0, broken, 1_000)))
    assert raised.value.code is ErrorCode.FFMPEG_FAILED
    assert [path.name for path in tmp_path.iterdir()] == ["broken.mp4"]


def test_strange_paths_are_only_paths(
    clip: Clip, voice: Voice, ffmpeg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quotes, colons, brackets and a leading dash in folders and names reach no filter and no option."""
    folder = tmp_path / "it's [0:v];a, b=c:'%' 中文"
    folder.mkdir()
    (folder / "-clip:0.mp4").write_bytes(clip(1.0).read_bytes())
    (folder / "-voice.wav").write_bytes(voice(0.5).read_bytes())
    monkeypatch.chdir(folder)
    plan = _plan(_shot(0, Path("-clip:0.mp4"), 1_000, Path("-voice.wav")), cues=[Cue(start_ms=0, end_ms=900, text="好")])
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    asyncio.run(render_film(plan, Path("-film.mp4"), ffmpeg=ffmpeg, timeout=60))
    assert measure_video(Path("-film.mp4")).frames == 24
    assert sorted(path.name for path in folder.iterdir()) == ["-clip:0.mp4", "-film.mp4", "-voice.wav"]


def test_cancelling_a_render_kills_ffmpeg_and_leaves_no_film(clip: Clip, ffmpeg: str, tmp_path: Path) -> None:
    """A cancelled project must not go on rendering, nor leave half a film that looks whole."""
    out = tmp_path / "film.mp4"
    plan = _plan(*(_shot(seq, clip(1.0), 60_000) for seq in range(2)))

    def rendering() -> list[psutil.Process]:
        return [child for child in psutil.Process().children() if str(clip(1.0)) in " ".join(child.cmdline())]

    async def cancelled() -> psutil.Process:
        task = asyncio.create_task(render_film(plan, out, ffmpeg=ffmpeg, timeout=60))
        while not (running := rendering()):  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return running[0]

    assert not asyncio.run(cancelled()).is_running()
    assert list(tmp_path.iterdir()) == []


def test_a_turned_clip_stands_upright(make: Make, render: Render) -> None:
    """Pictures that are stored lying with a note to turn them: a 9:16 film is filled, not barred (dramaclaw #165)."""
    halves = "color=red:s=160x180:r=24:d=0.5[a];color=blue:s=160x180:r=24:d=0.5[b];[a][b]hstack"
    lying = make("lying.mp4", "-f", "lavfi", "-i", halves, "-pix_fmt", "yuv420p")
    turned = make("lying-turned.mp4", "-display_rotation", "90", "-i", str(lying), "-c", "copy")
    picture = _picture(render(_plan(_shot(0, turned, 500), frame=TALL)), 200)
    corners = [rgb(picture, at) for at in ((4, 4), (175, 4), (4, 315), (175, 315))]
    assert all(max(corner) > 200 for corner in corners)
    assert corners[0] == pytest.approx(corners[1], abs=12)
    assert max(abs(a - b) for a, b in zip(corners[0], corners[2], strict=True)) > 200


def test_a_variable_rate_keeps_its_time(make: Make, render: Render) -> None:
    """Frames at uneven times come out evenly, each where it was: brightness here is the time, and most frames are gone."""
    source = ("-f", "lavfi", "-i", "color=white:s=320x180:r=24:d=2", "-vf", "fade=d=2,select='lt(n,12)+not(mod(n,5))'")
    uneven = make("uneven.mp4", *source, "-fps_mode", "vfr", "-pix_fmt", "yuv420p")
    film = render(_plan(_shot(0, uneven, 2_000)))
    assert measure_video(film).frames == 48
    for ms in (250, 1_000, 1_750):
        seen = ImageStat.Stat(_picture(film, ms).convert("L")).mean[0]
        # A frame is held until the next one, at most a fifth of a second.
        assert 255 * (ms - 230) / 2_000 < seen < 255 * (ms + 60) / 2_000


def test_a_clip_with_two_pictures_and_a_clip_with_none_of_its_own(make: Make, clip: Clip, render: Render) -> None:
    """Extra video tracks (a thumbnail) are passed over; a file that is sound alone is named, not shown as black."""
    thumbnail = make("thumb.png", "-f", "lavfi", "-i", "color=white:s=64x64:d=1", "-frames:v", "1")
    both = make(
        "two-tracks.mp4",
        "-i",
        str(clip(0.5)),
        "-i",
        str(thumbnail),
        "-map",
        "0:v",
        "-map",
        "1:v",
        "-c",
        "copy",
        "-disposition:v:1",
        "attached_pic",
    )
    film = render(_plan(_shot(0, both, 500)))
    assert _difference(_picture(film, 200), _picture(render(_plan(_shot(0, clip(0.5), 500)), "alone.mp4"), 200)) < 2
    sound = make("sound.mp4", "-f", "lavfi", "-i", "sine=d=0.5")
    with pytest.raises(MediaFault, match=r"shot 0: expected a video.*it has no picture"):
        render(_plan(_shot(0, sound, 500)))


def test_a_film_with_music_is_as_long_as_its_picture(clip: Clip, voice: Voice, render: Render) -> None:
    """A bed of 0.7 s under 2.5 s (MoneyPrinterPlus #80, Vikit #11): repeated, faded, the words there, the film no longer."""
    bed = voice(0.7, suffix="flac")
    plan = _plan(_shot(0, clip(1.0), 1_500), _shot(1, clip(1.0), 1_000, voice(0.5)))
    film, without = render(replace(plan, music=bed)), render(plan, "without.mp4")
    facts = measure_video(film)
    assert facts.audio is not None
    assert facts.duration_ms == 2_500
    assert facts.audio.duration_ms == pytest.approx(2_500, abs=2)
    assert level(film, 500, 1_200) > -40
    assert level(without, 500, 1_200) < -80
    assert level(film, 1_700, 2_100) > -25


def test_music_that_is_none_is_named_with_the_shots_that_are_missing(clip: Clip, render: Render, tmp_path: Path) -> None:
    """One look finds all that is wrong with a film."""
    page = tmp_path / "bed.mp3"
    page.write_bytes(b"<html>not found</html>")
    plan = _plan(_shot(0, clip(1.0), 1_000), _shot(1, tmp_path / "gone.mp4", 1_000))
    with pytest.raises(MediaFault, match=r"shot 1: cannot read .*; music: expected sound, found 22 bytes of text/html"):
        render(replace(plan, music=page))
