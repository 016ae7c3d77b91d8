"""The person of a soak: answers each question by what the site's ledger says, as somebody would who looks there.

May never happen: an answer that is not the truth.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from browser_agent.records import QuestionRow
from browser_agent.states import Answer, QuestionKind
from browser_agent.store import Said, Store

Truth = Callable[[str], Sequence[str]]
"""The numbers of the invoices that a run, by its id, has really made."""


def answer_all(store: Store, truth: Truth) -> int:
    """Answer every open question that is answered by a fact; how many."""
    answered = 0
    for question in store.inbox.questions(open_only=True):
        said = _said(question, truth(question.run_id))
        if said is not None:
            store.inbox.answer(question.id, said)
            answered += 1
    return answered


def _said(question: QuestionRow, made: Sequence[str]) -> Said | None:
    by, reason = "the person of the soak", "looked at the ledger"
    match question.kind:
        case QuestionKind.OUTCOME | QuestionKind.ALREADY_THERE if made:
            return Said(Answer.HAPPENED, by, reason, values=_values(question, made[0]))
        case QuestionKind.OUTCOME | QuestionKind.MARKED_STEP:
            return Said(Answer.NOT_HAPPENED, by, reason, override=True)
        case QuestionKind.VALUES if made:
            return Said(Answer.HAPPENED, by, reason, values=_values(question, made[0]))
        case _:
            return None


def _values(question: QuestionRow, number: str) -> dict[str, str]:
    return {name: number for name in json.loads(question.details).get("needs", ())}
