"""What a store needs of its database and SQLite and PostgreSQL do differently."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlmodel import Session

from browser_agent.clock import Clock
from browser_agent.errors import StoreUnusable
from browser_agent.processes import ProcessId
from browser_agent.store.records import RunRow


class Backend(Protocol):
    """The engine, the clock, the write lock and the error messages of one database. It knows nothing of rows.

    Attributes:
        engine: hands out connections.
        shown: the store's address without its password, for messages.
    """

    engine: Engine
    shown: str

    def clock(self) -> Clock:
        """The clock for the times in rows."""

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""

    def begin_write(self, session: Session) -> None:
        """Begin a transaction that holds the store's write lock from its first statement to its end."""

    def begin_read(self, session: Session) -> None:
        """Begin a transaction that sees one snapshot of the store."""

    def writer(self) -> ProcessId | None:
        """The process on this machine that holds the write lock, and would hold it for ever if it hung.

        None = nobody holds it, or the database itself ends a writer that hangs.
        """

    def exclusive(self) -> AbstractContextManager[Connection]:
        """A transaction with no other writer beside it, for changes of the schema."""

    def explained(self, *, at_commit: bool = False) -> AbstractContextManager[None]:
        """Translate the database's own errors into what they mean for the user. Other errors pass unchanged.

        Args:
            at_commit: the block commits. If it fails, it may be unknown whether the transaction was committed.

        Raises:
            StoreUnusable: the database cannot be used now; the message says what that means for the write in progress.
        """


VERSION = "alembic_version"
"""Alembic's own table, which other programs' databases may hold too."""
NAMES = frozenset(RunRow.metadata.tables)
_CORE = frozenset({"run", "gesture", "audit"})
"""Tables of every store, whatever its schema."""


def refuse_foreign(shown: str, tables: Collection[str], in_the_way: Collection[str], advice: str = "") -> None:
    """Refuse a database that is not a store and cannot become one.

    Args:
        shown: its address, for the message.
        tables: the tables that it holds.
        in_the_way: those of them that leave no room for a store's tables.
        advice: what to do instead.

    Raises:
        StoreUnusable: it belongs to another program.
    """
    if in_the_way and not _CORE.issubset(tables):
        raise StoreUnusable(f"{shown} holds tables of another program; not a store. Nothing was changed.{advice}")
