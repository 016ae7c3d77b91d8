"""One database file: opened, checked, migrated, and written in short transactions.

Writers use `write()`: `BEGIN IMMEDIATE`, so that what was read inside is still true when the write lands. WAL and full
sync (SQLite documentation, "PRAGMA synchronous"): a committed row survives a power cut. Knows nothing of what the rows
mean. A store of a newer schema is never touched. What was said in free text is scrubbed here on its way in, whoever
writes it: no row is written past it but by a statement of one's own (see `scrubber_of`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool
from sqlmodel import Session, SQLModel

from browser_agent.errors import StoreUnusable
from browser_agent.records import scrubbed_columns
from browser_agent.scrubbing import Scrubber

SCHEMA = "0005"
"""The newest migration; a test keeps it equal to the last file in `migrations/versions`."""

BUSY_SECONDS = 30.0
NETWORK_FILE_SYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smbfs", "smb2", "smb3", "afpfs", "webdav", "9p", "ceph", "glusterfs", "lustre"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone"),
    }
)
"""SQLite's locks and its shared memory file don't hold across machines (SQLite documentation, "WAL", section 1)."""


class Database:
    """An open store file.

    Args:
        path: the SQLite file; it and its folder are made if missing (folder 0700).

    Raises:
        StoreUnusable: not a database, a newer schema, a network file system, a folder that cannot be written.

    Attributes:
        scrubber: what every free text passes on its way in.
        is_shut: see `shut`.
    """

    def __init__(self, path: Path) -> None:
        self.scrubber = Scrubber()
        self.is_shut = False
        self.path = path.expanduser().absolute()
        _refuse_network_file_system(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreUnusable(f"The store's folder {self.path.parent} cannot be made: {error.strerror}.") from error
        self.engine = _engine(self.path)
        with _explained(self.path):
            self._migrate()

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that holds the write lock from its first line; commits at the end, or rolls all of it back."""
        if self.is_shut:
            raise StoreUnusable(f"The store {self.path} was shut to this process by a test. Nothing was written.")
        with _explained(self.path), Session(self.engine, expire_on_commit=False) as session:
            session.info[_SCRUBBER] = self.scrubber
            event.listen(session, "before_flush", _scrub)
            session.connection(execution_options={"begin": "BEGIN IMMEDIATE"})
            yield session
            session.commit()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads; sees one moment of the store."""
        with _explained(self.path), Session(self.engine, expire_on_commit=False) as session:
            yield session

    def shut(self) -> None:
        """Write nothing any more, as if this process had died; what is under way in a transaction is not cut off."""
        self.is_shut = True

    def close(self) -> None:
        """Close every connection of this process."""
        self.engine.dispose()

    def now(self, session: Session) -> float:
        """Seconds since 1970 by the database's own clock: the only clock that leases are measured with."""
        return float(session.connection().execute(text("SELECT (julianday('now') - 2440587.5) * 86400.0")).scalar_one())

    def _migrate(self) -> None:
        found = self._schema()
        if found == SCHEMA:
            return
        if found is not None and found > SCHEMA:
            raise StoreUnusable(
                f"The store {self.path} has schema {found}; this version knows schemas up to {SCHEMA}. "
                "Nothing was changed. Upgrade browser-agent, or name another store with --store."
            )
        from browser_agent.store.migrations import upgrade  # alembic is slow to import, and seldom needed

        upgrade(self.engine)

    def _schema(self) -> str | None:
        with self.engine.connect() as connection:
            known = connection.execute(text("SELECT name FROM sqlite_master WHERE name = 'alembic_version'")).first()
            if known is None:
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
            return None if row is None else str(row[0])


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


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, record: object) -> None:
        connection.isolation_level = None  # this module begins its transactions itself
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says about the file into what it means for the person; anything else passes unchanged."""
    try:
        yield
    except OperationalError as error:
        said = str(error.orig)
        if "locked" in said:
            raise StoreUnusable(
                f"The store {path} was locked for {BUSY_SECONDS:.0f} s by another process. Nothing was written; a "
                "gesture that was being recorded is in doubt, and a resume will look."
            ) from error
        if "full" in said:
            raise StoreUnusable(
                f"The disk of the store {path} is full. Nothing was written; free room, then resume."
            ) from error
        if "unable to open" in said or "readonly" in said:
            raise StoreUnusable(
                f"The store {path} cannot be opened for writing: {said}. Nothing was written."
            ) from error
        raise
    except DatabaseError as error:
        if "not a database" in str(error.orig) or "malformed" in str(error.orig):
            raise StoreUnusable(f"{path} is not a store: {error.orig}. Nothing was changed.") from error
        raise


def network_file_system(path: Path) -> str | None:
    """The kind of network file system that holds this path ("nfs4"), or None for a local one."""
    place = path.resolve()
    mounts = [mount for mount in psutil.disk_partitions(all=True) if place.is_relative_to(mount.mountpoint)]
    kind = max(mounts, key=lambda mount: len(mount.mountpoint)).fstype.lower() if mounts else ""
    return kind if kind in NETWORK_FILE_SYSTEMS else None


def _refuse_network_file_system(path: Path) -> None:
    if kind := network_file_system(path):
        raise StoreUnusable(
            f"The store {path} lies on a network file system ({kind}), where SQLite's locks do not hold. Name one on a "
            "local disk with --store. Nothing was changed."
        )
