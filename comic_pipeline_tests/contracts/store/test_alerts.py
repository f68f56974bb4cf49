"""Alerts in the tables, and the numbers that they come from."""

from decimal import Decimal

from comic_pipeline.model.alerting import Act, AlertRule, Reading, Step
from comic_pipeline.model.notice import NoticeEvent
from comic_pipeline.model.project import DurationBucket
from comic_pipeline.model.workflow import ProjectState, Stage
from comic_pipeline.store import alerts, notifications, projects, readings, stages
from comic_pipeline.store.database import Connection, Database
from comic_pipeline.store.schema import attempts, tasks
from comic_pipeline_tests.builders import NOW, a_project, later
from comic_pipeline_tests.contracts.store.racing import raced


def _step(act: Act, *, alert_id: int | None = None, rule: AlertRule = AlertRule.FAILED_TASKS) -> Step:
    return Step(act=act, rule=rule, subject="all", value=12, limit=10, zh="坏了", en="broken", alert_id=alert_id)


def _told(connection: Connection) -> list[NoticeEvent]:
    return [notice.event for notice in reversed(notifications.find(connection))]


def test_raising_and_clearing_are_one_notice_each(database: Database) -> None:
    """The alert's row and its notice are one transaction; doing a step again does and says nothing."""
    with database.write() as connection:
        assert alerts.apply(connection, _step(Act.RAISE), now=NOW)
        assert not alerts.apply(connection, _step(Act.RAISE), now=later(1))
        (alert,) = alerts.open_alerts(connection)
        assert alert.raised_at == NOW
        clear = _step(Act.CLEAR, alert_id=alert.id)
        assert alerts.apply(connection, clear, now=later(600))
        assert not alerts.apply(connection, clear, now=later(601))
        assert alerts.open_alerts(connection) == []
        assert _told(connection) == [NoticeEvent.ALERT_RAISED, NoticeEvent.ALERT_CLEARED]
        first, second = reversed(notifications.find(connection))
        assert first.stream == second.stream
        assert (first.text("zh"), second.text("en")) == ("警报：坏了", "Alert cleared: broken")
        assert alerts.apply(connection, _step(Act.RAISE), now=later(700))
        assert len(alerts.open_alerts(connection)) == 1
        assert alerts.count_cleared(connection, later(601)) == alerts.drop_cleared(connection, later(601)) == 1


def test_what_is_only_watched_is_told_to_nobody(database: Database) -> None:
    """A backlog that goes by itself leaves neither row nor notice; one that stays is raised once."""
    with database.write() as connection:
        for _ in range(2):
            assert alerts.apply(connection, _step(Act.WATCH, rule=AlertRule.QUEUE_BACKLOG), now=NOW)
            (watched,) = alerts.open_alerts(connection)
            assert watched.raised_at is None
            assert alerts.apply(connection, _step(Act.FORGET, alert_id=watched.id), now=later(1))
        assert (alerts.open_alerts(connection), _told(connection)) == ([], [])
        alerts.apply(connection, _step(Act.WATCH, rule=AlertRule.QUEUE_BACKLOG), now=NOW)
        (watched,) = alerts.open_alerts(connection)
        assert alerts.apply(connection, _step(Act.RAISE, alert_id=watched.id), now=later(300))
        assert not alerts.apply(connection, _step(Act.FORGET, alert_id=watched.id), now=later(301))
        assert _told(connection) == [NoticeEvent.ALERT_RAISED]


def test_a_step_concerns_one_alert(database: Database) -> None:
    """What is forgotten, raised or cleared of one rule leaves the others watched; raised twice is told once."""
    with database.write() as connection:
        for rule in (AlertRule.QUEUE_BACKLOG, AlertRule.FAILED_TASKS, AlertRule.FILM_FAILURES):
            alerts.apply(connection, _step(Act.WATCH, rule=rule), now=NOW)
        gone, raised, _ = (alert.id for alert in alerts.open_alerts(connection))
        assert alerts.apply(connection, _step(Act.FORGET, alert_id=gone, rule=AlertRule.QUEUE_BACKLOG), now=later(1))
        assert alerts.apply(connection, _step(Act.RAISE, alert_id=raised), now=later(2))
        assert not alerts.apply(connection, _step(Act.RAISE, alert_id=raised), now=later(3))
        assert [(alert.rule, alert.raised_at) for alert in alerts.open_alerts(connection)] == [
            (AlertRule.FAILED_TASKS, later(2)),
            (AlertRule.FILM_FAILURES, None),
        ]
        assert _told(connection) == [NoticeEvent.ALERT_RAISED]


def test_two_looks_at_once_raise_one_alert(database: Database) -> None:
    """Evaluations can overlap: the index lets one through, the other says nothing."""

    def raise_it() -> bool:
        with database.write() as connection:
            return alerts.apply(connection, _step(Act.RAISE), now=NOW)

    assert sorted(raced([raise_it, raise_it])) == [False, True]
    with database.read() as connection:
        assert _told(connection) == [NoticeEvent.ALERT_RAISED]


