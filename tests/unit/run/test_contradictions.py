"""A declaration that a look contradicts is said with what was seen; one that holds is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from browser_agent.run import contradictions
from observers import Observation, Record, Sight, Site

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHOP = Site("shop", url="https://shop.example", account="acme", harmless=["POST /draft/*", "POST /orders"])


def listed(declared: bool = True, **more: object) -> tuple[Record, Observation]:
    record = Record(SHOP, "orders", key={"Reference": "R-1"}, complete=declared)
    facts = {"sight": Sight.not_seen, "counts": True, "complete": True, "at": NOW, "observer": "the list", **more}
    return record, Observation.model_validate({"kind": "Record", **facts})


@pytest.mark.parametrize(
    ("declared", "more", "words"),
    [
        (True, {"complete": False, "reasons": ("it has 60 rows",)}, "its page shows otherwise: it has 60 rows"),
        (True, {"as_of": NOW - timedelta(minutes=8)}, "staleness of the list is 0 s, and its page is 480 s old"),
    ],
)
def test_a_list_that_shows_otherwise_is_said(declared: bool, more: dict[str, object], words: str) -> None:
    record, seen = listed(declared, **more)
    (said,) = contradictions.of_lists([record], [seen])
    assert words in said


@pytest.mark.parametrize(
    ("declared", "more"),
    [
        (True, {}),
        (False, {"complete": False, "reasons": ("it isn't declared complete",)}),
        (True, {"complete": False, "reasons": ("status 503",), "sight": Sight.cannot_tell}),
        (True, {"as_of": NOW - timedelta(seconds=5), "staleness": timedelta(seconds=5)}),
    ],
)
def test_a_list_that_is_as_declared_or_can_not_be_read_is_not(declared: bool, more: dict[str, object]) -> None:
    record, seen = listed(declared, **more)
    assert contradictions.of_lists([record], [seen]) == ()


def test_what_is_harmless_is_not_the_commit() -> None:
    assert contradictions.before([], [], SHOP, "POST /orders") == (
        "harmless of shop covers POST /orders, the declared commit request",
    )
    assert contradictions.before([], [], SHOP, "POST /invoices") == ()
    assert contradictions.before([], [], SHOP, None) == contradictions.before([], [], None, "POST /orders") == ()


def test_an_effect_that_appears_later_than_is_declared_is_said() -> None:
    assert contradictions.of_late_commit(timedelta(seconds=2), timedelta(seconds=2)) == ()
    (said,) = contradictions.of_late_commit(timedelta(seconds=14), timedelta(seconds=2))
    assert said.startswith("late_commit and staleness together are 2 s, and the effect appeared 14 s after")
