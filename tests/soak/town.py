"""The sites of a soak, each behind a road of its own, and what is meant to be done at each.

Must not know: workers, stores. May never happen: a fault is laid for anything but the request that commits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from browser_agent.script.task_file import load_task
from browser_agent.script.tasks import Task
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.bank import Bank
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.ledger import Effect
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.seller import Seller
from browser_agent.testing.sites.shop import Shop
from browser_agent.testing.sites.site import FixtureSite
from browser_agent.testing.sites.wizard import Wizard

TASKS = Path(__file__).parents[1] / "scripts"
SITES: tuple[Callable[[], FixtureSite], ...] = (Books, Shop, Seller, Bank, Wizard, Mail)
FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("drop_after_commit", {}),
    ("drop_before_commit", {}),
    ("cut_after_head", {}),
    ("cut_before_commit", {}),
    ("hang", {}),
    ("hang_before", {}),
    ("gateway_502_after_commit", {}),
    ("gateway_502_before_commit", {}),
    ("commit_late", {"seconds": 1.0}),  # below what the tasks declare as `late_commit`
)


@dataclass(frozen=True)
class Trade:
    """What is done at a site.

    Attributes:
        site: its name, there and in the task.
        task: its file and name.
        sends: the request that commits.
        kind: of its effects in the site's ledger.
        key: the field of an effect that holds our reference.
        gives: the field with the value that a person would read off.
        shown: whether the site shows the effect on the same day; if not, each run must end with a person's word.
    """

    site: str
    task: str
    sends: str
    kind: str
    key: str = "reference"
    gives: str = "number"
    shown: bool = True


TRADES = (
    Trade("books", "posting.py:post_one", "POST /invoices", "invoice"),
    Trade("shop", "trading.py:order_one", "POST /orders", "order"),
    Trade("seller", "trading.py:raise_one", "POST /changes", "price", key="remark", gives="after"),
    Trade("bank", "trading.py:transfer_one", "POST /transfers", "transfer", key="remark", shown=False),
    Trade("wizard", "trading.py:apply_once", "POST /applications", "application"),
    Trade("mail", "posting.py:send_one", "POST /messages", "mail", key="subject"),
)


@dataclass(frozen=True)
class Meant:
    """What a run is meant to do: once."""

    trade: Trade
    reference: str


class Town:
    """All sites and roads, open while the block is."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._sites: dict[str, FixtureSite] = {}
        self._roads: dict[str, FaultProxy] = {}

    def __enter__(self) -> Self:
        for site in SITES:
            opened = self._ends.enter_context(site())
            self._sites[opened.name] = opened
            self._roads[opened.name] = self._ends.enter_context(FaultProxy(opened.url))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ends.close()

    def task(self, trade: Trade) -> Task[..., Any]:
        """The trade's task, bound to the road to its site."""
        task = load_task(f"{TASKS / trade.task}")
        task.sites[trade.site].bind(self._roads[trade.site].url)
        return task

    def lay_fault(self, chance: Random) -> bool:
        """The next commit at one of the sites meets a fault; what lies on its road and was not met goes away first."""
        trade, (name, options) = chance.choice(TRADES), chance.choice(FAULTS)
        self._roads[trade.site].clear()
        self._roads[trade.site].fault(name, trade.sends, **options)
        return True

    def clear(self) -> None:
        """All roads are whole."""
        for road in self._roads.values():
            road.clear()

    def site(self, trade: Trade) -> FixtureSite:
        """The trade's site."""
        return self._sites[trade.site]

    def effects(self, trade: Trade) -> list[Effect]:
        """All that the site's ledger holds of that kind."""
        return [effect for effect in self.site(trade).ledger.effects if effect.kind == trade.kind]

    def made(self, meant: Meant) -> Sequence[Effect]:
        """What a run has really done, by the site's ledger."""
        return [e for e in self.effects(meant.trade) if e.values[meant.trade.key] == meant.reference]
