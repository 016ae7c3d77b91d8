"""A world for the acceptance tests: fixture sites behind fault proxies, a store, and real runs on them.

A run is kept in a thread of this process; its worker is a real child process and its Chromium a real one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from browser_agent.browser.chromium import Chromium
from browser_agent.keeper.fault_injection import inject
from browser_agent.keeper.keeper import Ended, Event, KillAt, Options, keep
from browser_agent.keeper.launch import submit
from browser_agent.options import OnEvent
from browser_agent.processes import ProcessId
from browser_agent.script.task_file import load_task
from browser_agent.script.tasks import Task
from browser_agent.states import Answer, Victim
from browser_agent.store import PersonAnswer, Store
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.bank import Bank
from browser_agent.testing.sites.board import Board
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.mail import Mail
from browser_agent.testing.sites.seller import Seller
from browser_agent.testing.sites.shop import Shop
from browser_agent.testing.sites.wizard import Wizard

TASKS = Path(__file__).parent / "scripts"
REALLY = {"slow": "books", "terse": "books", "manual": "books"}
"""What a task calls a site of which it declares something else, and the site that it is."""


class World:
    """Two sites, the roads to them, and a store; more sites and roads are started when a test asks for them."""

    def __init__(  # noqa: PLR0917  # its five parts
        self, books: Books, mail: Mail, to_books: FaultProxy, to_mail: FaultProxy, folder: Path, store: Path | str = ""
    ) -> None:
        self.books, self.mail, self.to_books, self.to_mail = books, mail, to_books, to_mail
        self.folder = folder
        self.store = Store(store or folder / "runs.db")
        self.events: list[Event] = []
        self._threads = ThreadPoolExecutor(2)
        self._more = ExitStack()

    @cached_property
    def shop(self) -> Shop:
        return self._more.enter_context(Shop())

    @cached_property
    def to_shop(self) -> FaultProxy:
        return self._more.enter_context(FaultProxy(self.shop.url))

    @cached_property
    def seller(self) -> Seller:
        return self._more.enter_context(Seller())

    @cached_property
    def to_seller(self) -> FaultProxy:
        return self._more.enter_context(FaultProxy(self.seller.url))

    @cached_property
    def bank(self) -> Bank:
        return self._more.enter_context(Bank())

    @cached_property
    def to_bank(self) -> FaultProxy:
        return self._more.enter_context(FaultProxy(self.bank.url))

    @cached_property
    def board(self) -> Board:
        return self._more.enter_context(Board())

    @cached_property
    def to_board(self) -> FaultProxy:
        return self._more.enter_context(FaultProxy(self.board.url))

    @cached_property
    def wizard(self) -> Wizard:
        return self._more.enter_context(Wizard())

    @cached_property
    def to_wizard(self) -> FaultProxy:
        return self._more.enter_context(FaultProxy(self.wizard.url))

    def road(self, site: str) -> FaultProxy:
        """The road to a site, by the name that a task gives it."""
        road = getattr(self, f"to_{REALLY.get(site, site)}")
        assert isinstance(road, FaultProxy)
        return road

    def submit(self, name: str, file: str | Path = "posting.py", till: str = "", **arguments: Any) -> str:
        """Write a run down; its id. `till` = where a till of the test's own is."""
        return submit(self.store, self.bound(name, file, till), arguments).id

    def bound(self, name: str, file: str | Path, till: str = "") -> Task[..., Any]:
        """A task whose sites are those of this world."""
        sys.modules.pop(Path(file).stem, None)  # a file that was edited is read again, as in a new process
        task = load_task(f"{TASKS / file}:{name}")
        for name_of, site in task.sites.items():
            site.bind(till or self.road(name_of).url)
        return task

    def keep(self, run: str, kill: str | None = None, *, on_event: OnEvent | None = None, **options: Any) -> Ended:
        """Keep a run to its end, in a thread, since this one may have Playwright's loop in it."""
        asked = Options(**{"keep_looking": 0.0, **options}, kill_at=KillAt.parse(kill) if kill else None)
        return self._threads.submit(keep, self.store, run, asked, on_event or self.events.append).result(timeout=180)

    def go(self, name: str, kill: str | None = None, **arguments: Any) -> Ended:
        """Submit and keep."""
        return self.keep(self.submit(name, **arguments), kill)

    def strike(self, run: str, victim: str) -> None:
        """Strike the run's driver, browser or tabs at once, from outside of it."""
        attempt = self.store.leases.attempts(run)[-1]
        driver = TypeAdapter(ProcessId).validate_json(attempt.driver or "")
        inject(Victim(victim), worker=None, driver=driver, browser=Chromium.found(attempt.browser or ""))

    def answer(self, question: str, answer: Answer, **values: str) -> None:
        """A person's answer."""
        said = PersonAnswer(answer, by="Ann", reason="looked at the site myself", values=values, override=True)
        self.store.inbox.answer(question, said)

    def outcomes(self, run: str) -> list[str]:
        """How each gesture of the run stands."""
        return [str(gesture.state) for gesture in self.store.journal.gestures(run)]

    def invoices(self, reference: str) -> list[str]:
        """The numbers of the invoices that the site really has under that reference."""
        return [invoice.number for invoice in self.books.invoices if invoice.reference == reference]

    def mails(self, subject: str) -> int:
        """How many mails of that subject the site has really sent."""
        return sum(message.subject == subject for message in self.mail.messages)

    def close(self) -> None:
        """Close the store, and the sites that were asked for."""
        self._threads.shutdown()
        self._more.close()
        self.store.close()


def holes(store: Store) -> list[str]:
    """What happened in a store and isn't told in its audit log: an entry before each gesture and one after its verdict,
    one for each look, question, answer, approval and attempt."""
    told: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in store.audit_lines():
        for name in ("run", "gesture", "question"):
            told.setdefault((line["kind"], line.get(name) or ""), []).append(line)
    missing: list[str] = []

    def expect(kind: str, of: str, count: int = 1, **facts: object) -> None:
        lines = [line for line in told.get((kind, of), ()) if facts.items() <= line.items()]
        if len(lines) != count:
            missing.append(f"{kind} of {of}: {len(lines)} entries, not {count} ({facts})")

    for run in store.leases.runs():
        expect("run_submitted", run.id)
        expect("taken_over", run.id, len(store.leases.attempts(run.id)))
        for made in store.journal.gestures(run.id):
            expect("intent", made.id, site=made.site, target=made.words)
            expect("dispatch", made.id, int(made.dispatched_at is not None))
            expect("look", made.id, len({seen.look for seen in store.journal.observations(made.id)}))
            expect("released", made.id, len(store.journal.releases(made.id)))
            if made.settled_at is not None:
                expect("verdict", made.id, ended=str(made.state))
        for question in store.inbox.questions(run.id):
            expect("question", question.id)
            expect("answer", question.id, int(question.answer is not None), by=question.by)
    return missing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A fresh world; afterwards its log must verify, whatever happened in it."""
    yield from worlds(tmp_path, tmp_path / "runs.db")


@pytest.fixture
def postgres_world(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The same, with its store in PostgreSQL; what would lie in the user's data folder lies in the test's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield from worlds(tmp_path, postgres_url)


def worlds(folder: Path, store: Path | str) -> Iterator[World]:
    """One world, with its store there."""
    with Books() as books, Mail() as mail, FaultProxy(books.url) as to_books, FaultProxy(mail.url) as to_mail:
        world = World(books, mail, to_books, to_mail, folder, store)
        yield world
        assert world.store.verify().broken == ()
        assert holes(world.store) == []
        world.close()
