"""The end of a soak, counted from the site's own ledger: what was made twice, lost, or stands still.

Pure but for reading. Must not know how anything was struck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from browser_agent.states import RunState
from browser_agent.store import Store


@dataclass
class Tally:
    """What a soak has come to.

    Attributes:
        runs: how many there were.
        effects: how many invoices the ledger holds.
        twice: references with more than one invoice.
        lost: runs that finished, and made none.
        stuck: runs that neither finished nor wait for a person, and those that a person could not help.
        answered: questions that a person has answered.
        attempts: all goes at all runs.
        made_again: gestures that were made again, each after a proof or a person's word that the last one was not.
        struck: how often what was struck.
    """

    runs: int = 0
    effects: int = 0
    twice: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    answered: int = 0
    attempts: int = 0
    made_again: int = 0
    struck: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        """Nothing twice, nothing lost, nothing stuck."""
        return not (self.twice or self.lost or self.stuck)


def count(store: Store, runs: Mapping[str, str], invoices: Sequence[str]) -> Tally:
    """Count.

    Args:
        store: where the runs are.
        runs: the reference of each run, by its id.
        invoices: the reference of each invoice of the ledger.
    """
    made, tally = Counter(invoices), Tally(runs=len(runs), effects=len(invoices))
    tally.twice = [f"{reference}: {number}" for reference, number in made.items() if number > 1]
    for run, reference in runs.items():
        row = store.leases.run(run)
        tally.attempts += row.attempt
        tally.made_again += max(0, len(store.journal.gestures(run)) - 1)
        if row.state is not RunState.FINISHED:
            tally.stuck.append(f"{run} ({reference}): {row.state}: {row.ended_by}")
        elif not made[reference]:
            tally.lost.append(f"{run} ({reference})")
    return tally


def show(tally: Tally, console: Console) -> None:
    """Two tables: what became of the runs, and what they were struck by."""
    console.print(_table("in the ledger", _ends(tally)))
    console.print(_table("struck", {**dict(tally.struck.most_common()), "in all": tally.struck.total()}))
    for what, which in (("made twice", tally.twice), ("lost", tally.lost), ("stuck", tally.stuck)):
        for one in which:
            console.print(f"{what}: {one}", markup=False)


def _ends(tally: Tally) -> dict[str, int]:
    return {
        "runs": tally.runs,
        "invoices": tally.effects,
        "made twice": len(tally.twice),
        "lost": len(tally.lost),
        "stuck": len(tally.stuck),
        "attempts": tally.attempts,
        "gestures made again, with a reason": tally.made_again,
        "questions answered by a person": tally.answered,
    }


def _table(title: str, numbers: Mapping[str, int]) -> Table:
    table = Table(title, "", box=None, header_style="bold", pad_edge=False)
    for name, number in numbers.items():
        table.add_row(name, f"{number}")
    return table
