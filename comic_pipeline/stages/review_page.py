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
from comic_pipeline.model.manifest import Manifest, StoredFile, Work
from comic_pipeline.model.media import (
    Clip,
    Clips,
    CoverImage,
    FinalVideo,
    FrameImages,
    MediaRef,
    Production,
    ReviewPage,
    Subtitles,
    TimelineExport,
    VoiceLine,
    VoiceLines,
)
from comic_pipeline.model.money import ZERO, show
from comic_pipeline.model.project import Project
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.task import AttemptState, TaskType
from comic_pipeline.model.verdict import Verdict
from comic_pipeline.model.workflow import Stage
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.pages.review import CostRow, Review, ShotRow, Shown, VersionRow, render_review
from comic_pipeline.stages.manifest import write_manifest
from comic_pipeline.stages.studio import Studio, as_wished, rule_of
from comic_pipeline.store import verdicts
from comic_pipeline.work.orders import Verified

# Bytes of media in the page, before they grow by a third in base64: the page stays below 20 MB.
PAGE_BUDGET = 14_000_000
# A film up to this size is shown as it is, a larger one as a smaller copy.
_FILM_AS_IT_IS = 6_000_000
# Pixels of the longer side.
_FILM_SIDE, _CLIP_SIDE, _THUMBNAIL, _SMALL = 640, 480, 480, 160
_LOST = (AttemptState.FAILED, AttemptState.UNKNOWN)
_KEPT = (TaskType.FILM_RENDER, TaskType.FRAME_IMAGE, TaskType.CLIP, TaskType.VOICE_LINE, TaskType.MUSIC)


@dataclass(frozen=True)
class Material:
    """The documents that the page is about."""

    storyboard: Storyboard
    frames: FrameImages
    voices: VoiceLines
    clips: Clips
    subtitles: Subtitles
    film: FinalVideo
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
    manifest, manifest_ref = await write_manifest(
        studio, material.film.media, files=_files(material), code_versions=code_versions
    )
    judged = await studio.desk.look(lambda connection: verdicts.latest(connection, studio.project.id))
    small = await _small_copies(studio, material)
    luggage = _Luggage(studio.desk.objects.url)
    review = await asyncio.to_thread(_gather, studio, material, manifest, judged, small, luggage, manifest_ref)
    page = Verified(render_review(review).encode(), mime="text/html", ending="html")
    return ReviewPage(
        page=await studio.store(page, folder="review", name="review"),
        manifest=manifest_ref,
        embedded=len(luggage.embedded),
        linked=len(luggage.linked),
        warnings=review.warnings,
    )


def _files(material: Material) -> list[StoredFile]:
    subtitles, export = material.subtitles, material.export
    words = [StoredFile(role="subtitles", media=one) for one in (subtitles.srt, subtitles.ass) if one is not None]
    timelines = [StoredFile(role="timeline", media=one) for one in (export.otio, export.fcpxml, export.edl)]
    return [
        StoredFile(role="cover", media=material.cover.media),
        *words,
        *timelines,
        StoredFile(role="bundle", media=export.bundle),
    ]


async def _small_copies(studio: Studio, material: Material) -> Mapping[str, bytes]:
    """Copies by the key of what they are of: every clip, and the film if it is large."""
    film = material.film.media
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-review-")))

        def fetch(media: MediaRef) -> Path:
            return stack.enter_context(studio.desk.objects.local(media.key))

        def plan() -> dict[str, Preview]:
            wanted = {
                clip.media.key: Preview(fetch(clip.media), out=f"clip-{clip.seq}.mp4", side=_CLIP_SIDE, sound=False)
                for clip in material.clips.clips
            }
            if film.size > _FILM_AS_IT_IS:
                wanted[film.key] = Preview(fetch(film), out="film.mp4", side=_FILM_SIDE, sound=True)
            return wanted

        previews = await asyncio.to_thread(plan)
        deadline = rule_of(Stage.FILM).deadline
        await make_previews(list(previews.values()), folder, ffmpeg=ffmpeg_path(studio.settings.ffmpeg), timeout=deadline)
        return {key: (folder / preview.out).read_bytes() for key, preview in previews.items()}


