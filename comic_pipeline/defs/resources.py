"""The one resource: the workshop, opened when a run or an evaluation first needs it, not when definitions are loaded."""

from collections.abc import Callable, Iterator

import dagster as dg

from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop


def open_from_environment() -> Workshop:
    """The workshop of this process's environment. Raises Refused for bad settings or an unready database, StorageFault."""
    return open_workshop(load_settings())


def workshop_resource(opener: Callable[[], Workshop]) -> dg.ResourceDefinition:
    """The `workshop` resource; `opener` is called once a run or evaluation, whose end lets go of the database's connections.

    Four sensors open one every few seconds in one process: left to the garbage collector, ten connections lay about idle.
    """

    def opened(_context: dg.InitResourceContext) -> Iterator[Workshop]:
        workshop = opener()
        try:
            yield workshop
        finally:
            workshop.database.close()

    return dg.ResourceDefinition(resource_fn=opened, description="Database, object store, settings.")
