"""Which other gestures of the store may have made a record with the same key, and when a gesture can have made one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from browser_agent.run.shared_keys import are_shared, used_otherwise, window
from browser_agent.states import GestureState
from browser_agent.store import Lease, Store
from observers import Both, ConfirmationText, Record, Site
from tests.store.building import NOON, HandClock, called, claim, intent, take, way

BOOKS = Site("books", url="https://books.example", account="acme", sole_user=True)
KEY = {"Customer": "Contoso Ltd", "Amount": "380.00"}
RECORD = Record(BOOKS, "invoices", key=KEY, unique=False, created="Posted")


def made(store: Store, lease: Lease, proof: list[dict[str, Any]], state: GestureState, words: str = "other()") -> str:
    """A gesture with that proof, in that state."""
    step = store.journal.begin_step(lease, called(words))
    facts = {"target": {}, "proof": proof, "known": {}}
    row = store.journal.intend(lease, step, 1, replace(intent(words), intent=json.dumps(facts)))
    for arrow in way(GestureState.INTENT, state):
        take(store, lease, row.id, arrow)
    return row.id


def used(store: Store) -> bool:
    return used_otherwise(store, "this one", BOOKS, [Both(ConfirmationText("posted"), RECORD)])


def test_a_gesture_does_not_stand_in_its_own_way(store: Store, lease: Lease) -> None:
    own = made(store, lease, [RECORD.to_json()], GestureState.IN_DOUBT)
    assert not used_otherwise(store, own, BOOKS, [RECORD])
    assert used(store)


@pytest.mark.parametrize(
    ("state", "may"),
    [
        (GestureState.REFUSED, False),
        (GestureState.NOT_HAPPENED, False),
        (GestureState.REJECTED, False),
        (GestureState.DISPATCHING, True),
        (GestureState.HAPPENED, True),
        (GestureState.ABANDONED, True),
    ],
)
def test_only_what_is_known_to_have_changed_nothing_is_left_out(
    store: Store, lease: Lease, state: GestureState, may: bool
) -> None:
    made(store, lease, [RECORD.to_json()], state)
    assert used(store) is may


@pytest.mark.parametrize(
    ("other", "may"),
    [
        (Record(BOOKS, "invoices", key={"Amount": "380"}), True),
        (Record(BOOKS, "invoices", key={"Amount": "381.00", "Customer": "Contoso Ltd"}), False),
        (Record(BOOKS, "invoices", key={"Reference": "S-1"}), True),  # nothing speaks against it
        (Record(BOOKS, "payments", key={"Reference": "S-1"}), True),
        (Record(BOOKS, "payments", key={"Customer": "Nordwind"}), True),  # of our list it says nothing
        (Both(Record(BOOKS, "payments", key={"Amount": "1"}), Record(BOOKS, "invoices", key=KEY)), True),
        (Both(ConfirmationText("posted", key="S-1"), Record(BOOKS, "invoices", key=KEY)), True),
        (Both(ConfirmationText("posted"), Record(BOOKS, "invoices", key=KEY | {"Amount": "1"})), False),
        (ConfirmationText("posted for Contoso", key="Contoso Ltd"), True),
        (ConfirmationText("posted", key="S-1"), True),  # S-1 may be of that customer, with that amount
        (ConfirmationText("posted"), True),  # without a key it may have made anything
    ],
    ids=str,
)
def test_another_proof_speaks_of_the_same_record_unless_a_column_says_otherwise(
    store: Store, other: Record | Both | ConfirmationText, may: bool
) -> None:
    made(store, claim(store), [other.to_json()], GestureState.HAPPENED)
    assert used(store) is may


def test_the_window_ends_when_nothing_can_come_any_more_or_now(store: Store, lease: Lease, clock: HandClock) -> None:
    row = store.journal.gesture(made(store, lease, [RECORD.to_json()], GestureState.IN_DOUBT))
    late, now = timedelta(seconds=30), NOON + timedelta(hours=1)
    assert row.dispatched_at is not None
    assert window(row, late, None, now) == (row.dispatched_at, now)
    assert window(row, None, NOON, now) == (row.dispatched_at, now)
    assert window(row, late, NOON, now) == (row.dispatched_at, NOON + late)
    assert window(row, late, now, now) == (row.dispatched_at, now)
    refused = store.journal.gesture(made(store, lease, [], GestureState.INTENT, "never made"))
    assert window(refused, late, None, now) is None


def test_a_key_is_shared_only_where_it_is_not_unique_and_nobody_else_is_at_work() -> None:
    assert are_shared([ConfirmationText("posted"), Both(ConfirmationText("posted"), RECORD)])
    assert not are_shared([replace(RECORD, unique=True)])
    others = Site("books", url="https://books.example", account="acme")
    assert not are_shared([Record(others, "invoices", key=KEY, unique=False)])
