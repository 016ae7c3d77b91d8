"""Is this machine able to run browser tasks, and if not, what is there to do?

Each check looks for real: a Chromium is started, a database is written. Knows nothing of runs, and of the store only
its folder. Also gets a Chromium where there is none (`--install`).

What may never happen: a check raises instead of telling; anything is installed without being asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import which

import platformdirs
from pydantic.dataclasses import dataclass

from browser_agent import support
from browser_agent.browser.chromium import ENVIRONMENT_NAME, Chromium, find_chromium
from browser_agent.errors import Misuse, StoreUnusable
from browser_agent.secrets.seal import key_in_use
from browser_agent.settings import AS_SHIPPED, Settings
from browser_agent.store.address import BUCKET, evidence_beside, evidence_located, is_database, located, shown
from browser_agent.store.evidence_bucket import PATIENCE_SECONDS, Bucket
from browser_agent.store.sqlite import network_file_system

OLDEST_PYTHON = tuple(map(int, support.PYTHON.oldest.split(".")))
OLDEST_SQLITE = tuple(map(int, support.SQLITE.oldest.split(".")))  # RETURNING
_INSTALL_SECONDS = 900


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `to_do` is empty when all is well; a `warning` is worth knowing, and no more."""

    what: str
    found: str
    to_do: str = ""
    warning: str = ""

    @property
    def well(self) -> bool:
        return not self.to_do


def examine(store: Path | str | None = None, using: Settings = AS_SHIPPED) -> list[Check]:
    """All checks. Takes a second or two, since it starts a Chromium. Never raises.

    Args:
        store: the folder where the store is or will be, or the address of a PostgreSQL database; the platform's data
            folder by default.
        using: the settings; they name the Chromium and what it is started with.
    """
    return [
        check_python(),
        check_platform(),
        check_playwright(),
        check_chromium(using),
        *_check_store(store or platformdirs.user_data_path("browser-agent"), using),
        check_key(),
    ]


def _check_store(store: Path | str, using: Settings) -> list[Check]:
    if isinstance(store, str):
        reached = check_postgres(store)
        return [reached, *([check_evidence(store, using)] if reached.well else [])]
    return [check_sqlite(store), check_store_folder(store), *([check_bucket(using)] if _in_bucket(using) else [])]


def _in_bucket(using: Settings) -> bool:
    return (using.evidence or "").startswith(BUCKET)


def check_python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    enough = sys.version_info >= OLDEST_PYTHON
    to_do = "" if enough else f"install Python {support.PYTHON.oldest} or later"
    return Check("Python", found, to_do, support.PYTHON.warning(found))


def check_platform() -> Check:
    return Check("system", sys.platform, support.refusal(), support.SYSTEM.warning(sys.platform))


def check_playwright() -> Check:
    try:
        found = version("playwright")
        return Check("Playwright", found, warning=support.PLAYWRIGHT.warning(found))
    except PackageNotFoundError:
        return Check("Playwright", "missing", "pip install playwright")


def check_chromium(using: Settings = AS_SHIPPED) -> Check:
    """Found, started, asked for its version, ended and seen dead."""
    try:
        program = find_chromium(using.chromium)
        with tempfile.TemporaryDirectory(prefix="browser-agent-") as folder:
            chromium = Chromium.start(Path(folder) / "profile", executable=program, extra=using.chromium_arguments)
            try:
                number = chromium.version
            finally:
                chromium.end()
    except Exception as error:  # whatever hinders it is what there is to tell
        to_do = f"python -m browser_agent.cli.doctor --install, or set {ENVIRONMENT_NAME} to a Chromium that starts"
        return Check("Chromium", f"doesn't start: {error}", to_do)
    return Check("Chromium", f"{number} at {program}", warning=support.CHROMIUM.warning(number))


