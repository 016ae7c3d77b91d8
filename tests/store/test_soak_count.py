"""The judge of a soak: what it calls twice, lost, stuck and unasked, on real ledgers and a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_agent.keeper.launch import submit
from browser_agent.states import RunState
from browser_agent.store import AttemptEnd, Store
from tests.soak.count import Tally, count
from tests.soak.town import TRADES, Meant, Town, Trade

BOOKS = next(trade for trade in TRADES if trade.site == "books")
BANK = next(trade for trade in TRADES if trade.site == "bank")


class Ledgers:
    """A town and a store in which runs end as a test says."""

    def __init__(self, town: Town, store: Store) -> None:
        self.town, self.store = town, store
        self.meant: dict[str, Meant] = {}

    def run(self, trade: Trade, state: RunState | None) -> None:
        """A run R-1 that stands so; None = nobody has taken it."""
        row = submit(self.store, self.town.task(trade), {"reference": "R-1", "by": "form"})
        if state is not None:
            lease = self.store.leases.claim(row.id, keeper='{"pid": 1, "started": 1.0}', keeper_dead=False)
            self.store.leases.end(lease, state, ended_by="a test")
            self.store.leases.end_attempt(lease, AttemptEnd("a test"))
        self.meant[row.id] = Meant(trade, "R-1")

    def enter(self, trade: Trade) -> None:
        """An effect that has it."""
        fields = {"books": {"customer": "Contoso Ltd", "amount": "1.00", "reference": "R-1"}}
        money = {"iban": "DE89370400440532013000", "amount": "1.00", "remark": "R-1"}
        self.town.site(trade).enter(**fields.get(trade.site, money))  # type: ignore[attr-defined]

    @property
    def tally(self) -> Tally:
        return count(self.store, self.town, self.meant)


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[Ledgers]:
    with Town() as town, Store(tmp_path / "soak.db") as store:
        yield Ledgers(town, store)


def test_a_run_that_finished_with_one_effect_is_clean(ledgers: Ledgers) -> None:
    ledgers.run(BOOKS, RunState.FINISHED)
    ledgers.enter(BOOKS)
    assert ledgers.tally.clean, ledgers.tally
    assert (ledgers.tally.runs["books"], ledgers.tally.effects["books"]) == (1, 1)


def test_a_second_effect_is_counted_as_made_twice(ledgers: Ledgers) -> None:
    ledgers.run(BOOKS, RunState.FINISHED)
    ledgers.enter(BOOKS)
    ledgers.enter(BOOKS)
    assert (len(ledgers.tally.twice), ledgers.tally.clean) == (1, False)


def test_a_run_that_finished_without_an_effect_is_lost(ledgers: Ledgers) -> None:
    ledgers.run(BOOKS, RunState.FINISHED)
    assert (len(ledgers.tally.lost), ledgers.tally.clean) == (1, False)


@pytest.mark.parametrize("state", [None, RunState.RAISED, RunState.WAITING])
def test_a_run_that_has_not_finished_is_stuck(ledgers: Ledgers, state: RunState | None) -> None:
    ledgers.run(BOOKS, state)
    assert (len(ledgers.tally.stuck), ledgers.tally.clean) == (1, False)


def test_a_transfer_that_finished_without_a_person_is_unasked(ledgers: Ledgers) -> None:
    ledgers.run(BANK, RunState.FINISHED)
    ledgers.enter(BANK)
    assert (len(ledgers.tally.unasked), ledgers.tally.clean) == (1, False)
