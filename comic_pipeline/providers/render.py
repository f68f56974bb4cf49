"""The film render as a provider: local, free, and still a task of the ledger like all costly work.

Belongs here: fetching stored clips and voices to files and handing them to `media/film.py`. The runner stores the result.
"""

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.model.label import AiLabel
from comic_pipeline.model.media import Cue, MediaRef
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.project import Frame, Language
from comic_pipeline.objects.store import ObjectStore, local_whole
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, at_once
from comic_pipeline.providers.offline import AnswersAtOnce

# Part of the key: a change in how films are put together makes new films, and this number says so.
RENDER_VERSION = "3"


@dataclass(frozen=True)
class FilmShotRequest:
    """One shot: a stored clip shown for `length_ms`, a stored line that begins `voice_offset_ms` into it."""

    seq: int
    clip: MediaRef
    length_ms: int
    voice: MediaRef | None
    voice_offset_ms: int


@dataclass(frozen=True)
class FilmRequest:
    """Everything that decides a film."""

    frame: Frame
    fps: int
    shots: tuple[FilmShotRequest, ...]
    cues: tuple[Cue, ...]
    title: str
    language: Language
    label: AiLabel | None = None
    music: MediaRef | None = None
    crossfade_ms: int = 0


class LocalRender(AnswersAtOnce):
    """Provider[FilmRequest] on this machine's ffmpeg. `timeout` in seconds."""

    name = "ffmpeg"
    base_url = "local:"
    asynchronous = False
    offline = True
    model = f"film-{RENDER_VERSION}"

    def __init__(self, *, objects: ObjectStore, ffmpeg: str, timeout: float) -> None:
        self._objects = objects
        self._ffmpeg = ffmpeg
        self._timeout = timeout

    def describe(self, request: FilmRequest) -> JsonObject:
        """Sizes, times, words and the hashes of what goes in."""
        return {
            "frame": request.frame.model_dump(),
            "fps": request.fps,
            "title": request.title,
            "language": request.language,
            "shots": [
                [shot.seq, shot.clip.sha256, shot.length_ms, shot.voice.sha256 if shot.voice else "", shot.voice_offset_ms]
                for shot in request.shots
            ],
            "music": request.music.sha256 if request.music else "",
            "crossfade_ms": request.crossfade_ms,
            "cues": [[cue.start_ms, cue.end_ms, cue.text] for cue in request.cues],
            "label": request.label.model_dump() if request.label else None,
        }

    def estimate(self, request: FilmRequest) -> Decimal:  # noqa: ARG002  # the interface's signature
        """Local work costs nothing."""
        return ZERO

    async def submit(self, request: FilmRequest, *, go: Go = at_once) -> Done:
        """Render. Raises MediaFault: INPUT_INVALID (a piece that is not what it should be), FFMPEG_FAILED; StorageFault."""
        await go()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-film-")))
            # In a thread: from S3 the pieces of a long film take longer than a run may go without a heartbeat.
            plan = await asyncio.to_thread(self._plan, request, stack)
            out = folder / "film.mp4"
            await render_film(plan, out, ffmpeg=ffmpeg_path(self._ffmpeg), timeout=self._timeout)
            data = await asyncio.to_thread(out.read_bytes)
        return Done(Inline(data), usage={"milliseconds": sum(shot.length_ms for shot in request.shots)}, cost=ZERO)

    def _plan(self, request: FilmRequest, stack: ExitStack) -> FilmPlan:
        """The film with its pieces as files, which are there until `stack` is closed."""

        def fetch(media: MediaRef) -> Path:
            return stack.enter_context(local_whole(self._objects, media))

        return FilmPlan(
            frame=request.frame,
            fps=request.fps,
            shots=tuple(
                FilmShot(
                    seq=shot.seq,
                    clip=fetch(shot.clip),
                    length_ms=shot.length_ms,
                    voice=None if shot.voice is None else fetch(shot.voice),
                    voice_offset_ms=shot.voice_offset_ms,
                )
                for shot in request.shots
            ),
            cues=request.cues,
            title=request.title,
            language=request.language,
            label=request.label,
            music=None if request.music is None else fetch(request.music),
            crossfade_ms=request.crossfade_ms,
        )
