"""Measuring real files: right numbers for good ones, a fault that says what was found for all others."""

import io
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from PIL import Image

from comic_pipeline.media.probe import frame_at, measure_audio, measure_image, measure_video
from comic_pipeline.media.signature import sniff
from comic_pipeline.media.sound import SILENCE_DB, voice_gain_db
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline_tests.integration.media.conftest import Clip, Make, Voice
from comic_pipeline_tests.pixels import rgb

HTML = b"<!DOCTYPE html><html><body>403 Forbidden</body></html>"


def _picture(format_name: str, size: tuple[int, int] = (64, 48)) -> bytes:
    data = io.BytesIO()
    Image.effect_noise(size, 80).convert("RGB").save(data, format_name)
    return data.getvalue()


def _without_frame_rate(webm: bytes) -> bytes:
    """The same WebM with its DefaultDuration turned into padding: its average frame rate then reads 0/0."""
    at = webm.index(b"\x23\xe3\x83")
    return webm[:at] + b"\xec\x86" + bytes(6) + webm[at + 8 :]


@pytest.mark.parametrize(
    ("format_name", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/gif")]
)
def test_pictures_are_known_by_their_bytes(format_name: str, mime: str) -> None:
    """A JPEG that is called .png must go out as image/jpeg (ArcReel PR#2046)."""
    facts = measure_image(_picture(format_name))
    assert (facts.mime, facts.width, facts.height) == (mime, 64, 48)


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (HTML, "text/html"),
        (b"\xef\xbb\xbf \n<html lang='zh'>", "text/html"),
        (b'{"error": {"code": "AccessDenied"}}', "application/json"),
        (b"<?xml version='1.0'?><Error/>", "application/xml"),
        (b"#EXTM3U\n#EXT-X-VERSION:3", "application/vnd.apple.mpegurl"),
        (b"ID3\x04\x00", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"\xff\xfeh\x00i\x00", "application/octet-stream"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"),
        (b"OggS\x00\x02", "audio/ogg"),
        (b"\x00\x00\x00\x20ftypisom", "video/mp4"),
        (b"\x00\x00\x00\x14ftypqt  ", "video/quicktime"),
        (b"\x00\x00\x00\x20ftypM4A ", "audio/mp4"),
        (b"", "application/octet-stream"),
    ],
)
def test_what_providers_send_is_sniffed(head: bytes, mime: str) -> None:
    """The first bytes decide, never a name or a header of HTTP."""
    assert sniff(head) == mime


