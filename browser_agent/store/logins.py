"""Logins: the browser state after a person's login at a site, sealed, for all later runs with that account."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import col, select

from browser_agent.clock import Clock
from browser_agent.errors import Misuse
from browser_agent.secrets.seal import Seal
from browser_agent.store import audit
from browser_agent.store.database import Database
from browser_agent.store.leases import Lease, fence
from browser_agent.store.records import LoginRow

NO_KEY = "There is no key to encrypt a login with. Create one: browser-agent key --new"


@dataclass(frozen=True)
class OpenedLogin:
    """A login whose seal is opened, and when it was saved."""

    site: str
    account: str
    state: Mapping[str, Any]
    at: datetime


class Logins:
    """The logins of one store.

    Args:
        seal: the key; None = no login is saved or opened.
    """

    def __init__(self, database: Database, clock: Clock, seal: Seal | None) -> None:
        self._database, self._clock, self._seal = database, clock, seal

    def check_key(self) -> None:
        """Raise `Misuse` with the remedy if there is no key."""
        if self._seal is None:
            raise Misuse(NO_KEY)

    def save(self, site: str, account: str, state: Mapping[str, Any]) -> None:
        """Save the state in place of the last one of that site and account. Raises `Misuse` without a key."""
        if self._seal is None:
            raise Misuse(NO_KEY)
        content = self._seal.close(json.dumps(state).encode(), _bound(site, account))
        with self._database.write() as session:
            row = session.get(LoginRow, (site, account)) or LoginRow(
                site=site, account=account, sealed=b"", at=self._clock.now()
            )
            row.sealed, row.at = content, self._clock.now()
            session.add(row)
            audit.append(session, self._clock, "login_kept", site=site, account=account)

    def find(self, site: str, account: str) -> OpenedLogin | None:
        """The login of that site and account; None if there is none, or no key.

        Raises:
            SealBroken: it was sealed with another key, or altered.
        """
        with self._database.read() as session:
            row = session.get(LoginRow, (site, account))
        if row is None or self._seal is None:
            return None
        return OpenedLogin(site, account, json.loads(self._seal.open(row.sealed, _bound(site, account))), row.at)

    def rows(self) -> list[LoginRow]:
        """All logins, still sealed."""
        with self._database.read() as session:
            return list(session.exec(select(LoginRow).order_by(col(LoginRow.site), col(LoginRow.account))))

    def forget(self, site: str, account: str | None = None) -> list[str]:
        """Delete the logins of a site, or that of one account. Returns the accounts of the deleted logins."""
        with self._database.write() as session:
            asked = select(LoginRow).where(LoginRow.site == site)
            rows = [row for row in session.exec(asked) if account in (None, row.account)]
            for row in rows:
                session.delete(row)
                audit.append(session, self._clock, "login_forgotten", site=site, account=row.account)
            return [row.account for row in rows]

    def signed_in(self, lease: Lease, site: str, account: str, routine: str) -> None:
        """Log that a run has signed in again by the task's own routine.

        Raises:
            Superseded: another attempt owns the run.
        """
        with self._database.write() as session:
            fence(session, lease)
            facts = {"site": site, "account": account, "tool": routine}
            audit.append(session, self._clock, "signed_in", lease.run, attempt=lease.attempt, **facts)


def _bound(site: str, account: str) -> str:
    return f"browser-agent login {json.dumps([site, account])}"
