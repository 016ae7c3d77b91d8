"""A cell holds a key, or it doesn't, or nobody can tell."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from observers import Site
from observers.comparison import Notation, compared
from observers.normal import day, moment

BERLIN = Notation(decimal=",", zone="Europe/Berlin")
NEW_YORK = Notation(zone="America/New_York", date_order="mdy")


@pytest.mark.parametrize(
    ("cell", "key", "notation"),
    [
        ("1.234,56 EUR incl. VAT", "1234.56", BERLIN),
        ("1 234,56 € inkl. 19 % MwSt.", "1234.56", BERLIN),
        ("EUR 12 net", "12", BERLIN),
        ("12.00 per month", "12", Notation()),
        ("02.12.2026 21:31", "2026-12-02", BERLIN),
        ("12/02/2026, 9:31 PM", "2026-12-02", NEW_YORK),
        ("12/02/26", "2026-12-02", NEW_YORK),
        ("2026-12-02T23:30:00Z", "2026-12-03", BERLIN),
        ("02.12.2026 21:31", "2026-12-02T20:31:44+00:00", BERLIN),
        ("02.12.2026 21:31:44", "2026-12-02 21:31:44", BERLIN),
    ],
)
def test_amounts_and_times_are_read_as_the_site_writes_them(cell: str, key: str, notation: Notation) -> None:
    assert compared(cell, key, notation) is True


@pytest.mark.parametrize(
    ("cell", "key", "notation"),
    [
        ("1.234,57 EUR incl. VAT", "1234.56", BERLIN),
        ("INV 7", "7", Notation()),
        ("8 pieces", "7", Notation()),
        ("03.12.2026 21:31", "2026-12-02", BERLIN),
        ("02.12.2026 21:32", "2026-12-02T20:31:44+00:00", BERLIN),
        ("02.12.2026 21:31:45", "2026-12-02 21:31:44", BERLIN),
        ("03.12.2026", "2026-12-02 21:31", BERLIN),
        ("", "2026-12-02", BERLIN),
        ("-", "2026-12-02 21:31", BERLIN),
    ],
)
def test_what_is_surely_another_is_a_no(cell: str, key: str, notation: Notation) -> None:
    assert compared(cell, key, notation) is False


@pytest.mark.parametrize(
    ("cell", "key", "notation"),
    [
        ("1,234.56 EUR incl. VAT", "1234.56", BERLIN),  # the other decimal mark
        ("12.00 EUR or 15.00 EUR", "12.00", Notation()),
        ("12.00 EUR or 15.00 EUR", "15.00", Notation()),
        ("Total 12.00", "12", Notation()),
        ("7 pieces", "7", Notation()),  # 7 of what?
        ("12/02/2026", "2026-12-02", Notation()),  # no order is declared
        ("12/02/2026 21:31", "2026-02-12", Notation()),
        ("Today 21:31", "2026-12-02", BERLIN),
        ("2 Dec", "2026-12-02", BERLIN),
        ("yesterday", "2026-12-02 21:31", BERLIN),
        ("02.12.2026", "2026-12-02 21:31", BERLIN),  # the day alone
        ("Order R-1...", "Order R-100", Notation()),
    ],
)
def test_what_could_not_be_compared_is_neither(cell: str, key: str, notation: Notation) -> None:
    assert compared(cell, key, notation) is None


def test_a_day_and_a_time_of_the_site_is_read_in_its_zone() -> None:
    assert moment("02.12.2026 21:31", "Europe/Berlin") == datetime(2026, 12, 2, 20, 31, tzinfo=UTC)
    assert moment("12/2/2026 12:05 a.m.", "UTC", "mdy") == datetime(2026, 12, 2, 0, 5, tzinfo=UTC)
    assert moment("02.12.2026 25:31") is None
    assert moment("02.12.2026 13:31 PM") is None
    assert moment("12/02/2026 21:31") is None


def test_a_declared_order_holds_for_every_date_that_does_not_begin_with_the_year() -> None:
    assert day("02.12.2026", "mdy") == day("2026-02-12", "mdy") == day("12.02.2026")
    assert day("2.12-2026", "dmy") is None


def test_an_order_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="date order"):
        Site("shop", url="http://shop.test", account="acme", date_order="dym")
