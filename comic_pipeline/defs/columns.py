"""Columns of what the UI shows as tables, each with its meaning: shots of a project, views, the daily report.

Belongs here: schemas. Does not: rows (the asset's own module).
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from comic_pipeline.model.production import PRODUCTION_COLUMNS
from comic_pipeline.store.catalog import ReaderTable

# Under this key the UI shows a schema on the asset's own page and finds its columns in the catalogue.
COLUMN_SCHEMA = "dagster/column_schema"


def schema(*columns: tuple[str, str, str]) -> dg.TableSchema:
    """A schema of (name, type, meaning)."""
    return dg.TableSchema(columns=[dg.TableColumn(name=name, type=kind, description=meaning) for name, kind, meaning in columns])


def schema_of(table: ReaderTable) -> dg.TableSchema:
    """The schema of a view or table of the comic database."""
    return schema(*((column.name, column.kind, column.meaning) for column in table.columns))


def described(columns: dg.TableSchema) -> Mapping[str, Any]:
    """Metadata of an asset that shows a table with these columns."""
    return {COLUMN_SCHEMA: columns}


_SEQ = ("seq", "integer", "the shot's number in the film, from 0")
_COST = ("cost_cny", "decimal", "CNY booked for this piece, over all its attempts")
_SECONDS = ("seconds", "decimal", "seconds from its create to its bytes")
_REUSED = ("reused", "boolean", "it was there already and cost nothing in this run")
_TASK = ("task", "text", "its task in the ledger: `comic task show`")
_SIZE = ("size", "text", "width x height in pixels")

STORYBOARD_SHOTS = schema(
    _SEQ,
    ("scene", "text", "what is to be seen, the first 80 characters"),
    ("speaker", "text", "who speaks; empty for the narrator"),
    ("line", "text", "what is said, the first 80 characters"),
    ("ms", "integer", "planned length in milliseconds"),
    ("image_prompt", "text", "what the picture is drawn from, the first 80 characters"),
)
FRAME_SHOTS = schema(
    _SEQ,
    _SIZE,
    ("kB", "integer", "size of the file"),
    _COST,
    _SECONDS,
    _REUSED,
    ("fallback", "boolean", "a card that says that the picture could not be made"),
    _TASK,
)
VOICE_SHOTS = schema(
    _SEQ,
    ("speaker", "text", "who speaks; empty for the narrator"),
    ("voice", "text", "the provider's voice"),
    ("text", "text", "what is said, the first 80 characters"),
    ("ms", "integer", "measured length in milliseconds; null for no sound"),
    ("silenced", "boolean", "the line could not be spoken and is silence (COMIC_ON_VOICE_FAILURE)"),
    _COST,
    _REUSED,
)
CLIP_SHOTS = schema(_SEQ, _SIZE, ("ms", "integer", "measured length in milliseconds"), _COST, _SECONDS, _REUSED, _TASK)
PRODUCTION = schema(*PRODUCTION_COLUMNS)
