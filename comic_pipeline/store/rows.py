"""From database rows to frozen values, in one place: a column that has no field is left out, JSON columns are parsed."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

Value = TypeVar("Value", bound=BaseModel)


def read_row(kind: type[Value], row: Mapping[Any, Any]) -> Value:
    """The row as a `kind`. Raises pydantic.ValidationError for a row that breaks the schema's promises."""
    return kind.model_validate({name: row[name] for name in kind.model_fields if name in row})
