"""The film render as a provider: local, free, and still a task of the ledger like all costly work.

Belongs here: fetching stored clips and voices to files and handing them to `media/film.py`. The runner stores the result.
"""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.label import AiLabel
from comic_pipeline.model.media import Cue, MediaRef
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.project import Frame, Language
from comic_pipeline.objects.store import ObjectStore, local_whole
from comic_pipeline.providers.interface import CancelOutcome, Done, FoundJob, Go, Inline, JobStatus, JsonObject, Output, at_once

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


class LocalRender:
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
        """Render. Raises MediaFault(FFMPEG_FAILED), StorageFault."""
        await go()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comic-film-")))
            shots = tuple(
                FilmShot(
                    seq=shot.seq,
                    clip=stack.enter_context(local_whole(self._objects, shot.clip)),
                    length_ms=shot.length_ms,
                    voice=None if shot.voice is None else stack.enter_context(local_whole(self._objects, shot.voice)),
                    voice_offset_ms=shot.voice_offset_ms,
                )
                for shot in request.shots
            )
            plan = FilmPlan(
                frame=request.frame,
                fps=request.fps,
                shots=shots,
                cues=request.cues,
                title=request.title,
                language=request.language,
                label=request.label,
                music=None if request.music is None else stack.enter_context(local_whole(self._objects, request.music)),
                crossfade_ms=request.crossfade_ms,
            )
            out = folder / "film.mp4"
            await render_film(plan, out, ffmpeg=ffmpeg_path(self._ffmpeg), timeout=self._timeout)
            return Done(
                Inline(out.read_bytes()), usage={"milliseconds": sum(shot.length_ms for shot in request.shots)}, cost=ZERO
            )

    async def poll(self, job_id: str, request: FilmRequest) -> JobStatus:  # noqa: ARG002  # the interface's signature
        """There are no jobs to poll."""
        raise ProviderFault(ErrorCode.NOT_FOUND, f"{self.name} has no job {job_id}: it renders at once")

    async def cancel(self, job_id: str) -> CancelOutcome:  # noqa: ARG002  # the interface's signature
        """There are no jobs to cancel; stopping the run stops the render."""
        return CancelOutcome.UNSUPPORTED

    async def find(self, request: FilmRequest, *, since: datetime) -> tuple[FoundJob, ...]:  # noqa: ARG002  # the interface's signature
        """There is no list."""
        return ()

    async def fetch(self, output: Output) -> bytes:
        """The rendered bytes."""
        if isinstance(output, Inline):
            return output.data
        raise ProviderFault(ErrorCode.REF_URL_UNREACHABLE, "a local render has no link")

    async def close(self) -> None:
        """Nothing is held open."""
