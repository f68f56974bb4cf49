"""The process's collaborators, built once from the settings: database, object store, and how to build providers and runners."""

from dataclasses import dataclass

from comic_pipeline.model.ledger import SpendLimits, Worker
from comic_pipeline.model.limits import ATTEMPTS_PER_PLANNED_TASK
from comic_pipeline.model.project import Project
from comic_pipeline.objects.build import open_objects
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.providers.registry import Providers, build_providers
from comic_pipeline.settings import Settings
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import check_version
from comic_pipeline.work.clock import Clock, SystemClock
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Rules


@dataclass(frozen=True)
class Workshop:
    """Opened once a process; safe to share between threads."""

    settings: Settings
    database: Database
    objects: ObjectStore
    clock: Clock

    def project(self, project_id: str) -> Project:
        """The project as it stands. Raises Refused(NOT_FOUND)."""
        with self.database.read() as connection:
            return projects.get(connection, project_id)

    def studio(self, project: Project, worker: Worker, providers: Providers) -> Studio:
        """What one stage of `project` works with, as `worker`."""
        desk = Desk(database=self.database, objects=self.objects, clock=self.clock, worker=worker, rules=rules_of(self.settings))
        return Studio(project=project, settings=self.settings, providers=providers, desk=desk)

    def build_providers(self) -> Providers:
        """Fresh clients for one event loop; the caller closes them."""
        return build_providers(self.settings)


def open_workshop(settings: Settings) -> Workshop:
    """Open database and object store. Raises Refused(CONFLICT) when the database is not of this code's version."""
    database = Database(settings.effective_database_url)
    check_version(database)
    return Workshop(settings=settings, database=database, objects=open_objects(settings), clock=SystemClock())


def rules_of(settings: Settings) -> Rules:
    """The numbers of paid work, from the settings."""
    return Rules(
        max_retry=settings.max_retry,
        retry_delays=settings.retry_delays,
        poll_seconds=settings.poll_seconds,
        lost_recreates=settings.lost_recreates,
        lost_grace=settings.lost_grace,
        limits=settings.provider_limits,
        spend=SpendLimits(
            day=settings.day_budget, attempts_per_planned=ATTEMPTS_PER_PLANNED_TASK, attempts=settings.max_attempts
        ),
    )
