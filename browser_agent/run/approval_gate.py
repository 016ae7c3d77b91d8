"""Consent asked before: one question for many step calls, or for one that must not be made without a yes.

A yes is bound to the step, its canonical arguments and one gesture; a gesture made again asks anew, unless the yes was
given until the call is done. What a person refused raises `NotApproved` wherever it is run. Decides nothing about the
world; the store checks the yes once more in the very transaction that dispatches the gesture.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from browser_agent.errors import NotApproved
from browser_agent.run.attempt import Attempt
from browser_agent.script.canonical_json import canonical, digest
from browser_agent.script.steps import StepCall
from browser_agent.states import QuestionKind, QuestionState
from browser_agent.store import NewQuestion
from browser_agent.store.records import ApprovalRow, GestureRow, QuestionRow, StepRow

T = TypeVar("T")


class ApprovalGate:
    """What a person lets one attempt do."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._asked_before: Counter[str] = Counter()  # equal requests of this go

    def approved(self, words: str, calls: Sequence[StepCall[T]], valid: timedelta | None) -> list[StepCall[T]]:
        """The calls that a person has said yes to; asked if nobody has answered yet.

        Raises:
            WaitingForPerson: nobody has.
        """
        listed = [_listed(call) for call in calls]
        same = canonical({"words": words, "calls": listed})
        bound = digest(f"{same}#{self._asked_before[same]}")  # consent to one of two equal requests is not to both
        self._asked_before[same] += 1
        said = self._said(bound) if listed else []
        if listed and not said:
            self._ask(words, listed, bound, valid)
        return [call for call, row in zip(calls, said, strict=True) if row.approved]

    def covering(self, call: StepCall[Any], step: StepRow, earlier: Sequence[GestureRow]) -> str | None:
        """The id of the yes that the call's next gesture may be made on; None if it needs none.

        A call needs one if its step says so, or if a person was ever asked about it in this run.

        Raises:
            NotApproved: the last word on it was no.
            WaitingForPerson: it is asked for.
        """
        said = self._attempt.store.approvals.of_call(self._attempt.lease.run, call.step.identity, call.canonical)
        if not said and not call.step.approval:
            return None
        yes = self._attempt.store.approvals.covering(self._attempt.lease.run, call.step.identity, call.canonical)
        if yes is not None:
            return yes.id
        if said and not said[-1].approved:
            raise NotApproved(call.words, said[-1].by)
        why = _why(earlier, said)
        self._ask(f"{why}: {call.words}", [_listed(call)], f"{step.id} {len(earlier)} {len(said)}", None, step.id)
        return None

    def _said(self, bound: str) -> list[ApprovalRow]:
        """What was said to each call of the question that is bound like this."""
        for question in self._attempt.store.inbox.questions(self._attempt.lease.run):
            if _is_answered(question) and json.loads(question.details).get("bound") == bound:
                return self._attempt.store.approvals.of_question(question.id)
        return []

    def _ask(
        self, words: str, listed: list[dict[str, str]], bound: str, valid: timedelta | None, step: str | None = None
    ) -> None:
        seconds = valid.total_seconds() if valid is not None else self._attempt.options.approval_seconds
        self._attempt.ask(
            NewQuestion(
                kind=QuestionKind.APPROVAL,
                words=words,
                reasons=tuple(call["words"] for call in listed),
                details={"bound": bound, "calls": listed, "valid_seconds": seconds},
                safe_step="Nothing has been sent. Approve or refuse exactly these calls.",
                step=step,
            )
        )


def _listed(call: StepCall[Any]) -> dict[str, str]:
    return {"step": call.step.identity, "arguments": call.canonical, "words": call.words}


def _is_answered(question: QuestionRow) -> bool:
    return question.kind is QuestionKind.APPROVAL and question.state is QuestionState.ANSWERED


def _why(earlier: Sequence[GestureRow], said: Sequence[ApprovalRow]) -> str:
    """Why a person is asked about one call, in words."""
    if said and any(gesture.approval == said[-1].id for gesture in earlier):
        return "It was approved and made, and proven not to have happened. May it be made again"
    if said:
        return "Its approval has run out, or was used for an equal call. May this be made"
    return "May this be made"
