"""The queue: which runs a worker process may take now, and which of them first.

A run is in it from the moment that it was submitted for workers until it has ended for good; nothing is moved, the
runs' own rows are the queue. Due times are the database's. Whether a keeper lives is not known here: who asks for
interrupted runs judges their keepers. What may never happen: a run is offered for work while a question about it that
looking can't settle is open.
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
"""So many runs of a kind are offered at once; whoever takes one asks again. The running ones are offered all: those
that live are among them."""
LOOKS_AFTER = tuple(timedelta(seconds=seconds) for seconds in (15, 60, 300, 900, 3600))
"""How long after it began to wait, or was last looked at, an open question is looked at again."""


class Work(StrEnum):
    """Why a run may be taken, the most urgent first."""

    INTERRUPTED = "interrupted"  # its keeper may be dead; who takes it sees to that
    READY = "ready"
    ANSWERED = "answered"  # it waited, and no question is open any more
    NEW = "new"
    LOOK = "look"  # only at its open question


@dataclass(frozen=True)
class Offer:
    """A run that may be taken.

    Attributes:
        run: its id.
        work: why.
        attempt: the attempt that was seen last, 0 if there was none: a claim is a compare-and-set on it.
        last: that attempt's row.
        lease_over: its lease has run out, by the database's clock.
        deaths: attempts in a row that had died before the last one.
        budget: how many may, if the run says so itself.
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
        """What may be taken now, the most urgent first; of equals the oldest."""
        with self._database.read() as session:
            now = moment(self._database, session)
            return [offer for work in Work for offer in _offered(session, work, now)]


def may_be_taken(session: Session, row: RunRow, now: datetime) -> bool:
    """Whether the queue holds this run for a worker process now; asked again in the transaction that claims it."""
    asked = select(RunRow.id).where(RunRow.id == row.id, or_(*(_is_due(work, now) for work in Work)))
    return session.exec(asked).first() is not None


def look_due(row: RunRow, now: datetime) -> datetime:
    """When an open question of a run that begins to wait now is looked at next."""
    return now + LOOKS_AFTER[min(row.looks, len(LOOKS_AFTER) - 1)]


def is_last() -> ColumnElement[bool]:
    """Joins a run's last attempt to it."""
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
