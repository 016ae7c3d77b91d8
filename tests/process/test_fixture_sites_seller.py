"""The seller's price list: what a visitor sees, and what its ledger says. Plain HTTP."""

from collections.abc import Iterator
from decimal import Decimal

import httpx
import pytest

from browser_agent.testing import Seller
from tests.fix_sites import Visitor, cells

CHANGE = {"article": "A-10", "percent": "+10 %", "remark": "R-1"}


@pytest.fixture
def seller() -> Iterator[Seller]:
    with Seller() as site:
        yield site


@pytest.fixture
def visitor(seller: Seller) -> Iterator[Visitor]:
    with Visitor(base_url=seller.url) as client:
        yield client


def change(visitor: Visitor, by: str = "form", **changes: str) -> httpx.Response:
    return visitor.submit("/changes/new", "/changes", by, **CHANGE | changes)


def test_a_price_is_changed_by_a_percentage_and_the_article_shows_price_and_change(
    seller: Seller, visitor: Visitor
) -> None:
    answer = change(visitor)
    assert (answer.status_code, answer.headers["location"]) == (303, "/prices/A-10?just=P-1")
    page = visitor.get("/prices/A-10?just=P-1").text
    assert "Price of A-10 changed by +10 % to 121.00 for R-1" in page and "<dd>121.00</dd>" in page
    heads, row = cells(page)
    assert heads == ["Number", "Change", "Old price", "New price", "Remark", "Changed"]
    assert row[:5] == ["P-1", "+10 %", "110.00", "121.00", "R-1"]
    assert "1 change<" in page
    assert cells(visitor.get("/prices").text)[1] == ["A-10", "121.00"]
    assert "changed by" not in visitor.get("/prices/A-10").text
    (effect,) = seller.ledger.effects
    assert (effect.kind, effect.values["before"], effect.values["after"]) == ("price", "110.00", "121.00")


def test_a_change_made_twice_shows_in_the_price(seller: Seller, visitor: Visitor) -> None:
    change(visitor)
    answer = change(visitor, "fetch")
    assert answer.json()["message"] == "Price of A-10 changed by +10 % to 133.10 for R-1"
    assert (seller.prices["A-10"], len(seller.changes)) == (Decimal("133.10"), 2)
    assert seller.prices["A-20"] == Decimal("45.00")


def test_a_late_change_is_made_from_the_price_of_that_moment(seller: Seller, visitor: Visitor) -> None:
    seller.commit_late(30, count=1)
    assert change(visitor).status_code == 504
    seller.enter(percent="-50", remark="by hand")
    seller.clock.advance(30)
    assert seller.prices["A-10"] == Decimal("60.50")


@pytest.mark.parametrize("wrong", [{"article": "A-99"}, {"percent": "0"}, {"percent": "-100"}, {"percent": "more"},
                                   {"percent": "NaN"}, {"remark": ""}])  # fmt: skip
def test_a_wrong_change_has_no_effect(seller: Seller, visitor: Visitor, wrong: dict[str, str]) -> None:
    assert change(visitor, **wrong).status_code == 422
    assert seller.ledger.effects == []


def test_the_history_is_that_of_one_article(seller: Seller, visitor: Visitor) -> None:
    seller.enter(article="A-20", percent="10", remark="another")
    assert "0 changes" in visitor.get("/prices/A-10").text
    assert visitor.get("/prices/A-99").status_code == 404
    assert 'value="A-20" selected' in visitor.get("/changes/new?article=A-20").text


def test_the_seller_has_the_switches_of_all_sites(seller: Seller, visitor: Visitor) -> None:
    seller.reject(423, "Locked.", count=1)
    assert "Locked." in change(visitor).text
    seller.answer_post_in_place = True
    assert "changed by +10 %" in change(visitor).text
    seller.confirm_dialog = True
    assert "Really change this price?" in visitor.get("/changes/new").text
    seller.expire_sessions()
    assert "Sign in to Seller" in visitor.get("/prices").text
