"""The outcomes of a test's gestures: a list of words that can also explain each one. A doubt is always "unknown"."""

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
"""The outcomes that `outcome_of` can return."""
NOTHING = "nothing"
"""Placeholder for a gesture that one of the two lists lacks."""


@dataclass(frozen=True)
class OpenQuestion:
    """A question that waits for a person's answer."""

    id: str
    kind: str
    words: str
    reasons: tuple[str, ...]
    commands: tuple[str, ...]

    @classmethod
    def of(cls, row: QuestionRow, store: str) -> OpenQuestion:
        """A question of a store, with the commands that answer it there."""
        told = commands(row, f"--store {shlex.quote(store)}")
        return cls(row.id, str(row.kind), row.words, tuple(json.loads(row.reasons)), tuple(told))


@dataclass(frozen=True)
class MadeGesture:
    """One gesture: its words, its outcome, and the reasons for that."""

    words: str
    outcome: str
    reasons: tuple[str, ...]
    wire: tuple[str, ...]
    question: OpenQuestion | None


class Outcomes(list[str]):
    """Outcomes in the order of their gestures; compares like any list, and can be explained."""

    def __init__(self, gestures: Iterable[MadeGesture] = ()) -> None:
        self.gestures = tuple(gestures)
        super().__init__(one.outcome for one in self.gestures)

    def explain(self, expected: Sequence[object]) -> list[str]:
        """Lines that say how these outcomes differ from the expected ones, and the reasons for each."""
        lines = [f"outcomes {list(self)} == {list(expected)}"]
        if odd := [f"{word!r}" for word in expected if word not in OUTCOMES]:
            lines.append(f"  no outcome is {' or '.join(odd)}: there are {', '.join(OUTCOMES)}")
        for number, (seen, wanted) in enumerate(zip_longest(self.gestures, expected), 1):
            what = f"expected {NOTHING if wanted is None else wanted}, seen {seen.outcome if seen else NOTHING}"
            lines.append(f"  gesture {number}: {what}{f': {seen.words}' if seen else ''}")
            lines += _because(seen) if seen is not None else []
        return lines

    def lines(self) -> list[str]:
        """Lines that say what was made, how it ended and why."""
        lines: list[str] = []
        for number, seen in enumerate(self.gestures, 1):
            lines += [f"gesture {number}: {seen.outcome}: {seen.words}", *_because(seen)]
        return lines


def outcome_of(state: GestureState) -> str:
    """The outcome of a gesture in a state. A gesture that was made but not settled is unknown."""
    return "unknown" if state in _DOUBT else str(state)


def gestures_of(store: Store, run: str) -> list[MadeGesture]:
    """The gestures of a run in their order."""
    asked = {row.gesture_id: row for row in store.inbox.questions(run) if row.state is QuestionState.OPEN}
    return [_gesture(store, row, asked.get(row.id)) for row in store.journal.gestures(run)]


def _gesture(store: Store, row: GestureRow, question: QuestionRow | None) -> MadeGesture:
    return MadeGesture(
        words=row.words,
        outcome=outcome_of(row.state),
        reasons=tuple(json.loads(row.reasons or "[]")),
        wire=_wire(store, row),
        question=OpenQuestion.of(question, store.where) if question is not None else None,
    )


def _wire(store: Store, row: GestureRow) -> tuple[str, ...]:
    """What happened at the wire: what the gate reported, or else what was released."""
    report = WireReport.model_validate_json(row.wire) if row.wire else WireReport()
    facts = (*map(str, report.facts), *map(str, report.resent))
    return facts or tuple(
        f"{one.method} {one.address}: released; how it ended was not seen" for one in store.journal.releases(row.id)
    )


def _because(seen: MadeGesture) -> list[str]:
    """The question about an outcome, because a person can act on it, then the outcome's reasons."""
    lines: list[str] = []
    if seen.question is not None:
        lines.append(f"    question {seen.question.id} waits: {seen.question.words}")
        lines += [f"      {command}" for command in seen.question.commands]
    reasons = dict.fromkeys((*seen.reasons, *(seen.question.reasons if seen.question is not None else ())))
    lines += [f"    why: {reason}" for reason in reasons]
    return lines + [f"    on the wire: {fact}" for fact in seen.wire or ("nothing was seen",)]
