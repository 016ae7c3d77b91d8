"""The store: everything that is written down about runs. It never imports a browser or a gesture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from browser_agent.clock import Clock
from browser_agent.processes import own_host
from browser_agent.secrets.seal import load_seal
from browser_agent.store import audit
from browser_agent.store.address import located, profiles_beside, shown
from browser_agent.store.answers import PersonAnswer
from browser_agent.store.approvals import Approvals, Consent
from browser_agent.store.checkpoints import Checkpoints
from browser_agent.store.database import Database
from browser_agent.store.deaths import Deaths
from browser_agent.store.evidence import Artifacts
from browser_agent.store.evidence_location import open_evidence
from browser_agent.store.inbox import Inbox, NewQuestion
from browser_agent.store.journal import Intent, Journal, NewStep
from browser_agent.store.lease_times import Times
from browser_agent.store.leases import AttemptEnd, Lease, Leases
from browser_agent.store.logins import Logins
from browser_agent.store.queue import Offer, Queue, Work
from browser_agent.store.worker_registry import Keepers

__all__ = [
    "AttemptEnd",
    "Consent",
    "Intent",
    "Lease",
    "NewQuestion",
    "NewStep",
    "Offer",
    "PersonAnswer",
    "Store",
    "Times",
    "Work",
]


class Store:
    """One store: a database, and the location of its pictures and page copies.

    Args:
        where: a SQLite file, created and migrated if missing; or a PostgreSQL database, `postgresql://user@host/name`.
        clock: the time in rows. Leases are measured by the database's own clock.
        times: how long leases last; the same for every process that uses the store.
        host: this machine's name; see `own_host` for the default.
        evidence: where the store's pictures go: a folder, or `s3://bucket/prefix`. By default where they are already,
            as the store itself knows; a new store's go beside it.

    Raises:
        StoreUnusable: see `Database`.
        Misuse: the key for sealed states is malformed, or other users may read it; an address is malformed; the
            store's pictures are elsewhere already.

    Attributes:
        where: the store as it may be shown: the file's path, or the address without its password.
        address: the full address, for another process of ours. Never show it to a person.
        profiles: the folder of the profiles of browsers that this machine started for the store.
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
        address = located(where)
        self.times, self.host = times or Times(), host or own_host()
        self.database = Database(address)
        self.where, self.address = shown(address), str(address)
        self.profiles = profiles_beside(address)
        self.clock: Clock = clock or self.database.backend.clock()
        self.leases = Leases(self.database, self.clock, self.times, self.host)
        self.queue = Queue(self.database)
        self.deaths = Deaths(self.database, self.clock, self.host)
        self.keepers = Keepers(self.database, self.host)
        self.journal = Journal(self.database, self.clock, self.times)
        try:
            self.artifacts = Artifacts(self.database, self.clock, open_evidence(self.database, address, evidence))
            seal = load_seal()
        except BaseException:
            self.close()
            raise
        self.checkpoints = Checkpoints(self.database, self.clock, seal)
        self.logins = Logins(self.database, self.clock, seal)
        self.approvals = Approvals(self.database)
        self.inbox = Inbox(self.database, self.clock, self.journal)

    def audit_lines(self, run: str | None = None) -> list[dict[str, Any]]:
        """The audit lines of one run, or of the whole store."""
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
