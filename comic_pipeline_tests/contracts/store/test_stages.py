"""Rounds of stages: one active, claimed by one run, ended once."""

import pytest
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, WorkStopped
from comic_pipeline.model.workflow import ProjectState, Stage, StageStatus
from comic_pipeline.store import projects, stages
from comic_pipeline.store.database import Connection, Database
from comic_pipeline_tests.builders import NOW, a_project, later
from comic_pipeline_tests.contracts.store.racing import outcome, race, start_blocked


@pytest.fixture
def requested(database: Database) -> Database:
    """A database with project p1 and one requested round `s1` of its frames."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        stages.request(connection, "p1", Stage.FRAMES, stage_id="s1", priority=20, now=NOW)
    return database


def test_a_second_active_round_is_refused(requested: Database) -> None:
    """While a round is requested, queued or running there is no other; another stage may run beside it."""
    with requested.write() as connection:
        stages.request(connection, "p1", Stage.VOICES, stage_id="v1", priority=20, now=NOW)
    for step in (lambda _: None, _queue, _claim):
        with requested.write() as connection:
            step(connection)
        with pytest.raises(IntegrityError), requested.write() as connection:
            stages.request(connection, "p1", Stage.FRAMES, stage_id="s2", priority=20, now=NOW)


def _queue(connection: Connection) -> None:
    assert stages.mark_queued(connection, "s1", run_id="r1", now=NOW)


def _claim(connection: Connection) -> None:
    assert stages.claim(connection, "s1", run_id="r1", now=NOW)


def test_rounds_count_up_and_the_latest_is_found(requested: Database) -> None:
    """A new round after the end of the last; `latest` gives the newest of each stage, `history` all of them."""
    with requested.write() as connection:
        stages.end(connection, "s1", status=StageStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="gone", now=later(1))
        second = stages.request(connection, "p1", Stage.FRAMES, stage_id="s2", priority=20, now=later(2))
        assert second.round == 2
        assert {stage: row.id for stage, row in stages.latest(connection, "p1").items()} == {Stage.FRAMES: "s2"}
        assert [row.id for row in stages.history(connection, "p1")] == ["s1", "s2"]
        assert stages.open_ids(connection) == {"s2": None}


def test_two_requests_at_once_leave_one_round(database: Database) -> None:
    """Two reconcilers, or one and an operator's run: the index lets one through."""
    with database.write() as connection:
        projects.insert(connection, a_project())

    def request(name: str) -> str:
        with database.write() as connection:
            return stages.request(connection, "p1", Stage.FRAMES, stage_id=name, priority=20, now=NOW).id

    outcomes = race([lambda: request("s1"), lambda: request("s2")])
    assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, IntegrityError) for outcome in outcomes) == 1


def test_of_two_racing_runs_one_claims(requested: Database) -> None:
    """The row is taken once; the other run must not work. The winner may claim again (an op retry)."""

    def claim(run: str) -> bool:
        with requested.write() as connection:
            return stages.claim(connection, "s1", run_id=run, now=NOW)

    first, second = race([lambda: claim("r1"), lambda: claim("r2")])
    assert {first, second} == {True, False}
    winner, loser = ("r1", "r2") if first else ("r2", "r1")
    assert claim(winner)
    assert not claim(loser)
    with requested.read() as connection:
        row = stages.get(connection, "s1")
        assert row is not None
        assert (row.status, row.run_id, row.started_at) == (StageStatus.RUNNING, winner, NOW)
        assert stages.owned(connection, "p1", Stage.FRAMES, run_id=winner) == row
        assert stages.owned(connection, "p1", Stage.FRAMES, run_id=loser) is None


def test_a_claim_after_the_end_is_refused(requested: Database) -> None:
    """A zombie of an ended round cannot come back to life, not even the run that owned it."""
    with requested.write() as connection:
        assert stages.claim(connection, "s1", run_id="r1", now=NOW)
        assert stages.end(connection, "s1", status=StageStatus.CANCELLED, code=ErrorCode.CANCELLED, message="why", now=later(1))
        ended = stages.get(connection, "s1")
        for run in ("r1", "r2"):
            assert not stages.claim(connection, "s1", run_id=run, now=later(2))
        stages.report(connection, "s1", run_id="r1", code=ErrorCode.PROVIDER_ERROR, message="late")
        assert not stages.heartbeat(connection, "r1", now=later(2))
        assert not stages.mark_queued(connection, "s1", run_id="r1", now=later(2))
        assert not stages.claim(connection, "no-such-stage", run_id="r1", now=later(2))
        assert stages.get(connection, "s1") == ended
        assert stages.owned(connection, "p1", Stage.FRAMES, run_id="r1") is None
    assert ended is not None
    assert (ended.error_code, ended.error_message) == (ErrorCode.CANCELLED, "why")


