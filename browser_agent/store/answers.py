"""A person's answer to a question, and the checks that it must pass. Changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session, select

from browser_agent.errors import Misuse, NotAllowed, nearest
from browser_agent.states import Answer, QuestionKind, QuestionState
from browser_agent.store import approvals
from browser_agent.store.approvals import Consent
from browser_agent.store.records import GestureRow, QuestionRow


@dataclass(frozen=True)
class PersonAnswer:
    """A person's answer.

    values: the values that the step reads of what happened.
    override: the person takes it on themselves that it hasn't happened, although it is too early to know.
    consent: how far a yes goes.
    """

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
    QuestionKind.BASELINE: frozenset({Answer.NOT_HAPPENED, Answer.ABANDON}),
    QuestionKind.SIGNED_OUT: frozenset({Answer.ABANDON}),
    QuestionKind.APPROVAL: frozenset({Answer.APPROVE, Answer.REFUSE, Answer.ABANDON}),
}
"""The answers that each kind of question takes."""
TIMES = "times"
"""The detail of a question about a gesture that says how often its effect was seen, if that was more than once."""

DECLARE = "declare"
"""The detail of a question about a gesture that lists the declarations with which it would not have been asked."""


def allowed(question: QuestionRow) -> frozenset[Answer]:
    """The answers that a question takes. What was seen more than once can't be said not to have happened."""
    seen = json.loads(question.details).get(TIMES, 1)
    return ALLOWED[question.kind] - ({Answer.NOT_HAPPENED} if seen > 1 else set())


def check(session: Session, row: QuestionRow, given: PersonAnswer) -> None:
    """Refuse an answer that the question would never take.

    Raises:
        NotAllowed: the question was answered or closed already.
        Misuse: this kind of question has no such answer, the name or the reason is missing, a value is missing or
            unknown, or the consent does not fit.
    """
    if row.state is not QuestionState.OPEN:
        raise NotAllowed(f"{_end_in_words(row)} {_open_now(session, row.run_id)} Nothing was changed.")
    if given.answer not in allowed(row):
        words = ", ".join(sorted(str(answer).replace("_", "-") for answer in allowed(row)))
        raise Misuse(f"Question {row.id} can be answered with: {words}. Nothing was changed.")
    if not given.by.strip() or not given.reason.strip():
        raise Misuse("An answer needs a name (--by) and a reason (--reason). Nothing was changed.")
    if given.answer is Answer.APPROVE:
        approvals.check(row, given.consent)
    elif given.consent != Consent():
        raise Misuse(
            "Only an approval can cover some of the calls, expire, or last until a call is done. Nothing was changed."
        )
    _check_values(session, row, given)


def check_time(row: QuestionRow, given: PersonAnswer, now: datetime) -> None:
    """Refuse "not happened" while the gesture may still take effect.

    Raises:
        Misuse: it is too early, and the person does not override that.
    """
    early = row.earliest_safe is None or now < row.earliest_safe
    if row.kind is QuestionKind.OUTCOME and given.answer is Answer.NOT_HAPPENED and early and not given.override:
        safe = row.earliest_safe
        when = f"before {safe:%Y-%m-%d %H:%M:%S} UTC" if safe else "since no time is declared"
        raise Misuse(
            f"Too early to answer not-happened: the gesture may still take effect ({when}). Wait, declare the "
            "site's late_commit, or answer at your own risk with --override. Nothing was changed."
        )


def _check_values(session: Session, row: QuestionRow, given: PersonAnswer) -> None:
    needed: list[str] = json.loads(row.details).get("needs", [])
    gesture = session.get(GestureRow, row.gesture_id) if row.gesture_id else None
    takes = json.loads(gesture.intent).get("takes") if gesture is not None else None
    if takes is not None:  # an intent of an older version does not say which values it takes
        known = list(dict.fromkeys([*needed, *takes]))
        unknown = [name for name in given.values if name not in known]
        wrong = [f"{name}: there is no such value{nearest(name, known)}" for name in unknown]
        if wrong:
            raise Misuse(f"{'; '.join(wrong)}. Nothing was changed.".replace("?.", "?"))
    missing = [name for name in needed if name not in given.values]
    if given.answer is Answer.HAPPENED and missing:
        names, options = ", ".join(missing), " ".join(f"--value {name}=..." for name in missing)
        raise Misuse(f"If it happened, the run needs its {names}: add {options} Nothing was changed.")


def _end_in_words(row: QuestionRow) -> str:
    """Who or what ended a question, and when."""
    when = f"{row.ended_at:%Y-%m-%d %H:%M:%S} UTC" if row.ended_at else "an unknown time"
    if row.answer is None:
        return f"Question {row.id} was closed at {when} without an answer: {row.reason}."
    return f"Question {row.id} was answered at {when} by {row.by}: {row.answer.replace('_', '-')} ({row.reason})."


def _open_now(session: Session, run: str) -> str:
    asked = select(QuestionRow).where(QuestionRow.run_id == run, QuestionRow.state == QuestionState.OPEN)
    ids = [row.id for row in session.exec(asked)]
    return f"Open in run {run} now: {', '.join(ids)}." if ids else f"No question of run {run} is open now."
