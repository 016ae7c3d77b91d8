"""Checks of the store: SQLite and its folder, PostgreSQL, and the storage of pictures."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from browser_agent import support
from browser_agent.cli.check import Probe
from browser_agent.errors import StoreUnusable
from browser_agent.settings import Settings
from browser_agent.store.address import BUCKET, evidence_beside, evidence_located, shown
from browser_agent.store.evidence_bucket import PATIENCE_SECONDS, Bucket
from browser_agent.store.sqlite import network_file_system

OLDEST_SQLITE = tuple(map(int, support.SQLITE.oldest.split(".")))  # RETURNING


def store_checks(store: Path | str, using: Settings) -> list[Probe]:
    """Check a store.

    Args:
        store: the folder where the store is or will be, or the address of a PostgreSQL database.
        using: the settings, which may name a bucket for pictures.
    """
    if isinstance(store, str):
        reached = check_postgres(store)
        return [reached, *([check_evidence(store, using)] if reached.well else [])]
    return [check_sqlite(store), check_store_folder(store), *([check_bucket(using)] if _in_bucket(using) else [])]


def _in_bucket(using: Settings) -> bool:
    return (using.evidence or "").startswith(BUCKET)


def check_sqlite(folder: Path) -> Probe:
    """Check that SQLite is recent enough, and that WAL mode works where the store will be."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Probe("SQLite", sqlite3.sqlite_version, f"use a Python with SQLite {'.'.join(map(str, OLDEST_SQLITE))}")
    try:
        with (
            tempfile.TemporaryDirectory(dir=_nearest_folder(folder), prefix=".doctor-") as inside,
            closing(sqlite3.connect(Path(inside) / "probe.db")) as database,
        ):
            (mode,) = database.execute("PRAGMA journal_mode=WAL").fetchone()
    except (OSError, sqlite3.Error) as error:
        return Probe("SQLite", f"{sqlite3.sqlite_version}, no database in {folder}: {error}", "choose another --store")
    to_do = "" if mode == "wal" else f"choose a --store on a disk that supports WAL (this one gives {mode})"
    return Probe("SQLite", f"{sqlite3.sqlite_version}, journal {mode}", to_do)


def check_postgres(address: str) -> Probe:
    """Check that the server is reachable, recent enough and durable, and compare its clock with this machine's."""
    try:
        from browser_agent.store.postgres_inspection import inspect_server

        found = inspect_server(address)
    except StoreUnusable as unusable:
        return Probe("PostgreSQL", str(unusable), "see that it runs and lets you in, or choose another --store")
    facts = f"{found.version} at {shown(address)}, synchronous_commit {found.synchronous_commit}, fsync {found.fsync}"
    words = f"{facts}, its clock {found.ahead_seconds:+.1f} s from this machine's"
    if found.fsync != "on":
        return Probe("PostgreSQL", words, "set fsync = on: what is committed must outlive a power cut")
    by_default = found.synchronous_commit in ("on", "remote_apply")
    warning = "" if by_default else "every write of the store switches synchronous_commit on for itself"
    return Probe("PostgreSQL", words, warning=warning)


def check_evidence(address: str, using: Settings) -> Probe:
    """Check that all machines which share a store can see its pictures."""
    from browser_agent.store.postgres_inspection import recorded_evidence_address

    said = using.evidence or recorded_evidence_address(address)
    if (said or "").startswith(BUCKET):
        return check_bucket(using, said)
    alone = "other machines can't see them: set evidence to a folder that all of them share, or to a bucket"
    return Probe("pictures", str(said or evidence_beside(address)), warning="" if said else alone)


def check_bucket(using: Settings, said: str | None = None) -> Probe:
    """Check that a small object can be written, read and deleted where pictures will be stored."""
    address = str(evidence_located(said or using.evidence or ""))
    try:
        seconds = Bucket(address, "doctor").probe()
    except StoreUnusable as unusable:
        to_do = "see that the bucket is there, and AWS_ENDPOINT_URL, AWS_REGION and AWS_ACCESS_KEY_ID are right"
        return Probe("pictures", str(unusable), f"{to_do}, or choose another place (evidence)")
    slow = f"each picture waits for it; a run's pictures are given up after {PATIENCE_SECONDS:g} s"
    return Probe(
        "pictures",
        f"{address}, an object written, read and deleted in {seconds * 1000:.0f} ms",
        warning=slow if seconds > PATIENCE_SECONDS / 4 else "",
    )


def check_store_folder(folder: Path) -> Probe:
    nearest = _nearest_folder(folder)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Probe("store folder", f"{folder} can't be written", f"choose another --store, or: chmod u+rwx {nearest}")
    if kind := network_file_system(nearest):
        return Probe("store folder", f"{folder} is on {kind}", "choose a --store on a local disk: SQLite needs locks")
    return Probe("store folder", str(folder))


def _nearest_folder(folder: Path) -> Path:
    """The folder itself if it exists, else its nearest existing parent."""
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir())
