"""Builds small stores through the store's own door, and reads them back by raw SQL to see whether anything changed.

Knows nothing of browsers. Never writes a row that the store itself would not write.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from browser_agent.states import GESTURE_ARROWS, GestureState, QuestionKind
from browser_agent.store import Intent, Lease, NewQuestion, NewStep, Store
from browser_agent.store.evidence_folder import Folder
from browser_agent.store.records import GestureRow, QuestionRow, StepRow

REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError)
"""What a database says to a change that a trigger forbids."""
only_sqlite = pytest.mark.parametrize("home", ["sqlite"])
VERSIONED = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
"""How alembic begins, whoever uses it."""
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SITES = {"books": {"url": "http://127.0.0.1:8001", "account": "acme"}}
PROOF: dict[str, Any] = {
    "values": '{"number": "INV-2301"}',
    "proven_by": '["o-1"]',
    "reasons": '["one new record"]',
    "count": 1,
}


class HandClock:
    """A clock that goes only when a test moves it."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at, self.ticks = at, 100.0

    def now(self) -> datetime:
        """The time that the test has set."""
        return self.at

    def monotonic(self) -> float:
        """The same time, as seconds."""
        return self.ticks

    def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self.at += timedelta(seconds=seconds)
        self.ticks += seconds


def submit(store: Store, key: str | None = None, arguments: str = '{"day": "2026-11-30"}') -> str:
    """A new run of the invoices task."""
    sites = json.dumps(SITES)
    run = store.leases.submit(
        task_file="invoices.py", task_name="invoice_shipments", arguments=arguments, sites=sites, key=key
    )
    return run.id


def claim(store: Store, run: str | None = None) -> Lease:
    """The next attempt at the run (a new one if none is given), the last keeper being dead."""
    return store.leases.claim(run or submit(store), keeper='{"pid": 1, "started": 1.0}', keeper_dead=True)


def called(words: str = "post_invoice(S-101)", *, writes: bool = True) -> NewStep:
    """A step call whose bookmark is its words."""
    return NewStep(
        bookmark=words, name=words.partition("(")[0], words=words, arguments='{"id": "S-101"}', writes=writes
    )


def intent(words: str = "post an invoice of 120.00 to Nordwind", **more: Any) -> Intent:
    """A click on Post."""
    facts = {"target": {"words": 'button "Post"'}, "proof": [{"kind": "Record", "site": "books"}], "known": {}}
    wanted: dict[str, Any] = {"site": "books", "account": "acme", "sends": "POST /invoices", **more}
    return Intent(kind="click", words=words, intent=json.dumps(facts), **wanted)


def intended(store: Store, lease: Lease, words: str = "post_invoice(S-101)") -> tuple[StepRow, GestureRow]:
    """A step with a gesture written down and not yet made."""
    step = store.journal.begin_step(lease, called(words))
    return step, store.journal.intend(lease, step, 1, intent())


def brought(store: Store, lease: Lease, state: GestureState, words: str = "post_invoice(S-101)") -> GestureRow:
    """A gesture in that state, brought there along the arrows."""
    _, gesture = intended(store, lease, words)
    for arrow in way(GestureState.INTENT, state):
        take(store, lease, gesture.id, arrow)
    return store.journal.gesture(gesture.id)


def take(store: Store, lease: Lease, gesture: str, state: GestureState) -> None:
    """One arrow, by the method that is made for it."""
    if state is GestureState.DISPATCHING:
        store.journal.dispatch(lease, gesture, guarded=True)
    else:
        store.journal.move(lease, gesture, state, **(PROOF if state is GestureState.HAPPENED else {}))


def way(start: GestureState, goal: GestureState) -> list[GestureState]:
    """The shortest way along the arrows, without its start; a gesture that goes on is one that was made."""
    arrows = {**GESTURE_ARROWS, GestureState.INTENT: {GestureState.DISPATCHING, GestureState.REFUSED}}
    ways = deque([[start]])
    while ways:
        known = ways.popleft()
        if known[-1] is goal:
            return known[1:]
        ways.extend([*known, state] for state in sorted(arrows[known[-1]]) if state not in known)
    raise AssertionError(f"no way from {start} to {goal}")


def asked(store: Store, lease: Lease, kind: QuestionKind = QuestionKind.OUTCOME, **more: Any) -> QuestionRow:
    """An open question of that kind; about a gesture in doubt if it asks for an outcome."""
    if kind is QuestionKind.OUTCOME and "gesture" not in more:
        gesture = brought(store, lease, GestureState.UNKNOWN)
        more |= {"gesture": gesture.id, "step": gesture.step_id}
    if kind is QuestionKind.APPROVAL:
        more["details"] = {"calls": [], "valid_seconds": 3600.0} | more.get("details", {})
    return store.inbox.ask(lease, NewQuestion(kind, more.pop("words", "Was invoice S-101 posted?"), **more))


def everything(store: Store | Path) -> Mapping[str, list[tuple[Any, ...]]]:
    """Every row of every table, by raw SQL."""
    with _raw(store) as connection:
        names = [name for (name,) in connection.execute(_NAMES[_is_postgres(store)]["table"]).fetchall()]
        rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
        return {name: sorted(found, key=repr) for name, found in rows.items()}


def by_raw_sql(store: Store | Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    with _raw(store) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def without_triggers(store: Store | Path) -> None:
    """Take away what keeps audit lines from being changed, as somebody who owns the database could."""
    on = {name: f" ON {table}" if _is_postgres(store) else "" for name, table in triggers(store).items()}
    by_raw_sql(store, *(f"DROP TRIGGER {name}{table}" for name, table in on.items()))


def triggers(store: Store | Path) -> dict[str, str]:
    """The name of each trigger, and its table."""
    with _raw(store) as connection:
        return dict(connection.execute(_NAMES[_is_postgres(store)]["trigger"]).fetchall())


def stored_bytes(store: Store) -> bytes:
    """All that is stored, as it lies there: the bytes of the files, or the rows of the database."""
    if _is_postgres(store):
        return repr(everything(store)).encode()
    file = Path(store.address)
    return b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*") if path.is_file())


def audit_line(store: Store, seq: int) -> tuple[str, bytes]:
    """The hash before a line of the log, and its bytes."""
    found = next(row for row in everything(store)["audit"] if row[0] == seq)
    return found[3], found[5]


def blob(store: Store, body: bytes) -> str:
    """SQL for these bytes."""
    return f"'\\x{body.hex()}'" if _is_postgres(store) else f"X'{body.hex()}'"


def seconds_now(store: Store) -> str:
    """SQL for the database's own clock, in seconds since 1970."""
    return "extract(epoch FROM clock_timestamp())" if _is_postgres(store) else "(julianday('now') - 2440587.5) * 86400"


def folder_of(store: Store) -> Path:
    """The folder of the store's pictures."""
    place = store.artifacts.location
    assert isinstance(place, Folder)
    return place.path


def _is_postgres(store: Store | Path) -> bool:
    return isinstance(store, Store) and store.address.startswith("postgresql://")


@contextmanager
def _raw(store: Store | Path) -> Iterator[Any]:
    if _is_postgres(store):
        with psycopg.connect(store.address) as connection:  # type: ignore[union-attr]  # only a store is one
            yield connection
    else:
        with closing(sqlite3.connect(store.address if isinstance(store, Store) else store)) as connection:
            yield connection


_NAMES = {
    False: {
        "table": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "trigger": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    },
    True: {
        "table": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        "trigger": "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal",
    },
}
"""What finds the names, in SQLite and in PostgreSQL."""
