"""The one resource: the workshop, opened when a run or an evaluation first needs it, not when definitions are loaded."""

from collections.abc import Callable

import dagster as dg

from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop


def open_from_environment() -> Workshop:
    """The workshop of this process's environment. Raises Refused for bad settings or an unready database, StorageFault."""
    return open_workshop(load_settings())


def workshop_resource(opener: Callable[[], Workshop]) -> dg.ResourceDefinition:
    """The `workshop` resource; `opener` is called once a run."""
    return dg.ResourceDefinition(resource_fn=lambda _context: opener(), description="Database, object store, settings.")
