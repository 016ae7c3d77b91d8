"""The inbox: questions that wait for a person, and their answers.

An answer is written by a compare-and-set on the open question, so two people cannot both answer. It names the person,
and settles the gesture in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from browser_agent.clock import Clock, new_id
from browser_agent.errors import UnknownName
from browser_agent.states import (
    QUESTION_ARROWS,
    RUN_ARROWS,
    Answer,
    GestureState,
    QuestionKind,
    QuestionState,
    RunState,
    check_arrow,
)
from browser_agent.store import answers, approvals, audit
from browser_agent.store.answers import ALLOWED, PersonAnswer
from browser_agent.store.database import Database, scrubber_of
from browser_agent.store.journal import Journal
from browser_agent.store.leases import Lease, fence
from browser_agent.store.records import GestureRow, QuestionRow, RunRow


@dataclass(frozen=True)
class NewQuestion:
    """A question to be asked. See `QuestionRow`."""

    kind: QuestionKind
    words: str
    reasons: tuple[str, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    last_confirmed: str = ""
    safe_step: str = ""
    earliest_safe: datetime | None = None
    step: str | None = None
    gesture: str | None = None


_SETTLES: Mapping[Answer, GestureState] = {
    Answer.HAPPENED: GestureState.HAPPENED,
    Answer.NOT_HAPPENED: GestureState.NOT_HAPPENED,
    Answer.ABANDON: GestureState.ABANDONED,
}
"""The state in which an answer leaves the gesture that its question is about."""
_NOTIFIED = "told_at"
"""The detail that says when a person was notified."""


class Inbox:
    """The questions of one store."""

    def __init__(self, database: Database, clock: Clock, journal: Journal) -> None:
        self._database, self._clock, self._journal = database, clock, journal

    def ask(self, lease: Lease, asked: NewQuestion) -> QuestionRow:
        """Ask a question, or return the same one if it is open already.

        The gesture that it is about, if any, becomes `asked` in the same transaction.
        """
        with self._database.write() as session:
            fence(session, lease)
            scrubbed = scrubber_of(session).facts(asked)  # before the comparison: stored questions are scrubbed
            asked = replace(scrubbed, details=asked.details)  # approvals are bound to the exact details
            known = self._same(session, lease.run, asked)
            if known is not None:
                return known
            row = QuestionRow(
                id=new_id("q", 5),
                run_id=lease.run,
                step_id=asked.step,
                gesture_id=asked.gesture,
                kind=asked.kind,
                words=asked.words,
                reasons=json.dumps(asked.reasons),
                evidence=json.dumps(asked.evidence),
                details=json.dumps(_details(session, asked)),
                last_confirmed=asked.last_confirmed,
                safe_step=asked.safe_step,
                earliest_safe=asked.earliest_safe,
                asked_at=self._clock.now(),
            )
            session.add(row)
            pictures = [seen["blob"] for seen in asked.evidence if seen.get("blob")]
            facts = {"kind_of": str(asked.kind), "words": asked.words, "reasons": asked.reasons, "evidence": pictures}
            self._audit(session, lease.run, "question", row, attempt=lease.attempt, **facts)
            if asked.gesture is not None and asked.kind is not QuestionKind.VALUES:
                self._journal.move_within(session, lease, asked.gesture, GestureState.ASKED)
            return row

    def close(self, lease: Lease, question: str, because: str) -> None:
        """Close an open question that no longer needs a person."""
        with self._database.write() as session:
            fence(session, lease)
            row = _question(session, question)
            self._end(row, QuestionState.CLOSED)
            row.reason = because
            session.add(row)
            self._audit(session, lease.run, "question_closed", row, attempt=lease.attempt, because=because)

    def set_earliest_safe(self, lease: Lease, question: str, at: datetime) -> None:
        """Set the earliest time at which "not found" may count, if it was unknown when the question was asked."""
        with self._database.write() as session:
            fence(session, lease)
            row = _question(session, question)
            row.earliest_safe = at
            session.add(row)
            facts = {"attempt": lease.attempt, "earliest_safe": at.isoformat()}
            self._audit(session, lease.run, "question_dated", row, **facts)

    def answer(self, question: str, given: PersonAnswer) -> QuestionRow:
        """Record a person's answer, with its effect on the gesture and the run.

        Raises:
            UnknownName: no such question.
            NotAllowed, Misuse: see `answers.check` and `answers.check_time`.
        """
        with self._database.write() as session:
            row = _question(session, question)
            answers.check(session, row, given)
            answers.check_time(row, given, self._clock.now())
            self._end(row, QuestionState.ANSWERED)
            row.answer, row.by, row.reason, row.override = given.answer, given.by, given.reason, given.override
            row.values = json.dumps(dict(given.values))
            session.add(row)
            facts = {
                "answer": str(given.answer),
                "by": given.by,
                "reason": given.reason,
                "override": given.override or None,
                **self._decide_calls(session, row, given),
            }
            self._audit(session, row.run_id, "answer", row, values=dict(given.values) or None, **facts)
            self._apply(session, row, given)
            return row

    def record_notified(self, question: str) -> None:
        """Record that a person was notified of a question, by command or by URL. The run is not touched."""
        with self._database.write() as session:
            row = _question(session, question)
            row.details = json.dumps({**json.loads(row.details), _NOTIFIED: self._clock.now().isoformat()})
            session.add(row)
            self._audit(session, row.run_id, "question_told", row)

    def was_notified(self, question: QuestionRow) -> bool:
        """Whether a person was notified of the question."""
        return _NOTIFIED in json.loads(question.details)

    def check(self, question: str, given: PersonAnswer) -> None:
        """Refuse an answer that the question would never take. `answer` also refuses one that comes too early.

        Raises:
            UnknownName, NotAllowed, Misuse: see `answer`.
        """
        with self._database.read() as session:
            answers.check(session, _question(session, question), given)

    def question(self, question: str) -> QuestionRow:
        """One question. Raises `UnknownName` if there is none."""
        with self._database.read() as session:
            return _question(session, question)

    def questions(self, run: str | None = None, *, open_only: bool = False) -> list[QuestionRow]:
        """The questions of one run or of all, oldest first."""
        asked = select(QuestionRow).order_by(col(QuestionRow.asked_at))
        if run is not None:
            asked = asked.where(QuestionRow.run_id == run)
        if open_only:
            asked = asked.where(QuestionRow.state == QuestionState.OPEN)
        with self._database.read() as session:
            return list(session.exec(asked))

    def settling_answers(self, run: str) -> dict[str, QuestionRow]:
        """The answered questions of a run that settled a gesture, by the gesture's id.

        An answer that came after a look had settled the gesture isn't among them.
        """
        asked = select(QuestionRow, GestureRow).join(GestureRow).where(QuestionRow.run_id == run)
        asked = asked.where(QuestionRow.state == QuestionState.ANSWERED, QuestionRow.kind != QuestionKind.VALUES)
        with self._database.read() as session:
            pairs = list(session.exec(asked))
        return {gesture.id: question for question, gesture in pairs if _has_settled(question, gesture)}

    def _same(self, session: Session, run: str, asked: NewQuestion) -> QuestionRow | None:
        rows = session.exec(
            select(QuestionRow).where(QuestionRow.run_id == run, QuestionRow.state == QuestionState.OPEN)
        )
        wanted = (asked.kind, asked.gesture, asked.step, asked.words)
        return next((row for row in rows if (row.kind, row.gesture_id, row.step_id, row.words) == wanted), None)

    def _end(self, row: QuestionRow, state: QuestionState) -> None:
        check_arrow(QUESTION_ARROWS, row.state, state)
        row.state, row.ended_at = state, self._clock.now()

    def _decide_calls(self, session: Session, row: QuestionRow, given: PersonAnswer) -> dict[str, Any]:
        """Record the decision on each call of an approval; returns its facts for the audit log."""
        if given.answer not in {Answer.APPROVE, Answer.REFUSE}:
            return {}
        yes = given.answer is Answer.APPROVE
        rows = approvals.decide(self._database, session, row, yes=yes, consent=given.consent)
        expires = rows[0].expires if yes and rows else None
        return {
            "calls": [f"{'approved' if call.approved else 'refused'}: {call.step} {call.arguments}" for call in rows],
            "until_done": given.consent.until_done or None,
            "expires": expires.isoformat() if expires else None,
        }

    def _apply(self, session: Session, row: QuestionRow, given: PersonAnswer) -> None:
        """Settle the gesture by the answer, or abandon the run."""
        run = session.get_one(RunRow, row.run_id)
        lease = Lease(run.id, run.attempt, run.token)
        proven = json.dumps([f"answer to {row.id} by {given.by}: {given.reason}"])
        state = _SETTLES.get(given.answer)
        gesture = session.get(GestureRow, row.gesture_id) if row.gesture_id else None
        if gesture is not None and state is not None and gesture.state is GestureState.ASKED:
            values = {**json.loads(gesture.values or "{}"), **given.values}
            facts: dict[str, Any] = {"values": json.dumps(values), "proven_by": proven, "by": given.by}
            self._journal.move_within(session, lease, gesture.id, state, **facts).settled_at = row.ended_at
        elif gesture is not None and row.kind is QuestionKind.VALUES:
            gesture.values = json.dumps({**json.loads(gesture.values or "{}"), **given.values})
            session.add(gesture)
        if given.answer is Answer.ABANDON:
            check_arrow(RUN_ARROWS, run.state, RunState.ABANDONED)
            run.state, run.ended_by = RunState.ABANDONED, f"abandoned by {given.by}: {given.reason}"
            session.add(run)
        elif run.state is RunState.WAITING:
            run.ended_by = f"{row.id} was answered by {given.by}: {given.reason}"
            session.add(run)

    def _audit(self, session: Session, run: str, kind: str, row: QuestionRow, **facts: Any) -> None:
        audit.append(
            session, self._clock, kind, run, question=row.id, gesture=row.gesture_id, step=row.step_id, **facts
        )


def _has_settled(question: QuestionRow, gesture: GestureRow) -> bool:
    """Whether this answer settled the gesture: both were written at once, and a settled gesture stays as it is."""
    if question.answer is None or question.ended_at is None or gesture.settled_at is None:
        return False
    return _SETTLES.get(question.answer) is gesture.state and question.ended_at <= gesture.settled_at


def _question(session: Session, question: str) -> QuestionRow:
    row = session.get(QuestionRow, question)
    if row is None:
        raise UnknownName(f"No question {question!r} in this store. `browser-agent inbox` lists the open ones.")
    return row


def _details(session: Session, asked: NewQuestion) -> dict[str, Any]:
    """The details, with the names of the values that the step still needs if the gesture happened."""
    gesture = session.get(GestureRow, asked.gesture) if asked.gesture else None
    if gesture is None or "needs" in asked.details or Answer.HAPPENED not in ALLOWED[asked.kind]:
        return dict(asked.details)
    known = json.loads(gesture.values or "{}")
    needs = [name for name in json.loads(gesture.intent).get("needs", ()) if name not in known]
    return {**asked.details, "needs": needs}
