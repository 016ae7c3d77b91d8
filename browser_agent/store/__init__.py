"""Everything that is written down: one door to the database, the journal, the leases, the inbox, the log, the blobs.

The rooms do not know each other's insides; this door puts them together. Never imports a browser or a gesture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from browser_agent.clock import Clock, SystemClock
from browser_agent.sealing import load_seal
from browser_agent.store import audit
from browser_agent.store.approvals import Approvals, Consent
from browser_agent.store.artifacts import Artifacts
from browser_agent.store.checkpoints import Checkpoints
from browser_agent.store.database import Database
from browser_agent.store.inbox import Asked, Inbox, Said
from browser_agent.store.journal import RELEASE_SECONDS, Called, Intent, Journal
from browser_agent.store.leases import LEASE_SECONDS, MARGIN_SECONDS, Lease, Leases
from browser_agent.store.logins import Logins

__all__ = [
    "LEASE_SECONDS",
    "MARGIN_SECONDS",
    "RELEASE_SECONDS",
    "Asked",
    "Called",
    "Consent",
    "Intent",
    "Lease",
    "Said",
    "Store",
]


class Store:
    """One store: a SQLite file and the folder of its blobs beside it.

    Args:
        path: the file, made and migrated if missing.
        clock: time of the rows; leases are measured by the database's own clock.

    Raises:
        StoreUnusable: see `Database`.
        Misuse: the key for sealed states is none, or others may read it.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self.database = Database(path)
        self.path = self.database.path
        self.leases = Leases(self.database, self.clock)
        self.journal = Journal(self.database, self.clock)
        self.artifacts = Artifacts(self.database, self.clock)
        seal = load_seal()
        self.checkpoints = Checkpoints(self.database, self.clock, seal)
        self.logins = Logins(self.database, self.clock, seal)
        self.approvals = Approvals(self.database)
        self.inbox = Inbox(self.database, self.clock, self.journal)

    def audit_lines(self, run: str | None = None) -> list[dict[str, Any]]:
        """The audit lines of a run, or of the whole store."""
        with self.database.read() as session:
            return list(audit.lines(session, run))

    def verify(self) -> audit.Chain:
        """Hash the audit log again."""
        with self.database.read() as session:
            return audit.verify(session)

    def close(self) -> None:
        """Close the store."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
