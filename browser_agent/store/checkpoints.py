"""Checkpoints: the last state of a run's session, sealed, so that another process goes on under the same account.

One row a run and purpose; removed by a trigger when the run ends. Without a key nothing is ever written here. Knows
nothing of browsers or of what a state holds.
"""

from __future__ import annotations

import json
from typing import Any

from sqlmodel import select

from browser_agent.clock import Clock
from browser_agent.records import CheckpointRow
from browser_agent.sealing import Seal
from browser_agent.store import audit
from browser_agent.store.database import Database
from browser_agent.store.leases import Lease, fence


class Checkpoints:
    """Keeps and hands out sealed states of one store.

    Args:
        seal: the key; None = nothing is kept.
    """

    def __init__(self, database: Database, clock: Clock, seal: Seal | None) -> None:
        self._database, self._clock, self._seal = database, clock, seal

    @property
    def sealed(self) -> bool:
        """Whether there is a key, so that states are kept at all."""
        return self._seal is not None

    def begin(self, run: str, purpose: str, state: dict[str, Any]) -> bool:
        """Keep the state of a run that nobody owns yet, unless there is one of that purpose; False if none was kept."""
        if self._seal is None:
            return False
        content = self._seal.close(json.dumps(state).encode(), _bound(run, purpose))
        with self._database.write() as session:
            if session.get(CheckpointRow, (run, purpose)) is not None:
                return False
            session.add(CheckpointRow(run_id=run, purpose=purpose, attempt=0, sealed=content, at=self._clock.now()))
            audit.append(session, self._clock, "checkpoint", run, attempt=0, purpose=purpose)
        return True

    def keep(self, lease: Lease, purpose: str, state: dict[str, Any]) -> bool:
        """Keep the state in place of the last one of that purpose; False if there is no key.

        Raises:
            Superseded: another attempt owns the run.
        """
        if self._seal is None:
            return False
        content = self._seal.close(json.dumps(state).encode(), _bound(lease.run, purpose))
        with self._database.write() as session:
            fence(session, lease)
            row = session.get(CheckpointRow, (lease.run, purpose))
            if row is None:
                row = CheckpointRow(run_id=lease.run, purpose=purpose, attempt=0, sealed=b"", at=self._clock.now())
                audit.append(session, self._clock, "checkpoint", lease.run, attempt=lease.attempt, purpose=purpose)
            row.attempt, row.sealed, row.at = lease.attempt, content, self._clock.now()
            session.add(row)
        return True

    def last(self, run: str, purpose: str) -> dict[str, Any] | None:
        """The last state of that purpose; None if none was kept, or there is no key.

        Raises:
            SealBroken: it was sealed with another key, or altered.
        """
        with self._database.read() as session:
            asked = select(CheckpointRow).where(CheckpointRow.run_id == run, CheckpointRow.purpose == purpose)
            row = session.exec(asked).first()
        if row is None or self._seal is None:
            return None
        state: dict[str, Any] = json.loads(self._seal.open(row.sealed, _bound(run, purpose)))
        return state


def _bound(run: str, purpose: str) -> str:
    return f"browser-agent {run} {purpose}"
