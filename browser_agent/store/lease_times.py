"""How long a lease lasts, and what must be left of it: one object, so that all who share a lease agree.

The order holds always: a beat is far shorter than the lease; a gesture's input is over before its margin; closing the
pooled connections is over before the release time. Knows no database but its clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from sqlmodel import Session

from browser_agent.store.database import Database


@dataclass(frozen=True)
class Times:
    """Seconds of a lease.

    Args:
        lease: how long it lasts from each beat.
        margin: no gesture is made with less of it left; the gesture's own time limit lies below.
        release: it must outlast the closing of pooled connections between the fence at the wire and the request's
            leaving, so nothing is let go with less of it left.
        beat: how often whoever keeps a run renews it.
    """

    lease: float = 30.0
    margin: float = 12.0
    release: float = 6.0
    beat: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.beat < self.lease - self.margin or not 0 < self.release < self.margin:
            raise ValueError(f"these times of a lease contradict each other: {self}")

    @property
    def input(self) -> float:
        """The longest that a gesture's input may take."""
        return self.margin - min(2.0, self.margin / 4)

    @classmethod
    def shortened(cls, by: float) -> Self:
        """The usual times, all of them so many times shorter."""
        usual = cls()
        return cls(usual.lease / by, usual.margin / by, usual.release / by, usual.beat / by)


def at(seconds: float) -> datetime:
    """A moment of the database's clock, from its seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def moment(database: Database, session: Session) -> datetime:
    """Now, by the database's clock."""
    return at(database.now(session))
