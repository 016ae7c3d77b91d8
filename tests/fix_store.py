"""An empty SQLite store of the newest schema, to be copied: that takes a tenth of what its migrations take."""

from pathlib import Path

import pytest

from browser_agent.store import Store


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "runs.db"
    Store(path).close()
    return path