def check_sqlite(folder: Path) -> Check:
    """Recent enough, and keeps a write-ahead log where the store will be."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check("SQLite", sqlite3.sqlite_version, f"use a Python with SQLite {'.'.join(map(str, OLDEST_SQLITE))}")
    try:
        with (
            tempfile.TemporaryDirectory(dir=_nearest_folder(folder), prefix=".doctor-") as inside,
            closing(sqlite3.connect(Path(inside) / "probe.db")) as database,
        ):
            (mode,) = database.execute("PRAGMA journal_mode=WAL").fetchone()
    except (OSError, sqlite3.Error) as error:
        return Check("SQLite", f"{sqlite3.sqlite_version}, no database in {folder}: {error}", "choose another --store")
    to_do = "" if mode == "wal" else f"choose a --store on a disk that supports WAL (this one gives {mode})"
    return Check("SQLite", f"{sqlite3.sqlite_version}, journal {mode}", to_do)


def check_postgres(address: str) -> Check:
    """Reached, recent enough, keeps what it has committed, and agrees with this machine about the time."""
    try:
        from browser_agent.store.postgres_inspection import inspect_server

        found = inspect_server(address)
    except StoreUnusable as unusable:
        return Check("PostgreSQL", str(unusable), "see that it runs and lets you in, or choose another --store")
    facts = f"{found.version} at {shown(address)}, synchronous_commit {found.synchronous_commit}, fsync {found.fsync}"
    words = f"{facts}, its clock {found.ahead_seconds:+.1f} s from this machine's"
    if found.fsync != "on":
        return Check("PostgreSQL", words, "set fsync = on: what is committed must outlive a power cut")
    by_default = found.synchronous_commit in ("on", "remote_apply")
    warning = "" if by_default else "every write of the store switches synchronous_commit on for itself"
    return Check("PostgreSQL", words, warning=warning)


def check_evidence(address: str, using: Settings) -> Check:
    """Whether other machines can see the pictures of a store that they share."""
    from browser_agent.store.postgres_inspection import recorded_evidence_address

    said = using.evidence or recorded_evidence_address(address)
    if (said or "").startswith(BUCKET):
        return check_bucket(using, said)
    alone = "other machines can't see them: set evidence to a folder that all of them share, or to a bucket"
    return Check("pictures", str(said or evidence_beside(address)), warning="" if said else alone)


def check_bucket(using: Settings, said: str | None = None) -> Check:
    """Whether a small object can be written to where pictures are to lie, read, and deleted."""
    address = str(evidence_located(said or using.evidence or ""))
    try:
        seconds = Bucket(address, "doctor").probe()
    except StoreUnusable as unusable:
        to_do = "see that the bucket is there, and AWS_ENDPOINT_URL, AWS_REGION and AWS_ACCESS_KEY_ID are right"
        return Check("pictures", str(unusable), f"{to_do}, or choose another place (evidence)")
    slow = f"each picture waits for it; a run's pictures are given up after {PATIENCE_SECONDS:g} s"
    return Check(
        "pictures",
        f"{address}, an object written, read and deleted in {seconds * 1000:.0f} ms",
        warning=slow if seconds > PATIENCE_SECONDS / 4 else "",
    )


def check_store_folder(folder: Path) -> Check:
    nearest = _nearest_folder(folder)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check("store folder", f"{folder} can't be written", f"choose another --store, or: chmod u+rwx {nearest}")
    if kind := network_file_system(nearest):
        return Check("store folder", f"{folder} is on {kind}", "choose a --store on a local disk: SQLite needs locks")
    return Check("store folder", str(folder))


def check_key() -> Check:
    """Having no key is no fault: sessions then end with their keeper."""
    try:
        key = key_in_use()
    except Misuse as misuse:
        return Check("sessions", str(misuse), "put it right, or set the key aside and: browser-agent key --new")
    return Check("sessions", f"kept sealed, key of {key}" if key else "kept in memory only, no key")


def install_chromium(run: Callable[[Sequence[str]], bool] | None = None) -> bool:
    """Get a Chromium that starts, unless there is one: Playwright's, else (as root) the system's.

    Args:
        run: carries out one command and says whether it ended well.

    Returns:
        whether a Chromium starts now.
    """
    carry_out = run or _run
    for commands in ([], *_ways_to_install()):
        if all(carry_out(command) for command in commands) and check_chromium().well:
            return True
    return False


def _ways_to_install() -> Iterator[list[list[str]]]:
    playwright = [sys.executable, "-m", "playwright"]
    yield [[*playwright, "install", "chromium"]]
    if os.geteuid() == 0 and which("apt-get"):
        yield [["apt-get", "update"], ["apt-get", "install", "-y", "chromium", "fonts-liberation"]]
        yield [[*playwright, "install-deps", "chromium"]]


def _run(command: Sequence[str]) -> bool:
    print("$", *command, file=sys.stderr)
    try:
        return subprocess.run(command, check=False, stdout=sys.stderr, timeout=_INSTALL_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return False


def _nearest_folder(folder: Path) -> Path:
    """The folder itself, or the nearest above it that exists."""
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir())


def as_lines(checks: Sequence[Check]) -> str:
    """One line each, a second one with what to do."""
    wide = max(len(check.what) for check in checks)
    return "\n".join(
        f"{_mark(check)} {check.what:{wide}}  {check.found}"
        + (f"\n    {'':{wide}}  -> {check.to_do or check.warning}" if check.to_do or check.warning else "")
        for check in checks
    )


def _mark(check: Check) -> str:
    if not check.well:
        return "NO "
    return "?  " if check.warning else "ok "


def as_json(checks: Sequence[Check]) -> str:
    """A list of {"what", "found", "to_do", "warning", "well"}."""
    return json.dumps([{**asdict(check), "well": check.well} for check in checks], indent=2)


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m browser_agent.cli.doctor`. 0 if all is well, else 1."""
    parser = argparse.ArgumentParser(prog="browser-agent doctor", description=__doc__.partition("\n")[0])
    parser.add_argument("--store", default=None, help="the folder of the store, or its address in PostgreSQL")
    parser.add_argument("--json", action="store_true", help="for a program to read")
    parser.add_argument("--install", action="store_true", help="first get a Chromium, if none starts")
    wanted = parser.parse_args(arguments)
    if wanted.install:
        install_chromium()
    checks = examine(_place(wanted.store))
    print(as_json(checks) if wanted.json else as_lines(checks))
    return 0 if all(check.well for check in checks) else 1


def _place(said: str | None) -> Path | str | None:
    return located(said) if said and is_database(said) else Path(said) if said else None


if __name__ == "__main__":
    sys.exit(main())
