"""The audit log: append-only, hash-chained, written in the same transaction as the fact that it tells.

The chain covers the exact bytes that are stored: hash = sha256(tag, previous hash, body). It detects a changed, removed
or inserted line; it does not detect a cut tail or a full rewrite by whoever can write the file. A line names tool,
site, account, target, attempt, step, gesture and how it ended; it is scrubbed like every text, and it holds no
picture, only digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import rfc8785
from sqlmodel import Session, col, select

from browser_agent.clock import Clock
from browser_agent.store.database import scrubber_of
from browser_agent.store.records import AuditRow

_TAG = b"browser-agent audit 1\n"
START = "0" * 64
"""The hash before the first line."""


@dataclass(frozen=True)
class Broken:
    """A place where the chain does not hold."""

    seq: int
    because: str


@dataclass(frozen=True)
class Chain:
    """What a verification found: how many lines, the head's hash, and every place that does not hold."""

    size: int
    head: str
    broken: tuple[Broken, ...]


def append(session: Session, clock: Clock, kind: str, run: str | None = None, /, **facts: Any) -> str:
    """Append one line inside the caller's write transaction (which holds the write lock).

    Args:
        session: a session of `Database.write()`.
        clock: gives the wall and monotonic time of the line.
        kind: what the line tells, such as `intent` or `verdict`.
        run: the run that it belongs to.
        facts: JSON values; `None` is left out.

    Returns:
        The line's hash.
    """
    last = session.exec(select(AuditRow.seq, AuditRow.hash).order_by(col(AuditRow.seq).desc()).limit(1)).first()
    seq, prev = last or (0, START)
    facts = scrubber_of(session).facts(facts)
    body = _canonical(
        {
            "kind": kind,
            "run": run,
            "at": clock.now().astimezone(UTC).isoformat(timespec="milliseconds"),
            "monotonic": round(clock.monotonic(), 6),
            **{name: fact for name, fact in facts.items() if fact is not None},
        }
    )
    line = AuditRow(seq=(seq or 0) + 1, run_id=run, kind=kind, prev=prev, hash=_hash(prev, body), body=body)
    session.add(line)
    session.flush()
    return line.hash


def lines(session: Session, run: str | None = None) -> Iterator[dict[str, Any]]:
    """The lines in their order (of one run, or all), each with its `seq`."""
    asked = select(AuditRow).order_by(col(AuditRow.seq))
    if run is not None:
        asked = asked.where(AuditRow.run_id == run)
    for row in session.exec(asked):
        yield {"seq": row.seq, **json.loads(row.body)}


def verify(session: Session) -> Chain:
    """Hash every line again and follow the chain."""
    prev, size, broken = START, 0, list[Broken]()
    for row in session.exec(select(AuditRow).order_by(col(AuditRow.seq))).yield_per(1000):
        size += 1
        if row.seq != size:
            broken.append(Broken(row.seq or 0, f"line {size} is not there"))
        elif row.prev != prev:
            broken.append(Broken(size, "it does not follow the line before it"))
        elif row.hash != _hash(row.prev, row.body):
            broken.append(Broken(size, "its text is not the text that was written"))
        elif json.loads(row.body).get("kind") != row.kind or json.loads(row.body).get("run") != row.run_id:
            broken.append(Broken(size, "its columns do not say what its text says"))
        prev = row.hash
    return Chain(size, prev, tuple(broken))


def _hash(prev: str, body: bytes) -> str:
    return hashlib.sha256(_TAG + prev.encode() + b"\n" + body).hexdigest()


def _canonical(facts: Mapping[str, Any]) -> bytes:
    text = json.dumps(facts, default=_plain, ensure_ascii=False).encode(
        "utf-8", "replace"
    )  # a page may hold half an emoji
    return rfc8785.dumps(json.loads(text))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)
