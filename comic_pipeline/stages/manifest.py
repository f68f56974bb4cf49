"""The manifest of a film, from the books to the store. What is in it is decided in `model/manifest.py`."""

import asyncio
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from comic_pipeline.media.ffmpeg import ffmpeg_path, ffmpeg_version
from comic_pipeline.model.manifest import Books, Manifest, Software, StoredFile, assemble
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.task import Attempt
from comic_pipeline.providers.registry import user_hash
from comic_pipeline.settings import Settings
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import attempts, ledger, overrides, projects, verdicts
from comic_pipeline.store.database import Connection
from comic_pipeline.work.orders import Verified


@dataclass(frozen=True)
class Provenance:
    """A manifest, where it is stored, and the books that it was written from."""

    manifest: Manifest
    stored: MediaRef
    books: Books


async def write_manifest(
    studio: Studio, film: MediaRef, *, files: Sequence[StoredFile], code_versions: Mapping[str, str]
) -> Provenance:
    """The manifest of `film` as things stand now, stored under its own hash.

    `files` are what belongs to the film beside its material (cover, subtitles, the exchange bundle). Verdicts are those in force:
    written before the film's own gate it lacks that one. Raises StorageFault, MediaFault when ffmpeg does not answer.
    """
    books = await studio.desk.look(lambda connection: read_books(connection, studio.project.id))
    software = await asyncio.to_thread(_software, studio.settings, code_versions)
    manifest = assemble(
        books, film=film, files=files, software=software, hash_person=lambda name: user_hash(studio.settings, name)
    )
    document = Verified(manifest.model_dump_json(indent=1).encode(), mime="application/json", ending="json")
    return Provenance(manifest, await studio.store(document, folder="manifest"), books)


def read_books(connection: Connection, project_id: str) -> Books:
    """What the database says of a project. Raises Refused(NOT_FOUND)."""
    tries: dict[str, tuple[Attempt, ...]] = {}
    for attempt in attempts.of_project(connection, project_id):
        tries[attempt.task_id] = (*tries.get(attempt.task_id, ()), attempt)
    return Books(
        project=projects.get(connection, project_id),
        tasks=tuple(ledger.of_project(connection, project_id)),
        tries=tries,
        overrides=overrides.load(connection, project_id),
        verdicts=tuple(verdicts.latest(connection, project_id)),
    )


def _software(settings: Settings, code_versions: Mapping[str, str]) -> Software:
    return Software(
        package=version("comic-pipeline"),
        python=platform.python_version(),
        ffmpeg=ffmpeg_version(ffmpeg_path(settings.ffmpeg)),
        assets=dict(sorted(code_versions.items())),
    )
