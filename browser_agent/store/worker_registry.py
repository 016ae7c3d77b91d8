"""The registry of worker processes: when each began, its heartbeats, and when it ended.

A row without an end belongs to a process that lives or has died. The heartbeat tells which, and on the process's own
host the process itself.
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
"""How long a worker process is still listed after its end or its last heartbeat."""


@dataclass(frozen=True)
class KeeperStatus:
    """A worker process, and the attempts that it keeps now."""

    row: KeeperRow
    attempts: tuple[AttemptRow, ...]


class Keepers:
    """The worker processes of one store."""

    def __init__(self, database: Database, host: str) -> None:
        self._database, self._host = database, host

    def begin(self, process: str, concurrency: int) -> str:
        """Register a worker process; returns its id."""
        with self._database.write() as session:
            now = moment(self._database, session)
            row = KeeperRow(id=new_id("k"), host=self._host, process=process, concurrency=concurrency)
            row.began = row.beaten = now
            session.add(row)
            return row.id

    def beat(self, keeper: str) -> None:
        """Record a heartbeat."""
        with self._database.write() as session:
            row = session.get_one(KeeperRow, keeper)
            row.beaten = moment(self._database, session)
            session.add(row)

    def end(self, keeper: str) -> None:
        """Record that it has ended by itself."""
        with self._database.write() as session:
            row = session.get_one(KeeperRow, keeper)
            row.ended = moment(self._database, session)
            session.add(row)

    def recent(self) -> tuple[datetime, list[KeeperStatus]]:
        """The time now by the database's clock, and the worker processes that live or ended recently, oldest first."""
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
                KeeperStatus(row, tuple(each for each in kept if (each.host, each.keeper) == (row.host, row.process)))
                for row in rows
            ]
