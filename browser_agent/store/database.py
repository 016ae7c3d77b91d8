"""One database: opened, checked, migrated, and written in short transactions.

Every row is scrubbed here on its way in. Only a writer that executes its own SQL statement must call the scrubber
itself (see `scrubber_of`).
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
from browser_agent.store.backend import Backend
from browser_agent.store.column_types import scrubbed_columns
from browser_agent.store.sqlite import SqliteBackend

SCHEMA = "0008"
"""The newest migration; a test keeps it equal to the last file in `migrations/versions`."""
OLDEST_SCHEMA = "0006"
"""Older ones were made by development versions, and are no longer read."""

BUSY_SECONDS = 30.0


class Database:
    """An open store.

    Args:
        where: a SQLite file, or the address of a PostgreSQL database.

    Raises:
        StoreUnusable: it is no database, or its schema is too new or too old; or see the backends.

    Attributes:
        backend: what differs between SQLite and PostgreSQL.
        scrubber: removes secrets from every text on its way in.
        is_shut: see `shut`.
    """

    def __init__(self, where: Path | str) -> None:
        self.scrubber = Scrubber()
        self.is_shut = False
        self.backend = _backend(where)
        self.engine = self.backend.engine
        try:
            with self.backend.explained():
                self._migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that holds the store's one write lock; it commits at the end of the block, or rolls back.

        What was read inside is therefore still true when the write lands.
        """
        if self.is_shut:
            raise StoreUnusable(
                f"The store {self.backend.shown} was shut to this process by a test. Nothing was written."
            )
        with Session(self.engine, expire_on_commit=False) as session:
            session.info[_SCRUBBER] = self.scrubber
            event.listen(session, "before_flush", _scrub)
            with self.backend.explained():
                self.backend.begin_write(session)
                yield session
                session.flush()
            with self.backend.explained(at_commit=True):
                session.commit()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads, from one snapshot of the store."""
        with self.backend.explained(), Session(self.engine, expire_on_commit=False) as session:
            self.backend.begin_read(session)
            yield session

    def shut(self) -> None:
        """Refuse all further writes, as if this process had died. A transaction in progress is not interrupted."""
        self.is_shut = True

    def close(self) -> None:
        """Close every connection of this process."""
        self.engine.dispose()

    def now(self, session: Session) -> float:
        """Seconds since 1970 by the database's own clock, the only one that leases are measured by."""
        return self.backend.now(session.connection())

    def _migrate(self) -> None:
        found = self._schema()
        if found == SCHEMA:
            return
        if found is not None and found > SCHEMA:
            raise StoreUnusable(
                f"The store {self.backend.shown} has schema {found}; this version knows schemas up to {SCHEMA}. "
                "Nothing was changed. Upgrade browser-agent, or name another store with --store."
            )
        if found is not None and found < OLDEST_SCHEMA:
            raise StoreUnusable(
                f"The store {self.backend.shown} was made by a development version before the first release (schema "
                f"{found}), and this version can't read it. Nothing was changed. Name a new store with --store, or "
                "open this one with the version that made it."
            )
        from browser_agent.store.migrations import upgrade  # alembic is slow to import, and seldom needed

        with self.backend.exclusive() as connection:
            upgrade(connection)

    def _schema(self) -> str | None:
        with self.engine.connect() as connection:
            if not connection.dialect.has_table(connection, "alembic_version"):
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
            return None if row is None else str(row[0])


def _backend(where: Path | str) -> Backend:
    if isinstance(where, Path):
        return SqliteBackend(where, BUSY_SECONDS)
    from browser_agent.store.postgres import PostgresBackend  # its driver is an extra

    return PostgresBackend(where, BUSY_SECONDS)


def scrubber_of(session: Session) -> Scrubber:
    """The scrubber of a write transaction, for what is written by an SQL statement or as bytes."""
    scrubber: Scrubber = session.info[_SCRUBBER]
    return scrubber


_SCRUBBER = "scrubber"


def scrubbed(session: Session, table: type[SQLModel], changes: dict[str, Any]) -> dict[str, Any]:
    """The changes of a table's columns, with secrets removed."""
    scrubber, columns = scrubber_of(session), scrubbed_columns(table)
    rules = {"text": scrubber.stored, "value": scrubber.value}
    return {
        name: rules[columns[name]](value) if name in columns and value is not None else value
        for name, value in changes.items()
    }


def _scrub(session: Session, *_: object) -> None:
    for row in (*session.new, *session.dirty):
        columns = {name: getattr(row, name) for name in scrubbed_columns(type(row))}
        for name, value in scrubbed(session, type(row), columns).items():
            if value != columns[name]:
                setattr(row, name, value)
