"""Where a test session writes: the store of its runs, the folder of its reports; and where it may not.

Must not know runs or pages. May never happen: something is written where pytest-playwright wipes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

STORE = "agent_store"
REPORT = "agent_report"
FILE_NAME = "runs.db"


def told(config: pytest.Config, name: str) -> Path | None:
    """A place that was said on the command line (from the current folder), or in the ini file (from its own)."""
    if said := config.getoption(name, default=None):
        return Path(config.invocation_params.dir, Path(said).expanduser()).absolute()
    if said := config.getini(name):
        return Path((config.inipath or config.rootpath / "ini").parent, Path(said).expanduser()).absolute()
    return None


def refuse_wiped(config: pytest.Config) -> None:
    """Refuse a place in the folder that pytest-playwright wipes when a session begins.

    Raises:
        UsageError: it lies there. Nothing was written.
    """
    output = config.getoption("--output", default=None)
    if output is None:
        return
    wiped = Path(config.invocation_params.dir, output).resolve()
    for name in (STORE, REPORT):
        place = told(config, name) if name == REPORT or not _database(config) else None
        if place is not None and place.resolve().is_relative_to(wiped):
            option = "--" + name.replace("_", "-")
            raise pytest.UsageError(
                f"{option} {place} lies in {wiped}, which pytest-playwright wipes when a session begins (--output): "
                "what is written there is evidence, and would be lost. Name a place outside of it."
            )


def store_of(config: pytest.Config, base: Path) -> Path | str:
    """The store of the session's runs: what was said, or a file in the base folder of this process."""
    return _database(config) or told(config, STORE) or base / "browser-agent" / FILE_NAME


def _database(config: pytest.Config) -> str:
    """The address that was said in place of a file; empty if it was none."""
    said = str(config.getoption(STORE, default=None) or config.getini(STORE) or "")
    return said if "://" in said else ""
