"""Projects: unique, moved only from a known state, one active formal project a user."""

import pytest
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW, a_project, later
from comic_pipeline_tests.contracts.store.racing import race, raced


def test_a_project_comes_back_as_it_was_stored(database: Database) -> None:
    """Every field, Chinese and emoji included."""
    project = a_project(title="月下花🌙", error_code=ErrorCode.QC_FAILED, finished_at=later(1), cancel_reason="因为")
    with database.write() as connection:
        projects.insert(connection, project)
    with database.read() as connection:
        assert projects.get(connection, "p1") == project


def test_an_unknown_project_is_not_found(database: Database) -> None:
    """NOT_FOUND, not an empty value."""
    with database.read() as connection, pytest.raises(Refused) as refused:
        projects.get(connection, "nobody")
    assert refused.value.code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("state", ACTIVE_PROJECT_STATES)
def test_a_user_has_one_active_formal_project(database: Database, state: ProjectState) -> None:
    """The index holds it in every active state and over both formal tiers; other users and free films are not concerned."""
    with database.write() as connection:
        projects.insert(connection, a_project("p1", tier=Tier.PAID, status=state))
        projects.insert(connection, a_project("p2", tier=Tier.FREE, status=state))
        projects.insert(connection, a_project("p3", tier=Tier.PREMIUM, status=state, user_id="user-2"))
        assert projects.find_active_formal(connection, "user-1") == "p1"
    with pytest.raises(IntegrityError), database.write() as connection:
        projects.insert(connection, a_project("p4", tier=Tier.PREMIUM, status=ProjectState.QUEUED))


@pytest.mark.parametrize("state", sorted(set(ProjectState) - set(ACTIVE_PROJECT_STATES)))
def test_an_ended_formal_project_makes_room(database: Database, state: ProjectState) -> None:
    """Waiting for review, failed, cancelled …: the next formal project may start."""
    with database.write() as connection:
        projects.insert(connection, a_project("p1", tier=Tier.PAID, status=state))
        assert projects.find_active_formal(connection, "user-1") is None
        projects.insert(connection, a_project("p2", tier=Tier.PAID, status=ProjectState.QUEUED))


def test_a_move_back_into_production_obeys_the_same_rule(database: Database) -> None:
    """A retry of one formal project while another is active is refused by the index, not only by the admission code."""
    with database.write() as connection:
        projects.insert(connection, a_project("p1", tier=Tier.PAID, status=ProjectState.FAILED))
        projects.insert(connection, a_project("p2", tier=Tier.PAID, status=ProjectState.QUEUED))
    with pytest.raises(IntegrityError), database.write() as connection:
        projects.move(connection, "p1", old=[ProjectState.FAILED], new=ProjectState.IMAGE, now=NOW)


def test_two_formal_projects_at_once_leave_one(database: Database) -> None:
    """Two admissions that do not see each other: the index lets one through."""

    def insert(name: str) -> None:
        with database.write() as connection:
            projects.insert(connection, a_project(name, tier=Tier.PAID))

    outcomes = race([lambda: insert("p1"), lambda: insert("p2")])
    (refused,) = filter(None, outcomes)
    assert isinstance(refused, IntegrityError)


def test_a_move_needs_the_expected_state(database: Database) -> None:
    """A move from a state that the project is not in does nothing and says so."""
    with database.write() as connection:
        projects.insert(connection, a_project(status=ProjectState.IMAGE))
        assert not projects.move(connection, "p1", old=[ProjectState.SCRIPT], new=ProjectState.FAILED, now=NOW)
        assert projects.move(
            connection, "p1", old=[ProjectState.IMAGE], new=ProjectState.FAILED, now=later(1), error_code=ErrorCode.INPUT_INVALID
        )
        moved = projects.get(connection, "p1")
    assert (moved.status, moved.updated_at, moved.error_code) == (ProjectState.FAILED, later(1), ErrorCode.INPUT_INVALID)


def test_of_two_movers_one_wins(database: Database) -> None:
    """Cancel and finish at the same moment: exactly one takes effect."""
    with database.write() as connection:
        projects.insert(connection, a_project(status=ProjectState.COMPOSE))

    def move_to(new: ProjectState) -> bool:
        with database.write() as connection:
            return projects.move(connection, "p1", old=[ProjectState.COMPOSE], new=new, now=NOW)

    outcomes = raced([lambda: move_to(ProjectState.CANCELLED), lambda: move_to(ProjectState.PENDING_REVIEW)])
    assert sorted(outcomes) == [False, True]


