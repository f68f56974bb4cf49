"""Where a project stands, as people and programs are told."""

from dataclasses import replace
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.ledger import NewTask
from comic_pipeline.model.project import DurationBucket
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import PRODUCTION, STAGE_RULES, ProjectState, Stage, StageStatus
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline.store import attempts, ledger, projects
from comic_pipeline_tests.builders import a_frame, a_picture, a_project, begin_project, later
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.contracts.store.acts import begin, claimed

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
# The builders' tasks are of this provider, so the medians are found.
PROVIDER = "ark_image"


class OneProvider(Settings):
    """Every stage is made by the same provider."""

    def providers_of(self, stage: Stage) -> tuple[str, ...]:
        """The one of the builders."""
        return (PROVIDER,)


def look(door: Door, settings: Settings | None = None) -> ProjectStatus:
    """The status of p1."""
    with door.database.read() as connection:
        return status_of(connection, "p1", settings or load_settings())


def test_an_unknown_project_is_not_found(door: Door) -> None:
    """Not an empty status."""
    with pytest.raises(Refused) as refused:
        look(door)
    assert refused.value.code is ErrorCode.NOT_FOUND


def test_a_new_project_has_nothing_yet(door: Door) -> None:
    """Queued: 0 percent, the shots that were asked for, no guess about the time."""
    door.put(a_project(status=ProjectState.QUEUED, duration_bucket=DurationBucket.LONG_120), {})
    seen = look(door)
    assert (seen.status, seen.progress, seen.stage, seen.frames_ready, seen.total_frames) == ("QUEUED", 0, None, 0, 12)
    assert (seen.eta_seconds, seen.cost, seen.film, seen.tasks) == (None, Decimal(0), None, ())


@pytest.mark.parametrize(
    ("state", "zh", "en"),
    [
        ("QUEUED", "正在进行", "in progress"),
        ("VIDEO", "正在进行", "in progress"),
        ("WAITING_CONFIRMATION", "正在进行", "in progress"),
        ("PENDING_REVIEW", "完成", "done"),
        ("APPROVED", "完成", "done"),
        ("REJECTED", "完成", "done"),
        ("FAILED", "失败", "failed"),
        ("MANUAL_REQUIRED", "失败", "failed"),
        ("CANCELLED", "已取消", "cancelled"),
    ],
)
def test_users_read_four_words_not_our_states(door: Door, state: str, zh: str, en: str) -> None:
    """In both languages."""
    door.put(a_project(status=state), {})
    seen = look(door)
    assert (seen.words_zh, seen.words_en) == (zh, en)


def test_a_pending_cancel_is_said_until_it_took_effect(door: Door) -> None:
    """What the answer of the cancel promised; afterwards plainly cancelled."""
    door.put(a_project(), {STORYBOARD: StageStatus.RUNNING})
    with door.database.write() as connection:
        projects.request_cancel(connection, "p1", reason="later", now=door.now)
    seen = look(door)
    assert (seen.words_zh, seen.cancel_requested, seen.cancel_reason) == ("已请求取消，系统会在当前步骤结束后停止", True, "later")
    with door.database.write() as connection:
        projects.move(connection, "p1", old=[ProjectState.IMAGE], new=ProjectState.CANCELLED, now=door.now)
    assert look(door).words_zh == "已取消"


def test_a_failure_is_shown_with_all_that_is_known(door: Door) -> None:
    """Code, reason, stage, the tasks with theirs."""
    door.put(
        a_project(
            status=ProjectState.MANUAL_REQUIRED,
            finished_at=later(9),
            error_code=ErrorCode.PROVIDER_AUTH,
            error_message="401",
            fail_stage="frames",
            retry_count=2,
        ),
        {STORYBOARD: StageStatus.PASSED, FRAMES: StageStatus.MANUAL_REQUIRED},
    )
    seen = look(door)
    assert (seen.error_code, seen.error_message, seen.fail_stage, seen.retry_count) == (
        ErrorCode.PROVIDER_AUTH,
        "401",
        "frames",
        2,
    )
    assert (seen.progress, seen.eta_seconds, seen.finished_at) == (100, 0, later(9))
    assert [task.status for task in seen.tasks] == ["success", "manual_required"]


def test_pictures_are_counted_as_they_come(door: Door) -> None:
    """30 to 60 percent by pictures; the number of shots is that of the wishes once they are known."""
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    for seq, status in enumerate([TaskStatus.SUCCESS, TaskStatus.SUCCESS, TaskStatus.RUNNING, TaskStatus.PENDING]):
        door.add_task("p1", FRAMES, status, seq=seq)
    seen = look(door)
    assert (seen.stage, seen.frames_ready, seen.total_frames, seen.progress) == (FRAMES, 2, 4, 45)


