"""One click sends once. Beside every guarded click stands a raw one, which shows that the fault bites.

Raw: plain Playwright in the same Chromium, with the gate open. What is counted is what the till has written down.
"""

from __future__ import annotations

import hashlib
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from browser_agent.rules import never_sent, nothing_left, rejection
from fixtures.till.till import Ending
from tests.fix_guard import Counter, press, wait
from tests.fix_matrix import chosen, crossed, paired

PROTOCOLS = ("HTTP/1.1", "HTTPS", "HTTP/2")
ENDINGS: tuple[Ending, ...] = ("fin", "rst", 408)
DIMENSIONS: tuple[tuple[Any, ...], ...] = (PROTOCOLS, ENDINGS, (1, 6), ("first", "always"), ("form", "fetch"))
MEGABYTES = 5


class Cell(NamedTuple):
    """One cell of the matrix: how many connections are warm, and whether the first answer is lost or every one."""

    protocol: str
    ending: Ending
    warm: int
    lost: str
    by: str

    def __str__(self) -> str:
        return f"{self.protocol}, {self.ending}, {self.warm} warm, {self.lost}, {self.by}"


def cells() -> list[Cell]:
    """Every second cell, so that any two values of two dimensions meet somewhere.

    An answer 408 over HTTP/2 is not among them: Chromium does not send again after it, and a test says so.
    """
    every = product(*DIMENSIONS)
    cells = [Cell(*values) for values in every if sum(_place(value) for value in values) % 2 == 0]
    return [cell for cell in cells if (cell.protocol, cell.ending) != ("HTTP/2", 408)]


def _place(value: object) -> int:
    """The place of a value in its dimension."""
    return next(each.index(value) for each in DIMENSIONS if value in each)


@pytest.mark.parametrize("cell", paired(cells()), ids=str)
def test_one_click_sends_once(counter: Counter, cell: Cell) -> None:
    how = {"endings": [cell.ending]} if cell.lost == "first" else {"always": cell.ending}
    raw = counter.raw(cell.protocol, cell.by, warm=cell.warm, **how)
    guarded = counter.guarded(cell.protocol, cell.by, warm=cell.warm, **how)
    assert 2 <= len(raw.orders) <= 7, "the fault did not bite"
    assert len(guarded.orders) == 1
    assert guarded.report.guarded and len(guarded.report.released) == 1
    assert guarded.fact.status == (408 if cell.ending == 408 else None)
    assert (guarded.fact.error is None) is (cell.ending == 408)


def test_six_warm_connections_are_used_up_by_one_raw_click(counter: Counter) -> None:
    assert len(counter.raw("HTTP/1.1", "fetch", warm=6, always="fin").orders) == 7


def test_an_http2_answer_408_is_believed(counter: Counter) -> None:
    assert len(counter.raw("HTTP/2", "form", always=408).orders) == 1


@pytest.mark.parametrize(
    ("protocol", "every_ms"),
    chosen(("HTTP/1.1", 0), ("HTTP/2", 100), others=[("HTTP/1.1", 100), ("HTTPS", 0), ("HTTPS", 100), ("HTTP/2", 0)]),
)
def test_a_page_that_looks_at_its_host_all_the_time_sends_once(counter: Counter, protocol: str, every_ms: int) -> None:
    raw = counter.raw(protocol, "fetch", poll=every_ms, endings=["fin"])
    guarded = counter.guarded(protocol, "fetch", poll=every_ms, endings=["fin"])
    assert (len(raw.orders), len(guarded.orders)) == (2, 1)


@pytest.mark.parametrize("protocol", chosen("HTTP/1.1", "HTTP/2", others=["HTTPS"]))
def test_a_large_file_arrives_whole_and_once(counter: Counter, protocol: str, tmp_path: Path) -> None:
    file = tmp_path / "scan.bin"
    file.write_bytes(hashlib.shake_256(b"scan").digest(MEGABYTES * 1024 * 1024))
    raw = counter.raw(protocol, "upload", file=file, endings=["fin"])
    guarded = counter.guarded(protocol, "upload", file=file, endings=["fin"])
    assert len(raw.orders) == 2
    assert [order.sha256 for order in guarded.orders] == [hashlib.sha256(file.read_bytes()).hexdigest()]


@pytest.mark.parametrize("protocol", chosen("HTTP/2", others=["HTTP/1.1", "HTTPS"]))
def test_an_answer_that_comes_in_pieces_is_shown_to_its_end(counter: Counter, protocol: str) -> None:
    guarded = counter.guarded(protocol, "form", answer="stream")
    assert "Piece 1" in guarded.text and "Order taken" in guarded.text
    assert (len(guarded.orders), guarded.fact.status) == (1, 200)


@pytest.mark.parametrize("protocol", chosen("HTTPS", others=["HTTP/1.1", "HTTP/2"]))
def test_a_download_arrives(counter: Counter, protocol: str) -> None:
    with counter.order_page(protocol, "form", answer="download") as (page, till):
        assert counter.guard.arm()
        with page.expect_download() as download:
            press(page)
        assert download.value.path().read_text() == "tea"
        assert len(till.orders) == 1 and counter.guard.report.guarded
        counter.guard.disarm()