def test_a_nonsense_state_is_refused(database: Database) -> None:
    """States are a closed set in the database too, for whoever writes past our types."""
    with database.write() as connection:
        projects.insert(connection, a_project())
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.exec_driver_sql("UPDATE projects SET status = 'HAPPY'")


def test_the_first_cancel_is_kept(database: Database) -> None:
    """A second cancel does not overwrite who asked first and why."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        assert projects.request_cancel(connection, "p1", reason="changed my mind", now=later(1))
        assert not projects.request_cancel(connection, "p1", reason="again", now=later(2))
        stored = projects.get(connection, "p1")
    assert (stored.cancel_requested, stored.cancel_reason, stored.cancel_requested_at) == (True, "changed my mind", later(1))


def test_the_same_content_is_found_while_it_is_active(database: Database) -> None:
    """Same user, same film, in production: found. Another user, another look, or ended: not."""
    with database.write() as connection:
        projects.insert(connection, a_project("p1"))
        assert getattr(projects.find_same(connection, a_project("new")), "id", None) == "p1"
        assert projects.find_same(connection, a_project("new", user_id="user-2")) is None
        assert projects.find_same(connection, a_project("new", style="ink")) is None
        projects.move(connection, "p1", old=[ProjectState.IMAGE], new=ProjectState.CANCELLED, now=NOW)
        assert projects.find_same(connection, a_project("new")) is None


def test_projects_are_listed_newest_first_and_by_filter(database: Database) -> None:
    """What `comic projects` shows."""
    with database.write() as connection:
        for number, (user, state) in enumerate(
            [("a", ProjectState.IMAGE), ("b", ProjectState.FAILED), ("a", ProjectState.APPROVED), ("a", ProjectState.QUEUED)]
        ):
            projects.insert(connection, a_project(f"p{number}", user_id=user, status=state, created_at=later(number)))

        def ids(user_id: str | None = None, status: list[str] | None = None, limit: int = 500) -> list[str]:
            return [project.id for project in projects.find(connection, user_id=user_id, status=status, limit=limit)]

        assert ids() == ["p3", "p2", "p1", "p0"]
        assert ids(user_id="a", limit=2) == ["p3", "p2"]
        assert ids(user_id="b") == ["p1"]
        assert ids(status=[ProjectState.FAILED, ProjectState.IMAGE]) == ["p1", "p0"]
        assert ids(status=[]) == []
        assert projects.in_production(connection) == ["p0", "p3"]


def test_what_is_asked_of_one_project_is_asked_of_no_other(database: Database) -> None:
    """A cancel, its force, a title and the time of a retry are one film's; one that has ended is not to be stopped any more."""
    with database.write() as connection:
        for name, state in (("p1", ProjectState.IMAGE), ("p2", ProjectState.IMAGE), ("gone", ProjectState.CANCELLED)):
            projects.insert(connection, a_project(name, user_id=name, status=state, cancel_requested=name == "gone"))
        other = projects.get(connection, "p2")
        assert projects.request_cancel(connection, "p1", reason="enough", now=later(1))
        assert projects.cancelling(connection) == {"p1": False}
        projects.force_cancel(connection, "p1")
        projects.set_title(connection, "p1", "月下花", now=later(1))
        projects.move(connection, "p1", old=[ProjectState.IMAGE], new=ProjectState.QUEUED, now=later(2), opened_at=later(2))
        assert projects.get(connection, "p2") == other
        assert projects.request_cancel(connection, "p2", reason="enough", now=later(3))
        assert projects.cancelling(connection) == {"p1": True, "p2": False}
        assert [projects.opened_at(connection, name) for name in ("p1", "p2")] == [later(2), NOW]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_project_that_is_held_holds_up_no_other(database: Database) -> None:
    """Creates of different films pass the gate side by side."""
    with database.write() as connection:
        for name in ("p1", "p2"):
            projects.insert(connection, a_project(name, user_id=name))
    with database.write() as connection, database.write() as beside:
        beside.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
        projects.lock(connection, "p1")
        projects.lock(beside, "p2")
