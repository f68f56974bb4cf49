"""The review page of a film: facts gathered, media made small and put into the page, and the manifest with all verdicts."""

import asyncio
import base64
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.image import thumbnail
from comic_pipeline.media.previews import Preview, make_previews
from comic_pipeline.model.manifest import StoredFile, Work
from comic_pipeline.model.media import Clip, CoverImage, FinalVideo, MediaRef, Production, ReviewPage, TimelineExport, VoiceLine
from comic_pipeline.model.money import ZERO, show
from comic_pipeline.model.project import Project
from comic_pipeline.model.review import Review
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.task import AttemptState, TaskType
from comic_pipeline.model.workflow import Stage
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.pages.review import CostRow, ReviewFacts, ShotRow, Shown, VersionRow, render_review
from comic_pipeline.stages.export import Footage
from comic_pipeline.stages.manifest import Provenance, write_manifest
from comic_pipeline.stages.studio import Studio, as_wished, rule_of
from comic_pipeline.store import reviews
from comic_pipeline.work.orders import Verified

# Bytes of media in the page, before they grow by a third in base64: the page stays below 20 MB.
PAGE_BUDGET = 14_000_000
# Up to these sizes film and clips are shown as they are, larger ones as smaller copies.
_FILM_AS_IT_IS, _CLIP_AS_IT_IS = 6_000_000, 600_000
# Pixels of the longer side.
_FILM_SIDE, _CLIP_SIDE, _THUMBNAIL, _SMALL = 640, 480, 480, 160
_LOST = (AttemptState.FAILED, AttemptState.UNKNOWN)


@dataclass(frozen=True)
class Material:
    """The documents that the page is about."""

    storyboard: Storyboard
    footage: Footage
    cover: CoverImage
    export: TimelineExport


@dataclass
class _Luggage:
    """What goes into the page itself, first come first served, until the budget is spent."""

    url: Callable[[str], str]
    left: int = PAGE_BUDGET
    embedded: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)

    def take(self, media: MediaRef, data: bytes, *, mime: str = "") -> Shown:
        """`media` on the page as `data` (its own bytes, or a smaller copy's of type `mime`), or as a link if that is too much."""
        shown = Shown(name=media.key.rpartition("/")[2], link=self.url(media.key), mime=mime or media.mime)
        if len(data) > self.left:
            self.linked.append(media.key)
            return shown
        self.left -= len(data)
        self.embedded.append(media.key)
        return replace(shown, data=f"data:{shown.mime};base64,{base64.b64encode(data).decode()}")

    def link(self, media: MediaRef) -> Shown:
        """`media` as a link."""
        return Shown(name=media.key.rpartition("/")[2], link=self.url(media.key), mime=media.mime)


async def write_review_page(studio: Studio, material: Material, *, code_versions: Mapping[str, str]) -> ReviewPage:
    """Make and store page and manifest. The same film with the same books gives the same bytes.

    Raises MediaFault(FFMPEG_FAILED), StorageFault.
    """
    provenance = await write_manifest(studio, material.footage.film.media, files=_files(material), code_versions=code_versions)
    decided = await studio.desk.look(lambda connection: reviews.of_project(connection, studio.project.id))
    small = await _small_copies(studio, material)
    luggage = _Luggage(studio.desk.objects.url)
    review = await asyncio.to_thread(_gather, studio, material, provenance, decided, small, luggage)
    page = Verified(render_review(review).encode(), mime="text/html", ending="html")
    return ReviewPage(
        page=await studio.store(page, folder="review", name="review"),
        manifest=provenance.stored,
        embedded=len(luggage.embedded),
        linked=len(luggage.linked),
        warnings=review.warnings,
    )


def _files(material: Material) -> list[StoredFile]:
    subtitles, export = material.footage.subtitles, material.export
    words = [StoredFile(role="subtitles", media=one) for one in (subtitles.srt, subtitles.ass) if one is not None]
    timelines = [StoredFile(role="timeline", media=one) for one in (export.otio, export.fcpxml, export.edl)]
    return [
        StoredFile(role="cover", media=material.cover.media),
        *words,
        *timelines,
        StoredFile(role="bundle", media=export.bundle),
    ]


async def _small_copies(studio: Studio, material: Material) -> Mapping[str, bytes]:
    """Copies by the key of what they are of: clips and a film that are large."""
    film = material.footage.film.media
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-review-")))

        def fetch(media: MediaRef) -> Path:
            return stack.enter_context(studio.desk.objects.local(media.key))

        def plan() -> dict[str, Preview]:
            wanted = {
                clip.media.key: Preview(fetch(clip.media), out=f"clip-{clip.seq}.mp4", side=_CLIP_SIDE, sound=False)
                for clip in material.footage.clips.clips
                if clip.media.size > _CLIP_AS_IT_IS
            }
            if film.size > _FILM_AS_IT_IS:
                wanted[film.key] = Preview(fetch(film), out="film.mp4", side=_FILM_SIDE, sound=True)
            return wanted

        previews = await asyncio.to_thread(plan)
        if not previews:
            return {}
        deadline = rule_of(Stage.FILM).deadline
        await make_previews(list(previews.values()), folder, ffmpeg=ffmpeg_path(studio.settings.ffmpeg), timeout=deadline)
        return {key: (folder / preview.out).read_bytes() for key, preview in previews.items()}


