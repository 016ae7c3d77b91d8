"""Canonical text: equal values have equal text, different values don't, and what has no canonical form is refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from browser_agent.errors import WrongArguments
from browser_agent.script.canonical_json import EXACT, canonical, digest


class Colour(StrEnum):
    RED = "red"


class Level(Enum):
    HIGH = 3


class Line(BaseModel):
    item: str
    amount: Decimal


@dataclass
class Row:
    item: str
    amount: Decimal


def test_an_int_a_decimal_and_a_text_of_one_number_differ() -> None:
    assert len({canonical(10), canonical(Decimal(10)), canonical("10")}) == 3


def test_equal_amounts_are_equal_text_however_they_were_written() -> None:
    assert {canonical(Decimal(text)) for text in ("10", "10.00", "1E+1", "010.0")} == {'{"$decimal":"10"}'}
    assert canonical(Decimal("-0.00")) == canonical(Decimal(0))


def test_an_amount_keeps_every_digit() -> None:
    assert canonical(Decimal("1234567890123456789012345678901234567890.123456789")) == (
        '{"$decimal":"1234567890123456789012345678901234567890.123456789"}'
    )


def test_an_integer_that_json_readers_would_round_is_text() -> None:
    assert canonical(EXACT) == "9007199254740991"
    assert canonical(EXACT + 1) == '{"$int":"9007199254740992"}'
    assert canonical(-(2**70)) == '{"$int":"-1180591620717411303424"}'


def test_true_is_not_one() -> None:
    assert canonical(True) != canonical(1)


def test_one_moment_is_one_text_in_every_zone() -> None:
    there = datetime(2026, 11, 30, 9, tzinfo=timezone(timedelta(hours=-5)))
    assert canonical(there) == canonical(there.astimezone(UTC)) == '{"$datetime":"2026-11-30T14:00:00+00:00"}'


def test_a_date_is_neither_its_text_nor_its_midnight() -> None:
    day = date(2026, 11, 30)
    assert len({canonical(day), canonical(day.isoformat()), canonical(datetime(2026, 11, 30, tzinfo=UTC))}) == 3


def test_a_datetime_without_a_zone_is_refused() -> None:
    with pytest.raises(WrongArguments, match=r"due is a datetime without a zone"):
        canonical({"due": datetime(2026, 11, 30)})


def test_sets_are_equal_whatever_their_order_and_are_no_lists() -> None:
    assert canonical({"b", "a"}) == canonical(frozenset(["a", "b"])) == '{"$set":["a","b"]}'
    assert canonical(["a", "b"]) == canonical(("a", "b")) != canonical({"a", "b"})


def test_a_letter_and_its_composed_form_are_one_text() -> None:
    assert canonical("e\u0301") == canonical("\u00e9")
    assert canonical({"e\u0301": 1}) == canonical({"\u00e9": 1})


def test_two_keys_that_are_one_text_are_refused() -> None:
    with pytest.raises(WrongArguments, match="twice"):
        canonical({"e\u0301": 1, "\u00e9": 2})


def test_a_model_and_a_dataclass_are_their_fields() -> None:
    amount = Decimal("2.50")
    fields = {"item": "pen", "amount": amount}
    assert canonical(Line(item="pen", amount=amount)) == canonical(Row("pen", amount)) == canonical(fields)


def test_an_enum_is_its_value() -> None:
    assert (canonical(Colour.RED), canonical(Level.HIGH), canonical({Colour.RED: 1})) == ('"red"', "3", '{"red":1}')


def test_times_spans_and_ids_are_tagged() -> None:
    assert canonical(time(9, 30)) == '{"$time":"09:30:00"}'
    assert canonical(timedelta(days=1)) == '{"$duration":"86400000000"}'
    assert canonical(UUID(int=1)) == '{"$uuid":"00000000-0000-0000-0000-000000000001"}'


def test_a_file_is_its_content(tmp_path: Path) -> None:
    one, other = tmp_path / "a.pdf", tmp_path / "b.pdf"
    one.write_bytes(b"bill")
    other.write_bytes(b"bill")
    before = canonical(one)
    assert before == canonical(other) != canonical(str(one))
    one.write_bytes(b"another bill")
    assert canonical(one) != before


def test_bytes_are_their_digest() -> None:
    assert canonical(b"bill") == canonical(bytearray(b"bill")) == f'{{"$bytes":"{digest("bill")}"}}'


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongArguments, match=r"files\[0\].*nowhere\.pdf can't be read"):
        canonical({"files": [tmp_path / "nowhere.pdf"]})


def test_nobody_can_write_a_tag_by_hand() -> None:
    assert canonical({"$decimal": "10"}) == '{"$$decimal":"10"}' != canonical(Decimal(10))


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"lines": [1, {"ratio": Fraction(1, 3)}]}, "lines[1].ratio is a Fraction"),
        ({"password": SecretStr("hunter2")}, "password is a SecretStr"),
        (object(), "The value is a object"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"rate": float("-inf")}, "rate is -inf"),
        ({"amount": Decimal("NaN")}, "amount is NaN"),
        ({"names": {3: "c"}}, "names has the key 3; keys must be text"),
        ({"text": "\ud800"}, "text contains half a character"),
        ({"kind": Line}, "kind is a ModelMetaclass"),
    ],
)
def test_what_has_no_canonical_form_is_refused_by_its_place(value: object, place: str) -> None:
    with pytest.raises(WrongArguments, match=re.escape(place)):
        canonical(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(WrongArguments, match="contains itself"):
        canonical(ring)


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("$ab", max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(_values)
def test_a_value_read_back_as_json_is_the_same_only_if_json_could_hold_it(value: Any) -> None:
    text = canonical(value)
    assert (canonical(json.loads(text)) == text) == ('"$' not in text)


@given(st.dictionaries(st.text("$ab", max_size=3), _values, max_size=4))
def test_the_order_of_names_makes_no_difference(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)
