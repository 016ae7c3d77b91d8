"""The inbox: questions that wait for a person, and the answers, each by a compare-and-set on the open question.

A question never says more than is known and never less. An answer is a new fact that names the person; it settles the
gesture in the same transaction. Two people cannot both answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from browser_agent.clock import Clock, new_id
from browser_agent.errors import Misuse, NotAllowed, UnknownName, nearest
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
from browser_agent.store import approvals, audit
from browser_agent.store.approvals import Consent
from browser_agent.store.database import Database, scrubber_of
from browser_agent.store.journal import Journal
from browser_agent.store.leases import Lease, fence
from browser_agent.store.records import GestureRow, QuestionRow, RunRow


@dataclass(frozen=True)
class Asked:
    """A question as it is put."""

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


@dataclass(frozen=True)
class Said:
    """A person's answer."""

    answer: Answer
    by: str
    reason: str
    values: Mapping[str, str] = field(default_factory=dict)
    override: bool = False
    consent: Consent = field(default_factory=Consent)


ALLOWED: Mapping[QuestionKind, frozenset[Answer]] = {
    QuestionKind.OUTCOME: frozenset({Answer.HAPPENED, Answer.NOT_HAPPENED, Answer.ABANDON}),
    QuestionKind.ALREADY_THERE: frozenset({Answer.HAPPENED, Answer.NOT_HAPPENED, Answer.ABANDON}),
    QuestionKind.VALUES: frozenset({Answer.HAPPENED, Answer.ABANDON}),
    QuestionKind.TASK_CHANGED: frozenset({Answer.MAP, Answer.MAKE, Answer.ABANDON}),
    QuestionKind.MARKED_STEP: frozenset({Answer.NOT_HAPPENED, Answer.ABANDON}),
    QuestionKind.ATTEMPTS: frozenset({Answer.ABANDON}),
    QuestionKind.SIGNED_OUT: frozenset({Answer.ABANDON}),
    QuestionKind.APPROVAL: frozenset({Answer.APPROVE, Answer.REFUSE, Answer.ABANDON}),
}
"""What may be answered to which kind of question."""

_SETTLES: Mapping[Answer, GestureState] = {
    Answer.HAPPENED: GestureState.HAPPENED,
    Answer.NOT_HAPPENED: GestureState.NOT_HAPPENED,
    Answer.ABANDON: GestureState.ABANDONED,
}
"""The state in which an answer leaves the gesture that its question is about."""


