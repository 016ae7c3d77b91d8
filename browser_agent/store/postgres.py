"""The PostgreSQL backend: a store in a database that workers on several machines may share.

A write first takes the store's one advisory lock, in a statement of its own, and holds it to its end. PostgreSQL
releases the lock only after the commit is visible, and under READ COMMITTED each later statement sees all earlier
commits. So what was read inside is still true when the write lands, the audit chain has one order, and writers cannot
deadlock. (REPEATABLE READ would take its snapshot while waiting for the lock, which is too early.) Readers take no lock
and read from one snapshot.

A writer that is stopped or cut off blocks the others for `IDLE_SECONDS` at most: then the server ends its session and
rolls back. A commit survives a crash of the server, because `synchronous_commit` is never off.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlmodel import Session

from browser_agent.clock import Clock
from browser_agent.errors import StoreUnusable, installing
from browser_agent.store.address import shown
from browser_agent.store.backend import NAMES, VERSION, refuse_foreign

if TYPE_CHECKING:
    from psycopg import Connection as Link

OLDEST = 14
IDLE_SECONDS = 10.0
"""How long a transaction may be idle: less than the wait for the lock, so that waiting writers outlast one that hangs,
and a third of a lease, so that no lease runs out meanwhile."""
OPENING_SECONDS = 10.0
"""How long opening retries a database that doesn't answer: it may be restarting, or misspelled."""
CONNECT_SECONDS = 10
_WAITS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""The waits between attempts to connect; the last one from then on."""
_LOCK = 0x62726F777365  # "browse": any number that no other program locks in this database
_DEFAULTS: dict[str, Any] = {
    "application_name": "browser-agent",
    "client_encoding": "utf8",
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "target_session_attrs": "read-write",  # of several hosts the primary, never a standby
}
"""Connection parameters unless the address sets them. The time-outs detect a server that is cut off."""
_TEMPORARY = ("starting up", "shutting down", "recovery", "not yet accepting", "too many", "remaining connection slots")
"""Parts of libpq's messages for refusals that will pass; they have no code of their own."""
_IDLE = "25P03"
_LOST = frozenset({_IDLE, "25P04", "57P01", "57P02", "57P05"})
"""SQLSTATEs of a session that the server ended: idle for too long, shut down, crashed."""
_BEGIN = (
    "SELECT set_config('lock_timeout', '{lock}ms', true),"
    " set_config('idle_in_transaction_session_timeout', '{idle}ms', true),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);"
    f" SELECT pg_advisory_xact_lock({_LOCK})"
)
_TABLES = (
    "SELECT relname, relnamespace = current_schema()::regnamespace FROM pg_class"
    " WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)"
    " AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"
)
"""The tables on the search path, and whether each is in the schema that ours would be created in."""
_ADVICE = " Give the store a database of its own, or a schema: postgresql://.../name?options=-csearch_path%3Dname"
_TICKS = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that is never set, and keeps running while the machine sleeps."""


class PostgresBackend:
    """One PostgreSQL database (the first schema on its user's `search_path`).

    Args:
        address: `postgresql://...`, as libpq takes it.
        patience: seconds for which a writer waits for the write lock, and everyone for a server that doesn't answer.

    Raises:
        StoreUnusable: the driver is missing; the server doesn't answer or refuses us; it is too old, or not in UTF-8;
            tables of another program are in the way of ours.
    """

    def __init__(self, address: str, patience: float) -> None:
        self.shown, self._patience = shown(address), OPENING_SECONDS
        self._driver = _driver()
        self._facts = self._read(address)
        self._lock_seconds = patience
        self.engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            pool_size=2,
            max_overflow=10,
            pool_pre_ping=True,
            pool_timeout=patience,
        )
        try:
            with self.explained(), self.engine.connect() as connection:
                self._check(connection)
        except BaseException:
            self.engine.dispose()
            raise
        self._patience = patience

    def clock(self) -> Clock:
        """The database's time when the store was opened, carried on by a local clock that is never set."""
        with self.explained(), self.engine.connect() as connection:
            return DatabaseClock(self.now(connection))

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())

    def begin_write(self, session: Session) -> None:
        """Begin a transaction that holds the write lock."""
        self._lock(session.connection())

    def begin_read(self, session: Session) -> None:
        """Begin a transaction with a snapshot."""
        session.connection(execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})

    def writer(self) -> None:
        """See `Backend`. The server itself ends an idle transaction."""

    @contextmanager
    def exclusive(self) -> Iterator[Connection]:
        """A transaction that holds the write lock. Changes of the schema are part of it."""
        with self.engine.connect() as connection, connection.begin():
            self._lock(connection)
            yield connection

    @contextmanager
    def explained(self, *, at_commit: bool = False) -> Iterator[None]:
        """See `Backend`."""
        try:
            yield
        except NoneFree as error:
            raise StoreUnusable(
                f"All connections of this process to the store {self.shown} were in use for {self._lock_seconds:.0f} "
                "s. Nothing was written."
            ) from error
        except DBAPIError as error:
            words = self._explanation(error, at_commit)
            if words is None:
                raise
            raise StoreUnusable(f"The store {self.shown} {words}") from error

    def _lock(self, connection: Connection) -> None:
        milliseconds = {"lock": max(1, round(self._lock_seconds * 1000)), "idle": round(IDLE_SECONDS * 1000)}
        connection.exec_driver_sql(_BEGIN.format(**milliseconds))

    def _explanation(self, error: DBAPIError, at_commit: bool) -> str | None:
        """The end of the message: what went wrong, and what that means. None if it is no fault of the database."""
        state = str(getattr(error.orig, "sqlstate", None) or "")
        if state == "55P03":
            return (
                f"was locked for {self._lock_seconds:.0f} s by another process. Nothing was written; a gesture that "
                "was being recorded is in doubt, and a resume will look."
            )
        if error.connection_invalidated or state in _LOST or state.startswith("08"):
            uncertain = at_commit and state != _IDLE  # an idle session had not begun its commit
            known = "it is not known whether the last row was written" if uncertain else "nothing was written"
            return (
                f"lost its connection: {known}. A gesture that was being recorded is in doubt, and a resume will look."
            )
        detail = str(error.orig).partition("\n")[0]
        match state[:2]:
            case "53":
                return f"has no room left: {detail}. Nothing was written; make room, then resume."
            case "40":
                return f"has rolled the transaction back: {detail}. Nothing was written."
        if state in {"42501", "25006", "3F000"}:
            return f"cannot be written by this user: {detail}. Nothing was written."
        return None

    def _check(self, connection: Connection) -> None:
        version, encoding = connection.execute(
            text("SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')")
        ).one()
        if version < OLDEST:
            raise StoreUnusable(f"The store {self.shown} is on PostgreSQL {version}; {OLDEST} or later is needed.")
        if encoding != "UTF8":
            raise StoreUnusable(f"The store {self.shown} is in {encoding}, not in UTF-8. Nothing was changed.")
        found = connection.execute(text(_TABLES)).all()
        in_the_way = [name for name, here in found if name == VERSION or (here and name in NAMES)]
        refuse_foreign(self.shown, [name for name, _ in found], in_the_way, _ADVICE)

    def _read(self, address: str) -> dict[str, Any]:
        try:
            given: dict[str, Any] = self._driver.conninfo.conninfo_to_dict(address)
            return {**_DEFAULTS, **given}
        except self._driver.Error:
            raise StoreUnusable(
                f"The store {self.shown} cannot be read as an address: write postgresql://user:password@host:port/name,"
                " with %40 for @, %2F for / and %3A for : in a password."
            ) from None  # libpq's own message quotes the password

    def _connect(self) -> Link[Any]:
        """A new connection, retried with growing waits while the server doesn't answer."""
        waits, until = iter(_WAITS), time.monotonic() + self._patience
        while True:
            try:
                link = self._driver.connect(**self._facts, prepare_threshold=None)  # poolers don't support it
                link.adapters.register_dumper(str, _dumper())
                return link  # type: ignore[no-any-return]
            except self._driver.OperationalError as error:
                wait = next(waits, _WAITS[-1])
                if _is_final(str(error)) or time.monotonic() + wait > until:
                    why = str(error).strip().partition("\n")[0]
                    raise StoreUnusable(
                        f"The store {self.shown} does not answer: {why.rstrip('.')}. Nothing was written."
                    ) from error
            time.sleep(wait)


class DatabaseClock:
    """A database's time, without a query each time.

    Args:
        seconds: the database's time now, in seconds since 1970.
    """

    def __init__(self, seconds: float) -> None:
        self._at, self._ticks = datetime.fromtimestamp(seconds, UTC), time.clock_gettime(_TICKS)

    def now(self) -> datetime:
        """The database's time, in UTC."""
        return self._at + timedelta(seconds=time.clock_gettime(_TICKS) - self._ticks)

    def monotonic(self) -> float:
        """Seconds since some fixed point."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""
        time.sleep(seconds)


def _driver() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise StoreUnusable(
            f"A store in PostgreSQL needs its driver; {installing('postgres')}. Nothing was done."
        ) from error
    return psycopg


def _dumper() -> type:
    """Writes texts; replaces the one character that PostgreSQL can't store (U+0000) as browsers do (by U+FFFD)."""
    from psycopg.types.string import StrDumper

    class Dumper(StrDumper):
        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\ufffd"))

    return Dumper


def _is_final(message: str) -> bool:
    """Whether a server refused us for good, such as for a wrong password."""
    return ("FATAL" in message or "no password" in message) and not any(part in message for part in _TEMPORARY)
