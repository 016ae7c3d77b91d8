"""A fresh store for each test, on a real SQLite file; migrated once a session and then copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_agent.store import Lease, Store
from tests.store.building import HandClock, claim


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store of the newest schema."""
    path = tmp_path_factory.mktemp("migrated") / "runs.db"
    Store(path).close()
    return path


@pytest.fixture
def clock() -> HandClock:
    """A clock that goes only when the test moves it."""
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, migrated: Path, clock: HandClock) -> Iterator[Store]:
    """An empty store."""
    shutil.copy(migrated, tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", clock) as opened:
        yield opened


@pytest.fixture
def lease(store: Store) -> Lease:
    """The first attempt at a new run."""
    return claim(store)
