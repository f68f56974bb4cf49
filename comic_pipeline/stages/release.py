"""From an approved film to what is published: copies under final names that no later version ever overwrites."""

from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.media import CoverImage, FinalVideo, MediaRef, PublishedVideo, ReviewPage, Subtitles
from comic_pipeline.model.review import Decision, Review
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import projects, reviews


class ReleaseManifest(BaseModel):
    """What `published/<project>/manifest-v<N>.json` says: which files, whose approval, and where they came from."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    title: str
    version: int
    film: MediaRef
    cover: MediaRef
    srt: MediaRef | None
    provenance: MediaRef
    made_from: dict[str, str]
    approved_by: str
    approved_at: str
    note: str


async def publish(studio: Studio, film: FinalVideo, cover: CoverImage, subtitles: Subtitles, page: ReviewPage) -> PublishedVideo:
    """Copy everything to `published/<project>/`, the manifest last: whoever sees it finds all that it names.

    Raises Refused(CONFLICT) unless the project is approved, and approved in this very film.
    """
    approvals = _approvals(studio)
    approved = approvals[-1]
    if approved.film_sha256 != film.media.sha256:
        raise Refused(
            ErrorCode.CONFLICT,
            f"project {studio.project.id}: film {approved.film_sha256[:12]} was approved, this one is {film.media.sha256[:12]}",
        )
    version = len({review.film_sha256 for review in approvals})
    published_film = await _copy(studio, film.media, f"film-v{version}")
    published_cover = await _copy(studio, cover.media, f"cover-v{version}")
    srt = None if subtitles.srt is None else await _copy(studio, subtitles.srt, f"film-v{version}")
    provenance = await _copy(studio, page.manifest, f"provenance-v{version}")
    manifest = ReleaseManifest(
        project_id=studio.project.id,
        title=film.title,
        version=version,
        film=published_film,
        cover=published_cover,
        srt=srt,
        provenance=provenance,
        made_from={"film": film.media.key, "cover": cover.media.key},
        approved_by=approved.by,
        approved_at=approved.at.isoformat(),
        note=approved.note,
    )
    return PublishedVideo(
        title=film.title,
        version=version,
        film=published_film,
        cover=published_cover,
        srt=srt,
        manifest=await _write_manifest(studio, manifest),
        provenance=provenance,
        approved_by=approved.by,
        approved_at=approved.at,
    )


def _approvals(studio: Studio) -> list[Review]:
    with studio.desk.database.read() as connection:
        project = projects.get(connection, studio.project.id)
        found = [one for one in reviews.of_project(connection, project.id) if one.decision is Decision.APPROVE]
    if project.status != ProjectState.APPROVED or not found:
        raise Refused(
            ErrorCode.CONFLICT, f"project {project.id} is {project.status}; only an approved film is released: `comic review`"
        )
    return found


async def _copy(studio: Studio, media: MediaRef, name: str) -> MediaRef:
    key = _key(studio, f"{name}{PurePosixPath(media.key).suffix}")
    await studio.desk.put(key, await studio.desk.read(media), mime=media.mime)
    return media.model_copy(update={"key": key})


async def _write_manifest(studio: Studio, manifest: ReleaseManifest) -> MediaRef:
    data = manifest.model_dump_json(indent=1).encode()
    key = _key(studio, f"manifest-v{manifest.version}.json")
    await studio.desk.put(key, data, mime="application/json")
    return MediaRef(key=key, sha256=sha256_hex(data), size=len(data), mime="application/json")


def _key(studio: Studio, name: str) -> str:
    return str(PurePosixPath("published", studio.project.id, name))
