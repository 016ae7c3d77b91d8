"""The end of a soak, counted from the sites' own ledgers: what was made twice, lost, or stands still.

Must not know how anything was struck. May never happen: a run that isn't counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from browser_agent.states import GestureState, QuestionState, RunState
from browser_agent.store import Store
from tests.fix_world import holes
from tests.soak.town import TRADES, Meant, Town


@dataclass
class Tally:
    """What a soak has come to; lists hold a line for each case, counters are by site.

    Attributes:
        runs: how many there were.
        effects: how many the ledger holds.
        again: gestures that were made again, each after a proof or a person's word that the last one was not.
        asked: questions that a person has answered.
        attempts: goes at a run.
        twice: references with more than one effect.
        lost: runs that finished, and made none.
        stuck: runs that did not finish, though a person did what could be done.
        unasked: runs that finished on a person's word only, and nobody was asked.
        untold: what happened and isn't in the audit log, or where its chain is broken.
        resumed: runs that a person had to resume, and why.
        struck: how often what was struck.
    """

    runs: Counter[str] = field(default_factory=Counter)
    effects: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    twice: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        """Nothing twice, nothing lost, nothing stuck; everything asked that had to be, and told."""
        return not (self.twice or self.lost or self.stuck or self.unasked or self.untold)

    def add(self, other: Self) -> None:
        """Count another one with it."""
        for name, counted in vars(other).items():
            mine = getattr(self, name)
            (mine.extend if isinstance(mine, list) else mine.update)(counted)


def count(store: Store, town: Town, meant: Mapping[str, Meant]) -> Tally:
    """Count.

    Args:
        store: where the runs are.
        town: the sites.
        meant: what each run was meant to do, by its id.
    """
    tally = Tally(untold=[*map(str, store.verify().broken), *holes(store)])
    for trade in TRADES:
        tally.effects[trade.site] = len(town.effects(trade))
    for run, work in meant.items():
        _count_run(tally, store, town, run, work)
    return tally


def _count_run(tally: Tally, store: Store, town: Town, run: str, work: Meant) -> None:
    row, made, site = store.leases.run(run), town.made(work), work.trade.site
    gestures, questions = store.journal.gestures(run), store.inbox.questions(run)
    words = f"{run} ({work.reference})"
    tally.runs[site] += 1
    tally.attempts[site] += row.attempt
    tally.again[site] += max(0, len(gestures) - 1)
    tally.asked[site] += sum(question.state is QuestionState.ANSWERED for question in questions)
    if len(made) > 1:
        released = sum(len(store.journal.releases(gesture.id)) for gesture in gestures)
        tally.twice.append(f"{words}: {len(made)} effects, {released} requests let go")
    if row.state is not RunState.FINISHED:
        tally.stuck.append(f"{words}: {row.state}: {row.ended_by}")
    elif not made:
        tally.lost.append(words)
    elif not work.trade.shown and not _by_a_person([g.proven_by for g in gestures if g.state is GestureState.HAPPENED]):
        tally.unasked.append(words)


def _by_a_person(proofs: list[str | None]) -> bool:
    return bool(proofs) and all("answer to" in str(json.loads(proof or "[]")) for proof in proofs)
