"""The gates over stored media: what is measured where, what a broken file costs, what an operator is shown."""

import asyncio
import io
from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest
from PIL import Image

from comic_pipeline.defs.checks.verdict import give_verdict
from comic_pipeline.defs.metadata import Row
from comic_pipeline.model.measured import ClipFacts, PictureFacts, SoundFacts, Unreadable
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.quality.clips import judge_clips
from comic_pipeline.quality.frames import judge_frames
from comic_pipeline.stages.inspecting import (
    inspect_clips,
    inspect_film,
    inspect_frames,
    inspect_voices,
    prove_clips,
    prove_frames,
)
from comic_pipeline.store import verdicts
from comic_pipeline_tests.filmset import SMALL, FilmSet
from comic_pipeline_tests.pixels import rgb

BROKEN = Finding(rule="not_flat", severity=Severity.ERROR, seq=1, measured="0.0", wanted="contrast of at least 6")


def test_every_stored_file_is_measured(film_set: FilmSet) -> None:
    """One entry for every shot that has a file; the film as a whole."""
    frames = asyncio.run(inspect_frames(film_set.studio, film_set.footage.frames))
    voices = asyncio.run(inspect_voices(film_set.studio, film_set.footage.voices))
    clips, firsts = asyncio.run(inspect_clips(film_set.studio, film_set.footage.clips, film_set.footage.frames))
    film = asyncio.run(inspect_film(film_set.studio, film_set.footage.film, film_set.footage.subtitles))
    assert [type(facts) for facts in frames.values()] == [PictureFacts] * 3
    assert {seq: type(facts) for seq, facts in voices.items()} == {0: SoundFacts, 2: SoundFacts}
    assert [type(facts) for facts in clips.values()] == [ClipFacts] * 3
    assert list(firsts) == [0, 1, 2]
    assert (film.cues, film.subtitle_streams, film.width) == (len(film_set.footage.subtitles.cues), 1, SMALL.width)
    assert film.missing_glyphs == "🦊"


def test_findings_name_the_shots_that_are_to_be_made_anew(film_set: FilmSet) -> None:
    """This film's pictures are of one colour each, and its clips are test patterns: every shot is named, by the right rules."""
    measured = asyncio.run(inspect_frames(film_set.studio, film_set.footage.frames))
    clips, _ = asyncio.run(inspect_clips(film_set.studio, film_set.footage.clips, film_set.footage.frames))
    flat = judge_frames(film_set.footage.frames, film_set.storyboard, frame=SMALL, measured=measured, cards_allowed=False)
    unlike = judge_clips(film_set.footage.clips, film_set.storyboard, frame=SMALL, measured=clips)
    assert [(finding.rule, finding.seq) for finding in flat] == [("not_flat", seq) for seq in range(3)]
    assert [(finding.rule, finding.seq) for finding in unlike] == [("starts_from_its_picture", seq) for seq in range(3)]


def test_a_file_that_is_damaged_in_the_store_is_its_shots_fault(film_set: FilmSet) -> None:
    """The check goes on; the other shots are measured. A file that is not there is no matter of quality."""
    objects, good = film_set.workshop.objects, film_set.footage.frames.frames[1].media
    objects.put("projects/p/frames/damaged.png", objects.get(good.key)[:90], mime="image/png")
    damaged = _with_second_picture(film_set, key="projects/p/frames/damaged.png")
    facts = asyncio.run(inspect_frames(film_set.studio, damaged))
    assert [isinstance(one, Unreadable) for one in facts.values()] == [False, True, False]
    with pytest.raises(MissingObject):
        asyncio.run(inspect_frames(film_set.studio, _with_second_picture(film_set, key="projects/p/frames/gone.png")))


def test_the_proof_shows_what_the_findings_name(film_set: FilmSet) -> None:
    """A sheet under `previews`, under the AI label like all that people see; none when nobody is to blame."""
    sheet = asyncio.run(prove_frames(film_set.studio, film_set.footage.frames, [BROKEN]))
    assert sheet is not None
    assert "/previews/qc-frames-" in sheet.key
    with Image.open(io.BytesIO(film_set.workshop.objects.get(sheet.key))) as shown:
        green = rgb(shown.convert("RGB"), (shown.width // 2, shown.height - 60))
        assert shown.width == 600
        assert max(range(3), key=green.__getitem__) == 1  # the picture of shot 1 is green
    whole = BROKEN.model_copy(update={"seq": None})
    assert asyncio.run(prove_frames(film_set.studio, film_set.footage.frames, [whole])) is None


def test_the_proof_of_a_clip_lies_beside_its_image(film_set: FilmSet) -> None:
    """Left what was asked for, right what came."""
    _, firsts = asyncio.run(inspect_clips(film_set.studio, film_set.footage.clips, film_set.footage.frames))
    unlike = BROKEN.model_copy(update={"rule": "starts_from_its_picture"})
    sheet = asyncio.run(prove_clips(film_set.studio, film_set.footage.frames, firsts, [unlike]))
    assert sheet is not None
    with Image.open(io.BytesIO(film_set.workshop.objects.get(sheet.key))) as shown:
        row = shown.convert("RGB").crop((0, shown.height - 120, 600, shown.height - 20))
    left, right = (len(set(row.crop(box).quantize(32).tobytes())) for box in ((20, 0, 280, 100), (320, 0, 580, 100)))
    assert left < 6 < right  # one colour, and a test pattern


def test_a_verdict_shows_the_numbers_of_all_shots_and_why(film_set: FilmSet) -> None:
    """Findings with their meaning in both languages, a table of every shot, the proof; the row in the books says the same."""
    proof = asyncio.run(prove_frames(film_set.studio, film_set.footage.frames, [BROKEN]))
    rows: list[Row] = [{"shot": 0, "contrast": 40.0}, {"shot": 1, "contrast": None}]
    result = give_verdict(
        film_set.studio, check="frame_images_qc", document=film_set.footage.frames, findings=[BROKEN], measured=rows, proof=proof
    )
    assert (result.passed, result.severity) == (False, dg.AssetCheckSeverity.ERROR)
    (finding,), shots = _records(result.metadata, "findings"), _records(result.metadata, "measured")
    assert (finding["shot"], finding["rule"]) == (1, "not_flat")
    assert "blank" in finding["meaning"]
    assert "空白" in finding["meaning"]
    assert shots == rows
    shown = result.metadata["proof"]
    assert isinstance(shown, dg.MarkdownMetadataValue)
    assert "qc-frames" in (shown.md_str or "")
    with film_set.workshop.database.read() as connection:
        latest = {verdict.check: verdict for verdict in verdicts.latest(connection, film_set.studio.project.id)}
    assert latest["frame_images_qc"].findings == (BROKEN,)
    assert not latest["frame_images_qc"].passed


def _with_second_picture(film_set: FilmSet, *, key: str) -> Any:
    first, second, third = film_set.footage.frames.frames
    moved = second.model_copy(update={"media": second.media.model_copy(update={"key": key})})
    return film_set.footage.frames.model_copy(update={"frames": (first, moved, third)})


def _records(metadata: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [record.data for record in metadata[name].records]
