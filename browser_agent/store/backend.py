"""What a store needs of the database that it lives in: the few things that are not the same everywhere.

A home knows its engine, its clock, its write lock, and how its errors read. It knows nothing of rows; the rooms of the
store know nothing of homes.
"""

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


class Home(Protocol):
    """See the module.

    Attributes:
        engine: hands out connections.
        shown: the store in words for a person, without a secret.
    """

    engine: Engine
    shown: str

    def clock(self) -> Clock:
        """The clock that rows are written with."""

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""

    def begin_write(self, session: Session) -> None:
        """Begin a transaction that holds the store's write lock from here to its end."""

    def begin_read(self, session: Session) -> None:
        """Begin a transaction that sees one moment of the store."""

    def writer(self) -> ProcessId | None:
        """The process of this machine that holds the write lock until it goes on, even if it never does; None if there
        is none, or the database itself lets go of it."""

    def alone(self) -> AbstractContextManager[Connection]:
        """A transaction beside which there is no other writer, for a change of the tables."""

    def explained(self, *, at_commit: bool = False) -> AbstractContextManager[None]:
        """Turn what the database says of itself into what it means for the person; anything else passes unchanged.

        Args:
            at_commit: the commit is under way, so that its answer decides what is known.

        Raises:
            StoreUnusable: the database cannot be used now, and what that means for what was being written.
        """


VERSION = "alembic_version"
"""Other programs that use alembic have it too."""
NAMES = frozenset(RunRow.metadata.tables)
_CORE = frozenset({"run", "gesture", "audit"})
"""What every store has had since the first schema."""


def refuse_foreign(shown: str, tables: Collection[str], in_the_way: Collection[str], advice: str = "") -> None:
    """Refuse what is no store and can't become one.

    Args:
        shown: where it is, in words.
        tables: the tables that are there.
        in_the_way: those of them beside which a store can't be made.
        advice: what to do instead.

    Raises:
        StoreUnusable: another program's.
    """
    if in_the_way and not _CORE.issubset(tables):
        raise StoreUnusable(f"{shown} holds tables of another program; not a store. Nothing was changed.{advice}")
