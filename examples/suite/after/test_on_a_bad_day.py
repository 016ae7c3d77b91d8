"""New: what goes wrong on a bad day is made to go wrong here."""

import pytest
from invoice import books, invoice, posting
from playwright.sync_api import expect


@pytest.fixture
def listed_once(page, order):
    """Looks whether the site's list has the order once; not there, or there twice, fails the test."""

    def look():
        page.goto(books / f"invoices?reference={order}")
        expect(page.get_by_role("row").filter(has_text=order)).to_have_count(1)

    return look


def test_a_lost_answer_makes_no_second_invoice(page, agent_run, agent_faults, order, listed_once):
    agent_faults.lose_answer("POST /invoices")
    assert agent_run.make(posting(page, order)).startswith("INV-")
    listed_once()


@pytest.mark.every_interruption
def test_one_invoice_whatever_is_killed(agent_task, order, listed_once):
    assert agent_task(invoice, order=order).state == "finished"
    listed_once()
