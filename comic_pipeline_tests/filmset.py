"""A small project that has become a film: real media of 320x180, a real render, and the books of how each piece came to be.

Belongs here: what tests of export, manifest and review page start from. The work was done by offline providers and by `ark_*`
with costs, one create failed at a price, one answer was lost, and one picture has an earlier take.
"""

import asyncio
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.model.ledger import Claimed, NewTask, Worker
from comic_pipeline.model.media import (
    Clip,
    Clips,
    FrameImage,
    FrameImages,
    MediaRef,
    Music,
    Production,
    VoiceLine,
    VoiceLines,
)
from comic_pipeline.model.project import Frame, Language, Project
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.task import Attempt, AttemptKind, Task, TaskType, canonical_json, hash_of
from comic_pipeline.model.workflow import Stage
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.export import Footage
from comic_pipeline.stages.film import render, write_subtitles
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.verifying import verify_image, verify_music, verify_video, verify_voice
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.migrate import migrate
from comic_pipeline.work.orders import Verified
from comic_pipeline_tests.builders import AMPLE, a_project, begin_project

SMALL = Frame(width=320, height=180)
# Everything that HTML, XML, JSON, an EDL, a shell or a path could take for something else.
HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)> & {{7*7}} {% raw %} ../../etc C:\\n 🦊 月球"
TITLE = '月球上的猫 <b>& "friends"</b> it\'s'


class SmallProject(Project):
    """A project whose film is small enough for tests."""

    @property
    def size(self) -> Frame:
        """320x180."""
        return SMALL


@dataclass(frozen=True)
class FilmSet:
    """The project's documents, and the studio in which its film was made."""

    workshop: Workshop
    studio: Studio
    storyboard: Storyboard
    footage: Footage


@dataclass(frozen=True)
class _Books:
    """Writes down work as the runner does."""

    studio: Studio
    worker: Worker

    def done(
        self,
        craft: TaskType,
        seq: int | None,
        verified: Verified,
        *,
        folder: str,
        provider: str,
        cost: str = "0",
        take: int = 0,
        inputs: tuple[str, ...] = (),
        before: Callable[[Task], None] = lambda _: None,
    ) -> tuple[MediaRef, Production]:
        """A successful task, after whatever `before` did to it."""
        asked: dict[str, object] = {
            "model": f"{provider}-1",
            "template": "t" * 16,
            "inputs": list(inputs),
            "sent": {"seed": 7, "seq": seq, "take": take},
        }
        asked |= {"task_type": craft, "provider": provider, "take": take, "shot_seq": seq}
        media = asyncio.run(self.studio.store(verified, folder=folder))
        task = self._claim(craft, seq, provider, asked, take)
        before(task)
        attempt = self.begin(task, cost)
        with self.studio.desk.write() as (connection, now):
            attempts.mark_succeeded(connection, attempt, cost=Decimal(cost), result="", now=now)
            ledger.succeed(connection, task.task_id, media, now=now)
        made = Production(
            task_id=task.task_id,
            provider=provider,
            model=f"{provider}-1",
            cost=Decimal(cost),
            template_hash="t" * 16,
            seconds=1.0,
            reused=False,
        )
        return media, made

    def begin(self, task: Task, estimate: str) -> Attempt:
        """Pass the gate for one create."""
        with self.studio.desk.write() as (connection, now):
            return attempts.begin(
                connection,
                task,
                self.worker,
                kind=AttemptKind.CREATE,
                base_url="https://ark.example/api/v3",
                request_hash=hash_of([task.task_id, "sent"]),
                estimate=Decimal(estimate),
                limits=AMPLE,
                now=now,
            )

    def fail_and_lose(self, task: Task) -> None:
        """One create that the provider charged and did not deliver, and one whose answer was lost."""
        failed, lost = Decimal("0.03"), "0.05"
        first = self.begin(task, "0.05")
        with self.studio.desk.write() as (connection, now):
            attempts.mark_failed(connection, first, http_status=500, provider_code="Oops", now=now, cost=failed)
        second = self.begin(task, lost)
        with self.studio.desk.write() as (connection, now):
            attempts.mark_unknown(connection, second, now=now)

    def _claim(self, craft: TaskType, seq: int | None, provider: str, asked: dict[str, object], take: int) -> Task:
        new = NewTask(
            project_id=self.studio.project.id,
            task_type=craft,
            queue="image_queue",
            shot_seq=seq,
            take=take,
            provider_id=provider,
            input_json=canonical_json(asked),
            input_hash=hash_of(asked),
            max_retry=3,
            deadline=600,
            estimate=Decimal(0),
        )
        with self.studio.desk.write() as (connection, now):
            claim = ledger.claim(connection, new, self.worker, now=now)
        assert isinstance(claim, Claimed), claim
        return claim.task


