"""What operators changed in shots."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.storyboard import OverrideField, Overrides, ShotOverride
from comic_pipeline.store import overrides, projects
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import shot_overrides
from comic_pipeline_tests.builders import NOW, a_project, later


def test_the_latest_value_of_a_field_holds(database: Database) -> None:
    """By order of writing, not by clock; other shots, fields and projects are their own; the history stays."""
    with database.write() as connection:
        projects.insert(connection, a_project())
        projects.insert(connection, a_project("p2"))
        for project, seq, field, value, at in [
            ("p1", 0, OverrideField.IMAGE_PROMPT, "a dog", 5),
            ("p1", 0, OverrideField.IMAGE_PROMPT, "a fox", 1),
            ("p1", 0, OverrideField.TAKE_FRAMES, "2", 2),
            ("p1", 1, OverrideField.IMAGE_PROMPT, "a bird", 3),
            ("p2", 0, OverrideField.IMAGE_PROMPT, "a fish", 4),
        ]:
            overrides.add(connection, project, seq=seq, field=field, value=value, by="op", now=later(at))
    with database.read() as connection:
        loaded = overrides.load(connection, "p1")
        kept = connection.execute(select(func.count()).select_from(shot_overrides)).scalar_one()
    assert set(loaded.items) == {
        ShotOverride(seq=0, field=OverrideField.IMAGE_PROMPT, value="a fox"),
        ShotOverride(seq=0, field=OverrideField.TAKE_FRAMES, value="2"),
        ShotOverride(seq=1, field=OverrideField.IMAGE_PROMPT, value="a bird"),
    }
    assert loaded.take(0, OverrideField.TAKE_FRAMES) == 2
    assert kept == 5


def test_a_project_without_overrides_has_none(database: Database) -> None:
    """Nothing changed is an empty value, not an error."""
    with database.read() as connection:
        assert overrides.load(connection, "p1") == Overrides()


def test_an_override_of_an_unknown_project_is_refused(database: Database) -> None:
    """A mistyped id must not be stored as if it had changed something."""
    with pytest.raises(IntegrityError), database.write() as connection:
        overrides.add(connection, "nobody", seq=0, field=OverrideField.SEED, value="1", by="op", now=NOW)
