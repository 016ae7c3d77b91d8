"""The shop, and the delivery log of the mail site: what a visitor sees, and what their ledgers say. Plain HTTP."""

from collections.abc import Iterator

import httpx
import pytest

from browser_agent.testing import Mail, Shop
from tests.fix_sites import MESSAGE, Visitor, cells

ORDER = {"article": "A-10", "quantity": "2", "reference": "R-1"}


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as site:
        yield site


@pytest.fixture
def visitor(shop: Shop) -> Iterator[Visitor]:
    with Visitor(base_url=shop.url) as client:
        yield client


def place(visitor: Visitor, by: str = "form", **changes: str) -> httpx.Response:
    return visitor.submit("/orders/new", "/orders", by, **ORDER | changes)


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_a_placed_order_is_in_the_ledger_and_is_confirmed_with_our_reference(
    shop: Shop, visitor: Visitor, by: str
) -> None:
    answer = place(visitor, by)
    if by == "fetch":
        assert answer.json() == {"number": "O-1", "message": "Order O-1 received for R-1"}
    else:
        assert (answer.status_code, answer.headers["location"]) == (303, "/orders/O-1?placed=1")
        assert "Order O-1 received for R-1" in visitor.get("/orders/O-1?placed=1").text
    assert "received for" not in visitor.get("/orders/O-1").text, "only the answer to the order confirms it"
    (effect,) = shop.ledger.effects
    assert (effect.kind, effect.values["number"], effect.values["quantity"]) == ("order", "O-1", "2")


def test_ordering_under_the_same_reference_twice_makes_two_orders(shop: Shop, visitor: Visitor) -> None:
    place(visitor)
    place(visitor, "fetch")
    assert [(order.number, order.reference) for order in shop.orders] == [("O-1", "R-1"), ("O-2", "R-1")]


@pytest.mark.parametrize("wrong", [{"article": "A-99"}, {"quantity": "0"}, {"quantity": "some"}, {"reference": " "}])
def test_a_wrong_order_has_no_effect(shop: Shop, visitor: Visitor, wrong: dict[str, str]) -> None:
    assert place(visitor, **wrong).status_code == 422
    assert shop.ledger.effects == []


def test_orders_are_listed_by_pages_with_their_status_and_their_count(shop: Shop, visitor: Visitor) -> None:
    for number in range(1, 22):
        shop.enter(reference=f"R-{number}")
    shop.move("O-21", "Payment failed")
    page = visitor.get("/orders").text
    heads, newest, *_ = cells(page)
    assert heads == ["Number", "Article", "Quantity", "Reference", "Status", "Placed"]
    assert newest[:5] == ["O-21", "A-10", "1", "R-21", "Payment failed"]
    assert "21 orders" in page and "page 1 of 2" in page
    assert [row[4] for row in cells(visitor.get("/orders?page=2").text)[1:]] == ["Received"]


def test_a_status_is_set_by_the_shop_itself_and_is_an_entry_of_the_ledger(shop: Shop, visitor: Visitor) -> None:
    shop.begin_as("Draft")
    place(visitor)
    assert shop.orders[0].status == "Draft"
    visitor.post("/_control", json={"move": {"number": "O-1", "status": "Cancelled"}})
    assert "Cancelled" in visitor.get("/orders/O-1").text
    assert [(effect.kind, effect.request) for effect in shop.ledger.effects] == [("order", 2), ("status", None)]
    assert "no order O-7" in visitor.post("/_control", json={"move": {"number": "O-7", "status": "x"}}).text


RECEIPT = "Order,Reference,Article,Quantity,Placed\r\nO-1,R-1,A-10,2,"


