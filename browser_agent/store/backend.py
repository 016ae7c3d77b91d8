"""What a store needs of the database that it lives in: the few things that are not the same everywhere.

A home knows its engine, its clock, its write lock, and how its errors read. It knows nothing of rows; the rooms of the
store know nothing of homes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlmodel import Session

from browser_agent.clock import Clock
from browser_agent.processes import ProcessId


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