class Inbox:
    """The questions of one store."""

    def __init__(self, database: Database, clock: Clock, journal: Journal) -> None:
        self._database, self._clock, self._journal = database, clock, journal

    def ask(self, lease: Lease, asked: Asked) -> QuestionRow:
        """Put a question, once; its gesture, if any, becomes `asked` in the same transaction."""
        with self._database.write() as session:
            fence(session, lease)
            words = scrubber_of(session).facts(asked)  # as it will stand there, so that it is known again
            asked = replace(words, details=asked.details)  # what an answer is bound to stays exact
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
            pictures = [kept["blob"] for kept in asked.evidence if kept.get("blob")]
            facts = {"kind_of": str(asked.kind), "words": asked.words, "reasons": asked.reasons, "evidence": pictures}
            self._tell(session, lease.run, "question", row, attempt=lease.attempt, **facts)
            if asked.gesture is not None and asked.kind is not QuestionKind.VALUES:
                self._journal.move_within(session, lease, asked.gesture, GestureState.ASKED)
            return row

    def close(self, lease: Lease, question: str, because: str) -> None:
        """Close an open question that needs no person any more."""
        with self._database.write() as session:
            fence(session, lease)
            row = _question(session, question)
            self._end(row, QuestionState.CLOSED)
            row.reason = because
            session.add(row)
            self._tell(session, lease.run, "question_closed", row, attempt=lease.attempt, because=because)

    def safe_from(self, lease: Lease, question: str, safe: datetime) -> None:
        """Write down from when on an absence can be one, where that was not known when the question was put."""
        with self._database.write() as session:
            fence(session, lease)
            row = _question(session, question)
            row.earliest_safe = safe
            session.add(row)
            self._tell(session, lease.run, "question_dated", row, attempt=lease.attempt, earliest_safe=safe.isoformat())

    def answer(self, question: str, said: Said) -> QuestionRow:
        """Write a person's answer and what follows from it for the gesture and the run.

        Raises:
            UnknownName: no such question.
            NotAllowed: it was answered or closed already.
            Misuse: this kind of question has no such answer, no name or reason was given, a value is missing that the
                step needs of what happened, or it is too early for "not happened" and nobody overrides it.
        """
        with self._database.write() as session:
            row = _question(session, question)
            _check(session, row, said)
            self._check_time(row, said)
            self._end(row, QuestionState.ANSWERED)
            row.answer, row.by, row.reason, row.override = said.answer, said.by, said.reason, said.override
            row.values = json.dumps(dict(said.values))
            session.add(row)
            consent = self._decide(session, row, said)
            facts = {
                "answer": str(said.answer),
                "by": said.by,
                "reason": said.reason,
                "override": said.override or None,
                **consent,
            }
            self._tell(session, row.run_id, "answer", row, values=dict(said.values) or None, **facts)
            self._follow(session, row, said)
            return row

    def note_told(self, question: str) -> None:
        """Write down that a person was told of a question by command or address; the run is not touched."""
        with self._database.write() as session:
            row = _question(session, question)
            row.details = json.dumps({**json.loads(row.details), "told_at": self._clock.now().isoformat()})
            session.add(row)
            self._tell(session, row.run_id, "question_told", row)

    def was_told(self, question: QuestionRow) -> bool:
        """Whether a person was told of a question by command or address."""
        return "told_at" in json.loads(question.details)

    def check(self, question: str, said: Said) -> None:
        """Refuse an answer that could not be taken at any time; `answer` refuses what is too early as well.

        Raises:
            UnknownName, NotAllowed, Misuse: see `answer`.
        """
        with self._database.read() as session:
            _check(session, _question(session, question), said)

    def question(self, question: str) -> QuestionRow:
        """One question; `UnknownName` if there is none."""
        with self._database.read() as session:
            return _question(session, question)

    def questions(self, run: str | None = None, *, open_only: bool = False) -> list[QuestionRow]:
        """Questions of one run or of all, oldest first."""
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

    def _same(self, session: Session, run: str, asked: Asked) -> QuestionRow | None:
        rows = session.exec(
            select(QuestionRow).where(QuestionRow.run_id == run, QuestionRow.state == QuestionState.OPEN)
        )
        wanted = (asked.kind, asked.gesture, asked.step, asked.words)
        return next((row for row in rows if (row.kind, row.gesture_id, row.step_id, row.words) == wanted), None)

    def _check_time(self, row: QuestionRow, said: Said) -> None:
        early = row.earliest_safe is None or self._clock.now() < row.earliest_safe
        if row.kind is QuestionKind.OUTCOME and said.answer is Answer.NOT_HAPPENED and early and not said.override:
            when = (
                f"before {row.earliest_safe:%Y-%m-%d %H:%M:%S} UTC"
                if row.earliest_safe
                else "since no time is declared"
            )
            raise Misuse(
                f"Too early to say that it has not happened: it may still take effect ({when}). Wait, declare the "
                "site's late_commit, or take it on yourself by name with --override. Nothing was changed."
            )

    def _end(self, row: QuestionRow, state: QuestionState) -> None:
        check_arrow(QUESTION_ARROWS, row.state, state)
        row.state, row.ended_at = state, self._clock.now()

    def _decide(self, session: Session, row: QuestionRow, said: Said) -> dict[str, Any]:
        """Write down what was said to each call of an approval; what the audit log tells of it."""
        if said.answer not in {Answer.APPROVE, Answer.REFUSE}:
            return {}
        yes = said.answer is Answer.APPROVE
        rows = approvals.decide(self._database, session, row, yes=yes, consent=said.consent)
        expires = rows[0].expires if yes and rows else None
        return {
            "calls": [f"{'approved' if call.approved else 'refused'}: {call.step} {call.arguments}" for call in rows],
            "until_done": said.consent.until_done or None,
            "expires": expires.isoformat() if expires else None,
        }

    def _follow(self, session: Session, row: QuestionRow, said: Said) -> None:
        """Carry the answer out: the gesture is settled by the person's word, or the run is abandoned."""
        run = session.get_one(RunRow, row.run_id)
        lease = Lease(run.id, run.attempt, run.token)
        proven = json.dumps([f"answer to {row.id} by {said.by}: {said.reason}"])
        state = _SETTLES.get(said.answer)
        gesture = session.get(GestureRow, row.gesture_id) if row.gesture_id else None
        if gesture is not None and state is not None and gesture.state is GestureState.ASKED:
            values = {**json.loads(gesture.values or "{}"), **said.values}
            facts = {"values": json.dumps(values), "proven_by": proven, "by": said.by}
            self._journal.move_within(session, lease, gesture.id, state, **facts).settled_at = row.ended_at
        elif gesture is not None and row.kind is QuestionKind.VALUES:
            gesture.values = json.dumps({**json.loads(gesture.values or "{}"), **said.values})
            session.add(gesture)
        if said.answer is Answer.ABANDON:
            check_arrow(RUN_ARROWS, run.state, RunState.ABANDONED)
            run.state, run.ended_by = RunState.ABANDONED, f"abandoned by {said.by}: {said.reason}"
            session.add(run)
        elif run.state is RunState.WAITING:
            run.ended_by = f"{row.id} was answered by {said.by}: {said.reason}"
            session.add(run)

    def _tell(self, session: Session, run: str, kind: str, row: QuestionRow, **facts: Any) -> None:
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