def _task(connection: Connection, name: str, project: str = "p1", *, status: str = "failed", ended: float = 0) -> None:
    connection.execute(
        tasks.insert().values(
            task_id=name, project_id=project, task_type="clip", queue="video_queue", provider_id="ark_video", status=status,
            input_json="{}", input_hash=name, max_retry=3, created_at=later(ended), finished_at=later(ended),
            output_asset_id="x" if status == "success" else None,
        )
    )  # fmt: skip


def _attempt(
    connection: Connection, task: str, number: int, state: str, *, status: int | None = None, provider_id: str = "ark_video",
    cost: Decimal = Decimal(0),
) -> None:  # fmt: skip
    at = later(number)
    connection.execute(
        attempts.insert().values(
            task_id=task, number=number, kind="create", provider_id=provider_id, provider_base_url="", request_hash="",
            state=state, http_status=status, estimate=Decimal(0), cost=cost,
            started_at=at, finished_at=at,
        )
    )  # fmt: skip


def test_failed_tasks_of_an_hour_are_counted(database: Database) -> None:
    """Older ones and successes are not."""
    with database.write() as connection:
        _task(connection, "old", ended=-3_601)
        _task(connection, "new", ended=-10)
        _task(connection, "manual", ended=-20, status="manual_required")
        _task(connection, "fine", ended=-20, status="success")
        assert readings.failed_tasks(connection, now=NOW) == Reading(AlertRule.FAILED_TASKS, "all", 2)


def test_a_provider_fails_in_a_row_until_its_next_success(database: Database) -> None:
    """Only its own faults count: a refused prompt (400) neither adds to the row nor ends it."""
    with database.write() as connection:
        _task(connection, "t")
        for number, (state, status) in enumerate(
            [("failed", 500), ("succeeded", 200), ("failed", 503), ("failed", 400), ("unknown", None), ("failed", 401)]
        ):
            _attempt(connection, "t", number, state, status=status)
        _attempt(connection, "t", 10, "failed", status=500, provider_id="ark_image")
        _attempt(connection, "t", 11, "succeeded", status=200, provider_id="ark_image")
        assert readings.providers_failing(connection, now=later(20)) == [Reading(AlertRule.PROVIDER_FAILING, "ark_video", 3)]
        assert readings.providers_failing(connection, now=later(3_700)) == []


def test_waiting_rounds_are_counted_by_queue(database: Database) -> None:
    """Requested and queued rounds wait; running ones do not."""
    with database.write() as connection:
        for number in range(3):
            projects.insert(connection, a_project(f"p{number}", user_id=f"u{number}"))
            run = "run" if number == 2 else None
            stages.request(connection, f"p{number}", Stage.CLIPS, stage_id=f"s{number}", priority=0, now=NOW, run_id=run)
        found = {reading.subject: reading.value for reading in readings.backlogs(connection)}
    assert found == {"video_queue": 2, "submissions": 0}


def test_the_share_of_failed_films_needs_enough_films(database: Database) -> None:
    """One of four says nothing; two of five are 40 %. Cancelled films and yesterday's do not count."""
    ended = [ProjectState.FAILED, ProjectState.APPROVED, ProjectState.REJECTED, ProjectState.PENDING_REVIEW]
    with database.write() as connection:
        for number, state in enumerate([*ended, ProjectState.CANCELLED]):
            projects.insert(connection, a_project(f"p{number}", status=state))
        projects.insert(connection, a_project("old", status=ProjectState.FAILED, updated_at=later(-86_401)))
        assert readings.film_failures(connection, now=NOW) == []
        projects.insert(connection, a_project("p9", status=ProjectState.MANUAL_REQUIRED))
        assert readings.film_failures(connection, now=NOW) == [Reading(AlertRule.FILM_FAILURES, "all", 40.0)]


def test_cost_is_compared_with_films_of_the_same_length(database: Database) -> None:
    """Six times the median of five finished films of that length; a length without history is not judged."""
    with database.write() as connection:
        for number, cost in enumerate([1, 2, 2, 2, 90]):
            projects.insert(connection, a_project(f"p{number}", status=ProjectState.APPROVED, updated_at=later(-90_000)))
            _task(connection, f"t{number}", f"p{number}", status="success")
            _attempt(connection, f"t{number}", 1, "succeeded", cost=Decimal(cost))
        for name, length in (("dear", DurationBucket.SHORT_15), ("long", DurationBucket.LONG_120)):
            projects.insert(connection, a_project(name, duration_bucket=length))
            _task(connection, name, name, status="success")
            _attempt(connection, name, 1, "succeeded", cost=Decimal(8))
            _attempt(connection, name, 2, "failed", cost=Decimal(4))
        assert readings.cost_outliers(connection, now=NOW) == [Reading(AlertRule.COST_OUTLIER, "dear", 6.0)]
        assert readings.cost_outliers(connection, now=later(90_000)) == []
        assert {reading.rule for reading in readings.read_all(connection, now=NOW)} >= {
            AlertRule.COST_OUTLIER,
            AlertRule.QUEUE_BACKLOG,
        }
