"""The outcomes of a test's gestures: a list of words, which can also say why each is what it is.

Turns rows into sentences; must not know pytest or pages. May never happen: a doubt gets a calmer word than unknown.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from browser_agent.reporting.words import commands
from browser_agent.states import GestureState, QuestionState
from browser_agent.store import Store
from browser_agent.store.records import GestureRow, QuestionRow
from browser_agent.wire import WireReport

_DOUBT = (GestureState.DISPATCHING, GestureState.IN_DOUBT, GestureState.UNKNOWN, GestureState.ASKED)
OUTCOMES = ("happened", "not_happened", "unknown", "refused", "rejected", "abandoned", "intent")
"""What `outcome_of` says of a state."""
NOTHING = "nothing"
"""Where one list has no gesture any more."""


@dataclass(frozen=True)
class Question:
    """A question that waits for a person."""

    id: str
    kind: str
    words: str
    reasons: tuple[str, ...]
    commands: tuple[str, ...]

    @classmethod
    def of(cls, row: QuestionRow, store: str) -> Question:
        """A question of a store, with the commands that answer it there."""
        told = commands(row, f"--store {shlex.quote(store)}")
        return cls(row.id, str(row.kind), row.words, tuple(json.loads(row.reasons)), tuple(told))


@dataclass(frozen=True)
class Seen:
    """One gesture as it stands: its words, its outcome, and what that rests on."""

    words: str
    outcome: str
    reasons: tuple[str, ...]
    wire: tuple[str, ...]
    question: Question | None


class Outcomes(list[str]):
    """Outcomes in the order of their gestures; compares like any list, and explains itself."""

    def __init__(self, seen: Iterable[Seen] = ()) -> None:
        self.seen = tuple(seen)
        super().__init__(one.outcome for one in self.seen)

    def explain(self, expected: Sequence[object]) -> list[str]:
        """Line by line, how these outcomes differ from what was expected, and why each is what it is."""
        lines = [f"outcomes {list(self)} == {list(expected)}"]
        if odd := [f"{word!r}" for word in expected if word not in OUTCOMES]:
            lines.append(f"  no outcome is {' or '.join(odd)}: there are {', '.join(OUTCOMES)}")
        for number, (seen, wanted) in enumerate(zip_longest(self.seen, expected), 1):
            what = f"expected {NOTHING if wanted is None else wanted}, seen {seen.outcome if seen else NOTHING}"
            lines.append(f"  gesture {number}: {what}{f': {seen.words}' if seen else ''}")
            lines += _because(seen) if seen is not None else []
        return lines

    def told(self) -> list[str]:
        """Line by line, what was made, what became of it and why."""
        lines: list[str] = []
        for number, seen in enumerate(self.seen, 1):
            lines += [f"gesture {number}: {seen.outcome}: {seen.words}", *_because(seen)]
        return lines


def outcome_of(state: GestureState) -> str:
    """The word for a gesture's state: made and not settled is unknown."""
    return "unknown" if state in _DOUBT else str(state)


def seen_in(store: Store, run: str) -> list[Seen]:
    """The gestures of a run in their order."""
    asked = {row.gesture_id: row for row in store.inbox.questions(run) if row.state is QuestionState.OPEN}
    return [_seen(store, row, asked.get(row.id)) for row in store.journal.gestures(run)]


def _seen(store: Store, row: GestureRow, question: QuestionRow | None) -> Seen:
    return Seen(
        words=row.words,
        outcome=outcome_of(row.state),
        reasons=tuple(json.loads(row.reasons or "[]")),
        wire=_wire(store, row),
        question=Question.of(question, store.where) if question is not None else None,
    )


def _wire(store: Store, row: GestureRow) -> tuple[str, ...]:
    """What was seen on the wire: by the guard, else what was at least let go."""
    report = WireReport.model_validate_json(row.wire) if row.wire else WireReport()
    facts = (*map(str, report.facts), *map(str, report.resent))
    return facts or tuple(
        f"{one.method} {one.address}: let go; how it ended was not seen" for one in store.journal.releases(row.id)
    )


def _because(seen: Seen) -> list[str]:
    """What an outcome rests on; first the question, since it is what somebody can do something about."""
    lines: list[str] = []
    if seen.question is not None:
        lines.append(f"    question {seen.question.id} waits: {seen.question.words}")
        lines += [f"      {command}" for command in seen.question.commands]
    reasons = dict.fromkeys((*seen.reasons, *(seen.question.reasons if seen.question is not None else ())))
    lines += [f"    why: {reason}" for reason in reasons]
    return lines + [f"    on the wire: {fact}" for fact in seen.wire or ("nothing was seen",)]
