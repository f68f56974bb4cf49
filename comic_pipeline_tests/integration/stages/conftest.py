"""The film that these tests look at: made once a session; tests may add to its books, never take away."""

from collections.abc import Iterator

import pytest

from comic_pipeline_tests.filmset import FilmSet, make_film_set


@pytest.fixture(scope="session")
def film_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilmSet]:
    """A small film with its books."""
    made = make_film_set(tmp_path_factory.mktemp("filmset") / "home")
    yield made
    made.workshop.database.close()
