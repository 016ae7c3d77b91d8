"""Deaths of attempts, written down by whoever saw them on their own host: elsewhere nothing else tells of them.

An attempt is buried (it has ended, and how) before anybody may touch what it left, so that no new attempt takes over
its browser meanwhile; it is attested when its worker, driver and browser were seen dead. Looks at no process itself.
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
from browser_agent.store.queue import is_last
from browser_agent.store.records import AttemptRow, RunRow

_OPEN = [state for state, arrows in RUN_ARROWS.items() if arrows]


class Deaths:
    """The deaths of one store, as this host sees them."""

    def __init__(self, database: Database, clock: Clock, host: str) -> None:
        self._database, self._clock, self._host = database, clock, host

    def unattested(self) -> list[tuple[RunRow, AttemptRow]]:
        """The last attempts that were made of runs on this host, of which nobody has said yet that all of them is dead.

        Another host may have gone on since then, and waits for that word to prove an absence. Those of runs that have
        ended, too: a keeper may have been killed before it had ended the browser.
        """
        left = or_(col(AttemptRow.ended).is_(None), col(AttemptRow.browser).is_not(None))
        matters = or_(col(RunRow.state).in_(_OPEN), left)
        asked = select(RunRow, AttemptRow).join(AttemptRow, self._is_last_here()).where(matters)
        with self._database.read() as session:
            return [(run, row) for run, row in session.exec(asked.where(col(AttemptRow.attested).is_(None)))]

    def interrupted(self) -> list[tuple[RunRow, AttemptRow]]:
        """The running runs whose last attempt has ended, or has lost its lease, on whatever host."""
        with self._database.read() as session:
            over = or_(col(AttemptRow.ended).is_not(None), col(RunRow.lease_until) <= self._database.now(session))
            asked = select(RunRow, AttemptRow).join(AttemptRow, is_last()).where(RunRow.state == RunState.RUNNING, over)
            return [(run, row) for run, row in session.exec(asked)]

    def bury(self, run: str, number: int, how: str) -> bool:
        """Write down that an attempt has ended, if it is still the last on this host; whether it has, and still is."""
        with self._database.write() as session:
            asked = select(AttemptRow).join(RunRow, self._is_last_here()).where(AttemptRow.run_id == run)
            row = session.exec(asked).one_or_none()
            if row is None or row.number != number:
                return False
            if row.ended is None:
                row.ended, row.how = self._clock.now(), how
                session.add(row)
                audit.append(session, self._clock, "attempt_ended", run, attempt=number, how=how)
            return True

    def _is_last_here(self) -> ColumnElement[bool]:
        """Joins the last attempt of a run on this host to it."""
        later = aliased(AttemptRow)
        of_run = and_(col(later.run_id) == RunRow.id, col(later.host) == self._host)
        newest = select(func.max(later.number)).where(of_run).scalar_subquery()
        return and_(col(AttemptRow.run_id) == RunRow.id, col(AttemptRow.number) == newest)

    def attest(self, run: str, numbers: Iterable[int], by: str) -> None:
        """Write down that worker, driver and browser of these attempts of this host were seen dead by now, each once.

        Args:
            run: the run's id.
            numbers: the attempts.
            by: JSON of the process that has seen it.
        """
        with self._database.write() as session:
            for number in numbers:
                row = session.get_one(AttemptRow, (run, number))
                if row.attested is None:
                    row.attested, row.attested_by = moment(self._database, session), f"{self._host} {by}"
                    session.add(row)
                    audit.append(session, self._clock, "death_attested", run, attempt=number, by=row.attested_by)
