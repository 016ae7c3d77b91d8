"""Everything that is written down: one door to the database, the journal, the leases, the inbox, the log, the blobs.

The rooms do not know each other's insides; this door puts them together. Never imports a browser or a gesture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from browser_agent.clock import Clock
from browser_agent.processes import own_host
from browser_agent.secrets.seal import load_seal
from browser_agent.store import audit
from browser_agent.store.address import located, profiles_beside, shown
from browser_agent.store.approvals import Approvals, Consent
from browser_agent.store.checkpoints import Checkpoints
from browser_agent.store.database import Database
from browser_agent.store.deaths import Deaths
from browser_agent.store.evidence import Artifacts
from browser_agent.store.evidence_location import placed
from browser_agent.store.inbox import Asked, Inbox, Said
from browser_agent.store.journal import Called, Intent, Journal
from browser_agent.store.lease_times import Times
from browser_agent.store.leases import Lease, Leases
from browser_agent.store.logins import Logins
from browser_agent.store.queue import Offer, Queue, Work
from browser_agent.store.worker_registry import Keepers

__all__ = [
    "Asked",
    "Called",
    "Consent",
    "Intent",
    "Lease",
    "Offer",
    "Said",
    "Store",
    "Times",
    "Work",
]


class Store:
    """One store: a database, and the place of its blobs.

    Args:
        where: a SQLite file, made and migrated if missing; or a PostgreSQL database, `postgresql://user@host/name`.
        clock: time of the rows; leases are measured by the database's own clock.
        times: how long leases last; the same for all who work on the store.
        host: what this host is called; see `own_host` for the default.
        evidence: where its pictures are to lie, if it has none yet: a folder, or `s3://bucket/prefix`. By default where
            they lie: the store knows it; else beside it.

    Raises:
        StoreUnusable: see `Database`.
        Misuse: the key for sealed states is none, or others may read it; an address that is none; its pictures lie
            elsewhere already.

    Attributes:
        where: the store as it may be shown: the file's path, or the address without its password.
        address: what opens it again, in full: for another process of ours, never for a person.
        profiles: the folder of the profiles of browsers that this machine has started for it.
    """

    def __init__(
        self,
        where: Path | str,
        clock: Clock | None = None,
        *,
        times: Times | None = None,
        host: str | None = None,
        evidence: Path | str | None = None,
    ) -> None:
        place = located(where)
        self.times, self.host = times or Times(), host or own_host()
        self.database = Database(place)
        self.where, self.address = shown(place), str(place)
        self.profiles = profiles_beside(place)
        self.clock: Clock = clock or self.database.home.clock()
        self.leases = Leases(self.database, self.clock, self.times, self.host)
        self.queue = Queue(self.database)
        self.deaths = Deaths(self.database, self.clock, self.host)
        self.keepers = Keepers(self.database, self.host)
        self.journal = Journal(self.database, self.clock, self.times)
        try:
            self.artifacts = Artifacts(self.database, self.clock, placed(self.database, place, evidence))
            seal = load_seal()
        except BaseException:
            self.close()
            raise
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
