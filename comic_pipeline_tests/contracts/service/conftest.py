"""The door on an empty database."""

import pytest

from comic_pipeline.store.database import Database
from comic_pipeline_tests.contracts.service.databases import (  # noqa: F401  # fixtures of this folder
    database,
    postgres_database,
    sqlite_database,
)
from comic_pipeline_tests.contracts.service.door import Door


@pytest.fixture
def door(database: Database) -> Door:  # noqa: F811  # the fixture above
    """A door with nobody inside yet."""
    return Door(database)