def make_film_set(home: Path) -> FilmSet:
    """Three shots: a clip that its line outlasts, one without words, and one with a hostile line; about a second and a half."""
    settings = load_settings(COMIC_HOME=str(home))
    home.mkdir()
    migrate(settings.effective_database_url)
    workshop = open_workshop(settings)
    project = SmallProject(**a_project(title=TITLE, idea=HOSTILE, language=Language.ZH).model_dump())
    with workshop.database.write() as connection:
        worker = begin_project(connection, project, stage=Stage.FILM)
    studio = workshop.studio(project, worker, workshop.build_providers())
    books = _Books(studio, worker)
    storyboard = _storyboard()
    books.done(
        TaskType.STORYBOARD,
        None,
        Verified(storyboard.model_dump_json().encode(), mime="application/json", ending="json"),
        folder="storyboard",
        provider="ark_text",
        cost="0.01",
    )
    frames = _frames(books)
    clips = _clips(books, frames)
    voices = _voices(books, storyboard)
    subtitles = asyncio.run(write_subtitles(studio, voices, clips))
    music = _music(books)
    film = asyncio.run(render(studio, storyboard, voices, clips, subtitles, music))
    footage = Footage(frames=frames, voices=voices, clips=clips, subtitles=subtitles, music=music, film=film)
    return FilmSet(workshop, studio, storyboard, footage)


def _storyboard() -> Storyboard:
    lines = (("小猫", "你好，月球！"), ("", ""), ("</td><b>", HOSTILE))
    return Storyboard(
        title=TITLE,
        shots=tuple(
            Shot(
                seq=seq,
                scene_desc=f"scene {seq} <i>",
                dialogue=line,
                speaker=speaker,
                duration_ms=500,
                image_prompt="p",
                motion_prompt="m",
            )
            for seq, (speaker, line) in enumerate(lines)
        ),
    )


def _frames(books: _Books) -> FrameImages:
    made = []
    for seq, colour in enumerate(("red", "green", "blue")):
        if seq == 1:
            early = verify_image(_media("png", "-f", "lavfi", "-i", "color=gray:s=320x180", "-frames:v", "1"))
            books.done(TaskType.FRAME_IMAGE, 1, early, folder="frames", provider="ark_image", cost="0.2")
        still = verify_image(_media("png", "-f", "lavfi", "-i", f"color={colour}:s=320x180", "-frames:v", "1"))
        media, how = books.done(
            TaskType.FRAME_IMAGE,
            seq,
            still,
            folder="frames",
            provider="ark_image",
            cost="0.2",
            take=int(seq == 1),
            before=books.fail_and_lose if seq == 2 else lambda _: None,
        )
        made.append(FrameImage(seq=seq, media=media, made=how))
    return FrameImages(frames=tuple(made))


def _clips(books: _Books, frames: FrameImages) -> Clips:
    made = []
    for frame in frames.frames:
        source = f"testsrc2=s=320x180:r=24:d=0.5,hue=h={frame.seq * 90}"
        moving = verify_video(_media("mp4", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-preset", "ultrafast"))
        media, how = books.done(
            TaskType.CLIP, frame.seq, moving, folder="clips", provider="ark_video", cost="1.5", inputs=(frame.media.sha256,)
        )
        made.append(Clip(seq=frame.seq, media=media, made=how))
    return Clips(clips=tuple(made))


def _voices(books: _Books, storyboard: Storyboard) -> VoiceLines:
    made = []
    for shot in storyboard.shots:
        media, how = None, None
        if shot.spoken:
            ending, seconds = ("wav", 0.41) if shot.seq == 0 else ("mp3", 0.2)
            spoken = verify_voice(_media(ending, "-f", "lavfi", "-i", f"sine=f=300:r=24000:d={seconds}"))
            media, how = books.done(TaskType.VOICE_LINE, shot.seq, spoken, folder="voices", provider="offline_voice")
        made.append(VoiceLine(seq=shot.seq, text=shot.spoken, speaker=shot.voice_of, media=media, made=how))
    return VoiceLines(lines=tuple(made))


def _music(books: _Books) -> Music:
    """Half a second that must be repeated to last the film."""
    piece = verify_music(_media("wav", "-f", "lavfi", "-i", "sine=f=220:r=48000:d=0.5", "-ac", "2"))
    media, how = books.done(TaskType.MUSIC, None, piece, folder="music", provider="offline_music")
    return Music(media=media, made=how, licence="made by this program")


def _media(ending: str, *arguments: str) -> bytes:
    # Into a file: sizes in a WAV's header are filled in at its end.
    with TemporaryDirectory() as folder:
        out = Path(folder) / f"made.{ending}"
        subprocess.run([ffmpeg_path(), "-nostdin", "-loglevel", "error", *arguments, str(out)], check=True)
        return out.read_bytes()
