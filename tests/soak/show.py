"""What a soak shows for its end: a table of the ledgers, one of the strikes, and a line for each case."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from tests.soak.count import Tally

_COLUMNS = ("runs", "effects", "attempts", "again", "asked")
_TITLES = ("runs", "in the ledger", "attempts", "made again, with a reason", "answers of a person")
_CASES = ("twice", "lost", "stuck", "unasked", "untold")


def show(tally: Tally, console: Console) -> None:
    """Show it."""
    console.print(_ledgers(tally), _strikes(tally.struck))
    for name in _CASES:
        console.print(f"{name}: {len(getattr(tally, name))}")
    for name in (*_CASES, "resumed"):
        for line in getattr(tally, name):
            console.print(f"{name}: {line}", markup=False)


def _ledgers(tally: Tally) -> Table:
    table = _table("site", *_TITLES)
    counted: list[Counter[str]] = [getattr(tally, name) for name in _COLUMNS]
    for site in tally.runs:
        table.add_row(site, *(f"{column[site]}" for column in counted))
    table.add_row("in all", *(f"{column.total()}" for column in counted))
    return table


def _strikes(struck: Counter[str]) -> Table:
    table = _table("struck", "times")
    for name, number in [*struck.most_common(), ("in all", struck.total())]:
        table.add_row(name, f"{number}")
    return table


def _table(*titles: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for at, title in enumerate(titles):
        table.add_column(title, justify="right" if at else "left")
    return table
