"""The film for editing programs: read back with the library that others read it with."""

import asyncio
import io
import wave
import zipfile
from pathlib import Path

import opentimelineio as otio
import pytest

from comic_pipeline.media.interchange import EDL_NAME, FCPX_NAME, OTIO_NAME, Cut, CutList, to_edl, to_fcpx, to_otio
from comic_pipeline.media.probe import measure_video
from comic_pipeline.model.media import TimelineExport
from comic_pipeline.model.project import Frame
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.stages.export import export_timeline
from comic_pipeline.stages.review_page import Material
from comic_pipeline_tests.filmset import HOSTILE, FilmSet

ADAPTERS = {OTIO_NAME: "otio_json", FCPX_NAME: "fcpx_xml", EDL_NAME: "cmx_3600"}
# Clips have 12 frames; lines of 410 and 200 ms need 22 and 17 with their breath, so their shots hold the clip's last picture.
PICTURE = [("shot 000", 0, 12), ("hold 000", 12, 10), ("shot 001", 22, 12), ("shot 002", 34, 12), ("hold 002", 46, 5)]
VOICES = [("voice 000", 4, 10), ("voice 002", 38, 5)]
MUSIC = [("music", 0, 51)]


@pytest.fixture(scope="module")
def export(material: Material) -> TimelineExport:
    """The export of the film."""
    return material.export


@pytest.fixture(scope="module")
def files(film_set: FilmSet, export: TimelineExport) -> dict[str, bytes]:
    """What is in the ZIP, by name."""
    with zipfile.ZipFile(io.BytesIO(film_set.workshop.objects.get(export.bundle.key))) as bundle:
        assert bundle.testzip() is None
        return {name: bundle.read(name) for name in bundle.namelist()}


def _clips(timeline: otio.schema.Timeline, kind: str) -> list[tuple[str, int, int]]:
    """(name, start, length) of the clips on tracks of this kind, in frames of the film."""
    found = []
    for track in timeline.tracks:
        for clip in track.find_clips() if track.kind == kind else ():
            where = track.range_of_child(clip)
            assert where.duration.rate == 24
            found.append((clip.name, where.start_time.value, where.duration.value))
    return found


def test_an_unpacked_bundle_that_was_moved_opens_with_all_of_its_media(files: dict[str, bytes], tmp_path: Path) -> None:
    """Field cases of drafts that hold one machine's paths: unpack, move the folder, open: every file lies where it is named."""
    for name, data in files.items():
        place = tmp_path / "unpacked" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    moved = (tmp_path / "unpacked").rename(tmp_path / "moved")
    for name in ADAPTERS:
        timeline = otio.adapters.read_from_file(str(moved / name))
        named = [moved / clip.media_reference.target_url for clip in timeline.find_clips()]
        assert len(named) >= len(PICTURE)
        assert all(place.is_file() for place in named)


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_timeline_reads_back_with_exact_cuts_and_every_file_there(files: dict[str, bytes], name: str) -> None:
    """Field cases of drafts that open with media lost: starts and lengths are whole frames, each reference is in the ZIP."""
    timeline = otio.adapters.read_from_string(files[name].decode(), ADAPTERS[name])

    assert _clips(timeline, otio.schema.TrackKind.Video) == PICTURE
    # A CMX 3600 list holds one track.
    assert _clips(timeline, otio.schema.TrackKind.Audio) == ([] if name == EDL_NAME else VOICES + MUSIC)
    for clip in timeline.find_clips():
        assert clip.media_reference.target_url in files
        if name != EDL_NAME:
            there = clip.media_reference.available_range
            assert there.start_time <= clip.source_range.start_time
            assert clip.source_range.end_time_exclusive() <= there.end_time_exclusive()


def test_the_media_are_what_was_delivered_or_cut_to_whole_frames(film_set: FilmSet, files: dict[str, bytes]) -> None:
    """Clips and pictures keep their bytes; lines, stems and stills last exactly the frames that the timelines say."""
    footage = film_set.footage
    delivered = {one.media.sha256 for one in footage.clips.clips} | {one.media.sha256 for one in footage.frames.frames}
    kept = {sha256_hex(data) for name, data in files.items() if name.startswith(("media/clips/", "media/frames/"))}
    assert kept == delivered
    assert footage.subtitles.srt is not None
    assert files["subtitles/film.srt"] == film_set.workshop.objects.get(footage.subtitles.srt.key)
    lengths = {f"media/voices/{name.replace(' ', '-')}.wav": frames for name, _, frames in VOICES}
    for name, frames in (lengths | {f"stems/{name}.wav": 51 for name in ("mix", "voices", "music")}).items():
        with wave.open(io.BytesIO(files[name])) as sound:
            assert (sound.getframerate(), sound.getnframes()) == (48_000, frames * 2_000)
    assert {name: measure_video(files[name]).frames for name in files if "/holds/" in name} == {
        "media/holds/hold-000.mp4": 10,
        "media/holds/hold-002.mp4": 5,
    }


def test_the_voice_stem_speaks_where_the_film_does(files: dict[str, bytes]) -> None:
    """A stem that is not in time with the film cannot be mixed: sound from 150 ms on, none before it nor in the mute shot."""
    with wave.open(io.BytesIO(files["stems/voices.wav"])) as sound:
        assert sound.getnchannels() == 1
        samples = memoryview(sound.readframes(sound.getnframes())).cast("h")
    assert not any(samples[:7_150])
    assert max(samples[7_250:20_000]) > 2_000
    assert not any(samples[22 * 2_000 : 34 * 2_000])


def test_the_music_stem_lasts_the_film_and_ducks_under_lines(files: dict[str, bytes]) -> None:
    """A bed shorter than the film is repeated to its end, lower where somebody speaks, and silent at neither end by accident."""
    with wave.open(io.BytesIO(files["stems/music.wav"])) as sound:
        assert sound.getnchannels() == 2
        samples = memoryview(sound.readframes(sound.getnframes())).cast("h")[::2]
    under, between = samples[16_000:26_000], samples[60_000:66_000]
    assert 0 < max(under) < max(between) / 2
    assert any(samples[95_000:100_000])


def test_the_same_film_gives_the_same_bytes(film_set: FilmSet, export: TimelineExport) -> None:
    """A round that changed nothing must not make what depends on it stale: no times, no random names in any file."""
    assert asyncio.run(export_timeline(film_set.studio, film_set.footage)) == export


def test_hostile_words_reach_no_format_that_reads_them() -> None:
    """Titles and notes with quotes, tags, control characters and line ends: each form still reads back to the same cuts."""
    cut = Cut(name="shot 000", path="media/clips/shot-000.mp4", start=0, frames=7, media_frames=9, notes={"text": HOSTILE})
    title = f"{HOSTILE}\nTITLE: other\x0b\ufffe"
    cuts = CutList(title=title, code="p1", fps=24, size=Frame(width=320, height=180), picture=(cut,), voices=(), music=())
    for written, adapter in ((to_otio(cuts), "otio_json"), (to_fcpx(cuts), "fcpx_xml"), (to_edl(cuts), "cmx_3600")):
        timeline = otio.adapters.read_from_string(written, adapter)
        assert _clips(timeline, otio.schema.TrackKind.Video) == [("shot 000", 0, 7)]
    assert '<format id="r1" frameDuration="25/600s" width="320" height="180"/>' in to_fcpx(cuts)
    assert 'uid=""' not in to_fcpx(cuts)
    (clip,) = otio.adapters.read_from_string(to_otio(cuts), "otio_json").find_clips()
    assert clip.metadata["comic"]["text"] == HOSTILE
