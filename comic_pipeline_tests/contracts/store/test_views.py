"""The views for readers: progress and money, derived from tasks and attempts."""

from decimal import Decimal

import pytest
from sqlalchemy import Connection, text

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.ledger import NewTask
from comic_pipeline.model.project import Tier
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline.store import attempts, ledger, projects, views
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_project, a_worker, begin_project, later
from comic_pipeline_tests.contracts.store.acts import begin, claimed

_TYPES = {
    "script": TaskType.STORYBOARD,
    "frame": TaskType.FRAME_IMAGE,
    "voice": TaskType.VOICE_LINE,
    "clip": TaskType.CLIP,
    "film": TaskType.FILM_RENDER,
}


def _work(kind: str, seq: int | None, *, words: str = "", project: str = "p1") -> NewTask:
    return a_frame(project, seq=seq, words=f"{kind}{words}", task_type=_TYPES[kind])


def _wish(connection: Connection, kind: str, wanted: int, ready: int) -> None:
    for number in range(wanted):
        work = _work(kind, None if kind in ("script", "film") else number)
        ledger.want(connection, work, now=NOW)
        if number < ready:
            ledger.succeed(connection, claimed(connection, work, a_worker()).task_id, a_picture(), now=NOW)


@pytest.mark.parametrize(
    ("status", "work", "progress"),
    [
        (ProjectState.QUEUED, {}, 0),
        (ProjectState.SCRIPT, {}, 5),
        (ProjectState.SCRIPT, {"script": (1, 0)}, 5),
        (ProjectState.SCRIPT, {"script": (1, 1)}, 20),
        (ProjectState.IMAGE, {}, 30),
        (ProjectState.IMAGE, {"frame": (3, 0)}, 30),
        (ProjectState.IMAGE, {"frame": (3, 1)}, 40),
        (ProjectState.IMAGE, {"frame": (3, 3)}, 60),
        (ProjectState.TTS, {"frame": (3, 3), "voice": (3, 1)}, 65),
        (ProjectState.TTS, {"voice": (3, 3)}, 75),
        (ProjectState.VIDEO, {"clip": (3, 0)}, 80),
        (ProjectState.VIDEO, {"clip": (3, 2)}, 90),
        (ProjectState.VIDEO, {"clip": (3, 3)}, 95),
        (ProjectState.COMPOSE, {"film": (1, 0)}, 95),
        (ProjectState.COMPOSE, {"film": (1, 1)}, 100),
        (ProjectState.PENDING_REVIEW, {}, 100),
        (ProjectState.FAILED, {"frame": (3, 1)}, 100),
        (ProjectState.CANCELLED, {}, 100),
    ],
)
def test_progress_follows_the_state_and_the_finished_work(
    database: Database, status: ProjectState, work: dict[str, tuple[int, int]], progress: int
) -> None:
    """The published numbers of each stage, from an empty stage to the last piece of it."""
    with database.write() as connection:
        projects.insert(connection, a_project(status=status))
        for kind, (wanted, ready) in work.items():
            _wish(connection, kind, wanted, ready)
    with database.read() as connection:
        assert views.progress_of(connection, "p1").progress == progress


def test_progress_names_everything_a_reader_asks_for(database: Database) -> None:
    """One row: who, what, where it stands, how much is ready, what it has cost, what is wrong; money and times exact."""
    with database.write() as connection:
        worker = begin_project(connection, a_project(tier=Tier.PAID, title="月下花", updated_at=later(7)))
        _wish(connection, "frame", 3, 2)
        _wish(connection, "clip", 3, 1)
        _wish(connection, "voice", 2, 1)
        task = claimed(connection, a_frame(seq=9), worker)
        attempts.mark_unknown(connection, begin(connection, task, estimate="0.100001"), now=NOW)
        attempts.mark_unknown(connection, begin(connection, task, estimate="0.2"), now=NOW)
        begin(connection, task, estimate="5")
        projects.move(
            connection,
            "p1",
            old=[ProjectState.IMAGE],
            new=ProjectState.MANUAL_REQUIRED,
            now=later(8),
            fail_stage=Stage.FRAMES,
            error_code=ErrorCode.OUTCOME_UNKNOWN,
        )
    with database.read() as connection:
        assert views.progress_of(connection, "p1") == views.ProjectProgress(
            project_id="p1",
            user_id="user-1",
            tier=Tier.PAID,
            title="月下花",
            status=ProjectState.MANUAL_REQUIRED,
            stage=Stage.FRAMES,
            progress=100,
            frames_ready=2,
            total_frames=4,
            clips_ready=1,
            voices_ready=1,
            cost=Decimal("0.300001"),
            error_code=ErrorCode.OUTCOME_UNKNOWN,
            created_at=NOW,
            updated_at=later(8),
        )


