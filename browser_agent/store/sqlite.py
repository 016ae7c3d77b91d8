"""The SQLite backend: a store in one file of this machine.

WAL mode with full sync (SQLite documentation, "PRAGMA synchronous"): a committed row survives a power cut. A file of
another program is never changed, not even its journal mode.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError
from sqlmodel import Session

from browser_agent import processes
from browser_agent.clock import Clock, SystemClock
from browser_agent.errors import StoreUnusable
from browser_agent.processes import ProcessId
from browser_agent.store.backend import VERSION, refuse_foreign
from browser_agent.store.sqlite_connections import Connections
from browser_agent.store.sqlite_lock import writer_of

NETWORK_FILE_SYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smbfs", "smb2", "smb3", "afpfs", "webdav", "9p", "ceph", "glusterfs", "lustre"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone"),
    }
)
"""SQLite's locks and shared memory don't work across machines (SQLite documentation, "WAL", section 1)."""
_ROOM = 2**17
"""Bytes that SQLite needs at least beside the file: a page of its index and a frame of its log, with some to spare."""


class SqliteBackend:
    """One SQLite file.

    Args:
        path: the file; it and its folder are created if missing (folder 0700).
        patience: how long a writer waits for the write lock, in seconds.

    Raises:
        StoreUnusable: the file is on a network file system, or its folder cannot be created. At the first connection:
            the file belongs to another program.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path, self.shown, self._patience = path, str(path), patience
        _refuse_network_file_system(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreUnusable(f"The store's folder {path.parent} cannot be created: {error.strerror}.") from error
        self.engine = Connections(path, patience, lambda connection: _refuse_foreign(connection, path)).engine

    def clock(self) -> Clock:
        """The machine's own clock, since no other machine has this file."""
        return SystemClock()

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""
        return float(connection.execute(text("SELECT (julianday('now') - 2440587.5) * 86400.0")).scalar_one())

    def begin_write(self, session: Session) -> None:
        """Begin a transaction that holds the write lock."""
        session.connection(execution_options={"begin": "BEGIN IMMEDIATE"})

    def begin_read(self, session: Session) -> None:
        """Do nothing: the first statement begins a transaction with a snapshot (WAL)."""

    def writer(self) -> ProcessId | None:
        """See `Backend`."""
        return writer_of(self.path)

    @contextmanager
    def exclusive(self) -> Iterator[Connection]:
        """A transaction that locks the whole file."""
        with self.engine.connect().execution_options(begin="BEGIN EXCLUSIVE") as connection, connection.begin():
            yield connection

    @contextmanager
    def explained(self, *, at_commit: bool = False) -> Iterator[None]:
        """See `Backend`. Even a failed commit has written nothing, unless the disk itself failed."""
        try:
            yield
        except DatabaseError as error:
            message = self._message(error, at_commit)
            if message is None:
                raise
            raise StoreUnusable(message) from error

    def _message(self, error: DatabaseError, at_commit: bool) -> str | None:
        """What the error means for the user; None if it is no fault of the file."""
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF  # the primary code, without its extension
        broken = code == sqlite3.SQLITE_IOERR
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return (
                f"The store {self.path} was locked for {self._patience:.0f} s by {self._holder_in_words()}. Nothing "
                "was written; a gesture that was being recorded is in doubt, and a resume will look."
            )
        if code == sqlite3.SQLITE_FULL or (broken and self._has_no_room()):
            return f"The disk of the store {self.path} is full. Nothing was written; free room, then resume."
        if broken:
            known = "it is not known whether the last row was written" if at_commit else "nothing was written"
            return (
                f"The disk of the store {self.path} can't be read or written: {known}. A gesture that was being "
                "recorded is in doubt, and a resume will look."
            )
        if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            return f"The store {self.path} cannot be opened for writing: {error.orig}. Nothing was written."
        if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            return f"{self.path} is not a store: {error.orig}. Nothing was changed."
        return None

    def _holder_in_words(self) -> str:
        """The process that holds the lock, and what to do if it is stopped."""
        found = self.writer()
        if found is None or not processes.stopped(found):
            return "another process"
        pid = found.pid
        return f"process {pid}, which is stopped: continue it (kill -CONT {pid}) or end it (kill -9 {pid})"

    def _has_no_room(self) -> bool:
        """Whether the disk is full. SQLite reports an I/O error when it can't grow its index (measured on a tmpfs)."""
        return shutil.disk_usage(self.path.parent).free < _ROOM


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse another program's file, without writing to it."""
    asked = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    names = {name for (name,) in connection.execute(asked).fetchall()}
    versions = connection.execute(f"SELECT * FROM {VERSION}").fetchall() if VERSION in names else []
    refuse_foreign(str(path), names, names if versions else names - {VERSION})


def network_file_system(path: Path) -> str | None:
    """The kind of network file system that holds this path ("nfs4"), or None for a local one."""
    resolved = path.resolve()
    mounts = [mount for mount in psutil.disk_partitions(all=True) if resolved.is_relative_to(mount.mountpoint)]
    kind = max(mounts, key=lambda mount: len(mount.mountpoint)).fstype.lower() if mounts else ""
    return kind if kind in NETWORK_FILE_SYSTEMS else None


def _refuse_network_file_system(path: Path) -> None:
    if kind := network_file_system(path):
        raise StoreUnusable(
            f"The store {path} is on a network file system ({kind}), where SQLite's locks do not work. Name one on a "
            "local disk with --store. Nothing was changed."
        )
