"""`comic demo`: one submission, driven to its film in this process by the deployment's own reconciler and jobs."""

import shutil
import threading
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict
from rich.console import Console

from comic_pipeline import service
from comic_pipeline.defs.io import document_key
from comic_pipeline.demo.drive import StageTook, drive
from comic_pipeline.display import DemoProgress
from comic_pipeline.model.errors import ComicError, ErrorCode, StorageFault
from comic_pipeline.model.media import CoverImage, FinalVideo, Subtitles
from comic_pipeline.model.money import show
from comic_pipeline.model.project import RawProduceRequest, Tier
from comic_pipeline.model.workflow import ProjectState, SubmissionKind
from comic_pipeline.settings import Settings
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline.store import submissions
from comic_pipeline.store.submissions import NewSubmission

_LOOK_EVERY = 0.25


class DemoFilm(BaseModel):
    """What `comic demo --json` prints. Paths are absolute; cost is CNY, exact, as text; `stages` is seconds by stage."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    film: str
    cover: str
    duration_s: float
    width: int
    height: int
    shots: int
    cost: Decimal
    seconds: float
    stages: dict[str, float]

    def print(self, console: Console) -> None:
        """The same for people."""
        console.print(f"[bold green]{self.film}[/]", highlight=False, soft_wrap=True)
        console.print(f"cover {self.cover}", highlight=False, soft_wrap=True)
        console.print(
            f"{self.duration_s:.2f} s  {self.width}x{self.height}  {self.shots} shots  {show(self.cost)}  "
            f"made in {self.seconds:.1f} s",
            highlight=False,
        )
        console.print("  ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.stages.items()), highlight=False)
        console.print(f"project {self.project_id}: `make dev` shows it in the Dagster UI", highlight=False)


class DemoStopped(Exception):
    """A stop signal ended the demo; the project `project_id` (empty when it was not yet admitted) stays where it stands."""

    def __init__(self, project_id: str) -> None:
        super().__init__(project_id)
        self.project_id = project_id


def make_demo(settings: Settings, asked: RawProduceRequest, *, out: Path | None, progress: DemoProgress) -> DemoFilm:
    """Submit, drive, and collect the film.

    Raises ComicError with the project's own code when it does not become one, DemoStopped on Ctrl-C.
    """
    began = time.monotonic()
    workshop = open_workshop(settings)
    new = NewSubmission(
        kind=SubmissionKind.PRODUCE,
        user_id=f"demo-{uuid4().hex[:8]}",
        tier=Tier.PAID,
        payload=asked.model_dump_json(exclude_defaults=True),
    )
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=workshop.clock.now())
    project_of = _ProjectOf(workshop, submission.id)
    with _Watching(workshop, project_of, progress):
        try:
            took = drive(workshop, project_of, lambda launch: progress.enter(launch.stage), captured=False)
        except KeyboardInterrupt as stop:
            raise DemoStopped(project_of() or "") from stop
    project_id = project_of() or ""
    with workshop.database.read() as connection:
        seen = status_of(connection, project_id, settings)
    if seen.status != ProjectState.PENDING_REVIEW:
        raise ComicError(
            seen.error_code or ErrorCode.UNKNOWN_ERROR, f"project {project_id} is {seen.status}: {seen.error_message}"
        )
    return _collect(workshop, seen, out=out, seconds=time.monotonic() - began, took=took)


class _ProjectOf:
    """The project of a submission, once it was admitted. Raises the reason when it was rejected."""

    def __init__(self, workshop: Workshop, submission_id: int) -> None:
        self._workshop = workshop
        self._submission_id = submission_id
        self._known: str | None = None

    def __call__(self) -> str | None:
        if self._known is None:
            with self._workshop.database.read() as connection:
                seen = submissions.get(connection, self._submission_id)
                if seen is not None and seen.decided_at is not None:
                    self._known = service.answer_of(connection, seen.id).project_id
        return self._known


class _Watching:
    """Reads the status for the progress line while the jobs run in the main thread, which owns the signals."""

    def __init__(self, workshop: Workshop, project_of: _ProjectOf, progress: DemoProgress) -> None:
        self._workshop, self._project_of, self._progress = workshop, project_of, progress
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_EVERY):
            try:
                project_id = self._project_of()
                if project_id is not None:
                    with self._workshop.database.read() as connection:
                        self._progress.status = status_of(connection, project_id, self._workshop.settings)
            except ComicError:
                # The main thread meets the same fault and reports it; a progress line is not the place.
                return


def _collect(workshop: Workshop, seen: ProjectStatus, *, out: Path | None, seconds: float, took: Sequence[StageTook]) -> DemoFilm:
    objects, project_id = workshop.objects, seen.project_id
    film = FinalVideo.model_validate_json(objects.get(document_key(project_id, "final_video")))
    cover = CoverImage.model_validate_json(objects.get(document_key(project_id, "cover_image")))
    words = Subtitles.model_validate_json(objects.get(document_key(project_id, "subtitles")))
    named = {"film.mp4": film.media.key, "cover.png": cover.media.key} | ({"film.srt": words.srt.key} if words.srt else {})
    places = {name: _place(workshop, key, name=name, out=out) for name, key in named.items()}
    return DemoFilm(
        project_id=project_id,
        film=places["film.mp4"],
        cover=places["cover.png"],
        duration_s=(film.media.duration_ms or 0) / 1000,
        width=film.media.width or 0,
        height=film.media.height or 0,
        shots=seen.total_frames,
        cost=seen.cost,
        seconds=round(seconds, 2),
        stages=_by_stage(took),
    )


def _by_stage(rounds: Sequence[StageTook]) -> dict[str, float]:
    """Seconds of all rounds of each stage, in the order in which they began."""
    seconds: dict[str, float] = {}
    for took in rounds:
        seconds[took.stage] = round(seconds.get(took.stage, 0.0) + took.seconds, 2)
    return seconds


def _place(workshop: Workshop, key: str, *, name: str, out: Path | None) -> str:
    """Where a person finds the file: copied to `out`, or where the store keeps it."""
    kept = workshop.objects.address(key)
    if out is None:
        return kept
    target = (out / name).absolute()
    # Under another name until it is whole: a copy that was stopped or met a full disk must not look like the film.
    part = target.with_name(f".{name}.part")
    try:
        with workshop.objects.local(key) as path:
            shutil.copyfile(path, part)
        part.replace(target)
    except OSError as fault:
        raise StorageFault(
            f"{target} cannot be written ({fault.strerror or fault}); the film is made, its {name} is {kept}"
        ) from fault
    finally:
        part.unlink(missing_ok=True)
    return str(target)
