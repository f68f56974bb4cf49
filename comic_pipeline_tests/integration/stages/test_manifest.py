"""The manifest against the store and the books: every hash is looked up, every cost is added up, nobody's name is in it."""

import asyncio
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from comic_pipeline.model.licence import licences_of
from comic_pipeline.model.manifest import Manifest, StoredFile
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.storyboard import OverrideField
from comic_pipeline.model.task import TaskType, hash_of, sha256_hex
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.providers.music_file import FileMusic
from comic_pipeline.providers.offline.music import OfflineMusic
from comic_pipeline.settings import ImageProviderName, TextProviderName, VideoProviderName, VoiceProviderName
from comic_pipeline.stages.manifest import write_manifest
from comic_pipeline.store import ledger, overrides, verdicts
from comic_pipeline_tests.builders import NOW
from comic_pipeline_tests.filmset import FilmSet
from comic_pipeline_tests.reckoning import spent_by

OPERATOR = "Operator Li"
WARNING = Finding(rule="picture_drawn", severity=Severity.WARN, seq=1, measured="a card", wanted="a picture")


@pytest.fixture(scope="module")
def written(film_set: FilmSet) -> tuple[Manifest, MediaRef]:
    """The manifest of a film whose gate an operator opened and one of whose pictures he asked for anew."""
    project_id = film_set.studio.project.id
    with film_set.workshop.database.write() as connection:
        overrides.add(connection, project_id, seq=1, field=OverrideField.TAKE_FRAMES, value="1", by=OPERATOR, now=NOW)
        overrides.add(connection, project_id, seq=1, field=OverrideField.IMAGE_PROMPT, value="a rose", by=OPERATOR, now=NOW)
        verdicts.record(
            connection,
            Verdict(
                project_id=project_id,
                asset="frame_images",
                check="frame_images_qc",
                run_id="run-1",
                data_version="v1",
                passed=True,
                severity=Severity.WARN,
                numbers=json.dumps([WARNING.model_dump(mode="json")]),
                override_by=OPERATOR,
                override_reason="seen, fine",
                at=NOW,
            ),
        )
    return _write(film_set)


def _write(film_set: FilmSet) -> tuple[Manifest, MediaRef]:
    srt = film_set.footage.subtitles.srt
    assert srt is not None
    files = [StoredFile(role="subtitles", media=srt)]
    made = asyncio.run(
        write_manifest(film_set.studio, film_set.footage.film.media, files=files, code_versions={"final_video": "1"})
    )
    return made.manifest, made.stored


def _media_in(value: Any) -> Iterator[MediaRef]:
    if isinstance(value, dict):
        if {"key", "sha256", "size"} <= set(value):
            yield MediaRef.model_validate(value)
        for item in value.values():
            yield from _media_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _media_in(item)


def test_every_hash_is_that_of_stored_bytes_and_every_input_somebodys_output(
    film_set: FilmSet, written: tuple[Manifest, MediaRef]
) -> None:
    """Provenance that cannot be checked is none: each file is read back and hashed, each chain ends at its makers."""
    manifest, stored = written
    document = json.loads(film_set.workshop.objects.get(stored.key))
    found = list(_media_in(document))
    assert len(found) >= 13
    for media in found:
        data = film_set.workshop.objects.get(media.key)
        assert (sha256_hex(data), len(data)) == (media.sha256, media.size)
    outputs = {work.output_sha256 for work in manifest.work}
    assert all(set(work.inputs) <= outputs for work in manifest.work)
    with film_set.workshop.database.read() as connection:
        tasks = {task.task_id: task for task in ledger.of_project(connection, film_set.studio.project.id)}
    assert all(hash_of(json.loads(tasks[work.task_id].input_json)) == work.input_hash for work in manifest.work)
    assert sha256_hex(film_set.workshop.objects.get(stored.key)) == stored.sha256


