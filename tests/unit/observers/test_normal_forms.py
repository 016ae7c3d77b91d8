"""When two texts on a page mean the same thing."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observers.normal import amount, day, moment, normal, same, value


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("  INV\u00a07 \n\t posted ", "INV 7 posted"),
        ("\u200eS-101\u200f", "S-101"),
        ("S\u2011101", "S-101"),
        ("\u0661\u0662\u0663", "123"),
        ("\uff33-\uff11", "S-1"),
        ("e\u0301", "\u00e9"),
        ("Stra\u00dfe", "Stra\u00dfe"),
    ],
)
def test_what_looks_the_same_is_the_same(text: str, plain: str) -> None:
    assert normal(text) == plain


def test_upper_and_lower_case_stay_two_keys() -> None:
    assert not same("s-101", "S-101")


@settings(deadline=None, print_blob=True)
@given(st.text())
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@pytest.mark.parametrize(
    ("text", "decimal", "read"),
    [
        ("1,234.56", ".", "1234.56"),
        ("1.234,56", ",", "1234.56"),
        ("1\u00a0234,56 \u20ac", ",", "1234.56"),
        ("1'234.50", ".", "1234.50"),
        ("1,23,456.00", ".", "123456.00"),
        ("EUR 12", ".", "12"),
        ("(12.50)", ".", "-12.50"),
        ("\u22123", ".", "-3"),
        ("3-", ".", "-3"),
        ("+0.5", ".", "0.5"),
        ("\u0661\u0662\u0663\u066b\u0665", ".", "123.5"),
    ],
)
def test_amounts_are_read_by_the_sites_decimal_mark(text: str, decimal: str, read: str) -> None:
    assert amount(text, decimal) == Decimal(read)


@pytest.mark.parametrize("text", ["", "S-101", "INV 7", "007", "1,23", "1.2.3", "EUR", "-", "()", "12 34"])
def test_what_isnt_surely_an_amount_is_none(text: str) -> None:
    assert amount(text) is None


def test_an_amount_in_the_other_convention_is_another_amount_or_none() -> None:
    assert amount("1.234", ",") == Decimal(1234)
    assert amount("1.234", ".") == Decimal("1.234")
    assert amount("1.234,56", ".") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,200.00", "1200"), ("2026-11-30", "30.11.2026"), ("EUR 7.10", "7.1"), ("a  b", "a b")],
)
def test_cells_that_are_written_differently_mean_the_same(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("007", "7"), ("S-1", "S-10"), ("7", "INV 7"), ("30.11.2026", "2026-11-29"), ("7", ""), ("2026-11-30", "today")],
)
def test_different_keys_stay_different(one: str, other: str) -> None:
    assert not same(one, other)


def test_days_are_read_only_where_they_cant_be_mistaken() -> None:
    assert day("2026-11-30") == day("30.11.2026") == date(2026, 11, 30)
    assert day("11/12/2026") is None
    assert day("31.02.2026") is None


def test_times_are_read_in_the_zone_of_the_site() -> None:
    assert moment("2026-11-30 12:00", "Europe/Berlin") == datetime(2026, 11, 30, 11, tzinfo=UTC)
    assert moment("2026-11-30T12:00+02:00", "Europe/Berlin") == datetime(2026, 11, 30, 10, tzinfo=UTC)
    assert moment("yesterday") is None


def test_a_value_is_handed_on_in_plain_digits() -> None:
    assert value("1.234,50 \u20ac", ",") == "1234.50"
    assert value("INV\u00a07") == "INV 7"
    assert value("007") == "007"
    assert value("100,000,000.00") == "100000000.00"
