"""Publishing an approved film: what is copied, what is refused, and what a process that dies in the middle leaves."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.media import CoverImage, FinalVideo, MediaRef, Production, PublishedVideo, ReviewPage, Subtitles
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.review import Decision, Review
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.stages.release import publish
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import reviews
from comic_pipeline_tests.builders import NOW, a_project, a_worker
from comic_pipeline_tests.homes import opened_home


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A home with one approved project."""
    with opened_home(tmp_path / "home", a_project(status=ProjectState.APPROVED)) as opened:
        yield opened


def stored(workshop: Workshop, name: str, data: bytes) -> MediaRef:
    """Bytes among the project's media."""
    key = f"projects/p1/film/{name}"
    workshop.objects.put(key, data, mime="application/octet-stream")
    return MediaRef(key=key, sha256=sha256_hex(data), size=len(data), mime="application/octet-stream")


def a_film(workshop: Workshop, data: bytes = b"film") -> tuple[FinalVideo, CoverImage, Subtitles, ReviewPage]:
    """A finished film with cover and subtitles."""
    made = Production(task_id="t", provider="x", model="x", cost=ZERO, template_hash="", seconds=0.0, reused=False)
    film = FinalVideo(title="猫", media=stored(workshop, "a.mp4", data), planned_ms=1, made=made, offline=True)
    cover = CoverImage(media=stored(workshop, "c.png", b"cover"))
    page = ReviewPage(page=cover.media, manifest=stored(workshop, "m.json", b"{}"), embedded=0, linked=0, warnings=0)
    return film, cover, Subtitles(cues=(), srt=stored(workshop, "s.srt", b"words")), page


def approve(workshop: Workshop, film: FinalVideo, *, decision: Decision = Decision.APPROVE) -> None:
    """A person has looked at this film."""
    review = Review(
        project_id="p1",
        decision=decision,
        by="ann",
        note="",
        film_sha256=film.media.sha256,
        redo_stage=None,
        redo_shots=(),
        at=NOW,
    )
    with workshop.database.write() as connection:
        reviews.record(connection, review)


def release(workshop: Workshop, *material: Any) -> PublishedVideo:
    """The work of the asset `published_video`."""

    async def work() -> PublishedVideo:
        providers = workshop.build_providers()
        try:
            studio: Studio = workshop.studio(workshop.project("p1"), a_worker(), providers)
            return await publish(studio, *material)
        finally:
            await providers.close()

    return asyncio.run(work())


def published(workshop: Workshop) -> dict[str, bytes]:
    """Everything that the world sees, by name."""
    return {one.key.rsplit("/", 1)[1]: workshop.objects.get(one.key) for one in workshop.objects.list("published/p1/")}


def test_what_was_approved_is_copied_under_final_names(workshop: Workshop) -> None:
    """Film, cover, words and a manifest that names them by key and SHA-256."""
    material = a_film(workshop)
    approve(workshop, material[0])
    made = release(workshop, *material)
    there = published(workshop)
    assert {name: data for name, data in there.items() if name != "manifest-v1.json"} == {
        "film-v1.mp4": b"film",
        "cover-v1.png": b"cover",
        "film-v1.srt": b"words",
        "provenance-v1.json": b"{}",
    }
    manifest = json.loads(there["manifest-v1.json"])
    assert (manifest["film"]["key"], manifest["film"]["sha256"]) == (made.film.key, sha256_hex(b"film"))
    assert (manifest["version"], manifest["approved_by"]) == (1, "ann")


@pytest.mark.parametrize("decision", [None, Decision.REJECT])
def test_nothing_is_published_without_an_approval(workshop: Workshop, decision: Decision | None) -> None:
    """A state that somebody wrote by hand is not an approval."""
    material = a_film(workshop)
    if decision:
        approve(workshop, material[0], decision=decision)
    with pytest.raises(Refused) as refused:
        release(workshop, *material)
    assert refused.value.code is ErrorCode.CONFLICT
    assert published(workshop) == {}


def test_another_film_than_the_approved_one_is_refused(workshop: Workshop) -> None:
    """The film was made anew after the approval: both are named, nothing is published."""
    approve(workshop, a_film(workshop, b"the one that was seen")[0])
    with pytest.raises(Refused, match="was approved, this one is"):
        release(workshop, *a_film(workshop, b"another"))
    assert published(workshop) == {}


class Killed(BaseException):
    """The end of a process, as far as anything inside it can tell."""


class DyingStore(FolderStore):
    """A folder whose process dies when it writes below `published/` for the `lives`-th time."""

    lives = 0

    def put(self, key: str, data: bytes, *, mime: str) -> None:
        """Store, or die."""
        if key.startswith("published/"):
            self.lives -= 1
            if self.lives < 0:
                raise Killed
        super().put(key, data, mime=mime)


@pytest.mark.parametrize("lives", range(5))
def test_a_release_that_is_killed_is_finished_by_the_next_run(workshop: Workshop, lives: int) -> None:
    """The manifest comes last: until it is there nobody is told of a release, and the next run writes the same version."""
    material = a_film(workshop)
    approve(workshop, material[0])
    store = workshop.objects
    assert isinstance(store, FolderStore)
    dying = object.__new__(DyingStore)
    dying.__dict__.update(store.__dict__)
    dying.lives = lives
    with pytest.raises(Killed):
        release(replace(workshop, objects=dying), *material)
    assert len(published(workshop)) == lives
    assert "manifest-v1.json" not in published(workshop)
    assert release(workshop, *material).version == 1
    assert sorted(published(workshop)) == ["cover-v1.png", "film-v1.mp4", "film-v1.srt", "manifest-v1.json", "provenance-v1.json"]


def test_a_second_version_leaves_the_first_where_it_is(workshop: Workshop) -> None:
    """Links to what was published before go on working."""
    first = a_film(workshop, b"first")
    approve(workshop, first[0])
    release(workshop, *first)
    second = a_film(workshop, b"second")
    approve(workshop, second[0])
    assert release(workshop, *second).version == 2
    there = published(workshop)
    assert (there["film-v1.mp4"], there["film-v2.mp4"]) == (b"first", b"second")