def _gather(
    studio: Studio,
    material: Material,
    manifest: Manifest,
    judged: Sequence[Verdict],
    small: Mapping[str, bytes],
    luggage: _Luggage,
    manifest_ref: MediaRef,
) -> Review:
    """Everything on the page; what matters most takes its place first."""
    read, film = studio.desk.objects.get, material.film
    cover = luggage.take(material.cover.media, thumbnail(read(material.cover.media.key), width=_THUMBNAIL), mime="image/jpeg")
    pictures = {
        frame.seq: luggage.take(frame.media, thumbnail(read(frame.media.key), width=_THUMBNAIL), mime="image/jpeg")
        for frame in material.frames.frames
    }
    shown_film = luggage.take(film.media, small.get(film.media.key) or read(film.media.key))
    sounds = {line.seq: luggage.take(line.media, read(line.media.key)) for line in material.voices.lines if line.media}
    moving = {clip.seq: luggage.take(clip.media, small[clip.media.key], mime="video/mp4") for clip in material.clips.clips}
    wished, _ = as_wished(studio, material.storyboard)
    cards = {frame.seq for frame in material.frames.frames if frame.fallback}
    frames_made = {frame.seq: frame.made for frame in material.frames.frames}
    shots = [
        _shot(
            shot,
            line,
            clip,
            picture=pictures[shot.seq],
            moving=moving[shot.seq],
            sound=sounds.get(shot.seq),
            is_card=shot.seq in cards,
            made=[frames_made[shot.seq], clip.made, *([line.made] if line.made else [])],
        )
        for shot, line, clip in zip(wished.shots, material.voices.lines, material.clips.clips, strict=True)
    ]
    return Review(
        language=studio.project.language,
        title=film.title,
        project_id=studio.project.id,
        film=shown_film,
        film_is_preview=film.media.key in small,
        cover=cover,
        offline=film.offline,
        facts=_facts(studio.project, film),
        shots=shots,
        verdicts=judged,
        costs=_costs(manifest.work),
        spent=show(manifest.costs.spent),
        versions=[_version(work, read, luggage) for work in manifest.work if _is_version(work)],
        licences=manifest.licences,
        files=_linked(material, manifest_ref, luggage),
    )


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
    for craft, provider in dict.fromkeys((piece.craft, piece.provider) for piece in work):
        pieces = [piece for piece in work if (piece.craft, piece.provider) == (craft, provider)]
        tries = [one for piece in pieces for one in piece.tries]
        rows.append(
            CostRow(
                craft=craft,
                provider=provider,
                pieces=len(pieces),
                creates=len(tries),
                lost=sum(one.state in _LOST for one in tries),
                cost=show(sum((one.cost for one in tries), ZERO)),
            )
        )
    return rows


def _is_version(work: Work) -> bool:
    return work.output is not None and work.craft in _KEPT and (work.craft == TaskType.FILM_RENDER or not work.in_film)


def _version(work: Work, read: Callable[[str], bytes], luggage: _Luggage) -> VersionRow:
    media = work.output
    if media is None:
        raise LookupError(f"task {work.task_id} has no output")
    picture = None
    # Housekeeping may have removed what no film uses any more; the row stays.
    with suppress(MissingObject):
        if work.craft == TaskType.FRAME_IMAGE:
            picture = luggage.take(media, thumbnail(read(media.key), width=_SMALL), mime="image/jpeg")
    return VersionRow(work=work, file=luggage.link(media), picture=picture)


def _linked(material: Material, manifest: MediaRef, luggage: _Luggage) -> list[tuple[str, str, Shown]]:
    files = [
        ("影片", "film", material.film.media),
        ("封面", "cover", material.cover.media),
        ("出处清单", "manifest", manifest),
        ("剪辑工程包", "editing bundle", material.export.bundle),
    ]
    files += [("字幕", "subtitles", words) for words in (material.subtitles.srt, material.subtitles.ass) if words is not None]
    return [(zh, en, luggage.link(media)) for zh, en, media in files]
