"""The door on an empty database."""

import pytest

from comic_pipeline.store.database import Database
from comic_pipeline_tests.contracts.service.door import Door


@pytest.fixture
def door(database: Database) -> Door:
    """A door with nobody inside yet."""
    return Door(database)
