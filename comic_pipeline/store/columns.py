"""Column types that mean the same on SQLite and Postgres: UTC times and exact CNY."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import DateTime, Dialect, Numeric, String, TypeDecorator
from sqlalchemy.types import TypeEngine

from comic_pipeline.model.money import cny


class UtcTime(TypeDecorator[datetime]):
    """An aware UTC datetime. Postgres: timestamptz. SQLite: ISO text of fixed width, so that it sorts and compares as text."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text on SQLite, which has no time type."""
        return dialect.type_descriptor(String(32) if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Refuse naive times: they would mean something else on another machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive time {value!r}: all times are UTC and aware")
        utc = value.astimezone(UTC)
        return utc.strftime("%Y-%m-%d %H:%M:%S.%f") if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # SQLAlchemy's signature
        """Always aware, always UTC. Rows that a backend inserted by hand may lack the fraction."""
        if value is None:
            return None
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


class Money(TypeDecorator[Decimal]):
    """CNY with six places. SQLite keeps a double, which holds six places exactly up to a billion yuan once rounded back."""

    impl = Numeric(18, 6)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite's driver takes no Decimal."""
        return dialect.type_descriptor(Numeric(18, 6, asdecimal=False) if dialect.name == "sqlite" else Numeric(18, 6))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Six places, always."""
        if value is None:
            return None
        return float(cny(value)) if dialect.name == "sqlite" else cny(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:  # noqa: ARG002  # SQLAlchemy's signature
        """Exact again: rounded to the six places that were written."""
        return None if value is None else cny(str(value))