def test_html_saved_as_png_says_what_it_is() -> None:
    """An error page of a gateway is no picture, and the fault says so (ArcReel PR#2046)."""
    with pytest.raises(MediaFault, match=r"expected an image, found 54 bytes of text/html") as raised:
        measure_image(HTML)
    assert raised.value.code is ErrorCode.PROVIDER_ERROR


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_cut_short_is_no_picture(format_name: str) -> None:
    """The header still reads well; only decoding shows that the rest is missing."""
    data = _picture(format_name)
    with pytest.raises(MediaFault, match="expected an image"):
        measure_image(data[: len(data) * 2 // 3])


@pytest.mark.parametrize("measure", [measure_image, measure_audio, measure_video])
def test_nothing_is_said_to_be_nothing(measure: Callable[[bytes], object]) -> None:
    """An empty answer with status 200 must not become a file."""
    with pytest.raises(MediaFault, match=r"found nothing \(0 bytes\)"):
        measure(b"")


@pytest.mark.parametrize("measure", [measure_audio, measure_video])
def test_a_missing_file_is_the_callers_fault(measure: Callable[[Path], object], tmp_path: Path) -> None:
    """A path that is not there is bad input, not a bad provider."""
    with pytest.raises(MediaFault) as raised:
        measure(tmp_path / "gone.mp4")
    assert raised.value.code is ErrorCode.INPUT_INVALID


def test_a_playlist_is_never_opened_as_media() -> None:
    """A playlist would make the demuxer fetch addresses of somebody else's choice."""
    with pytest.raises(MediaFault, match="mpegurl"):
        measure_video(b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n")


def test_a_video_is_measured_from_its_frames(clip: Clip) -> None:
    """Size, rate, frames and length are what decodes."""
    facts = measure_video(clip(1.5))
    assert (facts.mime, facts.codec, facts.pix_fmt) == ("video/mp4", "h264", "yuv420p")
    assert (facts.width, facts.height, facts.fps, facts.frames, facts.duration_ms) == (320, 180, 24.0, 36, 1500)
    assert (facts.audio, facts.subtitle_streams, facts.faststart) == (None, 0, False)


def test_bytes_and_file_measure_alike(clip: Clip) -> None:
    """Fetched bytes are judged before they are stored."""
    path = clip(1.5)
    assert measure_video(path.read_bytes()) == measure_video(path)


def test_a_turned_video_is_measured_as_it_is_shown(clip: Clip, make: Make) -> None:
    """A phone video is stored lying and played standing (dramaclaw #656: 9:16 turns 16:9)."""
    lying = clip(0.5)
    facts = measure_video(make("turned.mp4", "-display_rotation", "90", "-i", str(lying), "-c", "copy"))
    assert (facts.width, facts.height) == (180, 320)


def test_fragmented_mp4_without_a_frame_count_is_counted(clip: Clip) -> None:
    """`nb_frames` is 0 in fragmented files."""
    path = clip(1.0, extra=("-movflags", "empty_moov+frag_keyframe"))
    with av.open(str(path)) as container:
        assert container.streams.video[0].frames == 0
    assert measure_video(path).frames == 24


def test_avg_frame_rate_of_zero_over_zero(make: Make) -> None:
    """A header without a rate must not divide by zero (ArcReel #564); one frame alone has no rate at all."""
    path = make("one.webm", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=24:d=1", "-frames:v", "1", "-c:v", "libvpx")
    data = _without_frame_rate(path.read_bytes())
    with av.open(io.BytesIO(data)) as container:
        assert not container.streams.video[0].average_rate
    facts = measure_video(data)
    assert (facts.frames, facts.fps, facts.duration_ms) == (1, 0.0, 0)


@pytest.mark.parametrize("faststart", [True, False])
def test_a_truncated_mp4_is_refused_wherever_its_index_lies(clip: Clip, *, faststart: bool) -> None:
    """With the index in front most frames still decode, and nothing but the missing bytes tells (a download that broke off)."""
    data = clip(1.0, extra=("-movflags", "+faststart") if faststart else ()).read_bytes()
    assert measure_video(data).faststart is faststart
    with pytest.raises(MediaFault, match=r"its last \d+ bytes are missing"):
        measure_video(data[:-500])


def test_damage_inside_a_video_is_found(clip: Clip) -> None:
    """Bytes lost in the middle leave the length right and the picture wrong."""
    data = bytearray(clip(1.0, extra=("-movflags", "+faststart")).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2_000] = bytes(2_000)
    with pytest.raises(MediaFault, match="expected a video"):
        measure_video(bytes(data))


def test_a_cover_picture_in_an_mp3_makes_no_video_of_it(voice: Voice) -> None:
    """Sound where a video is expected is named as what it is."""
    with pytest.raises(MediaFault, match=r"expected a video, found \d+ bytes of audio/mpeg"):
        measure_video(voice(0.5, suffix="mp3"))


def test_a_video_without_sound_is_no_sound(clip: Clip) -> None:
    """`measure_audio` of a silent clip says why."""
    with pytest.raises(MediaFault, match="it has no sound track"):
        measure_audio(clip(1.0))


@pytest.mark.parametrize(
    ("suffix", "mime"), [("wav", "audio/wav"), ("mp3", "audio/mpeg"), ("ogg", "audio/ogg"), ("m4a", "audio/mp4")]
)
def test_sound_is_measured_in_every_form_that_voices_come_in(voice: Voice, suffix: str, mime: str) -> None:
    """Length to the block's precision, rate, channels, and levels of a tone of known loudness."""
    facts = measure_audio(voice(1.2, suffix=suffix))
    assert facts.mime == mime
    assert facts.duration_ms == pytest.approx(1_200, abs=30)
    assert facts.sample_rate in (24_000, 48_000)
    assert facts.channels == 1
    # ffmpeg's sine has an amplitude of 1/8; AAC overshoots by 3 dB where the tone sets in.
    assert facts.peak_dbfs == pytest.approx(-18.1, abs=3.5)
    assert facts.rms_dbfs == pytest.approx(-21.1, abs=1.0)


def test_silence_measures_as_silence_and_gets_no_gain(make: Make) -> None:
    """Numbers stay finite, and nobody amplifies nothing."""
    facts = measure_audio(make("silence.wav", "-f", "lavfi", "-i", "anullsrc=r=24000:cl=mono:d=1"))
    assert (facts.peak_dbfs, facts.rms_dbfs) == (SILENCE_DB, SILENCE_DB)
    assert voice_gain_db(facts) == 0.0


def test_faint_noise_is_not_made_loud(make: Make) -> None:
    """A line that came back as hiss at -75 dBFS must not become a roar."""
    facts = measure_audio(make("hiss.wav", "-f", "lavfi", "-i", "anoisesrc=r=24000:d=1:a=0.0003"))
    assert facts.peak_dbfs > SILENCE_DB
    assert voice_gain_db(facts) == 0.0


def test_the_gain_brings_a_voice_to_its_target(voice: Voice) -> None:
    """12 dB quieter at the source is 12 dB more gain."""
    loud, quiet = (voice_gain_db(measure_audio(voice(1.2, db=db))) for db in (0.0, -12.0))
    assert quiet - loud == pytest.approx(12.0, abs=0.2)


def test_a_line_too_short_for_r128_is_judged_by_its_rms(voice: Voice) -> None:
    """The line 好。 can last 200 ms; the loudness meter needs 400."""
    facts = measure_audio(voice(0.2))
    assert facts.lufs <= -70.0
    assert voice_gain_db(facts) == pytest.approx(-16.0 - facts.rms_dbfs, abs=0.01)


def test_a_wav_cut_short_is_refused_but_an_open_length_is_not(voice: Voice) -> None:
    """Writers that stream leave the length open; a length that is not there is a broken download."""
    data = voice(1.2).read_bytes()
    with pytest.raises(MediaFault, match="its last 1000 bytes are missing"):
        measure_audio(data[:-1_000])
    streamed = data[:4] + b"\xff\xff\xff\xff" + data[8:]
    assert measure_audio(streamed).duration_ms == 1_200


def test_frame_at_gives_the_picture_of_that_moment(make: Make) -> None:
    """Red for half a second, then blue; past the end the last frame."""
    graph = "color=red:s=64x36:r=24:d=0.5[a];color=blue:s=64x36:r=24:d=0.5[b];[a][b]concat[v]"
    path = make("two.mp4", "-filter_complex", graph, "-map", "[v]", "-pix_fmt", "yuv420p")
    for ms, wanted in ((0, 0), (480, 0), (520, 2), (9_000, 2)):
        with Image.open(io.BytesIO(frame_at(path, ms))) as picture:
            assert max(range(3), key=rgb(picture.convert("RGB"), (32, 18)).__getitem__) == wanted, ms
