"""The store's home in a PostgreSQL database, which workers on several machines may share.

Why a write is safe: before anything else it takes the ONE advisory lock of the store, in a statement of its own, and
holds it to its end. PostgreSQL lets go of it only after the commit can be seen, and under READ COMMITTED each later
statement sees all that was committed before it: so what was read inside is still true when the write lands, the audit
chain has one order, and no two writers can wait for each other. (Under REPEATABLE READ the moment that is seen would be
that of the waiting, not of the having.) Readers take no lock and see one moment.

A writer that is stopped or cut off holds everybody for `IDLE_SECONDS` at most: the server then ends its session, and
nothing of its transaction is there. What may never happen: a commit that a crash of the server can take back
(`synchronous_commit`); a lost connection at a commit that is told as "nothing was written"; a password in a message.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
"""How long a transaction may be silent. Below the wait for the lock, so that those who wait outlast one that hangs;
a third of a lease, so that nobody's lease runs out by it."""
OPENING_SECONDS = 10.0
"""How long a database that doesn't answer is tried again when it is opened: it may be restarting, or misspelled."""
CONNECT_SECONDS = 10
_WAITS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Between two tries to connect; the last one from then on."""
_LOCK = 0x62726F777365  # any number that nobody else takes in this database: "browse"
_HABITS: dict[str, Any] = {
    "application_name": "browser-agent",
    "client_encoding": "utf8",
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "target_session_attrs": "read-write",  # of several hosts the one that takes writes; never a stand-by
}
"""What a connection has unless its address says otherwise: a peer that is cut off is noticed, on our side too."""
_PASSING = ("starting up", "shutting down", "recovery", "not yet accepting", "too many", "remaining connection slots")
"""Refusals of a server that will soon be one again."""
_TOO_SILENT = "25P03"
_LOST = frozenset({_TOO_SILENT, "25P04", "57P01", "57P02", "57P05"})
"""SQLSTATEs with which a server ends a session: silent for too long, shut down, crashed."""
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
"""The tables that a statement finds without naming their schema, and whether ours would be made beside them."""
_ADVICE = " Name a database of its own for it, or a schema: postgresql://.../name?options=-csearch_path%3Dname"
_TICKS = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that nobody sets, and that goes on while the machine sleeps."""


