"""Tasks: what a decorated function declares, and which functions are refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser_agent.errors import WrongTask
from browser_agent.script.tasks import task
from observers import Site
from tests.unit.script import sample_task
from tests.unit.script.sample_task import books, invoice, mail

if TYPE_CHECKING:
    from browser_agent.run.executor import Run


def test_a_task_says_what_its_function_and_its_options_say() -> None:
    assert (invoice.name, invoice.version, invoice.module) == ("invoice", "2", sample_task.__name__)
    assert (invoice.sites, invoice.file) == ({"books": books, "mail": mail}, Path(sample_task.__file__).resolve())
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
