"""The store's home in one file of this machine: SQLite.

WAL and full sync (SQLite documentation, "PRAGMA synchronous"): a committed row survives a power cut. A writer begins
with `BEGIN IMMEDIATE`, so that what was read inside is still true when the write lands. Never on a network file system.
What may never happen: a file of another program is changed, be it only its journal's mode.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from browser_agent import processes
from browser_agent.clock import Clock, SystemClock
from browser_agent.errors import StoreUnusable
from browser_agent.processes import ProcessId
from browser_agent.store.backend import VERSION, refuse_foreign
from browser_agent.store.sqlite_lock import writer_of

NETWORK_FILE_SYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smbfs", "smb2", "smb3", "afpfs", "webdav", "9p", "ceph", "glusterfs", "lustre"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone"),
    }
)
"""SQLite's locks and its shared memory file don't hold across machines (SQLite documentation, "WAL", section 1)."""
_ROOM = 2**17
"""What SQLite needs at least beside the file: a page of its index and a frame of its log, with some to spare."""


class SqliteHome:
    """One SQLite file.

    Args:
        path: the file; it and its folder are made if missing (folder 0700).
        patience: how long a writer waits for the write lock, in seconds.

    Raises:
        StoreUnusable: a network file system, or a folder that cannot be made; at the first connection, a file of
            another program.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path, self.shown, self._patience = path, str(path), patience
        _refuse_network_file_system(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreUnusable(f"The store's folder {path.parent} cannot be made: {error.strerror}.") from error
        self.engine = _engine(path, patience)

    def clock(self) -> Clock:
        """The machine's own: nobody on another one has this file."""
        return SystemClock()

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""
        return float(connection.execute(text("SELECT (julianday('now') - 2440587.5) * 86400.0")).scalar_one())

    def begin_write(self, session: Session) -> None:
        """Begin a transaction with the write lock."""
        session.connection(execution_options={"begin": "BEGIN IMMEDIATE"})

    def begin_read(self, session: Session) -> None:
        """Nothing is needed: the first statement begins a transaction, which sees one moment (WAL)."""

    def writer(self) -> ProcessId | None:
        """See `Home`."""
        return writer_of(self.path)

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A transaction that locks the whole file."""
        with self.engine.connect().execution_options(begin="BEGIN EXCLUSIVE") as connection, connection.begin():
            yield connection

    @contextmanager
    def explained(self, *, at_commit: bool = False) -> Iterator[None]:
        """See `Home`. A file that can't be written has nothing of the transaction, also at its commit; unless the disk
        itself fails then."""
        try:
            yield
        except OperationalError as error:
            said = str(error.orig)
            if "locked" in said:
                raise StoreUnusable(
                    f"The store {self.path} was locked for {self._patience:.0f} s by {self._in_words()}. Nothing was "
                    "written; a gesture that was being recorded is in doubt, and a resume will look."
                ) from error
            broken = "disk I/O" in said
            if "full" in said or (broken and self._has_no_room()):
                raise StoreUnusable(
                    f"The disk of the store {self.path} is full. Nothing was written; free room, then resume."
                ) from error
            if "unable to open" in said or "readonly" in said:
                raise StoreUnusable(
                    f"The store {self.path} cannot be opened for writing: {said}. Nothing was written."
                ) from error
            if broken:
                known = "it is not known whether the last row was written" if at_commit else "nothing was written"
                raise StoreUnusable(
                    f"The disk of the store {self.path} can't be read or written: {known}. A gesture that was being "
                    "recorded is in doubt, and a resume will look."
                ) from error
            raise
        except DatabaseError as error:
            if "not a database" in str(error.orig) or "malformed" in str(error.orig):
                raise StoreUnusable(f"{self.path} is not a store: {error.orig}. Nothing was changed.") from error
            raise

    def _in_words(self) -> str:
        """Who holds the lock, and what a person can do about one that does nothing."""
        found = self.writer()
        if found is None or not processes.stopped(found):
            return "another process"
        pid = found.pid
        return f"process {pid}, which is stopped: let it go on (kill -CONT {pid}) or end it (kill -9 {pid})"

    def _has_no_room(self) -> bool:
        """SQLite calls a full disk by its name in some places only; where it makes room for its index, it is an error
        of the disk (measured, on a small tmpfs)."""
        return shutil.disk_usage(self.path.parent).free < _ROOM


def _engine(path: Path, patience: float) -> Engine:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": patience})
    looked_at = False

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, record: object) -> None:
        nonlocal looked_at
        connection.isolation_level = None  # this module begins its transactions itself
        if not looked_at:
            _refuse_foreign(connection, path)
            looked_at = True
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse another program's file by reading alone."""
    asked = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    names = {name for (name,) in connection.execute(asked).fetchall()}
    versions = connection.execute(f"SELECT * FROM {VERSION}").fetchall() if VERSION in names else []
    refuse_foreign(str(path), names, names if versions else names - {VERSION})


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
