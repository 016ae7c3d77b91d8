"""Checkpoints: the last state of a run's session and page, sealed, from which another process resumes.

There is one row for each run and purpose; a trigger removes it when the run ends. Without a key no state is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from browser_agent.clock import Clock
from browser_agent.secrets.seal import Seal
from browser_agent.store import audit
from browser_agent.store.database import Database
from browser_agent.store.leases import Lease, fence
from browser_agent.store.records import AuditRow, CheckpointRow

SESSION, PAGE = "session", "page"
"""The purposes: the state that another browser is given, and the last page, which only a person reads."""
_UNSEALED = "checkpoint_unsealed"


class Checkpoints:
    """The sealed states of one store.

    Args:
        seal: the key; None = no state is saved.
    """

    def __init__(self, database: Database, clock: Clock, seal: Seal | None) -> None:
        self._database, self._clock, self._seal = database, clock, seal

    @property
    def sealed(self) -> bool:
        """Whether there is a key, so that states are saved at all."""
        return self._seal is not None

    def begin(self, run: str, purpose: str, state: dict[str, Any]) -> bool:
        """Save the first state of a run that nobody owns yet; whether it was saved.

        It is not saved without a key, or if the run has a state of that purpose already.
        """
        if self._seal is None:
            return False
        content = self._seal.close(json.dumps(state).encode(), _bound(run, purpose))
        with self._database.write() as session:
            if session.get(CheckpointRow, (run, purpose)) is not None:
                return False
            session.add(CheckpointRow(run_id=run, purpose=purpose, attempt=0, sealed=content, at=self._clock.now()))
            audit.append(session, self._clock, "checkpoint", run, attempt=0, purpose=purpose)
        return True

    def save(self, lease: Lease, **states: tuple[Mapping[str, Any], Mapping[str, Any]]) -> bool:
        """Save states in one transaction, each in place of the last one of its purpose; False if there is no key.

        Args:
            lease: the attempt's right to write.
            states: purpose -> the state (JSON data, sealed), and the part of it that may be read without the key.

        Raises:
            Superseded: another attempt owns the run.
        """
        if self._seal is None:
            return False
        sealed = {
            purpose: self._seal.close(json.dumps(state).encode(), _bound(lease.run, purpose))
            for purpose, (state, _) in states.items()
        }
        with self._database.write() as session:
            fence(session, lease)
            for purpose, (_, shown) in states.items():
                self._put(session, lease, purpose, sealed[purpose], shown)
        return True

    def _put(self, session: Session, lease: Lease, purpose: str, sealed: bytes, shown: Mapping[str, Any]) -> None:
        row = session.get(CheckpointRow, (lease.run, purpose))
        if row is None:
            row = CheckpointRow(run_id=lease.run, purpose=purpose, attempt=0, sealed=b"", at=self._clock.now())
            audit.append(session, self._clock, "checkpoint", lease.run, attempt=lease.attempt, purpose=purpose)
        row.attempt, row.sealed, row.at = lease.attempt, sealed, self._clock.now()
        row.shown = json.dumps(shown)
        session.add(row)

    def record_unsealed(self, lease: Lease) -> bool:
        """Log, once a run, that its states stay in memory only; whether this was the first time.

        Raises:
            Superseded: another attempt owns the run.
        """
        with self._database.write() as session:
            fence(session, lease)
            first = not _is_recorded(session, lease.run)
            if first:
                audit.append(session, self._clock, _UNSEALED, lease.run, attempt=lease.attempt)
        return first

    def unsealed(self, run: str) -> bool:
        """Whether the states of one of the run's attempts stayed in memory only."""
        with self._database.read() as session:
            return _is_recorded(session, run)

    def rows(self, run: str) -> list[CheckpointRow]:
        """The run's checkpoints, still sealed."""
        with self._database.read() as session:
            asked = select(CheckpointRow).where(CheckpointRow.run_id == run).order_by(col(CheckpointRow.purpose))
            return list(session.exec(asked))

    def last(self, run: str, purpose: str) -> dict[str, Any] | None:
        """The last state of that purpose; None if there is none, or no key.

        Raises:
            SealBroken: it was sealed with another key, or altered.
        """
        row = next((row for row in self.rows(run) if row.purpose == purpose), None)
        if row is None or self._seal is None:
            return None
        state: dict[str, Any] = json.loads(self._seal.open(row.sealed, _bound(run, purpose)))
        return state

    def saved_at(self, run: str, purpose: str) -> datetime | None:
        """When the last state of that purpose was saved."""
        return next((row.at for row in self.rows(run) if row.purpose == purpose), None)


def _is_recorded(session: Session, run: str) -> bool:
    asked = select(AuditRow.seq).where(AuditRow.run_id == run, AuditRow.kind == _UNSEALED).limit(1)
    return session.exec(asked).first() is not None


def _bound(run: str, purpose: str) -> str:
    return f"browser-agent {run} {purpose}"
