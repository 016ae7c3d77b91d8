"""Approvals: a person's yes or no to exact step calls, and which gesture used a yes.

A yes covers one step with its canonical arguments, until it expires, for ONE gesture: dispatching uses it up, unless it
was given until the call is done.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlmodel import Session, col, select

from browser_agent.clock import new_id
from browser_agent.errors import Misuse, NotApproved
from browser_agent.rules import approval_covers
from browser_agent.store.database import Database
from browser_agent.store.records import ApprovalRow, GestureRow, QuestionRow, StepRow


@dataclass(frozen=True)
class Consent:
    """How far a yes goes.

    only: positions of the approved calls in their question, from 1; empty = all of them. The others are refused.
    until_done: it also covers gestures that are made again.
    valid: how long it may be used; None = as long as the question says.
    """

    only: tuple[int, ...] = ()
    until_done: bool = False
    valid: timedelta | None = None


class Approvals:
    """The approvals of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_question(self, question: str) -> list[ApprovalRow]:
        """The decision on each call of a question, in its order; empty before it is answered."""
        asked = select(ApprovalRow).where(ApprovalRow.question_id == question).order_by(col(ApprovalRow.position))
        with self._database.read() as session:
            return list(session.exec(asked))

    def of_call(self, run: str, step: str, arguments: str) -> list[ApprovalRow]:
        """A run's decisions on a step (name and version) with these canonical arguments, oldest first."""
        with self._database.read() as session:
            return _of_call(session, run, step, arguments)

    def covering(self, run: str, step: str, arguments: str) -> ApprovalRow | None:
        """A yes that covers the next gesture of that call, if there is one."""
        with self._database.read() as session:
            now = _now(self._database, session)
            rows = _of_call(session, run, step, arguments)
            return next((row for row in rows if _covers(session, row, now)), None)


def _of_call(session: Session, run: str, step: str, arguments: str) -> list[ApprovalRow]:
    asked = select(ApprovalRow).where(
        ApprovalRow.run_id == run, ApprovalRow.step == step, ApprovalRow.arguments == arguments
    )
    return list(session.exec(asked.order_by(col(ApprovalRow.at), col(ApprovalRow.position))))


def check(question: QuestionRow, consent: Consent) -> None:
    """Refuse a consent that doesn't fit its question.

    Raises:
        Misuse: no call has that position, or the time is not positive.
    """
    calls = len(json.loads(question.details)["calls"])
    wrong = [position for position in consent.only if not 1 <= position <= calls]
    if wrong:
        listed = ", ".join(map(str, wrong))
        raise Misuse(f"Question {question.id} has the calls 1 to {calls}, and no {listed}. Nothing was changed.")
    if consent.valid is not None and consent.valid <= timedelta(0):
        raise Misuse("An approval must be valid for some time. Nothing was changed.")


def decide(
    database: Database, session: Session, question: QuestionRow, *, yes: bool, consent: Consent
) -> list[ApprovalRow]:
    """Record a person's decision on each call of a question, inside the transaction that answers it."""
    details = json.loads(question.details)
    valid = consent.valid or timedelta(seconds=details["valid_seconds"])
    now = _now(database, session)
    rows = [
        ApprovalRow(
            id=new_id("y"),
            run_id=question.run_id,
            question_id=question.id,
            position=position,
            step=call["step"],
            arguments=call["arguments"],
            approved=yes and (not consent.only or position + 1 in consent.only),
            until_done=consent.until_done,
            expires=now + valid,
            by=question.by or "",
            at=question.ended_at or now,
        )
        for position, call in enumerate(details["calls"])
    ]
    session.add_all(rows)
    return rows


def use(database: Database, session: Session, approval: str, step: StepRow, gesture: GestureRow) -> ApprovalRow:
    """Use a yes for a gesture, inside the transaction that dispatches it.

    Raises:
        NotApproved: it covers another call, has expired, or was used.
    """
    row = session.get_one(ApprovalRow, approval)
    same = (row.run_id, row.step.rpartition("@")[0], row.arguments) == (step.run_id, step.name, step.arguments)
    if not same or not _covers(session, row, _now(database, session)):
        raise NotApproved(gesture.words)
    gesture.approval = row.id
    return row


def _covers(session: Session, row: ApprovalRow, now: datetime) -> bool:
    used = [made.state for made in session.exec(select(GestureRow).where(GestureRow.approval == row.id))]
    expired = row.expires is not None and row.expires <= now
    return approval_covers(approved=row.approved, until_done=row.until_done, expired=expired, used_by=used)


def _now(database: Database, session: Session) -> datetime:
    return datetime.fromtimestamp(database.now(session), UTC)
