"""The practice sites as pytest fixtures: a suite says `pytest_plugins = ["browser_agent.testing"]`.

Must not know: what a test does with a site. May never happen: that two tests share one, or what was done to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser_agent.testing import Bank, Books, Mail, Seller, Shop, Wizard


@pytest.fixture
def practice_books() -> Iterator[Books]:
    """An accounting site, fresh for this test: `.url`, `.invoices` as they really are, `.ledger`, its switches.

    Posting an invoice is `POST /invoices`; the form is at /invoices/new.
    """
    from browser_agent.testing import Books

    with Books() as site:
        yield site


@pytest.fixture
def practice_mail() -> Iterator[Mail]:
    """A mail site, fresh for this test: `.url`, `.messages` that were really sent, `.drafts`, `.ledger`, its switches.

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

    Changing a price by some per cent is `POST /changes`: made twice, it is another price.
    """
    from browser_agent.testing import Seller

    with Seller() as site:
        yield site


@pytest.fixture
def practice_bank() -> Iterator[Bank]:
    """A bank, fresh for this test: `.url`, `.transfers` that were really made, `.ledger`, its switches.

    Paying is `POST /transfers`; it is accepted without a number, and no page shows it on the same day.
    """
    from browser_agent.testing import Bank

    with Bank() as site:
        yield site


@pytest.fixture
def practice_wizard() -> Iterator[Wizard]:
    """An application in four pages, fresh for this test: `.url`, `.applications`, `.drafts`, `.ledger`, its switches.

    Submitting is `POST /applications`, after three posts and many drafts that are harmless; it begins at /apply/1.
    """
    from browser_agent.testing import Wizard

    with Wizard() as site:
        yield site
