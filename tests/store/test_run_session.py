"""What a run's first browser is given: its sites' logins and what its last keeper has left, the younger one first."""

from __future__ import annotations

import shutil
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_agent.errors import StoreUnusable
from browser_agent.run.session import RunSession
from browser_agent.secrets.seal import KEY_VARIABLE, Seal
from browser_agent.store import Lease, Store
from browser_agent.store.checkpoints import Checkpoints
from browser_agent.store.logins import Logins
from observers.session import without_undeclared
from observers.site import origin_of
from tests.store.building import HandClock, claim

PAGE: dict[str, Any] = {
    "state": {"fields": []},
    "shown": {"address": "http://b.example/", "title": "B"},
    "of": "post()",
}


@pytest.fixture
def store(tmp_path: Path, migrated: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store with a key."""
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())
    shutil.copy(migrated, tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", clock) as opened:
        yield opened


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def session(store: Store, lease: Lease, said: list[str]) -> RunSession:
    return RunSession(store, lease.run, lambda kind, words: said.append(words))


def state(value: str) -> dict[str, Any]:
    return {"cookies": [{"name": "sid", "domain": "b.example", "path": "/", "value": value}], "origins": []}


def cookie(given: dict[str, Any]) -> list[str]:
    return [one["value"] for one in given.get("cookies", ())]


@pytest.mark.parametrize("order", [("login", "run"), ("run", "login")])
def test_the_younger_of_login_and_checkpoint_wins(
    store: Store, lease: Lease, session: RunSession, said: list[str], order: tuple[str, str]
) -> None:
    for what in order:
        store.clock.sleep(60)
        if what == "login":
            store.logins.save("books", "acme", state("login"))
        else:
            session.checkpoint(lease, state("run"), PAGE)
    store.logins.save("books", "other", state("another account"))
    store.logins.save("mail", "acme", state("another site"))
    assert cookie(session.initial_state(lease)) == [order[-1]]
    assert [words.partition(" stored at")[0] for words in said] == ["Using the login of books (acme)"]


def test_a_state_that_does_not_open_is_reported_and_left_out(
    store: Store, lease: Lease, session: RunSession, said: list[str]
) -> None:
    other = Seal(b"x" * 32)
    Logins(store.database, store.clock, other).save("books", "acme", state("login"))
    Checkpoints(store.database, store.clock, other).save(lease, session=(state("run"), {}))
    assert session.initial_state(lease) == {}
    assert [words.partition(":")[0] for words in said] == [
        "The stored login of books (acme) can't be used",
        "The last attempt's session can't be used",
    ]


def test_a_page_that_names_no_step_leaves_the_stored_one_unchanged(
    store: Store, lease: Lease, session: RunSession
) -> None:
    session.checkpoint(lease, state("1"), PAGE)
    session.checkpoint(lease, state("2"), {**PAGE, "of": None, "state": {"fields": ["login"]}})
    session.checkpoint(lease, state("3"), None)
    assert store.checkpoints.last(lease.run, "page") == {"fields": []}
    assert cookie(store.checkpoints.last(lease.run, "session") or {}) == ["3"]


def test_a_checkpoint_that_cannot_be_stored_changes_nothing(
    store: Store, lease: Lease, session: RunSession, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> bool:
        raise StoreUnusable("The disk is full.")

    claim(store, lease.run)
    session.checkpoint(lease, state("1"), PAGE)  # another attempt has the run
    assert said == [] and store.checkpoints.rows(lease.run) == []
    monkeypatch.setattr(store.checkpoints, "save", full)
    session.checkpoint(lease, state("1"), PAGE)
    assert said == ["No checkpoint: The disk is full."]


def test_only_the_indexed_db_of_a_site_that_declares_it_is_carried_over() -> None:
    held = {"origin": "http://b.example", "localStorage": [], "indexedDB": [1]}
    both = {"cookies": [], "origins": [held, {**held, "origin": "http://m.example"}]}
    kept = without_undeclared(both, [origin_of("http://b.example:80/books")])
    assert ["indexedDB" in one for one in kept["origins"]] == [True, False]


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://b.example/books", "https://b.example"),
        ("https://b.example:443/", "https://b.example"),
        ("http://b.example:443", "http://b.example:443"),
        ("http://127.0.0.1:8001/a", "http://127.0.0.1:8001"),
    ],
)
def test_an_origin_is_written_as_pages_have_it(address: str, origin: str) -> None:
    assert origin_of(address) == origin