def test_a_queued_row_keeps_what_collect_saw(requested: Database) -> None:
    """Queued once with its run; a run that has claimed already is not moved back to queued."""
    with requested.write() as connection:
        assert stages.mark_queued(connection, "s1", run_id="r1", now=later(1))
        assert not stages.mark_queued(connection, "s1", run_id="r9", now=later(2))
        assert stages.claim(connection, "s1", run_id="r1", now=later(3))
        assert not stages.mark_queued(connection, "s1", run_id="r1", now=later(4))
        row = stages.get(connection, "s1")
    assert row is not None
    assert (row.status, row.run_id, row.queued_at, row.started_at) == (StageStatus.RUNNING, "r1", later(1), later(3))


def test_a_run_started_by_hand_registers_itself_running(database: Database) -> None:
    """Materialize in the UI: the round is running from the start, owned by that run, and blocks the reconciler's own."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        row = stages.request(connection, "p1", Stage.FRAMES, stage_id="s1", priority=0, now=NOW, run_id="hand")
        assert (row.status, row.run_id, row.started_at, row.heartbeat_at) == (StageStatus.RUNNING, "hand", NOW, NOW)
        assert stages.heartbeat(connection, "hand", now=later(1))
        assert not stages.claim(connection, "s1", run_id="other", now=NOW)


def test_two_runs_by_hand_at_once_do_not_take_a_stage_and_one_that_needs_it(database: Database) -> None:
    """The index sees one stage only: the second run waits for the first one's commit and is refused by its name."""
    with database.write() as connection:
        projects.insert(connection, a_project())

    def register(stage: Stage, run_id: str) -> None:
        with database.write() as connection:
            stages.register(connection, "p1", [stage], run_id=run_id, priority=0, now=NOW)

    with database.write() as connection:
        stages.register(connection, "p1", [Stage.CLIPS, Stage.FILM], run_id="first", priority=0, now=NOW)
        second = start_blocked(lambda: register(Stage.FRAMES, "second"))
    refused = outcome(second)
    assert isinstance(refused, WorkStopped)
    assert (refused.code, "in run first" in refused.detail) == (ErrorCode.CONFLICT, True)
    with database.read() as connection:
        assert set(stages.latest(connection, "p1")) == {Stage.CLIPS, Stage.FILM}


def test_only_the_owner_beats_and_reports(requested: Database) -> None:
    """A heartbeat or a report of another run changes nothing."""
    with requested.write() as connection:
        stages.claim(connection, "s1", run_id="r1", now=NOW)
        assert not stages.heartbeat(connection, "r2", now=later(9))
        stages.report(connection, "s1", run_id="r2", code=ErrorCode.PROVIDER_ERROR, message="not mine")
        row = stages.get(connection, "s1")
        assert row is not None
        assert (row.heartbeat_at, row.error_code) == (NOW, None)
        assert stages.heartbeat(connection, "r1", now=later(9))
        stages.report(connection, "s1", run_id="r1", code=ErrorCode.PROVIDER_ERROR, message="mine")
        row = stages.get(connection, "s1")
        assert row is not None
        assert (row.heartbeat_at, row.error_code, row.error_message) == (later(9), ErrorCode.PROVIDER_ERROR, "mine")
        stages.report(connection, "s1", run_id="r1", code=None, message=None)
        row = stages.get(connection, "s1")
        assert row is not None
        assert (row.error_code, row.error_message) == (None, None)


def test_a_round_ends_once(requested: Database) -> None:
    """The first end holds; the second says False. No end of a row that does not exist."""
    with requested.write() as connection:
        assert stages.end(connection, "s1", status=StageStatus.PASSED, code=None, message="", now=later(1))
        assert not stages.end(connection, "s1", status=StageStatus.FAILED, code=ErrorCode.QC_FAILED, message="x", now=later(2))
        assert not stages.end(connection, "no-such-stage", status=StageStatus.FAILED, code=None, message="", now=later(2))
        row = stages.get(connection, "s1")
    assert row is not None
    assert (row.status, row.ended_at, row.error_code, row.error_message) == (StageStatus.PASSED, later(1), None, None)