@pytest.mark.parametrize(
    ("way", "address", "text"),
    [
        ("toast", "/articles?just=O-1", '<div class="toast" role="status">Order O-1 received for R-1</div>'),
        ("tab", "/receipts/O-1", "Receipt for order O-1"),
        ("csv", "/receipts/O-1.csv", RECEIPT),
        ("text", "/receipts/O-1.txt", "Order: O-1\nReference: R-1\n"),
    ],
)
def test_an_order_is_confirmed_in_the_way_that_was_switched_on(
    shop: Shop, visitor: Visitor, way: str, address: str, text: str
) -> None:
    visitor.post("/_control", json={"confirm_by": {"way": way}})
    assert place(visitor).headers["location"] == address
    assert text in visitor.get(address).text
    shop.answer_post_in_place = True
    in_place = place(visitor)
    assert (in_place.status_code, text.replace("O-1", "O-2") in in_place.text) == (200, True)


def test_a_receipt_is_a_file_of_its_own_name(shop: Shop, visitor: Visitor) -> None:
    shop.enter(reference="R-1")
    assert visitor.get("/receipts/O-1.csv").headers["content-disposition"] == 'attachment; filename="receipt-O-1.csv"'
    assert visitor.get("/receipts/O-9.csv").status_code == 404


def test_everybody_is_told_of_the_last_order_whoever_placed_it(shop: Shop, visitor: Visitor) -> None:
    shop.enter(reference="R-2")
    assert "received for R-2" not in visitor.get("/articles").text
    visitor.post("/_control", json={"tells_everybody": True})
    for path in ("/articles", "/orders", "/orders/new", "/news"):
        assert "Order O-1 received for R-2" in visitor.get(path).text


def test_there_are_no_other_ways_to_confirm(shop: Shop, visitor: Visitor) -> None:
    answer = visitor.post("/_control", json={"confirm_by": {"way": "fax"}})
    assert (answer.status_code, shop.confirms) == (400, "page")


def test_the_shop_has_the_switches_of_all_sites(shop: Shop, visitor: Visitor) -> None:
    shop.reject(409, "Sold out.", count=1)
    assert "Sold out." in place(visitor).text
    shop.commit_late(30, count=1)
    assert (place(visitor).status_code, shop.orders) == (504, [])
    shop.clock.advance(30)
    assert len(shop.orders) == 1
    shop.confirm_dialog = True
    assert "Really place this order?" in visitor.get("/orders/new").text
    shop.expire_sessions()
    assert "Sign in to Shop" in visitor.get("/orders").text


# The delivery log of the mail site


def deliveries(visitor: Visitor) -> list[list[str]]:
    heads, *rows = cells(visitor.get("/log").text)
    assert heads == ["Reference", "To", "Subject", "Status", "Since"]
    return [row[:4] for row in rows]


def test_the_log_of_the_mail_site_says_how_each_delivery_stands() -> None:
    with Mail() as mail, Visitor(base_url=mail.url) as visitor:
        visitor.send_mail()
        assert deliveries(visitor) == [["M-1", MESSAGE["to"], MESSAGE["subject"], "delivered"]]
        mail.deliver_as("queued")
        mail.enter(to="a@b.example", subject="Another")
        mail.delivery("M-1", "bounced")
        assert [row[3] for row in deliveries(visitor)] == ["queued", "bounced"]
        assert [effect.kind for effect in mail.ledger.effects] == ["mail", "mail", "delivery"]
        assert [row[4] for row in cells(visitor.get("/sent").text)[1:]] == ["M-2", "M-1"], "Sent knows nothing of it"


def test_the_log_knows_four_words_and_the_mails_that_were_sent() -> None:
    with Mail() as mail, Visitor(base_url=mail.url) as visitor:
        mail.enter(to="a@b.example", subject="One")
        for wrong in ({"id": "M-1", "status": "lost"}, {"id": "M-9", "status": "queued"}):
            assert visitor.post("/_control", json={"delivery": wrong}).status_code == 400
        visitor.post("/_control", json={"delivery": {"id": "M-1", "status": "deferred"}})
        assert deliveries(visitor)[0][3] == "deferred"
