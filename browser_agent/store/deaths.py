"""Deaths of attempts, recorded by a process of their own host, since no other host can see them.

First the attempt's end is recorded, so that no new attempt takes over its browser while its processes are ended. Then
its death is attested: worker, driver and browser were confirmed dead.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, and_, func, or_
from sqlalchemy.orm import aliased
from sqlmodel import col, select

from browser_agent.clock import Clock
from browser_agent.states import RUN_ARROWS, RunState
from browser_agent.store import audit
from browser_agent.store.database import Database
from browser_agent.store.lease_times import moment
from browser_agent.store.leases import AttemptEnd
from browser_agent.store.queue import is_last
from browser_agent.store.records import AttemptRow, RunRow

_OPEN = [state for state, arrows in RUN_ARROWS.items() if arrows]


class Deaths:
    """The deaths in one store that this host can see."""

    def __init__(self, database: Database, clock: Clock, host: str) -> None:
        self._database, self._clock, self._host = database, clock, host

    def unattested(self) -> list[tuple[RunRow, AttemptRow]]:
        """The last attempt on this host of each run, where its death is not attested yet.

        Another host may have resumed the run, and needs the attestation to prove an absence. Runs that have ended are
        included: a keeper may have been killed before it ended the browser.
        """
        left = or_(col(AttemptRow.ended).is_(None), col(AttemptRow.browser).is_not(None))
        matters = or_(col(RunRow.state).in_(_OPEN), left)
        asked = select(RunRow, AttemptRow).join(AttemptRow, self._is_last_here()).where(matters)
        with self._database.read() as session:
            return [(run, row) for run, row in session.exec(asked.where(col(AttemptRow.attested).is_(None)))]

    def interrupted(self) -> list[tuple[RunRow, AttemptRow]]:
        """The running runs whose last attempt, on any host, has ended or lost its lease."""
        with self._database.read() as session:
            over = or_(col(AttemptRow.ended).is_not(None), col(RunRow.lease_until) <= self._database.now(session))
            asked = select(RunRow, AttemptRow).join(AttemptRow, is_last()).where(RunRow.state == RunState.RUNNING, over)
            return [(run, row) for run, row in session.exec(asked)]

    def record_death(self, run: str, number: int, end: AttemptEnd) -> bool:
        """Record that an attempt has ended, if it is the run's last on this host; whether it is."""
        with self._database.write() as session:
            asked = select(AttemptRow).join(RunRow, self._is_last_here()).where(AttemptRow.run_id == run)
            row = session.exec(asked).one_or_none()
            if row is None or row.number != number:
                return False
            if row.ended is None:
                end.store_in(row, self._clock.now())
                session.add(row)
                audit.append(session, self._clock, "attempt_ended", run, attempt=number, how=end.words)
            return True

    def _is_last_here(self) -> ColumnElement[bool]:
        """Joins to a run its last attempt on this host."""
        later = aliased(AttemptRow)
        of_run = and_(col(later.run_id) == RunRow.id, col(later.host) == self._host)
        newest = select(func.max(later.number)).where(of_run).scalar_subquery()
        return and_(col(AttemptRow.run_id) == RunRow.id, col(AttemptRow.number) == newest)

    def attest(self, run: str, numbers: Iterable[int], by: str) -> None:
        """Record that worker, driver and browser of these attempts of this host are dead now. Done once an attempt.

        Args:
            run: the run's id.
            numbers: the attempts.
            by: JSON of the process that saw them dead.
        """
        with self._database.write() as session:
            for number in numbers:
                row = session.get_one(AttemptRow, (run, number))
                if row.attested is None:
                    row.attested, row.attested_by = moment(self._database, session), f"{self._host} {by}"
                    session.add(row)
                    audit.append(session, self._clock, "death_attested", run, attempt=number, by=row.attested_by)