class PostgresHome:
    """One PostgreSQL database (the schema that its user's `search_path` names first).

    Args:
        address: `postgresql://...`, as libpq takes it.
        patience: how long a writer waits for the write lock, and anybody for a server that doesn't answer, in seconds.

    Raises:
        StoreUnusable: the driver is missing; nobody answers there, or refuses us; it is too old, or not in UTF-8;
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
        """The database's: as it stood when the store was opened, carried on by a clock that nobody sets."""
        with self.explained(), self.engine.connect() as connection:
            return DatabaseClock(self.now(connection))

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the database's own clock."""
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())

    def begin_write(self, session: Session) -> None:
        """Begin a transaction with the write lock."""
        self._lock(session.connection())

    def begin_read(self, session: Session) -> None:
        """Begin a transaction that sees one moment."""
        session.connection(execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})

    def writer(self) -> None:
        """See `Home`: a transaction that does nothing is ended by the server."""

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A transaction with the write lock; tables are made in it too, or not at all."""
        with self.engine.connect() as connection, connection.begin():
            self._lock(connection)
            yield connection

    @contextmanager
    def explained(self, *, at_commit: bool = False) -> Iterator[None]:
        """See `Home`."""
        try:
            yield
        except NoneFree as error:
            raise StoreUnusable(
                f"All connections of this process to the store {self.shown} were in use for {self._lock_seconds:.0f} "
                "s. Nothing was written."
            ) from error
        except DBAPIError as error:
            words = self._in_words(error, at_commit)
            if words is None:
                raise
            raise StoreUnusable(f"The store {self.shown} {words}") from error

    def _lock(self, connection: Connection) -> None:
        milliseconds = {"lock": max(1, round(self._lock_seconds * 1000)), "idle": round(IDLE_SECONDS * 1000)}
        connection.exec_driver_sql(_BEGIN.format(**milliseconds))

    def _in_words(self, error: DBAPIError, at_commit: bool) -> str | None:
        """What went wrong and what is known then, after the store's name; None if it is no fault of the database."""
        state = str(getattr(error.orig, "sqlstate", None) or "")
        if state == "55P03":
            return (
                f"was locked for {self._lock_seconds:.0f} s by another process. Nothing was written; a gesture that "
                "was being recorded is in doubt, and a resume will look."
            )
        if error.connection_invalidated or state in _LOST or state.startswith("08"):
            open_end = at_commit and state != _TOO_SILENT  # whom that is said to had not committed
            known = "it is not known whether the last row was written" if open_end else "nothing was written"
            return (
                f"lost its connection: {known}. A gesture that was being recorded is in doubt, and a resume will look."
            )
        said = str(error.orig).partition("\n")[0]
        match state[:2]:
            case "53":
                return f"has no room left: {said}. Nothing was written; make room, then resume."
            case "40":
                return f"has taken the transaction back: {said}. Nothing was written."
        if state in {"42501", "25006", "3F000"}:
            return f"cannot be written by this user: {said}. Nothing was written."
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
            said: dict[str, Any] = self._driver.conninfo.conninfo_to_dict(address)
            return {**_HABITS, **said}
        except self._driver.Error:
            raise StoreUnusable(
                f"The store {self.shown} cannot be read as an address: write postgresql://user:password@host:port/name,"
                " with %40 for @, %2F for / and %3A for : in a password."
            ) from None  # what libpq says of it quotes the password

    def _connect(self) -> Link[Any]:
        """A new connection; tried again with longer and longer waits while nobody answers."""
        waits, until = iter(_WAITS), time.monotonic() + self._patience
        while True:
            try:
                link = self._driver.connect(**self._facts, prepare_threshold=None)  # a pooler may stand between
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


@dataclass(frozen=True)
class Examined:
    """What a server says of itself, and how far its clock is ahead of this machine's."""

    version: str
    synchronous_commit: str
    fsync: str
    ahead_seconds: float


def examined(address: str) -> Examined:
    """Ask a database for what matters to a store. Changes nothing.

    Raises:
        StoreUnusable: see `PostgresHome`.
    """
    home = PostgresHome(address, OPENING_SECONDS)
    names = ("server_version", "synchronous_commit", "fsync")
    asked = ", ".join(f"current_setting('{name}')" for name in names)
    try:
        with home.explained(), home.engine.connect() as connection:
            version, commits, fsync = connection.execute(text(f"SELECT {asked}")).one()
            began, theirs, ended = time.time(), home.now(connection), time.time()
    finally:
        home.engine.dispose()
    return Examined(version.split()[0], commits, fsync, theirs - (began + ended) / 2)


def pictures_of(address: str) -> str | None:
    """Where the store in a database says that its pictures lie; None if it says nothing, or can't be asked."""
    try:
        home = PostgresHome(address, OPENING_SECONDS)
    except StoreUnusable:
        return None
    try:
        with home.engine.connect() as connection:
            if not connection.dialect.has_table(connection, "place"):
                return None
            return connection.execute(text("SELECT address FROM place")).scalar_one_or_none()
    finally:
        home.engine.dispose()


class DatabaseClock:
    """The time of a database, without asking it each time.

    Args:
        seconds: what it said just now, since 1970.
    """

    def __init__(self, seconds: float) -> None:
        self._at, self._ticks = datetime.fromtimestamp(seconds, UTC), time.clock_gettime(_TICKS)

    def now(self) -> datetime:
        """Wall time in UTC, by the database."""
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
    """Writes texts down; the one character that PostgreSQL can't keep (U+0000) as browsers show it (U+FFFD)."""
    from psycopg.types.string import StrDumper

    class Dumper(StrDumper):
        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\ufffd"))

    return Dumper


def _is_final(said: str) -> bool:
    """Whether a server has refused us for good, such as for a wrong password."""
    return ("FATAL" in said or "no password" in said) and not any(words in said for words in _PASSING)
