"""The practice sites as pytest fixtures, a fresh site for each test: `pytest_plugins = ["browser_agent.testing"]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser_agent.testing import Bank, Board, Books, Mail, Seller, Shop, Wizard


@pytest.fixture
def practice_books() -> Iterator[Books]:
    """An accounting site, fresh for this test: `.url`, its true `.invoices`, `.ledger`, its switches.

    Posting an invoice is `POST /invoices`; the form is at /invoices/new.
    """
    from browser_agent.testing import Books

    with Books() as site:
        yield site


@pytest.fixture
def practice_mail() -> Iterator[Mail]:
    """A mail site, fresh for this test: `.url`, the sent `.messages`, `.drafts`, `.ledger`, its switches.

    Sending a mail is `POST /messages`; the form is at /compose.
    """
    from browser_agent.testing import Mail

    with Mail() as site:
        yield site


@pytest.fixture
def practice_shop() -> Iterator[Shop]:
    """A shop, fresh for this test: `.url`, `.orders` with their status, `.ledger`, its switches.

    Ordering is `POST /orders`; `confirm_by(way)` chooses how it is confirmed: toast, tab, file, view ...
    """
    from browser_agent.testing import Shop

    with Shop() as site:
        yield site


@pytest.fixture
def practice_seller() -> Iterator[Seller]:
    """A price list, fresh for this test: `.url`, `.prices`, `.changes`, `.ledger`, its switches.

    Changing a price by a percentage is `POST /changes`: made twice, it gives another price.
    """
    from browser_agent.testing import Seller

    with Seller() as site:
        yield site


@pytest.fixture
def practice_bank() -> Iterator[Bank]:
    """A bank, fresh for this test: `.url`, its true `.transfers`, `.ledger`, its switches.

    Paying is `POST /transfers`; it gets no number, and no page shows it on the same day.
    """
    from browser_agent.testing import Bank

    with Bank() as site:
        yield site


@pytest.fixture
def practice_wizard() -> Iterator[Wizard]:
    """An application in four pages, fresh for this test: `.url`, `.applications`, `.drafts`, `.ledger`, its switches.

    Submitting is `POST /applications`, after three POSTs and many drafts that are harmless; it starts at /apply/1.
    """
    from browser_agent.testing import Wizard

    with Wizard() as site:
        yield site


@pytest.fixture
def practice_board() -> Iterator[Board]:
    """A task board, fresh for this test: `.url`, its true `.changes`, `.ledger`, its switches.

    Changing a card is `POST /changes`; `/card?by=hold` and others are changed by another gesture than a click.
    """
    from browser_agent.testing import Board

    with Board() as site:
        yield site
