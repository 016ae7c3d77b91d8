"""Tasks: what a decorated function declares, and which functions are refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from browser_agent.errors import WrongTask
from browser_agent.script.tasks import task
from observers import Site

if TYPE_CHECKING:
    from browser_agent.run.executor import Run

books = Site("books", url="https://books.example", account="acme")
mail = Site("mail", url="https://mail.example", account="ann")


class Shipment(BaseModel):
    id: str
    amount: Decimal


@task(sites=[books, mail], version=2)
def invoice(
    run: Run, day: date, shipments: list[Shipment], limit: int = 3, *, note: str | None = None
) -> dict[str, int]:
    """Invoice what was shipped."""
    return {}


def test_a_task_says_what_its_function_and_its_options_say() -> None:
    assert (invoice.name, invoice.version, invoice.module) == ("invoice", "2", __name__)
    assert (invoice.sites, invoice.file) == ({"books": books, "mail": mail}, Path(__file__).resolve())
    assert invoice.adapter.validate_json('{"a": 1}') == {"a": 1}
    assert invoice.__doc__ == "Invoice what was shipped."


def test_two_sites_of_one_name_are_refused_and_one_site_twice_is_not() -> None:
    other = Site("books", url="https://elsewhere.example", account="acme")
    with pytest.raises(WrongTask, match="two different sites 'books'"):
        task(sites=[books, other])(invoice.fn)
    assert task(sites=[books, books])(invoice.fn).sites == {"books": books}


def several(run: Run, *days: date) -> None: ...


def by_any_name(run: Run, **days: date) -> None: ...


def without_run(day: date) -> None: ...


async def later(run: Run) -> None: ...


def says_nothing(run: Run, day: date):
    return None


@pytest.mark.parametrize(
    ("fn", "because"),
    [
        (several, r"can't take \*days"),
        (by_any_name, r"can't take \*\*days"),
        (without_run, "must take `run: Run` as its first parameter"),
        (later, "is an async def"),
        (says_nothing, "must say what it returns"),
    ],
)
def test_a_function_that_can_not_be_a_task_is_refused_at_once(fn: Any, because: str) -> None:
    with pytest.raises(WrongTask, match=because):
        task(fn)
