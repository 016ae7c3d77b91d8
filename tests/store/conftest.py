"""A fresh store for each test, in both of its homes: a real SQLite file and a real PostgreSQL database.

Each is migrated once a session and then copied. A test of what only one of them has says `only_sqlite`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_agent.store import Lease, Store
from tests.fix_postgres import Server
from tests.store.building import HandClock, claim


@pytest.fixture
def clock() -> HandClock:
    """A clock that goes only when the test moves it."""
    return HandClock()


@pytest.fixture(scope="session")
def migrated_database(postgres_server: Server) -> str:
    """The name of an empty database of the newest schema."""
    url = postgres_server.new_database()
    Store(url).close()
    return url.rpartition("/")[2]


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest) -> str:
    """In which home the store lives."""
    return str(request.param)


@pytest.fixture
def where(request: pytest.FixtureRequest, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    """Where an empty store is."""
    if home == "postgres":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        server: Server = request.getfixturevalue("postgres_server")
        return server.new_database(request.getfixturevalue("migrated_database"))
    shutil.copy(request.getfixturevalue("migrated"), tmp_path / "runs.db")
    return tmp_path / "runs.db"


@pytest.fixture
def store(where: Path | str, clock: HandClock) -> Iterator[Store]:
    """An empty store."""
    with Store(where, clock) as opened:
        yield opened


@pytest.fixture
def lease(store: Store) -> Lease:
    """The first attempt at a new run."""
    return claim(store)