@pytest.mark.parametrize("protocol", chosen("HTTP/1.1", others=["HTTPS", "HTTP/2"]))
def test_a_redirect_leads_to_its_page_with_its_cookie(counter: Counter, protocol: str) -> None:
    guarded = counter.guarded(protocol, "form", answer="redirect")
    assert "Receipt for order=1" in guarded.text
    assert (len(guarded.orders), guarded.fact.status) == (1, 303)
    assert (guarded.fact.location or "").endswith("/receipt")


@pytest.mark.parametrize(
    ("protocol", "by"),
    chosen(
        ("HTTPS", "form"),
        ("HTTP/2", "fetch"),
        others=[("HTTP/1.1", "form"), ("HTTP/1.1", "fetch"), ("HTTPS", "fetch"), ("HTTP/2", "form")],
    ),
)
def test_the_second_hop_of_a_redirected_post_is_held_too(counter: Counter, protocol: str, by: str) -> None:
    raw = counter.raw(protocol, by, answer="moved", endings=["answer", "fin"], copies=3)
    guarded = counter.guarded(protocol, by, until="/moved", answer="moved", endings=["answer", "fin"])
    assert [order.path for order in raw.orders] == ["/orders", "/orders/moved", "/orders/moved"]
    assert [order.path for order in guarded.orders] == ["/orders", "/orders/moved"]
    first, second = guarded.report.released
    assert (first.status, second.status, second.declared) == (307, None, False)
    assert guarded.report.guarded


@pytest.mark.parametrize("protocol", chosen("HTTP/1.1", "HTTP/2", others=["HTTPS"]))
def test_two_writes_of_one_click_leave_one_after_the_other(counter: Counter, protocol: str) -> None:
    guarded = counter.guarded(protocol, "twice", until="/tells")
    assert [order.path for order in guarded.orders] == ["/orders", "/tells"]
    assert [fact.status for fact in guarded.report.released] == [200, 200]
    assert guarded.report.guarded


def test_a_write_that_waits_while_the_gate_is_opened_leaves_as_if_it_came_then(counter: Counter) -> None:
    with counter.order_page("HTTP/1.1", "twice") as (page, till):
        assert counter.guard.arm()
        press(page)
        wait(page, lambda: len(counter.guard.report.facts) == 2 and counter.guard.report.facts[0].status == 200)
        counter.guard.settle()
        wait(page, lambda: len(till.orders) == 2)
        assert [order.path for order in till.orders] == ["/orders", "/tells"]
        assert [fact.address.rpartition("/")[2] for fact in counter.guard.report.facts] == ["orders"]


def test_a_write_that_passes_one_without_an_answer_is_not_called_guarded(counter: Counter) -> None:
    guarded = counter.guarded("HTTP/2", "twice", endings=["hang"], until="/tells")
    assert [order.path for order in guarded.orders] == ["/orders", "/tells"]
    assert [fact.fresh for fact in guarded.report.released] == [True, False]
    assert not guarded.report.guarded


def test_the_declared_write_is_guarded_past_one_without_an_answer(counter: Counter) -> None:
    guarded = counter.guarded("HTTP/1.1", "twice", endings=["hang"], until="/tells", sends="POST /tells")
    assert [fact.fresh for fact in guarded.report.released] == [True, True]
    assert guarded.report.guarded


@pytest.mark.parametrize("status", chosen(422, others=[403, 404]))
def test_a_no_to_the_browsers_second_copy_can_not_come_under_the_guard(counter: Counter, status: int) -> None:
    raw = counter.raw("HTTP/1.1", "form", endings=["fin"], always=status)
    guarded = counter.guarded("HTTP/1.1", "form", endings=["fin"], always=status)
    assert (len(raw.orders), raw.ended) == (1, str(status)), "taken once, and said no to"
    assert (len(guarded.orders), guarded.fact.status) == (1, None)
    assert rejection(guarded.report) is None


@pytest.mark.parametrize(("ending", "by"), crossed(["goaway", "refused_stream", 421], ["form", "fetch"]))
def test_a_server_that_says_it_did_nothing_is_asked_again(counter: Counter, ending: Ending, by: str) -> None:
    guarded = counter.guarded("HTTP/2", by, endings=[ending])
    assert len(guarded.orders) == 2, "no guard stops this; only counting shows it"
    assert (guarded.fact.status, guarded.fact.error) == (200, None), "the wire shows one clean answer"
    assert not nothing_left(guarded.report) and rejection(guarded.report) is None


@pytest.mark.parametrize(
    ("ending", "copies", "shown"),
    [
        ("goaway", 3, "net::ERR_HTTP2_SERVER_REFUSED_STREAM"),
        ("refused_stream", 3, "net::ERR_HTTP2_SERVER_REFUSED_STREAM"),
        (421, 2, 421),
    ],
)
def test_a_server_that_always_says_so_is_asked_three_times_at_most(
    counter: Counter, ending: Ending, copies: int, shown: str | int
) -> None:
    guarded = counter.guarded("HTTP/2", "fetch", always=ending)
    assert len(guarded.orders) == copies
    assert (guarded.fact.status or guarded.fact.error) == shown
    assert rejection(guarded.report) is None and never_sent(guarded.report) is None
