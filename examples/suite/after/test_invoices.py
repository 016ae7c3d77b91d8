from invoice import books, posting
from playwright.sync_api import expect


def test_a_posted_invoice_can_be_opened(page, agent_run, order):
    number = agent_run.make(posting(page, order))
    page.goto(books / f"invoices/{number}")
    expect(page.get_by_text("380.00")).to_be_visible()


def test_a_posted_invoice_is_listed_once(page, agent_run, order):
    agent_run.make(posting(page, order))
    page.goto(books / "invoices")
    expect(page.get_by_role("row").filter(has_text=order)).to_have_count(1)
