"""The person of a soak: answers each question by what the site's ledger says, as somebody would who looks there.

What the product gives up, it resumes, as its words ask a person to. May never happen: an answer that is not the truth;
a "not happened" while something may still arrive.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from browser_agent.errors import InOtherHands, NotAllowed
from browser_agent.ownership.takeover import give_to_queue
from browser_agent.states import Answer, QuestionKind, RunState
from browser_agent.store import PersonAnswer, Store
from browser_agent.store.records import QuestionRow, RunRow
from tests.soak.town import Meant, Town

BY, REASON = "the person of the soak", "looked at the ledger"
WAITS = timedelta(seconds=5)
"""How old a question must be before a person says that nothing is there: longer than the tasks' `late_commit`."""


class Person:
    """See the module.

    Args:
        store: where the questions are.
        town: where the truth is.
        meant: what each run was meant to do, by its id.

    Attributes:
        answered: how many questions were answered, by kind.
        resumed: the runs that were resumed, and why they had been given up.
    """

    def __init__(self, store: Store, town: Town, meant: Mapping[str, Meant]) -> None:
        self._store, self._town, self._meant = store, town, meant
        self.answered: Counter[str] = Counter()
        self.resumed: list[str] = []

    def act(self) -> None:
        """Answer every open question that is answered by a fact, and resume what was given up."""
        for question in self._store.inbox.questions(open_only=True):
            said = self._said(question)
            if said is not None:
                with suppress(NotAllowed):  # a look was faster
                    self._store.inbox.answer(question.id, said)
                    self.answered[question.kind] += 1
        for run in self._store.leases.runs():
            if run.state in {RunState.RAISED, RunState.NEEDS_ATTENTION, RunState.STOPPED}:
                self._resume(run)

    def _resume(self, run: RunRow) -> None:
        with suppress(InOtherHands, NotAllowed):
            give_to_queue(self._store, run.id, BY)
            self.resumed.append(f"{run.id} ({self._meant[run.id].reference}): {run.state}: {run.ended_by}")

    def _said(self, question: QuestionRow) -> PersonAnswer | None:
        made = self._town.made(self._meant[question.run_id])
        is_old = self._store.clock.now() - question.asked_at >= WAITS
        match question.kind:
            case QuestionKind.OUTCOME | QuestionKind.ALREADY_THERE | QuestionKind.VALUES if made:
                return PersonAnswer(Answer.HAPPENED, BY, REASON, values=self._values(question))
            case QuestionKind.OUTCOME | QuestionKind.MARKED_STEP if is_old:
                return PersonAnswer(Answer.NOT_HAPPENED, BY, REASON, override=True)
            case _:
                return None

    def _values(self, question: QuestionRow) -> dict[str, str]:
        meant = self._meant[question.run_id]
        read = self._town.made(meant)[0].values
        return {name: read[meant.trade.gives] for name in json.loads(question.details).get("needs", ())}
