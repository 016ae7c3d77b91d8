"""Which kinds of observers have proven a gesture at a site: only those whose observation decided it."""

from __future__ import annotations

from datetime import UTC, datetime

from browser_agent.states import GestureState
from browser_agent.store import Lease, Store
from observers import Match, Observation, Sight
from tests.store.building import intended, take


def observation(kind: str, *, saw: bool) -> str:
    matches = (Match(identity="S-101"),) if saw else ()
    sight = Sight.seen if saw else Sight.not_seen
    at = datetime(2026, 11, 30, tzinfo=UTC)
    return Observation(kind=kind, observer=kind, sight=sight, matches=matches, at=at).model_dump_json()


def test_only_what_decided_a_gesture_of_that_site_has_proven_one(store: Store, lease: Lease) -> None:
    _, gesture = intended(store, lease)
    take(store, lease, gesture.id, GestureState.DISPATCHING)
    texts = [observation("Booked", saw=True), observation("Other", saw=True), observation("Blind", saw=False)]
    _, (decided, _, blind) = store.journal.observe(lease, gesture.id, texts)
    assert store.journal.proven_kinds("books") == frozenset(), "nothing is proven yet"
    store.journal.move(lease, gesture.id, GestureState.HAPPENED, proven_by=f'["{decided}", "{blind}"]')
    assert store.journal.proven_kinds("books") == {"Booked"}
    assert store.journal.proven_kinds("mail") == frozenset()