def _details(session: Session, asked: Asked) -> dict[str, Any]:
    """The details, with the names of the values that the step still needs if a person says that it happened."""
    gesture = session.get(GestureRow, asked.gesture) if asked.gesture else None
    if gesture is None or "needs" in asked.details or Answer.HAPPENED not in ALLOWED[asked.kind]:
        return dict(asked.details)
    known = json.loads(gesture.values or "{}")
    needs = [name for name in json.loads(gesture.intent).get("needs", ()) if name not in known]
    return {**asked.details, "needs": needs}


def _check(session: Session, row: QuestionRow, said: Said) -> None:
    if row.state is not QuestionState.OPEN:
        raise NotAllowed(f"{_end_in_words(row)} {_open_now(session, row.run_id)} Nothing was changed.")
    if said.answer not in ALLOWED[row.kind]:
        allowed = ", ".join(sorted(str(answer).replace("_", "-") for answer in ALLOWED[row.kind]))
        raise Misuse(f"Question {row.id} can be answered with: {allowed}. Nothing was changed.")
    if not said.by.strip() or not said.reason.strip():
        raise Misuse("An answer needs a name (--by) and a reason (--reason). Nothing was changed.")
    if said.answer is Answer.APPROVE:
        approvals.check(row, said.consent)
    elif said.consent != Consent():
        raise Misuse("Only a yes can be for some of the calls, for a time, or until it is done. Nothing was changed.")
    _check_names(session, row, said)
    missing = [name for name in json.loads(row.details).get("needs", ()) if name not in said.values]
    if said.answer is Answer.HAPPENED and missing:
        names, given = ", ".join(missing), " ".join(f"--value {name}=..." for name in missing)
        raise Misuse(f"If it happened, the run needs to know its {names}: add {given} Nothing was changed.")


def _check_names(session: Session, row: QuestionRow, said: Said) -> None:
    """Refuse a value by a name that nothing will read; what an older version has written down takes any."""
    gesture = session.get(GestureRow, row.gesture_id) if row.gesture_id else None
    takes = json.loads(gesture.intent).get("takes") if gesture is not None else None
    if takes is None:
        return
    known = list(dict.fromkeys([*json.loads(row.details).get("needs", ()), *takes]))
    if wrong := [f"{name}: there is no such value{nearest(name, known)}" for name in said.values if name not in known]:
        raise Misuse(f"{'; '.join(wrong)}. Nothing was changed.".replace("?.", "?"))


def _end_in_words(row: QuestionRow) -> str:
    """Who or what has ended a question, and when."""
    when = f"{row.ended_at:%Y-%m-%d %H:%M:%S} UTC" if row.ended_at else "an unknown time"
    if row.answer is None:
        return f"Question {row.id} was closed at {when} without an answer: {row.reason}."
    return f"Question {row.id} was answered at {when} by {row.by}: {row.answer.replace('_', '-')} ({row.reason})."


def _open_now(session: Session, run: str) -> str:
    asked = select(QuestionRow).where(QuestionRow.run_id == run, QuestionRow.state == QuestionState.OPEN)
    ids = [row.id for row in session.exec(asked)]
    return f"Open in run {run} now: {', '.join(ids)}." if ids else f"No question of run {run} is open now."
