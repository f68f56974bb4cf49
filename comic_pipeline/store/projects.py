"""Projects: creating, reading, and moving them from state to state, always guarded by the state they are in."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, update

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.limits import FORMAL_TIERS
from comic_pipeline.model.notice import EVENT_OF_STATE, notice_of_move
from comic_pipeline.model.project import Project
from comic_pipeline.model.task import hash_of
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState
from comic_pipeline.store import notifications
from comic_pipeline.store.rows import read_row
from comic_pipeline.store.schema import projects

# Any number that nothing else in the database locks with two numbers.
_USER_LOCK = 7_262_004


def content_hash(project: Project) -> str:
    """Equal for two requests that ask for the same film."""
    asked = project.model_dump(
        mode="json", include={"idea", "script", "style", "duration_bucket", "aspect", "resolution", "language"}
    )
    return hash_of(asked)


def insert(connection: Connection, project: Project) -> None:
    """Store a new project. Raises IntegrityError when its id exists or its user has an active formal project."""
    connection.execute(
        projects.insert().values(**project.model_dump(), content_hash=content_hash(project), opened_at=project.created_at)
    )


def get(connection: Connection, project_id: str) -> Project:
    """The project with this id. Raises Refused(NOT_FOUND)."""
    row = connection.execute(select(projects).where(projects.c.id == project_id)).mappings().one_or_none()
    if row is None:
        raise Refused(ErrorCode.NOT_FOUND, f"project {project_id[:80]!r} does not exist; `comic projects` lists them")
    return read_row(Project, row)


def lock(connection: Connection, project_id: str) -> None:
    """Hold the project until the transaction ends: creates, cancels and ends of its stages pass one after another.

    Lock order everywhere: project, stage, task, attempt. References to the project may still be inserted meanwhile. SQLite has
    one writer anyway.
    """
    connection.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))


def lock_user(connection: Connection, user_id: str) -> None:
    """Hold the user until the transaction ends: of two requests at once, the second sees what became of the first."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_USER_LOCK, func.hashtext(user_id))))


def find(
    connection: Connection, *, user_id: str | None = None, status: Collection[str] | None = None, limit: int = 500
) -> list[Project]:
    """At most `limit` projects, newest first, of one user and in some states when given."""
    statement = select(projects).order_by(projects.c.created_at.desc(), projects.c.id).limit(limit)
    if user_id is not None:
        statement = statement.where(projects.c.user_id == user_id)
    if status is not None:
        statement = statement.where(projects.c.status.in_(status))
    return [read_row(Project, row) for row in connection.execute(statement).mappings()]


def in_production(connection: Connection) -> list[str]:
    """Ids of projects that have stages to run."""
    statement = select(projects.c.id).where(projects.c.status.in_(ACTIVE_PROJECT_STATES)).order_by(projects.c.created_at)
    return list(connection.execute(statement).scalars())


def find_same(connection: Connection, project: Project) -> Project | None:
    """An active project of the same user that makes the same film."""
    statement = select(projects).where(
        projects.c.user_id == project.user_id,
        projects.c.content_hash == content_hash(project),
        projects.c.status.in_(ACTIVE_PROJECT_STATES),
    )
    row = connection.execute(statement.limit(1)).mappings().one_or_none()
    return None if row is None else read_row(Project, row)


def find_active_formal(connection: Connection, user_id: str) -> str | None:
    """The id of the user's one active formal project."""
    statement = select(projects.c.id).where(
        projects.c.user_id == user_id, projects.c.tier.in_(FORMAL_TIERS), projects.c.status.in_(ACTIVE_PROJECT_STATES)
    )
    return connection.execute(statement.limit(1)).scalar_one_or_none()


def move(
    connection: Connection, project_id: str, *, old: Collection[ProjectState], new: ProjectState, now: datetime, **values: Any
) -> bool:
    """Move a project to `new` if it is in one of `old`. False when it was not: somebody else moved it.

    What is news to the outside is written to the outbox with it: a move and its notice are one transaction.
    """
    done = connection.execute(
        update(projects)
        .where(projects.c.id == project_id, projects.c.status.in_(old))
        .values(status=new, updated_at=now, **values)
    )
    if done.rowcount == 1 and new in EVENT_OF_STATE and new not in old:
        _tell(connection, project_id, new, now=now)
    return done.rowcount == 1


def _tell(connection: Connection, project_id: str, state: ProjectState, *, now: datetime) -> None:
    # As the row has them, not as a Project: a row that cannot be read any more must still be ended, and told about.
    wanted = (projects.c[name] for name in ("id", "user_id", "tier", "title", "fail_stage", "error_code"))
    facts = connection.execute(select(*wanted).where(projects.c.id == project_id)).mappings().one()
    notice = notice_of_move(dict(facts), state, now=now)
    if notice is not None:
        notifications.add(connection, notice, now=now)


def set_title(connection: Connection, project_id: str, title: str, *, now: datetime) -> None:
    """Name the film."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(title=title, updated_at=now))


def opened_at(connection: Connection, project_id: str) -> datetime:
    """When production began, or was taken up again by a retry or a redo."""
    moment: datetime = connection.execute(select(projects.c.opened_at).where(projects.c.id == project_id)).scalar_one()
    return moment


def force_cancel(connection: Connection, project_id: str) -> None:
    """The runs at work are to be stopped too."""
    connection.execute(update(projects).where(projects.c.id == project_id).values(cancel_force=True))


def cancelling(connection: Connection) -> dict[str, bool]:
    """Producing projects that are to stop, and whether by force: then runs at work are stopped too."""
    statement = select(projects.c.id, projects.c.cancel_force).where(
        projects.c.status.in_(ACTIVE_PROJECT_STATES), projects.c.cancel_requested
    )
    return dict(connection.execute(statement).tuples().all())


def request_cancel(connection: Connection, project_id: str, *, reason: str, now: datetime) -> bool:
    """Raise the cancel flag. False when it was up already: the first reason and time stay."""
    done = connection.execute(
        update(projects)
        .where(projects.c.id == project_id, projects.c.cancel_requested.is_(False))
        .values(cancel_requested=True, cancel_requested_at=now, cancel_reason=reason[:255], updated_at=now)
    )
    return done.rowcount == 1
