"""The audit log: append-only, hash-chained, written in the same transaction as the fact that it records.

The chain covers the exact bytes that are stored: hash = sha256(tag, previous hash, body). It detects a changed, removed
or inserted line. It does not detect a truncated tail, or a full rewrite by someone who can write the file. Lines are
scrubbed like every text; pictures stand in them as digests.
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
class BrokenLink:
    """A line where the chain breaks."""

    seq: int
    because: str


@dataclass(frozen=True)
class Chain:
    """The result of a verification: how many lines there are, the hash of the last one, and every break."""

    size: int
    head: str
    broken: tuple[BrokenLink, ...]


def append(session: Session, clock: Clock, kind: str, run: str | None = None, /, **facts: Any) -> str:
    """Append one line inside the caller's write transaction (which holds the write lock).

    Args:
        session: a session of `Database.write()`.
        clock: gives the wall and monotonic time of the line.
        kind: what the line records, such as `intent` or `verdict`.
        run: the run that it belongs to.
        facts: JSON values; those that are `None` are left out.

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
    """The lines of one run or of all, in order, each with its `seq`."""
    asked = select(AuditRow).order_by(col(AuditRow.seq))
    if run is not None:
        asked = asked.where(AuditRow.run_id == run)
    for row in session.exec(asked):
        yield {"seq": row.seq, **json.loads(row.body)}


def verify(session: Session) -> Chain:
    """Hash every line again and follow the chain."""
    prev, size, broken = START, 0, list[BrokenLink]()
    for row in session.exec(select(AuditRow).order_by(col(AuditRow.seq))).yield_per(1000):
        size += 1
        if row.seq != size:
            broken.append(BrokenLink(row.seq or 0, f"line {size} is missing"))
        elif row.prev != prev:
            broken.append(BrokenLink(size, "it does not follow the line before it"))
        elif row.hash != _hash(row.prev, row.body):
            broken.append(BrokenLink(size, "its text was changed"))
        elif json.loads(row.body).get("kind") != row.kind or json.loads(row.body).get("run") != row.run_id:
            broken.append(BrokenLink(size, "its columns contradict its text"))
        prev = row.hash
    return Chain(size, prev, tuple(broken))


def _hash(prev: str, body: bytes) -> str:
    return hashlib.sha256(_TAG + prev.encode() + b"\n" + body).hexdigest()


def _canonical(facts: Mapping[str, Any]) -> bytes:
    # A page may hold half an emoji, which is no valid UTF-8.
    text = json.dumps(facts, default=_plain, ensure_ascii=False).encode("utf-8", "replace")
    return rfc8785.dumps(json.loads(text))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)
