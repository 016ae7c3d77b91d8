"""The queue: the runs that worker processes may take now, the most urgent first.

The runs' own rows are the queue. It does not know which keepers are alive: the one that takes an
interrupted run must check that.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, or_
from sqlmodel import Session, col, exists, select

from browser_agent.states import QuestionKind, QuestionState, RunState
from browser_agent.store.database import Database
from browser_agent.store.lease_times import moment
from browser_agent.store.records import AttemptRow, QuestionRow, RunRow

MOST = 200
"""How many runs of a kind are offered at once. Running ones are all offered, since those that live are among them."""
LOOKS_AFTER = tuple(timedelta(seconds=seconds) for seconds in (15, 60, 300, 900, 3600))
"""The waits before each further look at an open question; the last one from then on."""


class Work(StrEnum):
    """Why a run may be taken, the most urgent first."""

    INTERRUPTED = "interrupted"  # its keeper may be dead; the next one must check that
    READY = "ready"
    ANSWERED = "answered"  # it waited, and all its questions have ended
    NEW = "new"
    LOOK = "look"  # only to look at its open question


@dataclass(frozen=True)
class Offer:
    """A run that may be taken.

    Attributes:
        run: its id.
        work: why.
        attempt: its last attempt, 0 = none. A claim is a compare-and-set on it.
        last: that attempt's row.
        lease_over: its lease has run out, by the database's clock.
        deaths: how many attempts in a row had died before the last one.
        budget: how many may; None = see its keeper's options.
    """

    run: str
    work: Work
    attempt: int
    last: AttemptRow | None
    lease_over: bool
    deaths: int
    budget: int | None


class Queue:
    """The queue of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def offers(self) -> list[Offer]:
        """The runs that may be taken now, the most urgent first; of equally urgent ones the oldest first."""
        with self._database.read() as session:
            now = moment(self._database, session)
            return [offer for work in Work for offer in _offered(session, work, now)]


def may_be_taken(session: Session, row: RunRow, now: datetime) -> bool:
    """Whether the queue offers this run now. The transaction that claims it checks this again."""
    asked = select(RunRow.id).where(RunRow.id == row.id, or_(*(_is_due(work, now) for work in Work)))
    return session.exec(asked).first() is not None


def look_due(row: RunRow, now: datetime) -> datetime:
    """When to look next at the open question of a run that begins to wait now."""
    return now + LOOKS_AFTER[min(row.looks, len(LOOKS_AFTER) - 1)]


def is_last() -> ColumnElement[bool]:
    """Joins to a run its last attempt."""
    return and_(col(AttemptRow.run_id) == RunRow.id, col(AttemptRow.number) == RunRow.attempt)


def _offered(session: Session, work: Work, now: datetime) -> list[Offer]:
    asked = select(RunRow, AttemptRow).join(AttemptRow, is_last(), isouter=True).where(_is_due(work, now))
    most = None if work is Work.INTERRUPTED else MOST
    rows = session.exec(asked.order_by(col(RunRow.created), col(RunRow.id)).limit(most)).all()
    return [
        Offer(
            row.id, work, row.attempt, attempt, row.lease_until <= now.timestamp(), deaths=row.deaths, budget=row.budget
        )
        for row, attempt in rows
    ]


def _is_due(work: Work, now: datetime) -> ColumnElement[bool]:
    open_now = and_(col(QuestionRow.run_id) == RunRow.id, col(QuestionRow.state) == QuestionState.OPEN)
    asked, for_a_person = exists().where(open_now), exists().where(open_now, _not_by_looking())
    state, not_before = col(RunRow.state), col(RunRow.not_before)
    due: dict[Work, Any] = {
        Work.INTERRUPTED: state == RunState.RUNNING,
        Work.READY: state == RunState.READY,
        Work.ANSWERED: and_(state == RunState.WAITING, ~asked),
        Work.NEW: and_(state == RunState.NEW, or_(not_before.is_(None), not_before <= now)),
        Work.LOOK: and_(state == RunState.WAITING, asked, ~for_a_person, col(RunRow.look_after) <= now),
    }
    return and_(col(RunRow.queued), due[work])


def _not_by_looking() -> ColumnElement[bool]:
    return col(QuestionRow.kind) != QuestionKind.OUTCOME
