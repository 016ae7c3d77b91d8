"""The types of the store's columns, and which columns are scrubbed."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import DateTime, Dialect, String, TypeDecorator
from sqlmodel import Field, SQLModel


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC. SQLite forgets the zone and PostgreSQL returns its session's, so reading restores UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time in UTC; a time without a zone is UTC already."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class EnumText(TypeDecorator[StrEnum]):
    """A member of a `StrEnum`, stored as its text."""

    impl = String
    cache_ok = True

    def __init__(self, enum: type[StrEnum]) -> None:
        super().__init__()
        self.enum = enum

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        """The text of the member. A text that is no member raises `ValueError`."""
        return None if value is None else str(self.enum(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """The member with that text."""
        return None if value is None else self.enum(value)


def time_field(**options: Any) -> Any:
    """A time in UTC."""
    return Field(sa_type=UtcTime, **options)


def enum_field(enum: type[StrEnum], **options: Any) -> Any:
    """A member of that enum."""
    return Field(sa_type=EnumText(enum), **options)


def text_field(**options: Any) -> Any:
    """Free text of people, pages and libraries: everything that looks like a secret is removed from it."""
    return Field(sa_column_kwargs={"info": {_SCRUBBED_AS: "text"}}, **options)


def data_field(**options: Any) -> Any:
    """Data that programs read: only known secrets are removed from it."""
    return Field(sa_column_kwargs={"info": {_SCRUBBED_AS: "value"}}, **options)


_SCRUBBED_AS = "scrubbed as"


def scrubbed_columns(table: type[SQLModel]) -> dict[str, str]:
    """The columns of a table that are scrubbed when they are written: name -> "text" or "value"."""
    columns = getattr(table, "__table__").columns  # noqa: B009  # mypy does not know it
    return {column.name: column.info[_SCRUBBED_AS] for column in columns if _SCRUBBED_AS in column.info}
