"""The worker processes: each says when it begins, that it lives, and when it ends. Tells, and decides nothing.

Times are the database's. A row that was never ended belongs to a process that died, or to one that lives: who asks
judges that by its beat, and on its own host by the process itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_
from sqlmodel import col, select

from browser_agent.clock import new_id
from browser_agent.states import RunState
from browser_agent.store.database import Database
from browser_agent.store.lease_times import moment
from browser_agent.store.records import AttemptRow, KeeperRow, RunRow

RECENT = timedelta(hours=1)
"""So long a worker process that has ended, or beats no more, is still told of."""


@dataclass(frozen=True)
class Keeping:
    """A worker process, and the attempts at running runs that it keeps."""

    row: KeeperRow
    attempts: tuple[AttemptRow, ...]


class Keepers:
    """The worker processes of one store."""

    def __init__(self, database: Database, host: str) -> None:
        self._database, self._host = database, host

    def begin(self, process: str, concurrency: int) -> str:
        """Write a worker process down; its id."""
        with self._database.write() as session:
            now = moment(self._database, session)
            row = KeeperRow(id=new_id("k"), host=self._host, process=process, concurrency=concurrency)
            row.began = row.beaten = now
            session.add(row)
            return row.id

    def beat(self, keeper: str) -> None:
        """It lives."""
        with self._database.write() as session:
            row = session.get_one(KeeperRow, keeper)
            row.beaten = moment(self._database, session)
            session.add(row)

    def end(self, keeper: str) -> None:
        """It has come to its end by itself."""
        with self._database.write() as session:
            row = session.get_one(KeeperRow, keeper)
            row.ended = moment(self._database, session)
            session.add(row)

    def recent(self) -> tuple[datetime, list[Keeping]]:
        """Now, by the database's clock, and the worker processes that live or have ended not long ago, oldest first."""
        with self._database.read() as session:
            now = moment(self._database, session)
            since = now - RECENT
            asked = select(KeeperRow).where(or_(col(KeeperRow.beaten) > since, col(KeeperRow.ended) > since))
            rows = session.exec(asked.order_by(col(KeeperRow.began)))
            current = select(AttemptRow).join(RunRow).where(RunRow.state == RunState.RUNNING)
            kept = list(
                session.exec(current.where(AttemptRow.number == RunRow.attempt, col(AttemptRow.ended).is_(None)))
            )
            return now, [
                Keeping(row, tuple(each for each in kept if (each.host, each.keeper) == (row.host, row.process)))
                for row in rows
            ]
