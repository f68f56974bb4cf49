"""The words for readers against both databases and README: every column that there is, and no other."""

import re
from pathlib import Path

import pytest
from sqlalchemy import inspect

from comic_pipeline.store.catalog import SUBMISSIONS, VIEWS, ReaderTable
from comic_pipeline.store.database import Database

README = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [SUBMISSIONS, *VIEWS], ids=lambda table: table.name)
def test_documented_columns_are_the_columns(database: Database, table: ReaderTable) -> None:
    """A view that a migration changes takes its documentation with it, on SQLite and Postgres, in the same order."""
    with database.read() as connection:
        columns = [column["name"] for column in inspect(connection).get_columns(table.name)]
    assert [column.name for column in table.columns] == columns
    assert all(column.meaning for column in table.columns)


def test_every_view_is_documented(database: Database) -> None:
    """A new view needs its words."""
    with database.read() as connection:
        assert set(inspect(connection).get_view_names()) == {view.name for view in VIEWS}


def test_readme_names_every_view_with_columns_that_exist() -> None:
    """The table of the data team: view, what a row is, key columns."""
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| one [^|]+ \| ([^|]+) \|$", README, re.MULTILINE))
    assert rows.keys() == {view.name for view in VIEWS}
    for view in VIEWS:
        assert set(re.findall(r"`([a-z_]+)`", rows[view.name])) <= {column.name for column in view.columns}