def _gather(
    studio: Studio,
    material: Material,
    provenance: Provenance,
    decided: Sequence[Review],
    small: Mapping[str, bytes],
    luggage: _Luggage,
) -> ReviewFacts:
    """Everything on the page; what matters most takes its place first."""
    read, film = studio.desk.objects.get, material.footage.film
    cover = luggage.take(material.cover.media, thumbnail(read(material.cover.media.key), width=_THUMBNAIL), mime="image/jpeg")
    shown_film, shots = _film_and_shots(studio, material, small, luggage)
    return ReviewFacts(
        language=studio.project.language,
        title=film.title,
        project_id=studio.project.id,
        film=shown_film,
        film_is_preview=film.media.key in small,
        cover=cover,
        offline=film.offline,
        facts=_facts(studio.project, film),
        shots=shots,
        verdicts=provenance.books.verdicts,
        decisions=decided,
        costs=_costs(provenance.manifest.work),
        spent=show(provenance.manifest.costs.spent),
        versions=_versions(provenance, read, luggage),
        licences=provenance.manifest.licences,
        files=_linked(material, provenance.stored, luggage),
    )


def _film_and_shots(
    studio: Studio, material: Material, small: Mapping[str, bytes], luggage: _Luggage
) -> tuple[Shown, list[ShotRow]]:
    """Pictures take their places before the film, then lines, then clips: a page without clips can still be decided by."""
    read, footage = studio.desk.objects.get, material.footage

    def video(media: MediaRef) -> Shown:
        copy = small.get(media.key)
        return luggage.take(media, read(media.key)) if copy is None else luggage.take(media, copy, mime="video/mp4")

    frames = {frame.seq: frame for frame in footage.frames.frames}
    pictures = {
        seq: luggage.take(frame.shown, thumbnail(read(frame.shown.key), width=_THUMBNAIL), mime="image/jpeg")
        for seq, frame in frames.items()
    }
    film = video(footage.film.media)
    sounds = {line.seq: luggage.take(line.media, read(line.media.key)) for line in footage.voices.lines if line.media}
    moving = {clip.seq: video(clip.media) for clip in footage.clips.clips}
    wished, _ = as_wished(studio, material.storyboard)
    return film, [
        _shot(
            shot,
            line,
            clip,
            picture=pictures[shot.seq],
            moving=moving[shot.seq],
            sound=sounds.get(shot.seq),
            is_card=frames[shot.seq].fallback,
            made=[frames[shot.seq].made, clip.made, *([line.made] if line.made else [])],
        )
        for shot, line, clip in zip(wished.shots, footage.voices.lines, footage.clips.clips, strict=True)
    ]


def _shot(
    shot: Shot,
    line: VoiceLine,
    clip: Clip,
    *,
    picture: Shown,
    moving: Shown,
    sound: Shown | None,
    is_card: bool,
    made: Sequence[Production],
) -> ShotRow:
    return ShotRow(
        seq=shot.seq,
        scene=shot.scene_desc,
        speaker=line.speaker,
        line=line.text,
        silenced=line.silenced,
        seconds=(clip.media.duration_ms or 0) / 1000,
        picture=picture,
        picture_is_card=is_card,
        clip=moving,
        voice=sound,
        made_by=", ".join(dict.fromkeys(f"{one.provider} {one.model}" for one in made)),
        cost=show(sum((one.cost for one in made), ZERO)),
    )


def _facts(project: Project, film: FinalVideo) -> list[tuple[str, str, str]]:
    media = film.media
    return [
        ("时长", "length", f"{(media.duration_ms or 0) / 1000:.2f} s"),
        ("尺寸", "size", f"{media.width}x{media.height}, {media.size / 1e6:.1f} MB"),
        ("风格", "style", f"{project.look.zh} / {project.look.en}"),
        ("创意", "idea", project.idea),
        ("等级", "tier", project.tier),
        ("SHA-256", "SHA-256", media.sha256),
    ]


def _costs(work: Sequence[Work]) -> list[CostRow]:
    rows = []
    for task_type, provider in dict.fromkeys((piece.task_type, piece.provider) for piece in work):
        pieces = [piece for piece in work if (piece.task_type, piece.provider) == (task_type, provider)]
        tries = [one for piece in pieces for one in piece.tries]
        rows.append(
            CostRow(
                task_type=task_type,
                provider=provider,
                pieces=len(pieces),
                creates=len(tries),
                lost=sum(one.state in _LOST for one in tries),
                cost=show(sum((one.cost for one in tries), ZERO)),
            )
        )
    return rows


def _versions(provenance: Provenance, read: Callable[[str], bytes], luggage: _Luggage) -> list[VersionRow]:
    """Every film, and every other piece that is not in this one."""
    in_film = {work.task_id for work in provenance.manifest.work if work.in_film}
    rows = []
    for task in provenance.books.tasks:
        film = task.task_type is TaskType.FILM_RENDER
        if task.output is None or task.task_type is TaskType.STORYBOARD or (task.task_id in in_film and not film):
            continue
        picture = None
        # Housekeeping may have removed what no film uses any more; the row stays.
        with suppress(MissingObject):
            if task.task_type is TaskType.FRAME_IMAGE:
                picture = luggage.take(task.output, thumbnail(read(task.output.key), width=_SMALL), mime="image/jpeg")
        rows.append(VersionRow(task=task, in_film=task.task_id in in_film, file=luggage.link(task.output), picture=picture))
    return rows


def _linked(material: Material, manifest: MediaRef, luggage: _Luggage) -> list[tuple[str, str, Shown]]:
    footage = material.footage
    files = [
        ("影片", "film", footage.film.media),
        ("封面", "cover", material.cover.media),
        ("出处清单", "manifest", manifest),
        ("剪辑工程包", "editing bundle", material.export.bundle),
    ]
    files += [("配乐", "music", footage.music.media)] if footage.music.media is not None else []
    files += [("字幕", "subtitles", words) for words in (footage.subtitles.srt, footage.subtitles.ass) if words is not None]
    return [(zh, en, luggage.link(media)) for zh, en, media in files]
