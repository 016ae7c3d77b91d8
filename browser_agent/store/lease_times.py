"""How long a lease lasts, and how much of it must be left for each act."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from sqlmodel import Session

from browser_agent.store.database import Database


@dataclass(frozen=True)
class Times:
    """The times of a lease, in seconds; the same for all processes that share the store.

    Args:
        lease: how long it lasts from each heartbeat.
        margin: no gesture is made with less of the lease left. A gesture's own time limit is shorter.
        release: no request is released with less of the lease left, since pooled connections are closed after the
            fence is checked and before the request leaves.
        beat: the time between two heartbeats.
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
        """How long a gesture's input may take."""
        return self.margin - min(2.0, self.margin / 4)

    @classmethod
    def shortened(cls, by: float) -> Self:
        """The default times divided by a factor."""
        usual = cls()
        return cls(usual.lease / by, usual.margin / by, usual.release / by, usual.beat / by)


def at(seconds: float) -> datetime:
    """The time of a number of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def moment(database: Database, session: Session) -> datetime:
    """The time now by the database's clock."""
    return at(database.now(session))
