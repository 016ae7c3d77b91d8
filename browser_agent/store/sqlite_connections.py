"""The connections of this process to one SQLite file. They are opened once and stay open between transactions.

A connection per transaction is five syncs instead of one. SQLite checkpoints when the last connection to a file closes:
it syncs the database, deletes the log, and makes a new one for the next transaction. None of these syncs makes a row
safer: with `synchronous = FULL` a row is safe once the log is synced, and that sync is part of every commit. The
checkpoint then copies rows that are safe already; SQLite makes it by itself every 1,000 pages, and at the end.

What stays open must not outlive what it belongs to:

1. The file. If it is deleted or another one takes its place, the next transaction is refused: its rows would be lost.
2. The process. A fork would share the connection and the kernel's locks would not (SQLite documentation, "How To
   Corrupt", section 2.6). So idle connections are closed before a fork, and one that is in use is never used, closed or
   joined by another one in the child.
3. An error of the disk. The connection that met it is closed, and the next transaction begins with a new one.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.pool import QueuePool

from browser_agent.errors import StoreUnusable

IDLE = 4
"""How many connections stay open between transactions; a process seldom has more threads in the store at once."""
_OF_THE_FILE = frozenset(
    {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}
)
"""Errors after which a connection isn't used again."""


class Connections:
    """The engine of one SQLite file, and the connections that it keeps.

    Args:
        path: the file.
        patience: how long a writer waits for the write lock, in seconds.
        check: called with the first connection, before anything is written; raises if the file isn't ours.

    Attributes:
        engine: hands out connections; `engine.dispose()` closes those that are idle.
    """

    def __init__(self, path: Path, patience: float, check: Callable[[sqlite3.Connection], None]) -> None:
        self._path, self._check = path, check
        self._file: tuple[int, int] | None = None  # the device and inode of the file that the connections have open
        self._open: dict[int, sqlite3.Connection] = {}
        self._lost = False  # this process was forked while its parent used a connection
        self.engine = create_engine(
            f"sqlite:///{path}",
            poolclass=QueuePool,
            pool_size=IDLE,
            max_overflow=-1,
            pool_use_lifo=True,  # one thread after another uses one connection
            connect_args={"timeout": patience, "check_same_thread": False},
        )
        heard = ("do_connect", "connect", "checkout", "close", "begin", "commit", "handle_error", "engine_disposed")
        for name in heard:
            event.listen(self.engine, name, getattr(self, f"_{name}"))
        _all.add(self)

    def before_fork(self) -> None:
        """Close the idle connections, so that a child has none of them."""
        self.engine.dispose()

    def after_fork(self) -> None:
        """In the child: give up what the parent was using. It is never freed, because that would close it."""
        for connection in self._open.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            self._lost = True
        self._open.clear()
        self.engine.dispose(close=False)

    # SQLAlchemy's events

    def _do_connect(self, *_: object) -> None:
        self._refuse_exchanged()  # SQLite would make an empty file in the place of one that was deleted

    def _connect(self, connection: sqlite3.Connection, record: object) -> None:
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._open[id(connection)] = connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None  # transactions are begun explicitly, below
        if self._file is None:
            self._check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        self._file = self._file or _identity(self._path)

    def _checkout(self, *_: object) -> None:
        self._refuse_exchanged()

    def _close(self, connection: sqlite3.Connection, record: object) -> None:
        self._open.pop(id(connection), None)

    def _begin(self, connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    def _commit(self, connection: object) -> None:
        self._refuse_shared()

    def _handle_error(self, context: ExceptionContext) -> None:
        if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF in _OF_THE_FILE:
            context.is_disconnect = True

    def _engine_disposed(self, engine: Engine) -> None:
        if not self._open:
            self._file = None  # nothing is open: whatever file is there next may be opened

    def _refuse_shared(self) -> None:
        if self._lost:
            raise StoreUnusable(
                f"This process was forked while its parent used the store {self._path}, and can't use it. Nothing was "
                "written. Fork before the store is used, or start a new process instead."
            )

    def _refuse_exchanged(self) -> None:
        self._refuse_shared()
        if self._file is not None and _identity(self._path) != self._file:
            raise StoreUnusable(
                f"The store {self._path} was deleted or replaced by another file while this process used it. Nothing "
                "was written. End this process; then put the right file in its place."
            )


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of a file; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


_all: WeakSet[Connections] = WeakSet()


def _before_fork() -> None:
    for each in tuple(_all):
        each.before_fork()


def _after_fork() -> None:
    for each in tuple(_all):
        each.after_fork()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