def test_a_shot_that_is_made_anew_counts_once_by_its_newest_wish(database: Database) -> None:
    """A redo of shot 1 of 3: two of three are ready until the new picture is there, never three of four."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        _wish(connection, "frame", 3, 3)
        again = _work("frame", 1, words=" again")
        ledger.want(connection, again, now=later(60))
        counted = views.progress_of(connection, "p1")
        assert (counted.frames_ready, counted.total_frames, counted.progress) == (2, 3, 50)
        ledger.succeed(connection, claimed(connection, again, a_worker()).task_id, a_picture(), now=later(90))
        counted = views.progress_of(connection, "p1")
        assert (counted.frames_ready, counted.total_frames, counted.progress) == (3, 3, 60)


def test_two_wishes_of_one_moment_still_count_once(database: Database) -> None:
    """Equal times must not make a shot count twice, or not at all."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        for words in ("a", "b", "c"):
            ledger.want(connection, _work("frame", 0, words=words), now=NOW)
        assert views.progress_of(connection, "p1").total_frames == 1


def test_a_waiting_project_shows_how_far_it_had_come(database: Database) -> None:
    """A gate that asks a person is not an end: progress is that of the stage that waits."""
    with database.write() as connection:
        projects.insert(connection, a_project(status=ProjectState.WAITING_CONFIRMATION, fail_stage=Stage.CLIPS))
        _wish(connection, "clip", 3, 1)
        assert views.progress_of(connection, "p1").progress == 85


def test_progress_of_an_unknown_project_is_not_found(database: Database) -> None:
    """NOT_FOUND by name, not an empty row."""
    with database.read() as connection, pytest.raises(Refused) as refused:
        views.progress_of(connection, "nobody")
    assert refused.value.code is ErrorCode.NOT_FOUND


def test_costs_add_up_by_type_and_provider(database: Database) -> None:
    """Booked and reserved apart, tasks counted once however many attempts they took, work without attempts included."""
    with database.write() as connection:
        worker = begin_project(connection, a_project())
        other = begin_project(connection, a_project("p2"))
        frame = claimed(connection, a_frame(seq=0), worker)
        attempts.mark_unknown(connection, begin(connection, frame, estimate="0.22"), now=NOW)
        attempts.mark_succeeded(connection, begin(connection, frame), cost=Decimal("0.2"), result="{}", now=NOW)
        begin(connection, claimed(connection, a_frame(seq=1), worker), estimate="0.22")
        ledger.want(connection, _work("clip", 0), now=NOW)
        begin(connection, claimed(connection, a_frame("p2"), other), worker=other, estimate="1")
    frames = views.CostLine(
        project_id="p1",
        task_type=TaskType.FRAME_IMAGE,
        provider_id="ark_image",
        tasks=2,
        attempts=3,
        cost=Decimal("0.42"),
        reserved=Decimal("0.22"),
    )
    clips = frames.model_copy(
        update={"task_type": TaskType.CLIP, "tasks": 1, "attempts": 0, "cost": Decimal(0), "reserved": Decimal(0)}
    )
    others = frames.model_copy(update={"project_id": "p2", "tasks": 1, "attempts": 1, "cost": Decimal(0), "reserved": Decimal(1)})
    with database.read() as connection:
        assert views.costs(connection, "p1") == [clips, frames]
        assert views.costs(connection, None) == [clips, frames, others]
        assert views.costs(connection, "nobody") == []


def test_health_counts_by_provider_and_day_of_shanghai(database: Database) -> None:
    """An attempt at 16:00 UTC belongs to the next day of the users; every state is counted where it belongs."""
    evening = later(12 * 3600)
    with database.write() as connection:
        worker = begin_project(connection, a_project())
        for seq, (at, state) in enumerate(
            [(NOW, "ok"), (NOW, "failed"), (NOW, "unknown"), (NOW, "open"), (evening, "ok"), (evening, "ok")]
        ):
            attempt = begin(connection, claimed(connection, a_frame(seq=seq), worker), estimate="0.25", at=at)
            if state == "ok":
                attempts.mark_succeeded(connection, attempt, cost=Decimal("0.2"), result="{}", now=at)
            elif state == "failed":
                attempts.mark_failed(connection, attempt, http_status=500, provider_code="x", now=at)
            elif state == "unknown":
                attempts.mark_unknown(connection, attempt, now=at)
        rows = connection.execute(
            text("SELECT day, attempts, succeeded, failed, unknown, cost FROM provider_health ORDER BY provider_id, day")
        ).all()
    assert [(day, *map(int, counts), Decimal(str(cost))) for day, *counts, cost in rows] == [
        ("2026-03-10", 4, 1, 1, 1, Decimal("0.45")),
        ("2026-03-11", 2, 2, 0, 0, Decimal("0.4")),
    ]
