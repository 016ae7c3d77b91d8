"""The bank: what a visitor sees, which is next to nothing, and what its ledger says. Plain HTTP."""

from collections.abc import Iterator

import httpx
import pytest

from browser_agent.testing import Bank
from tests.fix_sites import Visitor, cells

TRANSFER = {"iban": "DE89 3704 0044 0532 0130 00", "amount": "100.00", "remark": "R-1"}
ACCEPTED = "Your order has been accepted for processing."
A_DAY = 86400


@pytest.fixture
def bank() -> Iterator[Bank]:
    with Bank() as site:
        yield site


@pytest.fixture
def visitor(bank: Bank) -> Iterator[Visitor]:
    with Visitor(base_url=bank.url) as client:
        yield client


def pay(visitor: Visitor, by: str = "form", to: str = "/transfers", **changes: str) -> httpx.Response:
    return visitor.submit("/transfers/new", to, by, **TRANSFER | changes)


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_a_transfer_is_accepted_without_a_word_by_which_it_could_be_known(
    bank: Bank, visitor: Visitor, by: str
) -> None:
    answer = pay(visitor, by)
    if by == "fetch":
        assert answer.json() == {"number": "", "message": ACCEPTED}
    else:
        assert answer.headers["location"] == "/accepted"
        assert ACCEPTED in visitor.get("/accepted").text
    (effect,) = bank.ledger.effects
    assert effect.values == {"iban": "DE89370400440532013000", "amount": "100.00", "remark": "R-1"}


def test_no_list_shows_a_transfer_on_the_same_day(bank: Bank, visitor: Visitor) -> None:
    pay(visitor)
    pay(visitor)
    assert "0 bookings" in visitor.get("/bookings").text
    assert (len(bank.transfers), bank.booked) == (2, [])
    bank.clock.advance(A_DAY)
    heads, *rows = cells(visitor.get("/bookings").text)
    assert heads == ["IBAN", "Amount", "Remark", "Ordered"]
    assert [row[:3] for row in rows] == [["DE89370400440532013000", "100.00", "R-1"]] * 2


@pytest.mark.parametrize("wrong", [{"iban": "no"}, {"amount": "0"}, {"amount": "much"}])
def test_a_wrong_transfer_is_not_made(bank: Bank, visitor: Visitor, wrong: dict[str, str]) -> None:
    assert pay(visitor, **wrong).status_code == 422
    assert pay(visitor, to="/payments", **wrong).status_code == 422
    assert bank.ledger.effects == []


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_what_another_origin_asks_for_first_is_not_paid_by_asking(bank: Bank, visitor: Visitor, by: str) -> None:
    bank.ask_in_frame = True
    assert 'action="/payments"' in visitor.get("/transfers/new").text
    begun = pay(visitor, by, "/payments")
    key = begun.json()["number"] if by == "fetch" else begun.headers["location"].removeprefix("/payments/")
    page = visitor.get(f"/payments/{key}").text
    assert f"{bank.challenge.url}/ask/" in page and ACCEPTED not in page
    asked = httpx.get(f"{bank.challenge.url}/ask/{key}", params={"back": bank.url}).text
    assert f'action="{bank.url}/transfers"' in asked and ("fetch(" in asked) is (by == "fetch")
    assert bank.ledger.effects == []


def test_what_asks_leads_to_no_other_site(bank: Bank, visitor: Visitor) -> None:
    begun = pay(visitor, "fetch", "/payments").json()["number"]
    for back in ("http://evil.example", "http://127.0.0.1:80@evil.example", ""):
        assert httpx.get(f"{bank.challenge.url}/ask/{begun}", params={"back": back}).status_code == 404


def test_only_the_frame_that_asks_may_read_the_answer_from_another_origin(bank: Bank, visitor: Visitor) -> None:
    token = visitor.token("/transfers/new")
    for origin, allowed in ((bank.challenge.url, bank.challenge.url), ("http://127.0.0.1:1", None)):
        answer = visitor.post("/transfers", data={"token": token, **TRANSFER}, headers={"origin": origin})
        assert answer.headers.get("access-control-allow-origin") == allowed


def test_the_bank_has_the_switches_of_all_sites(bank: Bank, visitor: Visitor) -> None:
    bank.reject(402, "Not enough money.", count=1)
    assert "Not enough money." in pay(visitor).text
    bank.commit_late(30, status=202, count=1)
    assert (pay(visitor).status_code, bank.transfers) == (202, [])
    bank.clock.advance(30)
    assert len(bank.transfers) == 1
    bank.answer_post_in_place = True
    assert ACCEPTED in pay(visitor).text
    visitor.post("/_control", json={"confirm_dialog": True, "ask_in_frame": True})
    page = visitor.get("/transfers/new").text
    assert "Really pay?" in page and "/payments" in page
    bank.expire_sessions()
    assert "Sign in to Bank" in visitor.get("/bookings").text
