"""Runs of the real product with their store in PostgreSQL: the site's own ledger is the judge, as everywhere."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_agent.states import RunState
from tests.fix_matrix import chosen
from tests.fix_postgres import PASSWORD, Server
from tests.fix_world import TASKS, World, worlds


@pytest.fixture
def on_postgres(postgres_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose store, in PostgreSQL, is said to commands by the environment."""
    monkeypatch.setenv("BROWSER_AGENT_STORE", postgres_world.store.address)
    return postgres_world


def begun(*words: str) -> subprocess.Popen[str]:
    """A command that has been started."""
    command = [sys.executable, "-m", "browser_agent", *words, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(*words: str, code: int = 0) -> Any:
    """What a command says, as data; with its password nowhere in it."""
    process = begun(*words)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, (out, err)
    check_hidden(out + err)
    return json.loads(out)


def check_hidden(text: str) -> None:
    """Neither the password nor how an address spells it."""
    assert PASSWORD not in text
    assert "p%2Fw" not in text


def run_words(world: World, name: str, *more: str) -> tuple[str, ...]:
    return ("run", f"{TASKS / 'posting.py'}:{name}", *more, "--site", f"books={world.to_books.url}")


def test_one_invoice_is_posted_shown_and_verified_by_commands(on_postgres: World) -> None:
    ended = said(*run_words(on_postgres, "post_one", "reference=R-1"))
    assert (ended["state"], ended["result"]) == ("finished", "INV-1")
    assert on_postgres.invoices("R-1") == ["INV-1"]
    shown = said("show", "last")
    assert [gesture["state"] for step in shown["steps"] for gesture in step["gestures"]] == ["happened"]
    verified = said("audit", "verify")
    assert verified["holds"] and verified["lines"] > 5
    assert [run["id"] for run in said("runs")] == [ended["run"]] and said("inbox") == []
    report = on_postgres.folder / "run.html"
    said("report", "last", "-o", str(report))
    check_hidden(report.read_text())


@pytest.mark.matrix  # the conformance tests kill its keeper
def test_a_worker_that_is_killed_when_its_write_is_let_go_leaves_one_invoice(postgres_world: World) -> None:
    run = postgres_world.submit("post_one", reference="R-1")
    ended = postgres_world.keep(run, "released:1")
    assert (ended.state, ended.result, ended.attempts) == (RunState.FINISHED, '"INV-1"', 2)
    assert postgres_world.invoices("R-1") == ["INV-1"]


@pytest.mark.matrix  # the conformance tests kill one
def test_a_keeper_that_is_killed_is_followed_by_a_resume_and_one_invoice(on_postgres: World) -> None:
    process = begun(*run_words(on_postgres, "post_one", "reference=R-1"), "--kill-at", "answered@keeper")
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    ended = said("resume", "last", "--keep-looking", "0")
    assert (ended["state"], ended["result"]) == ("finished", "INV-1"), ended
    assert on_postgres.invoices("R-1") == ["INV-1"]


@pytest.fixture
def world_of_its_own(
    tmp_path: Path, own_postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[World, Server]]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for world in worlds(tmp_path, own_postgres_server.new_database()):
        yield world, own_postgres_server


@pytest.mark.parametrize("mode", chosen("immediate", others=["fast"]))
def test_a_database_that_is_restarted_while_a_write_is_on_its_way_leaves_one_invoice(
    world_of_its_own: tuple[World, Server], mode: str
) -> None:
    world, server = world_of_its_own

    def restart() -> None:
        server.stop(mode)
        server.start()

    world.to_books.when("came", restart)
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run)
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    assert world.invoices("R-1") == ["INV-1"]
