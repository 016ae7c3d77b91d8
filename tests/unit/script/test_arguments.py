"""A task's arguments: read by its signature, stored, read back, and all wrong ones listed together."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from browser_agent.errors import WrongArguments
from browser_agent.script.arguments import dump_arguments, load_arguments, parse_arguments
from browser_agent.script.tasks import task
from tests.unit.script.sample_task import Shipment, invoice

if TYPE_CHECKING:
    from browser_agent.run.executor import Run


def test_texts_and_values_are_read_by_the_signature() -> None:
    as_texts = {"day": "2026-11-30", "shipments": '[{"id": "S-1", "amount": "2.50"}]', "limit": "7"}
    as_values = {"day": date(2026, 11, 30), "shipments": [Shipment(id="S-1", amount=Decimal("2.50"))], "limit": 7}
    assert parse_arguments(invoice, as_texts) == parse_arguments(invoice, as_values) == {**as_values, "note": None}


def test_all_wrong_arguments_are_listed_together() -> None:
    with pytest.raises(WrongArguments) as refused:
        parse_arguments(invoice, {"dya": "2026-11-30", "limit": "many", "shipments": '[{"id": "S-1"}]', "note": "x"})
    assert str(refused.value).partition("arguments. ")[2].split("; ") == [
        "dya: there is no such argument",
        "did you mean day?",
        "day: is missing",
        "shipments.0.amount: Field required",
        "limit: Input should be a valid integer, unable to parse string as an integer.",
    ]


def test_a_text_that_is_no_json_is_told_what_was_wanted() -> None:
    with pytest.raises(WrongArguments, match="shipments: Input should be a valid list"):
        parse_arguments(invoice, {"day": "2026-11-30", "shipments": "S-1"})


def test_arguments_come_back_from_their_text_as_they_were() -> None:
    given = parse_arguments(invoice, {"day": "2026-11-30", "shipments": [{"id": "S-1", "amount": "2.50"}]})
    assert load_arguments(invoice, dump_arguments(invoice, given)) == given


def log_in(run: Run, password: SecretStr) -> None: ...


def test_a_secret_is_not_stored_masked_but_refused() -> None:
    with pytest.raises(WrongArguments, match="the argument password can't be stored"):
        dump_arguments(task(log_in), {"password": SecretStr("hunter2")})


def test_stored_arguments_that_the_task_no_longer_takes_are_all_named() -> None:
    with pytest.raises(WrongArguments, match=r"old: this argument no longer exists; limit: Input should be"):
        load_arguments(invoice, '{"old": 1, "limit": "many"}')
