"""Keys that aren't unique: when a gesture can have made the record that was seen, and whether another of ours can have.

A match never counts as this gesture's while another gesture, not proven to be without effect, may have made it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from browser_agent.store import Store
from browser_agent.store.records import GestureRow
from observers import Observer, Site
from observers.normal import normal, same


def are_shared(proof: Sequence[Observer]) -> bool:
    """Whether an observer of the proof looks by a key that isn't unique, at a site whose only user we are."""
    return any(
        not observer.unique and observer.site is not None and observer.site.sole_user for observer in _each(proof)
    )


def window(
    row: GestureRow, late_commit: timedelta | None, dead_at: datetime | None, now: datetime
) -> tuple[datetime, datetime] | None:
    """The time in which the gesture can have taken effect, from and to; None if it wasn't made.

    Args:
        row: the gesture.
        late_commit: how late a request may still take effect, as its site declares it.
        dead_at: when its sender was confirmed dead.
        now: by the store's clock.
    """
    if row.dispatched_at is None:
        return None
    last = dead_at + late_commit if dead_at is not None and late_commit is not None else now
    return row.dispatched_at, min(last, now)


def used_otherwise(store: Store, gesture: str, site: Site | None, proof: Sequence[Observer]) -> bool:
    """Whether another gesture of any run may have made a record with a key of the proof (no column rules it out)."""
    if site is None:
        return True
    shared = [observer.to_json() for observer in _each(proof) if not observer.unique]
    others = (row for row in store.journal.made_at(site.name) if row.id != gesture)
    return any(_may_be_same(_lists(shared), json.loads(row.intent)["proof"], site.decimal) for row in others)


def _each(proof: Iterable[Observer]) -> Iterator[Observer]:
    """The observers, and the parts of composed ones."""
    for observer in proof:
        yield observer
        yield from _each(observer.parts)


def _lists(stored: Any) -> list[tuple[str, Mapping[str, str]]]:
    """Path and key of each list that a stored proof looks through."""
    if isinstance(stored, Mapping):
        key = stored.get("key")
        own = [(str(stored.get("path", "")), key)] if isinstance(key, Mapping) else []
        return own + [found for name, value in stored.items() if name != "key" for found in _lists(value)]
    return [found for value in stored for found in _lists(value)] if isinstance(stored, list) else []


def _may_be_same(mine: list[tuple[str, Mapping[str, str]]], stored: Any, decimal: str) -> bool:
    """Whether a record with one of our keys may be another proof's: only its key in the same list rules that out."""
    theirs = _lists(stored)
    for path, key in mine:
        there = [other for list_of, other in theirs if list_of == path]
        if not there or not all(_differ(key, other, decimal) for other in there):
            return True
    return not mine


def _differ(mine: Mapping[str, str], other: Mapping[str, str], decimal: str) -> bool:
    """Whether no record can have both keys: they have a column in common, with different texts."""
    theirs = {normal(column): text for column, text in other.items()}
    return any(
        normal(column) in theirs and not same(text, theirs[normal(column)], decimal) for column, text in mine.items()
    )
