"""Approvals: asks a person before step calls are made, and checks that a gesture is covered by an approval.

An approval is bound to the step, its canonical arguments and one gesture, so a gesture made again asks again, unless it
was given until the call is done. The store checks it once more in the transaction that dispatches the gesture.
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
    """Lets only approved calls of one attempt through."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._asked_before: Counter[str] = Counter()  # equal requests of this attempt

    def approved(self, words: str, calls: Sequence[StepCall[T]], valid: timedelta | None) -> list[StepCall[T]]:
        """The calls that a person approved.

        Raises:
            WaitingForPerson: nobody has answered yet; the question is stored.
        """
        listed = [_listed(call) for call in calls]
        same = canonical({"words": words, "calls": listed})
        bound = digest(
            f"{same}#{self._asked_before[same]}"
        )  # approving one of two equal requests approves only that one
        self._asked_before[same] += 1
        decisions = self._decisions(bound) if listed else []
        if listed and not decisions:
            self._ask(words, listed, bound, valid)
        return [call for call, row in zip(calls, decisions, strict=True) if row.approved]

    def covering(self, call: StepCall[Any], step: StepRow, earlier: Sequence[GestureRow]) -> str | None:
        """The id of the approval that covers the call's next gesture; None if it needs none.

        A call needs one if its step says so, or if a person was ever asked about it in this run.

        Raises:
            NotApproved: the last decision was to refuse it.
            WaitingForPerson: nobody has decided yet; the question is stored.
        """
        approvals, run = self._attempt.store.approvals, self._attempt.lease.run
        decisions = approvals.of_call(run, call.step.identity, call.canonical)
        if not decisions and not call.step.approval:
            return None
        approval = approvals.covering(run, call.step.identity, call.canonical)
        if approval is not None:
            return approval.id
        if decisions and not decisions[-1].approved:
            raise NotApproved(call.words, decisions[-1].by)
        words, bound = f"{_why(earlier, decisions)}: {call.words}", f"{step.id} {len(earlier)} {len(decisions)}"
        self._ask(words, [_listed(call)], bound, None, step.id)
        return None

    def _decisions(self, bound: str) -> list[ApprovalRow]:
        """The decisions on each call of the answered question that is bound to these calls."""
        for question in self._attempt.store.inbox.questions(self._attempt.lease.run):
            if _is_answered(question) and json.loads(question.details).get("bound") == bound:
                return self._attempt.store.approvals.of_question(question.id)
        return []

    def _ask(
        self, words: str, listed: list[dict[str, str]], bound: str, valid: timedelta | None, step: str | None = None
    ) -> None:
        seconds = valid.total_seconds() if valid is not None else self._attempt.options.approval_timeout
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


def _why(earlier: Sequence[GestureRow], decisions: Sequence[ApprovalRow]) -> str:
    """Why a person is asked about one call."""
    if decisions and any(gesture.approval == decisions[-1].id for gesture in earlier):
        return "It was approved and made, and proven not to have happened. May it be made again"
    if decisions:
        return "Its approval has expired, or was used for an equal call. May this be made"
    return "May this be made"
