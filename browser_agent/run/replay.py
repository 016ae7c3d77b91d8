"""Finds the stored step that a call asks for, and detects that the task has changed since it was stored.

A resume runs the task function from its top; finished steps return their stored values. A bookmark is the step's name
and version, its canonical arguments, and how many equal calls have ended before it in this attempt, so that two equal
calls made on purpose are two steps. While a gesture of an earlier attempt hasn't been asked for, no new gesture may be
made, and the task must ask for them in the journal's order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from browser_agent.errors import TaskChanged
from browser_agent.script.canonical_json import digest
from browser_agent.states import MADE_GESTURE_STATES, Answer, QuestionKind, StepState
from browser_agent.store import NewQuestion, Store
from browser_agent.store.records import StepRow


class Replay:
    """An attempt's position in the journal.

    Args:
        steps: the run's steps in their order, as earlier attempts left them.
        made: ids of the steps with a gesture that happened, or may have.
        mapped: new bookmark -> stored bookmark, as a person answered.
        dropped: stored bookmarks that the task need not ask for, as a person answered.
    """

    def __init__(
        self,
        steps: Sequence[StepRow],
        made: Collection[str],
        mapped: Mapping[str, str] | None = None,
        dropped: Collection[str] = (),
    ) -> None:
        self._rows = {row.bookmark: row for row in steps}
        self._awaited = [row for row in steps if row.id in made and row.bookmark not in dropped]
        self._mapped = dict(mapped or {})
        self._ended: Counter[str] = Counter()

    def bookmark(self, name: str, arguments: str, key: str | None) -> str:
        """The bookmark of a call; `ended` advances it."""
        base = self._base(name, arguments, key)
        bookmark = f"{base}#{self._ended[base]}"
        return self._mapped.get(bookmark, bookmark)

    def ended(self, name: str, arguments: str, key: str | None) -> None:
        """Count a call that has ended: the next equal one is another step."""
        self._ended[self._base(name, arguments, key)] += 1

    def ask(self, bookmark: str, words: str, *, writes: bool) -> StepRow | None:
        """The stored step of that bookmark; None for a new step.

        Raises:
            TaskChanged: a stored gesture should have been asked for first.
        """
        row = self._rows.get(bookmark)
        if row is not None and row in self._awaited:
            if row is not self._awaited[0]:
                raise TaskChanged(words, self._awaited[0].words)
            self._awaited.pop(0)
            return row
        may_make = row.state is StepState.BEGUN if row is not None else True
        if writes and may_make and self._awaited:
            raise TaskChanged(words, self._awaited[0].words)
        return row

    def end(self) -> None:
        """Check, when the task has returned, that it asked for every stored gesture.

        Raises:
            TaskChanged: it didn't.
        """
        if self._awaited:
            raise TaskChanged("nothing more", self._awaited[0].words)

    @property
    def awaited(self) -> StepRow | None:
        """The step of the stored gesture that the task must ask for next."""
        return self._awaited[0] if self._awaited else None

    def _base(self, name: str, arguments: str, key: str | None) -> str:
        return f"{name}:key:{key}" if key is not None else f"{name}:{digest(arguments)[:16]}"


def stored_replay(store: Store, run: str) -> Replay:
    """The replay of a run as its journal stands, with what a person answered about a changed task."""
    made = {gesture.step_id for gesture in store.journal.gestures(run) if gesture.state in MADE_GESTURE_STATES}
    mapped: dict[str, str] = {}
    dropped: set[str] = set()
    for question in store.inbox.questions(run):
        details = json.loads(question.details)
        if question.kind is QuestionKind.TASK_CHANGED and question.answer is Answer.MAP:
            mapped[details["asked"]] = details["stored"]
        elif question.kind is QuestionKind.TASK_CHANGED and question.answer is Answer.MAKE:
            dropped.add(details["stored"])
    return Replay(store.journal.steps(run), made, mapped, dropped)


def task_changed_question(changed: TaskChanged, awaited: StepRow | None, bookmark: str) -> NewQuestion:
    """The question about a changed task, with both calls side by side.

    Args:
        changed: what was detected.
        awaited: the stored step that the task should have asked for.
        bookmark: that of the call which it made instead; empty if it returned.
    """
    return NewQuestion(
        kind=QuestionKind.TASK_CHANGED,
        words=f"The task has changed. The journal expects {changed.stored}; the task asks for {changed.asked}.",
        details={"asked": bookmark, "stored": awaited.bookmark if awaited else ""},
        safe_step="Answer map if both are the same work, make to drop the stored one and make the new one, or abandon.",
        step=awaited.id if awaited else None,
    )