def history(door: Door, seconds: float) -> None:
    """Another project whose five stages took so many seconds each."""
    with door.database.write() as connection:
        owner = begin_project(connection, a_project("old", user_id="old"))
    for stage in PRODUCTION:
        with door.database.write() as connection:
            task = claimed(connection, _wish("old", stage), owner, at=door.now)
            door.wait(seconds)
            ledger.succeed(connection, task.task_id, a_picture(stage), now=door.now)


def _wish(project_id: str, stage: Stage) -> NewTask:
    return a_frame(project_id, words=stage, task_type=STAGE_RULES[stage].task_types[0])


def test_the_time_left_follows_from_what_such_work_took(door: Door) -> None:
    """Medians: storyboard, then pictures (four at once) and clips beside voices, then the film."""
    history(door, 10)
    door.put(a_project(status=ProjectState.QUEUED), {})
    assert look(door, OneProvider()).eta_seconds == 10 + (10 + 10) + 10
    door.put(a_project("p2", user_id="u2", duration_bucket=DurationBucket.LONG_120), {})
    with door.database.read() as connection:
        # Twelve pictures in three groups of four; clips too when they are rendered here, a service takes them all.
        assert status_of(connection, "p2", OneProvider()).eta_seconds == 10 + (30 + 30) + 10
        service = OneProvider(COMIC_VIDEO_PROVIDER="ark", ARK_API_KEY="k")
        assert status_of(connection, "p2", service).eta_seconds == 10 + (30 + 10) + 10


def test_the_time_left_shrinks_with_the_work(door: Door) -> None:
    """What is made is not waited for; shots without words have no voice to wait for; nothing left is zero."""
    history(door, 10)
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    assert look(door, OneProvider()).eta_seconds == 30
    door.add_task("p1", VOICES, TaskStatus.SUCCESS, seq=1)
    for seq in range(3):
        door.add_task("p1", FRAMES, TaskStatus.SUCCESS, seq=seq)
    assert look(door, OneProvider()).eta_seconds == 20
    for seq in range(3):
        door.add_task("p1", CLIPS, TaskStatus.SUCCESS, seq=seq)
    assert look(door, OneProvider()).eta_seconds == 10
    door.add_task("p1", FILM, TaskStatus.RUNNING)
    assert look(door, OneProvider()).eta_seconds == 10


def test_a_shot_that_is_made_anew_is_waited_for(door: Door) -> None:
    """Its older picture is there, but the newest wish counts."""
    history(door, 10)
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    for stage in (FRAMES, VOICES, CLIPS):
        door.add_task("p1", stage, TaskStatus.SUCCESS, seq=0)
    assert look(door, OneProvider()).eta_seconds == 10
    with door.database.write() as connection:
        door.wait(1)
        again = replace(_wish("p1", FRAMES), take=1, input_hash="f" * 64)
        ledger.want(connection, again, now=door.now)
    assert look(door, OneProvider()).eta_seconds == 20


def test_without_any_history_the_time_is_unknown(door: Door) -> None:
    """No guess, and no zero."""
    door.put(a_project(), {STORYBOARD: StageStatus.PASSED})
    assert look(door).eta_seconds is None


def test_the_cost_is_that_of_all_attempts(door: Door) -> None:
    """Failed and repeated ones that were charged too."""
    with door.database.write() as connection:
        owner = begin_project(connection, a_project())
        task = claimed(connection, _wish("p1", FRAMES), owner)
        for cost in ("0.22", "0.30"):
            attempt = begin(connection, task, worker=owner, at=door.now)
            attempts.mark_failed(connection, attempt, http_status=500, provider_code="x", cost=Decimal(cost), now=door.now)
    assert look(door).cost == Decimal("0.52")


def test_the_newest_film_is_the_film(door: Door) -> None:
    """After a redo the new one; while it is being rendered, or when it failed, still the one before."""
    door.put(a_project(status=ProjectState.COMPOSE), {STORYBOARD: StageStatus.PASSED})
    first = door.add_task("p1", FILM, TaskStatus.SUCCESS)
    assert look(door).film == first.output_asset_id
    door.wait(60)
    new = replace(_wish("p1", FILM), shot_seq=None, take=1, input_hash="f" * 64)
    with door.database.write() as connection:
        owner = begin_project(connection, a_project("other", user_id="other"), worker="w2")
        task = claimed(connection, new, owner, at=door.now)
    assert look(door).film == first.output_asset_id
    with door.database.write() as connection:
        ledger.succeed(connection, task.task_id, a_picture("second"), now=later(600))
    assert look(door).film == a_picture("second").key
