"""The film's track as it is heard: loudness, peaks, music under words. Measured on what decodes, after the encoder."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from comic_pipeline.media.mix import PEAK_MAX_DBTP, Bed, Line, Mix, make_sound
from comic_pipeline.media.probe import measure_audio
from comic_pipeline.media.sound import voice_gain_db
from comic_pipeline_tests.integration.media.conftest import Make
from comic_pipeline_tests.integration.media.listening import level, levels

RATE = 48_000
Mixed = Callable[..., Path]


@pytest.fixture(scope="session")
def speech(make: Make) -> Path:
    """Two seconds with the peaks and gaps of speech: noise and a tone in syllables, 18 dB between peak and mean."""
    words = "aevalsrc='(0.5*sin(2*PI*190*t)+0.5*(random(0)-0.5))*pow(abs(sin(2*PI*2.1*t)),6)':d=2:s=24000"
    return make("speech.wav", "-f", "lavfi", "-i", words)


@pytest.fixture(scope="session")
def music(make: Make) -> Path:
    """Three seconds of a chord, far louder than any voice and above full scale at its peaks."""
    left, right = "0.5*sin(2*PI*220*t)+0.4*sin(2*PI*277*t)+0.4*sin(2*PI*330*t)", "0.5*sin(2*PI*220*t)+0.5*sin(2*PI*415*t)"
    return make(
        "music.wav", "-f", "lavfi", "-i", f"aevalsrc='{left}|{right}':d=3:s=44100", "-af", "volume=6dB", "-c:a", "pcm_f32le"
    )


@pytest.fixture(scope="session")
def mute(make: Make) -> Path:
    """A line of two seconds without any sound in it: what is heard during it is the music alone."""
    return make("mute.wav", "-f", "lavfi", "-i", "anullsrc=r=24000:cl=mono", "-t", "2")


@pytest.fixture
def mixed(ffmpeg: str, tmp_path: Path) -> Mixed:
    """`mixed(seconds, (voice, start), …, music=…)`: the finished track."""

    def _mixed(seconds: float, *voices: tuple[Path, float], music: Path | None = None) -> Path:
        lines = tuple(_line(path, start) for path, start in voices)
        bed = None if music is None else Bed(path=music, lufs=measure_audio(music).lufs)
        mix = Mix(samples=round(seconds * RATE), lines=lines, bed=bed)
        return asyncio.run(make_sound(mix, tmp_path, ffmpeg=ffmpeg, timeout=60))

    return _mixed


def _line(path: Path, start: float) -> Line:
    facts = measure_audio(path)
    first = round(start * RATE)
    return Line(path=path, start=first, end=first + facts.duration_ms * RATE // 1000, gain_db=voice_gain_db(facts))


@pytest.mark.parametrize(
    ("seconds", "starts", "change", "beds"),
    [
        (6.0, (0.2, 2.4), "", 1),
        (6.0, (0.2, 2.4), "", 0),
        (3.0, (0.2,), "volume=-32dB", 1),
        (3.0, (0.2,), "volume=14dB", 0),
        (20.0, (9.0,), "", 1),
        (20.0, (9.0,), "", 0),
        (4.0, (), "", 1),
        (1.0, (0.0,), "atrim=end=0.9", 1),
    ],
    ids=["usual", "no-music", "whispered", "shouted", "one-line", "one-line-alone", "music-only", "one-second"],
)
def test_every_mix_is_at_its_loudness_and_below_its_peak(
    seconds: float,
    starts: tuple[float, ...],
    change: str,
    beds: int,
    *,
    speech: Path,
    music: Path,
    make: Make,
    mixed: Mixed,
) -> None:
    """-16 +-1 LUFS and at most -1.5 dBTP, whatever goes in (NarratoAI #215): encoder and limiter are measured, not trusted."""
    voice = make(f"speech{change}.wav", "-i", str(speech), "-af", change, "-c:a", "pcm_f32le") if change else speech
    track = measure_audio(mixed(seconds, *((voice, start) for start in starts), music=music if beds else None))
    assert track.lufs == pytest.approx(-16.0, abs=1.0)
    assert track.true_peak_dbtp <= PEAK_MAX_DBTP
    assert track.duration_ms == pytest.approx(seconds * 1000, abs=1)
    assert (track.sample_rate, track.channels) == (48_000, 2)


def test_the_music_goes_down_under_words_and_comes_up_after_them(mute: Path, music: Path, mixed: Mixed) -> None:
    """12 dB lower from the first word to the last, without a jump on the way, and up again 0.6 s later."""
    heard = levels(mixed(8.0, (mute, 3.0), music=music), every_ms=50)
    before, under, after = heard[40], heard[80], heard[112]
    assert before - under == pytest.approx(12.0, abs=0.7)
    assert max(heard[60:100]) < under + 0.7
    assert after == pytest.approx(before, abs=0.7)
    assert max(abs(now - then) for then, now in pairwise(heard[40:115])) < 4.5


def test_words_stand_clear_of_the_loudest_music(speech: Path, music: Path, mixed: Mixed) -> None:
    """Source sound drowned the voice (NarratoAI #215): the music's own level does not matter."""
    heard = levels(mixed(9.0, (speech, 0.5), (speech, 2.8), (speech, 6.5), music=music), every_ms=100)
    # Syllables of half a second: their loudest parts against the pause between the lines, where the music is up.
    assert max(heard[5:25]) - heard[56] > 6


def test_music_shorter_than_the_film_is_repeated_to_its_end(music: Path, mixed: Mixed) -> None:
    """3 s of music, 20 s of film (pyvideotrans #309, MoneyPrinterPlus #80): it neither ends early nor is cut off at the end."""
    heard = levels(mixed(20.0, music=music), every_ms=250)
    assert min(heard[2:71]) > max(heard) - 1
    assert heard[0] < heard[10] - 3
    assert heard[-1] < heard[10] - 15


def test_music_longer_than_the_film_ends_with_it(music: Path, mixed: Mixed) -> None:
    """It fades with the picture and makes the film no longer."""
    track = mixed(1.5, music=music)
    assert measure_audio(track).duration_ms == pytest.approx(1_500, abs=1)
    assert level(track, 1_450, 1_500) < level(track, 600, 900) - 12


def test_nothing_to_hear_stays_nothing(make: Make, mixed: Mixed) -> None:
    """Silence, and the noise of a microphone that is not speech, must not be brought to -16 LUFS."""
    assert measure_audio(mixed(1.0)).peak_dbfs <= -100
    hiss = make("hiss.wav", "-f", "lavfi", "-i", "anoisesrc=d=1:r=24000:a=0.0008")
    assert measure_audio(mixed(1.0, (hiss, 0.0))).lufs < -55


def test_a_song_with_a_cover_picture_is_music(music: Path, make: Make, mixed: Mixed) -> None:
    """An MP3 of 22 kHz, mono, with a picture in it, as people have them: repeated without stopping at the picture."""
    cover = make("cover.png", "-f", "lavfi", "-i", "color=red:s=64x64:d=1", "-frames:v", "1")
    tracks = ("-i", str(music), "-i", str(cover), "-map", "0:a", "-map", "1:v", "-c:v", "png", "-disposition:v", "attached_pic")
    song = make("song.mp3", *tracks, "-ar", "22050", "-ac", "1")
    heard = levels(mixed(8.0, music=song), every_ms=500)
    assert len(heard) == 16
    assert min(heard[1:11]) > max(heard) - 2
