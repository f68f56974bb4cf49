"""The outbox: written with the move that it tells of, once; had by one sender at a time; in order."""

import pytest

from comic_pipeline.model.notice import NoticeEvent, NoticeStatus
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState
from comic_pipeline.store import notifications, projects
from comic_pipeline.store.database import Connection, Database
from comic_pipeline_tests.builders import NOW, a_project, later
from comic_pipeline_tests.contracts.store.racing import raced


def _tell(connection: Connection, project_id: str = "p1", *, at: float = 0, state: ProjectState = ProjectState.FAILED) -> None:
    """Move a project of production into `state` and back, as a retry does."""
    assert projects.move(connection, project_id, old=ACTIVE_PROJECT_STATES, new=state, now=later(at))
    assert projects.move(connection, project_id, old=[state], new=ProjectState.QUEUED, now=later(at))


def _due(connection: Connection, *, at: float = 100) -> list[int]:
    return notifications.due_ids(connection, now=later(at), limit=10)


@pytest.fixture
def filled(database: Database) -> Database:
    """Two films in production, nothing told yet."""
    with database.write() as connection:
        projects.insert(connection, a_project("p1", title="月下花"))
        projects.insert(connection, a_project("p2", user_id="user-2"))
    return database


def test_a_move_and_its_notice_are_one(filled: Database) -> None:
    """Both or neither: a transaction that fails after the move takes the notice back with it."""

    def move_and_fail() -> None:
        with filled.write() as connection:
            _tell(connection)
            projects.get(connection, "nobody")

    with pytest.raises(Exception, match="nobody"):
        move_and_fail()
    with filled.write() as connection:
        assert notifications.find(connection) == []
        _tell(connection, state=ProjectState.PENDING_REVIEW)
        (notice,) = notifications.find(connection)
    assert (notice.event, notice.project_id, notice.status) == (NoticeEvent.FILM_READY, "p1", NoticeStatus.NEW)
    assert "月下花" in notice.text("zh")


def test_each_time_is_an_event_and_each_event_one_notice(filled: Database) -> None:
    """Failing again after a retry is news; a lost race for the move, or a move to where it is already, is none."""
    with filled.write() as connection:
        _tell(connection, at=1)
        _tell(connection, at=2)
        assert not projects.move(connection, "p1", old=[ProjectState.SCRIPT], new=ProjectState.FAILED, now=later(3))
        projects.move(connection, "p1", old=ACTIVE_PROJECT_STATES, new=ProjectState.FAILED, now=later(4))
        projects.move(connection, "p1", old=[ProjectState.FAILED], new=ProjectState.FAILED, now=later(5))
        found = notifications.find(connection)
    assert len({notice.event_id for notice in found}) == len(found) == 3


def test_a_project_that_cannot_be_read_is_told_about_too(filled: Database) -> None:
    """The reconciler ends broken rows as MANUAL_REQUIRED: the operator must hear of exactly those."""
    with filled.write() as connection:
        connection.exec_driver_sql(
            "UPDATE projects SET created_at = '2026-03-10 04:00:00', style = 'no-such-style' WHERE id = 'p1'"
        )
        projects.move(connection, "p1", old=ACTIVE_PROJECT_STATES, new=ProjectState.MANUAL_REQUIRED, now=NOW)
        assert [notice.event for notice in notifications.find(connection)] == [NoticeEvent.MANUAL_REQUIRED]


def test_one_project_is_told_in_order_and_holds_up_no_other(filled: Database) -> None:
    """The second notice of a film waits for the first, also while that one waits for its next try; other films' go."""
    with filled.write() as connection:
        _tell(connection, at=1)
        _tell(connection, at=2)
        _tell(connection, "p2", at=3)
        first, second, other = sorted(notice.id for notice in notifications.find(connection))
        assert _due(connection) == [first, other]
        assert notifications.take(connection, first, holder="a", now=later(100), seconds=30) is not None
        assert _due(connection) == [other]
        assert notifications.postpone(connection, first, holder="a", not_before=later(200), error="HTTP 500")
        assert _due(connection, at=199) == [other]
        assert _due(connection, at=200) == [first, other]
        notifications.take(connection, first, holder="a", now=later(200), seconds=30)
        assert notifications.mark_sent(connection, first, holder="a", now=later(201))
        assert _due(connection) == [second, other]


def test_a_dead_notice_lets_the_next_one_pass(filled: Database) -> None:
    """One event that a receiver never takes does not silence the project; it stays visible with its reason."""
    with filled.write() as connection:
        _tell(connection, at=1)
        _tell(connection, at=2)
        first, second = sorted(notice.id for notice in notifications.find(connection))
        notifications.take(connection, first, holder="a", now=NOW, seconds=30)
        notifications.bury(connection, first, holder="a", error="HTTP 404")
        assert _due(connection) == [second]
        (dead,) = notifications.find(connection, status=NoticeStatus.DEAD)
        assert (dead.tries, dead.last_error) == (1, "HTTP 404")
        assert notifications.count(connection, NoticeStatus.DEAD) == 1


def test_of_two_senders_one_has_it(filled: Database) -> None:
    """Two evaluations that overlap never send the same notice at once."""
    with filled.write() as connection:
        _tell(connection)
        (notice_id,) = _due(connection)

    def take(holder: str) -> bool:
        with filled.write() as connection:
            return notifications.take(connection, notice_id, holder=holder, now=later(100), seconds=30) is not None

    assert sorted(raced([lambda: take("a"), lambda: take("b")])) == [False, True]


def test_a_dead_sender_is_succeeded_and_cannot_speak_any_more(filled: Database) -> None:
    """After its lease another one sends under the same event id; the late word of the first changes nothing."""
    with filled.write() as connection:
        _tell(connection)
        (notice_id,) = _due(connection)
        first = notifications.take(connection, notice_id, holder="a", now=later(100), seconds=30)
        assert notifications.take(connection, notice_id, holder="b", now=later(129), seconds=30) is None
        second = notifications.take(connection, notice_id, holder="b", now=later(130), seconds=30)
        assert first is not None
        assert second is not None
        assert (first.event_id, second.tries) == (second.event_id, 2)
        assert not notifications.mark_sent(connection, notice_id, holder="a", now=later(131))
        assert not notifications.bury(connection, notice_id, holder="a", error="late")
        assert notifications.mark_sent(connection, notice_id, holder="b", now=later(132))


def test_a_sender_of_several_settles_each_for_itself(filled: Database) -> None:
    """What one receiver took, or did not take, says nothing about the other notices that the same sender has."""
    with filled.write() as connection:
        _tell(connection, at=1)
        _tell(connection, "p2", at=2)
        sent, failed = _due(connection)
        for notice_id in (sent, failed):
            assert notifications.take(connection, notice_id, holder="a", now=later(100), seconds=30) is not None
        assert notifications.mark_sent(connection, sent, holder="a", now=later(101))
        assert notifications.postpone(connection, failed, holder="a", not_before=later(200), error="HTTP 500")
        assert _due(connection, at=200) == [failed]
        assert [notice.id for notice in notifications.find(connection, status=NoticeStatus.SENT)] == [sent]


def test_old_notices_go(filled: Database) -> None:
    """Counted first, then deleted, only those before the day."""
    with filled.write() as connection:
        _tell(connection, at=1)
        _tell(connection, at=50)
        number, size = notifications.count_before(connection, later(50))
        assert number == 1
        assert size > 100
        assert notifications.drop_before(connection, later(50)) == 1
        assert len(notifications.find(connection)) == 1
