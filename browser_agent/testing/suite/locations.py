"""Where a test session writes its store and reports: never in the folder that pytest-playwright wipes."""

from __future__ import annotations

from pathlib import Path

import pytest

STORE = "agent_store"
REPORT = "agent_report"
FILE_NAME = "runs.db"


def path_of(config: pytest.Config, name: str) -> Path | None:
    """A path from the command line (relative to the current folder) or from the ini file (relative to its own)."""
    if said := config.getoption(name, default=None):
        return Path(config.invocation_params.dir, Path(said).expanduser()).absolute()
    if said := config.getini(name):
        return Path((config.inipath or config.rootpath / "ini").parent, Path(said).expanduser()).absolute()
    return None


def refuse_wiped(config: pytest.Config) -> None:
    """Refuse a path in the folder that pytest-playwright wipes when a session begins.

    Raises:
        UsageError: the path is in that folder. Nothing was written.
    """
    output = config.getoption("--output", default=None)
    if output is None:
        return
    wiped = Path(config.invocation_params.dir, output).resolve()
    for name in (STORE, REPORT):
        path = path_of(config, name) if name == REPORT or not _database(config) else None
        if path is not None and path.resolve().is_relative_to(wiped):
            option = "--" + name.replace("_", "-")
            raise pytest.UsageError(
                f"{option} {path} is in {wiped}, which pytest-playwright wipes when a session begins (--output), so "
                "evidence written there would be lost. Choose a path outside of it."
            )


def store_of(config: pytest.Config, base: Path) -> Path | str:
    """The store of the session's runs: the given one, or else a file in this process's base folder."""
    return _database(config) or path_of(config, STORE) or base / "browser-agent" / FILE_NAME


def _database(config: pytest.Config) -> str:
    """The database's address, if one was given instead of a file; else ""."""
    said = str(config.getoption(STORE, default=None) or config.getini(STORE) or "")
    return said if "://" in said else ""
