"""A prepared COMIC_HOME with an open workshop, for tests that need one and nothing that runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from comic_pipeline.home import prepare_home
from comic_pipeline.model.project import Project
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.store import projects


@contextmanager
def opened_home(home: Path, *stored: Project) -> Iterator[Workshop]:
    """The workshop of `home`, with these projects in its database."""
    settings = load_settings(COMIC_HOME=str(home))
    prepare_home(settings)
    workshop = open_workshop(settings)
    try:
        with workshop.database.write() as connection:
            for project in stored:
                projects.insert(connection, project)
        yield workshop
    finally:
        workshop.database.close()