def test_open_rows_come_by_priority_then_age(database: Database) -> None:
    """What the reconciler looks at first; a row whose run was seen is not emitted again."""
    with database.write() as connection:
        for name, priority, at in (("a", 20, 0), ("aa", 50, 3), ("b", 50, 2), ("c", 50, 1)):
            projects.insert(connection, a_project(name))
            stages.request(connection, name, Stage.FRAMES, stage_id=name, priority=priority, now=later(at))
        stages.mark_queued(connection, "b", run_id="r", now=NOW)
        assert list(stages.open_ids(connection).items()) == [("c", None), ("b", "r"), ("aa", None), ("a", None)]
        assert stages.unseen_ids(connection, limit=9) == ["c", "aa", "a"]
        assert stages.unseen_ids(connection, limit=1) == ["c"]


def test_a_stage_of_an_unknown_project_is_refused(database: Database) -> None:
    """The reference holds on SQLite too, where it must be switched on for every connection."""
    with pytest.raises(IntegrityError), database.write() as connection:
        stages.request(connection, "nobody", Stage.FRAMES, stage_id="s1", priority=0, now=NOW)


def test_the_project_of_a_row_is_found_without_reading_the_row(requested: Database) -> None:
    """Also for a row that cannot be read whole; None where there is no row."""
    with requested.read() as connection:
        assert stages.owner_of(connection, "s1") == "p1"
        assert stages.owner_of(connection, "no-such-stage") is None


def test_rounds_are_counted_by_project_and_stage(database: Database) -> None:
    """The second round of one stage is the first of another, also of the same stage in another project."""
    wanted = (("p1", Stage.FRAMES), ("p1", Stage.FRAMES), ("p1", Stage.VOICES), ("p2", Stage.FRAMES))
    with database.write() as connection:
        for project_id in ("p1", "p2"):
            projects.insert(connection, a_project(project_id))
        rounds = []
        for number, (project_id, stage) in enumerate(wanted):
            row = stages.request(connection, project_id, stage, stage_id=f"s{number}", priority=0, now=later(number))
            stages.end(connection, row.id, status=StageStatus.PASSED, code=None, message="", now=later(number))
            rounds.append(row.round)
        assert rounds == [1, 2, 1, 1]
        assert {stage: row.id for stage, row in stages.latest(connection, "p1").items()} == {
            Stage.FRAMES: "s1",
            Stage.VOICES: "s2",
        }
        assert [row.id for row in stages.history(connection, "p1")] == ["s0", "s1", "s2"]


def test_time_runs_for_each_project_in_production_by_itself(database: Database) -> None:
    """What one waited is not another's, a film that has ended takes no more time, and only the late one's run is stopped."""
    with database.write() as connection:
        for name, status in (("p1", ProjectState.IMAGE), ("p2", ProjectState.IMAGE), ("gone", ProjectState.CANCELLED)):
            projects.insert(connection, a_project(name, user_id=name, status=status))
            stages.request(connection, name, Stage.FRAMES, stage_id=name, priority=0, now=NOW, run_id=f"run-{name}")
        stages.add_waited(connection, "p1", seconds=30)
        assert stages.seconds_by_project(connection, now=later(100)) == {"p1": 70, "p2": 100}
        assert stages.runs_at_work(connection, "p1") == ["run-p1"]
        projects.move(connection, "p1", old=[ProjectState.IMAGE], new=ProjectState.IMAGE, now=later(50), opened_at=later(50))
        assert stages.seconds_by_project(connection, now=later(100)) == {"p2": 100}


def test_a_run_over_several_stages_speaks_about_each(database: Database) -> None:
    """Materialized by hand from the clips on: what it reports about the film says nothing about the clips."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        stages.register(connection, "p1", [Stage.CLIPS, Stage.FILM], run_id="hand", priority=0, now=NOW)
        clips, film = (stages.owned(connection, "p1", stage, run_id="hand") for stage in (Stage.CLIPS, Stage.FILM))
        assert clips is not None
        assert film is not None
        assert (clips.stage, film.stage) == (Stage.CLIPS, Stage.FILM)
        stages.report(connection, film.id, run_id="hand", code=ErrorCode.FFMPEG_FAILED, message="no")
        assert stages.get(connection, clips.id) == clips
