"""The command line in a folder of its own, with a task, a store, and somebody who stands in the keeper's place."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from typer.testing import CliRunner

import browser_agent.keeper.keeper
from browser_agent import settings_sources
from browser_agent.cli import app
from browser_agent.errors import InOtherHands
from browser_agent.options import Ended, Event, OnEvent, Options
from browser_agent.states import QuestionKind, RunState
from browser_agent.store import Store
from tests.store.building import asked, claim

# The tree of commands is built once: that takes longer than most commands do.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]

TASK = """
from datetime import date
from browser_agent import Site, task

books = Site("books", url="https://books.example", account="acme")

@task(sites=[books])
def invoice(run, day: date, most: int = 5) -> list[str]:
    return []
"""


@dataclass
class PersonAnswer:
    """What a command wrote, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., PersonAnswer]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the commands run in, with a task and no settings; no command knows of another."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(settings_sources.STORE_VARIABLE, str(tmp_path / "runs.db"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "invoices.py").write_text(TASK)
    yield tmp_path
    sys.modules.pop("invoices", None)


@pytest.fixture
def cli(here: Path) -> Cli:
    """Runs a command line and hands back what it said."""

    def call(*words: str) -> PersonAnswer:
        result = CliRunner().invoke(app, list(words), prog_name="browser-agent")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return PersonAnswer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def store(here: Path, migrated: Path) -> Iterator[Store]:
    shutil.copy(migrated, here / "runs.db")
    with Store(here / "runs.db") as opened:
        yield opened


class Keeper:
    """Stands in the keeper's place: notes what it was asked for, and leaves the run in a state."""

    def __init__(self) -> None:
        self.options: list[Options] = []
        self.looks = 0
        self.state, self.events = RunState.FINISHED, list[Event]()
        self.busy = False
        self.on_look: Callable[[Store, str], None] = lambda store, run: None

    def keep(self, store: Store, run: str, options: Options, on_event: OnEvent) -> Ended:
        if self.busy:
            raise InOtherHands(f"Run {run} is being worked on. Nothing was done.")
        self.options.append(options)
        for event in self.events:
            on_event(event)
        lease = store.leases.claim(run, keeper="{}", keeper_dead=True)
        store.leases.end(lease, self.state, ended_by="so it ended", result='["INV-1"]')
        questions = tuple(row.id for row in store.inbox.questions(run, open_only=True))
        return Ended(run, self.state, "so it ended", '["INV-1"]', questions, lease.attempt)

    def look(self, store: Store, run: str, options: Options, on_event: OnEvent) -> Ended:
        if self.busy:
            raise InOtherHands(f"Run {run} is being worked on. Nothing was done.")
        self.looks += 1
        self.on_look(store, run)
        return Ended(run, RunState.WAITING, "looked once")


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    standing = Keeper()
    monkeypatch.setattr(browser_agent.keeper.keeper, "keep", standing.keep)
    monkeypatch.setattr(browser_agent.keeper.keeper, "look", standing.look)
    return standing


def waiting(store: Store, kind: QuestionKind = QuestionKind.OUTCOME, **more: Any) -> str:
    """A run that waits with one open question; the question's id."""
    lease = claim(store)
    question = asked(store, lease, kind, **more)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    return question.id


HAPPENED = ("happened", "--by", "ann", "--reason", "it is on the list", "--value", "number=INV-9")
"""An answer that is taken of every question whose run needs a number."""
