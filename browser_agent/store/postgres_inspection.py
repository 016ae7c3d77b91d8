"""Reads facts about a PostgreSQL server and the store in it, without opening or migrating the store."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import text

from browser_agent.errors import StoreUnusable
from browser_agent.store.postgres import OPENING_SECONDS, PostgresBackend


@dataclass(frozen=True)
class ServerFacts:
    """The server's version and settings, and how far its clock is ahead of this machine's."""

    version: str
    synchronous_commit: str
    fsync: str
    ahead_seconds: float


def inspect_server(address: str) -> ServerFacts:
    """Read the facts about the server that matter to a store.

    Raises:
        StoreUnusable: see `PostgresBackend`.
    """
    backend = PostgresBackend(address, OPENING_SECONDS)
    names = ("server_version", "synchronous_commit", "fsync")
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    try:
        with backend.explained(), backend.engine.connect() as connection:
            version, commits, fsync = connection.execute(text(f"SELECT {settings}")).one()
            began, theirs, ended = time.time(), backend.now(connection), time.time()
    finally:
        backend.engine.dispose()
    return ServerFacts(version.split()[0], commits, fsync, theirs - (began + ended) / 2)


def recorded_evidence_address(address: str) -> str | None:
    """The recorded location of the store's pictures; None if there is none, or the database does not answer."""
    try:
        backend = PostgresBackend(address, OPENING_SECONDS)
    except StoreUnusable:
        return None
    try:
        with backend.engine.connect() as connection:
            if not connection.dialect.has_table(connection, "place"):
                return None
            return connection.execute(text("SELECT address FROM place")).scalar_one_or_none()
    finally:
        backend.engine.dispose()
