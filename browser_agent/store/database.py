"""One database: opened, checked, migrated, and written in short transactions.

Writers use `write()`, which holds the store's one write lock, so that what was read inside is still true when the write
lands. What differs between SQLite and PostgreSQL is the home's (see `home`). Knows nothing of what the rows mean. A
store of a newer schema is never touched. What was said in free text is scrubbed here on its way in, whoever writes it:
no row is written past it but by a statement of one's own (see `scrubber_of`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event, text
from sqlmodel import Session, SQLModel

from browser_agent.errors import StoreUnusable
from browser_agent.secrets.scrubber import Scrubber
from browser_agent.store.backend import Home
from browser_agent.store.records import scrubbed_columns
from browser_agent.store.sqlite import SqliteHome

SCHEMA = "0007"
"""The newest migration; a test keeps it equal to the last file in `migrations/versions`."""
OLDEST_SCHEMA = "0006"
"""Older ones were made by development versions, and are no longer read."""

BUSY_SECONDS = 30.0


class Database:
    """An open store.

    Args:
        where: a SQLite file, or the address of a PostgreSQL database.

    Raises:
        StoreUnusable: not a database, a newer schema; or its home refuses it.

    Attributes:
        home: see `Home`.
        scrubber: what every free text passes on its way in.
        is_shut: see `shut`.
    """

    def __init__(self, where: Path | str) -> None:
        self.scrubber = Scrubber()
        self.is_shut = False
        self.home = _home(where)
        self.engine = self.home.engine
        try:
            with self.home.explained():
                self._migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that holds the write lock from its first line; commits at the end, or rolls all of it back."""
        if self.is_shut:
            raise StoreUnusable(f"The store {self.home.shown} was shut to this process by a test. Nothing was written.")
        with Session(self.engine, expire_on_commit=False) as session:
            session.info[_SCRUBBER] = self.scrubber
            event.listen(session, "before_flush", _scrub)
            with self.home.explained():
                self.home.begin_write(session)
                yield session
                session.flush()
            with self.home.explained(at_commit=True):
                session.commit()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads; sees one moment of the store."""
        with self.home.explained(), Session(self.engine, expire_on_commit=False) as session:
            self.home.begin_read(session)
            yield session

    def shut(self) -> None:
        """Write nothing any more, as if this process had died; what is under way in a transaction is not cut off."""
        self.is_shut = True

    def close(self) -> None:
        """Close every connection of this process."""
        self.engine.dispose()

    def now(self, session: Session) -> float:
        """Seconds since 1970 by the database's own clock: the only clock that leases are measured with."""
        return self.home.now(session.connection())

    def _migrate(self) -> None:
        found = self._schema()
        if found == SCHEMA:
            return
        if found is not None and found > SCHEMA:
            raise StoreUnusable(
                f"The store {self.home.shown} has schema {found}; this version knows schemas up to {SCHEMA}. "
                "Nothing was changed. Upgrade browser-agent, or name another store with --store."
            )
        if found is not None and found < OLDEST_SCHEMA:
            raise StoreUnusable(
                f"The store {self.home.shown} was made by a development version before the first release (schema "
                f"{found}), and this version can't read it. Nothing was changed. Name a new store with --store, or "
                "open this one with the version that made it."
            )
        from browser_agent.store.migrations import upgrade  # alembic is slow to import, and seldom needed

        with self.home.alone() as connection:
            upgrade(connection)

    def _schema(self) -> str | None:
        with self.engine.connect() as connection:
            if not connection.dialect.has_table(connection, "alembic_version"):
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
            return None if row is None else str(row[0])


def _home(where: Path | str) -> Home:
    if isinstance(where, Path):
        return SqliteHome(where, BUSY_SECONDS)
    from browser_agent.store.postgres import PostgresHome  # its driver is an extra

    return PostgresHome(where, BUSY_SECONDS)


def scrubber_of(session: Session) -> Scrubber:
    """The scrubber of a write transaction, for what is written by a statement or as bytes."""
    scrubber: Scrubber = session.info[_SCRUBBER]
    return scrubber


_SCRUBBER = "scrubber"


def scrubbed(session: Session, table: type[SQLModel], changes: dict[str, Any]) -> dict[str, Any]:
    """Columns of a table as they may be written."""
    scrubber, doors = scrubber_of(session), scrubbed_columns(table)
    rules = {"text": scrubber.stored, "value": scrubber.value}
    return {
        name: rules[doors[name]](said) if name in doors and said is not None else said for name, said in changes.items()
    }


def _scrub(session: Session, *_: object) -> None:
    for row in (*session.new, *session.dirty):
        columns = {name: getattr(row, name) for name in scrubbed_columns(type(row))}
        for name, said in scrubbed(session, type(row), columns).items():
            if said != columns[name]:
                setattr(row, name, said)