def test_the_film_is_followed_back_to_all_of_its_material(film_set: FilmSet, written: tuple[Manifest, MediaRef]) -> None:
    """Clips, lines and pictures that are in the film are told from an earlier take of a picture that is not."""
    manifest, _ = written
    in_film = {(work.task_type, work.shot, work.take) for work in manifest.work if work.in_film}
    assert in_film == (
        {(craft, None, 0) for craft in (TaskType.STORYBOARD, TaskType.FILM_RENDER, TaskType.MUSIC)}
        | {(TaskType.VOICE_LINE, 0, 0), (TaskType.VOICE_LINE, 2, 0)}
        | {(TaskType.CLIP, seq, 0) for seq in range(3)}
        | {(TaskType.FRAME_IMAGE, 0, 0), (TaskType.FRAME_IMAGE, 1, 1), (TaskType.FRAME_IMAGE, 2, 0)}
    )
    (early,) = [work for work in manifest.work if not work.in_film]
    assert (early.task_type, early.shot, early.take) == (TaskType.FRAME_IMAGE, 1, 0)
    # Housekeeping keeps what a manifest names by key.
    assert (early.file, len(early.output_sha256 or "")) == (None, 64)
    frame = next(work for work in manifest.work if work.task_type == TaskType.FRAME_IMAGE and work.shot == 1 and work.in_film)
    assert (frame.provider, frame.model, frame.seed, frame.template_hash) == ("ark_image", "ark_image-1", 7, "t" * 16)


def test_costs_count_what_failed_and_what_was_lost(film_set: FilmSet, written: tuple[Manifest, MediaRef]) -> None:
    """What a film cost is what was booked for it, not what its final pieces cost."""
    manifest, _ = written
    with film_set.workshop.database.read() as connection:
        booked = spent_by(connection, film_set.studio.project.id)
    costs = manifest.costs
    assert costs.spent == booked == Decimal("5.39")
    assert (costs.in_film, costs.failed, costs.unknown) == (Decimal("5.19"), Decimal("0.03"), Decimal("0.05"))
    troubled = next(work for work in manifest.work if len(work.tries) == 3)
    assert [one.state for one in troubled.tries] == ["failed", "unknown", "succeeded"]


def test_changes_and_verdicts_are_told_without_names_prompts_or_secrets(
    film_set: FilmSet, written: tuple[Manifest, MediaRef]
) -> None:
    """The manifest travels with the film: people are hashes, words are hashes, no address or key of a provider is in it."""
    manifest, stored = written
    assert [(change.shot, change.field) for change in manifest.changes] == [(1, "take_frames"), (1, "image_prompt")]
    assert [change.value for change in manifest.changes] == ["1", f"sha256:{sha256_hex(b'a rose')}"]
    verdict = next(one for one in manifest.verdicts if one.check == "frame_images_qc")
    assert (verdict.passed, verdict.findings) == (True, (WARNING,))
    assert verdict.opened_because == "seen, fine"
    text = film_set.workshop.objects.get(stored.key).decode()
    for private in (film_set.studio.project.user_id, OPERATOR, "a rose", film_set.studio.project.idea, "ark.example"):
        assert private not in text
    assert manifest.subject.user == film_set.studio.user_hash
    assert verdict.opened_by
    assert verdict.opened_by != manifest.subject.user


def test_it_names_the_programs_and_the_terms(written: tuple[Manifest, MediaRef]) -> None:
    """Font, ffmpeg, the voice's program and each vendor's terms; versions of what made the film."""
    manifest, _ = written
    terms = {licence.name: licence.licence for licence in manifest.licences}
    assert terms == {
        "Noto Sans SC": "OFL-1.1",
        "ffmpeg": "GPL-3.0-or-later",
        "eSpeak NG": "GPL-3.0-or-later",
        "comic_pipeline offline providers": "none needed",
        "Volcengine Ark": "provider's terms of service",
    }
    assert re.match(r"n?\d+\.\d+", manifest.software.ffmpeg)
    assert manifest.software.assets == {"final_video": "1"}


def test_writing_it_again_gives_the_same_bytes(film_set: FilmSet, written: tuple[Manifest, MediaRef]) -> None:
    """A stage that runs again and finds all made must not make a new manifest."""
    assert _write(film_set) == written


@pytest.mark.parametrize(
    "provider",
    [f"{name}_text" for name in TextProviderName]
    + [f"{name}_image" for name in ImageProviderName]
    + [f"{name}_voice" for name in VoiceProviderName]
    + [f"{name}_video" for name in VideoProviderName]
    + ["ffmpeg", OfflineMusic.name, FileMusic.name],
)
def test_every_provider_that_can_be_chosen_has_its_terms(provider: str) -> None:
    """A new provider without a line in the table would leave films whose terms nobody can tell."""
    assert not any("not stated" in licence.source for licence in licences_of([provider]))
