"""The film that these tests look at: made once a session; tests may add to its books, never take away."""

import asyncio
from collections.abc import Iterator

import pytest

from comic_pipeline.media.image import make_cover
from comic_pipeline.model.media import CoverImage
from comic_pipeline.stages.export import export_timeline
from comic_pipeline.stages.review_page import Material
from comic_pipeline.stages.verifying import verify_image
from comic_pipeline_tests.filmset import SMALL, FilmSet, make_film_set


@pytest.fixture(scope="session")
def film_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilmSet]:
    """A small film with its books."""
    made = make_film_set(tmp_path_factory.mktemp("filmset") / "home")
    yield made
    made.workshop.database.close()


@pytest.fixture(scope="session")
def material(film_set: FilmSet) -> Material:
    """All documents of the film, with cover and export."""
    footage = film_set.footage
    picture = film_set.workshop.objects.get(footage.frames.frames[0].media.key)
    cover = verify_image(make_cover(picture, title="x", small_print="", frame=SMALL))
    return Material(
        storyboard=film_set.storyboard,
        footage=footage,
        cover=CoverImage(media=asyncio.run(film_set.studio.store(cover, folder="cover"))),
        export=asyncio.run(export_timeline(film_set.studio, footage)),
    )
