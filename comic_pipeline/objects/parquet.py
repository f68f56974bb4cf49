"""Tables as Parquet files: the only module that knows arro3. Equal rows give equal bytes.

Belongs here: writing. Reading is what readers do, with `duckdb`, `pandas` or `arro3.io.read_parquet`.
"""

import io
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arro3.core import Array, DataType, Field

Cell = str | date | Decimal | None
# Columns as (name, type, meaning); types: date, text, decimal (18 digits, 6 of them places).
ParquetColumn = tuple[str, str, str]
_EPOCH = date(1970, 1, 1)


def write_parquet(columns: Sequence[ParquetColumn], rows: Sequence[Sequence[Cell]]) -> bytes:
    """One file, the columns' meanings in it; without rows it still has its columns. Raises KeyError for an unknown type."""
    from arro3.core import Field, Schema, Table
    from arro3.io import write_parquet as write

    fields = [Field(name, _type(kind), nullable=True, metadata={"meaning": meaning}) for name, kind, meaning in columns]
    arrays = [
        _array(field, kind, [row[at] for row in rows])
        for at, (field, (_, kind, _)) in enumerate(zip(fields, columns, strict=True))
    ]
    file = io.BytesIO()
    write(Table.from_arrays(arrays, schema=Schema(fields)), file, compression="zstd(3)")
    return file.getvalue()


def _type(kind: str) -> "DataType":
    from arro3.core import DataType

    return {"date": DataType.date32(), "text": DataType.utf8(), "decimal": DataType.decimal128(18, 6)}[kind]


def _array(field: "Field", kind: str, cells: list[Cell]) -> "Array":
    # Arrays of dates and decimals cannot be built from Python values, only cast from integers and text.
    from arro3.core import Array, DataType

    if kind == "date":
        days = [(cell - _EPOCH).days if isinstance(cell, date) else None for cell in cells]
        return Array(days, DataType.int32()).cast(field)
    return Array([None if cell is None else str(cell) for cell in cells], DataType.utf8()).cast(field)
