"""Checks whether this machine can run browser tasks, and says what to do if it can't.

Each check tries the real thing: Chromium opens a page, a database is written. No check raises.
"""

from __future__ import annotations

import sys
from pathlib import Path

import platformdirs

from browser_agent import support
from browser_agent.cli.browser_checks import browser_checks
from browser_agent.cli.check import Probe
from browser_agent.cli.store_checks import store_checks
from browser_agent.errors import Misuse
from browser_agent.secrets.seal import key_in_use
from browser_agent.settings import AS_SHIPPED, Settings

OLDEST_PYTHON = tuple(map(int, support.PYTHON.oldest.split(".")))


def examine(store: Path | str | None = None, using: Settings = AS_SHIPPED) -> list[Probe]:
    """Run all checks. Takes a few seconds, because it starts the driver and a Chromium. Never raises.

    Args:
        store: the folder where the store is or will be, or the address of a PostgreSQL database; by default the
            platform's data folder.
        using: the settings, which name the Chromium and its arguments.
    """
    return [
        check_python(),
        check_platform(),
        *browser_checks(using),
        *store_checks(store or platformdirs.user_data_path("browser-agent"), using),
        check_key(),
    ]


def check_python() -> Probe:
    found = ".".join(map(str, sys.version_info[:3]))
    enough = sys.version_info >= OLDEST_PYTHON
    to_do = "" if enough else f"install Python {support.PYTHON.oldest} or later"
    return Probe("Python", found, to_do, support.PYTHON.warning(found))


def check_platform() -> Probe:
    return Probe("system", sys.platform, support.refusal(), support.SYSTEM.warning(sys.platform))


def check_key() -> Probe:
    """Check the key. A missing one is no failure: sessions then end with their keeper."""
    try:
        key = key_in_use()
    except Misuse as misuse:
        return Probe("sessions", str(misuse), "correct it, or set the key aside and: browser-agent key --new")
    return Probe("sessions", f"stored encrypted, key from {key}" if key else "kept in memory only, no key")
