"""The demo: a run of invoices and mails is interrupted before your eyes, goes on, and the sites' own ledger is shown.

The sites are real ones on this machine that know the truth about themselves; the interruptions are real ones too:
processes are ended by SIGKILL, requests and answers are lost on the way. The task is one of the examples. What may
never happen here: the demo says that all is well while the ledger does not; something outside this machine is changed.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from rich.table import Table

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.cli import question_text
from browser_agent.cli.desk import offer_key
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.screen import Screen
from browser_agent.errors import Misuse, installing
from browser_agent.keeper.keeper import keep
from browser_agent.keeper.preflight import check_attended
from browser_agent.options import Ended, Event, KillAt, Options
from browser_agent.processes import ProcessId, own_user
from browser_agent.reporting.html_report import write_report
from browser_agent.script.arguments import dump_arguments, parse_arguments
from browser_agent.script.loading import load_task
from browser_agent.settings_sources import load
from browser_agent.states import Answer, Point, QuestionKind, RunState
from browser_agent.store import PersonAnswer, Store
from browser_agent.store.records import QuestionRow

if TYPE_CHECKING:
    from browser_agent.testing.proxy.fault_proxy import FaultProxy
    from browser_agent.testing.sites.books import Books, Shipment
    from browser_agent.testing.sites.mail import Mail

DEFAULT = "killed_after_commit"
THE_SECOND = 2
"""The second invoice is the one that is interrupted: something is finished already, and something is still to do."""
_SECONDS_TO_DIE = 10.0
_KEEP_LOOKING_SECONDS = 3.0


@dataclass(frozen=True)
class Scene:
    """What an interruption can lay hands on."""

    store: Store
    run: str
    screen: Screen
    books: Books
    mail: Mail
    proxy: FaultProxy


@dataclass(frozen=True)
class Interruption:
    """One way in which the second invoice goes wrong.

    Args:
        words: what will go wrong, for the audience.
        event: what the proxy must have seen of the invoice's request ("came", "committed") before `strike`.
        strike: what is done then, before anything further happens to the request; says what it did.
        fault: what the proxy does to the request (see `browser_agent.testing.proxy.fault_kinds`).
        kill_at: where the worker ends itself instead.
        finishes: whether the run comes to its end; otherwise it ends in a question.
    """

    words: str
    event: str = ""
    strike: Callable[[Scene], str] | None = None
    fault: str = ""
    kill_at: KillAt | None = None
    finishes: bool = True

    def lay(self, scene: Scene) -> None:
        """Lay it in the way of the second invoice."""
        if self.fault:
            scene.proxy.fault(self.fault, skip=THE_SECOND - 1)
        if self.strike is not None:
            scene.proxy.when(self.event, _at_the_second(self.strike, scene))


def _at_the_second(strike: Callable[[Scene], str], scene: Scene) -> Callable[[], None]:
    seen = count(1)

    def hook() -> None:
        if next(seen) == THE_SECOND:
            attempt = scene.store.leases.attempts(scene.run)[-1].number
            scene.screen.tell(Event("worker_died", strike(scene), scene.run, attempt))

    return hook


def _kill_worker(scene: Scene) -> str:
    """End the worker by SIGKILL, and see it dead before the request or its answer goes any further."""
    row = scene.store.leases.attempts(scene.run)[-1]
    worker = TypeAdapter(ProcessId).validate_json(row.worker or "")
    os.kill(worker.pid, signal.SIGKILL)
    deadline = time.monotonic() + _SECONDS_TO_DIE
    while processes.alive(worker):  # not waited for: it is the keeper's child
        if time.monotonic() > deadline:
            raise processes.StillAlive(f"sent SIGKILL, but still alive: pid {worker.pid}")
        time.sleep(0.01)
    return f"SIGKILL: the worker of attempt {row.number} (pid {worker.pid}) is dead. {_truth(scene)}"


def _kill_chromium(scene: Scene) -> str:
    row = scene.store.leases.attempts(scene.run)[-1]
    browser = Chromium.found(row.browser or "")
    dead = processes.end([browser.process])
    return f"SIGKILL: Chromium (pid {browser.process.pid}, {len(dead)} processes) is dead. {_truth(scene)}"


def _kill_worker_and_sign_out(scene: Scene) -> str:
    scene.books.expire_sessions()
    return f"{_kill_worker(scene)} And the site has signed everybody out."


def _truth(scene: Scene) -> str:
    return f"The site's ledger: {', '.join(invoice.number for invoice in scene.books.invoices)}."


INTERRUPTIONS: Mapping[str, Interruption] = {
    DEFAULT: Interruption(
        "the worker is killed after the site has committed the second invoice, before its answer was recorded",
        event="committed",
        strike=_kill_worker,
    ),
    "never_committed": Interruption(
        "the request of the second invoice is lost before it reaches the site, and the worker is killed",
        event="came",
        strike=_kill_worker,
        fault="hang_before",
    ),
    "killed_before_release": Interruption(
        "the worker is killed while the request of the second invoice is held at the gate",
        kill_at=KillAt(Point.PAUSED, THE_SECOND),
    ),
    "answer_lost": Interruption(
        "the site commits the second invoice, and the connection is reset before any answer; the worker lives",
        fault="drop_after_commit",
    ),
    "chromium_killed": Interruption(
        "Chromium is killed after the site has committed the second invoice; the worker lives",
        event="committed",
        strike=_kill_chromium,
    ),
    "question": Interruption(
        "the worker is killed after the site has committed the second invoice, and the session ends: nothing that "
        "could prove it can be read any more",
        event="committed",
        strike=_kill_worker_and_sign_out,
        finishes=False,
    ),
}


def main(*, fault: str | None = None, report: Path | None = None, headed: bool = False, as_json: bool = False) -> Exit:
    """Show one interruption, and what the sites' ledger says at the end.

    Args:
        fault: a name of `INTERRUPTIONS`; dashes will do.
        report: where to write the run's report; beside the demo's store by default.
        headed: show the browser.
        as_json: one JSON document on stdout, progress on stderr.

    Returns:
        `FINISHED` if run and ledger are exactly right for that ending, else `RAISED`.

    Raises:
        Misuse: no such interruption, the practice sites or the task aren't there, or there is no display to show the
            browser on.
    """
    name = (fault or DEFAULT).replace("-", "_")
    if name not in INTERRUPTIONS:
        raise Misuse(f"The demo has no interruption {fault!r}; it has: {', '.join(INTERRUPTIONS)}.")
    check_attended(Options(headed=headed))
    books, mail, proxy, task_file = _source()
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-demo-"))
    offer_key(Screen(as_json), folder)
    with ExitStack() as stack:
        store = stack.enter_context(Store(folder / "runs.db"))
        site, post = stack.enter_context(books()), stack.enter_context(mail())
        road = stack.enter_context(proxy(site.url))
        run = _submit(store, task_file, site, post, road)
        scene = Scene(store, run, Screen(as_json), site, post, road)
        return _show(scene, INTERRUPTIONS[name], report or folder / "report.html", headed)


def _source() -> tuple[type[Books], type[Mail], type[FaultProxy], Path]:
    """The sites and the proxy, whose packages are an extra, and the task."""
    try:
        from browser_agent.testing import Books, FaultProxy, Mail
    except ImportError as error:
        raise Misuse(f"The demo needs the practice sites; {installing('testing')} ({error}).") from error
    return Books, Mail, FaultProxy, find_task(Path(__file__).parents[1])


def find_task(package: Path) -> Path:
    """The demo's task: in the package where it is installed, beside it in a checkout of the source.

    Raises:
        Misuse: it is in neither.
    """
    places = [folder / "examples" / "invoices.py" for folder in (package, package.parent)]
    for place in places:
        if place.is_file():
            return place
    raise Misuse(f"The demo's task is missing: there is neither {places[0]} nor {places[1]}. Nothing was started.")


def _submit(store: Store, task_file: Path, books: Books, mail: Mail, proxy: FaultProxy) -> str:
    task = load_task(str(task_file))
    arguments = parse_arguments(task, {"day": f"{books.day}"})
    sites = {
        "books": {"url": proxy.url, "account": books.account},
        "mail": {"url": mail.url, "account": mail.account},
    }
    run = store.leases.submit(
        task_file=str(task.file),
        task_name=task.name,
        arguments=dump_arguments(task, arguments),
        sites=json.dumps(sites, sort_keys=True),
        by=own_user(),
    )
    return run.id


def _show(scene: Scene, interruption: Interruption, report: Path, headed: bool) -> Exit:
    screen = scene.screen
    screen.say(
        "Every weekday: find the shipments without an invoice, post the invoices, show them, email the customers."
    )
    screen.say(f"Today there are {len(scene.books.shipments)}, and this goes wrong: {interruption.words}.\n", "bold")
    interruption.lay(scene)
    ended = _keep(scene, interruption, headed)
    screen.say(f"\n{ended.state.capitalize()}: {ended.words}", "bold")
    for question in _open(scene, ended):
        question_text.put(screen, question, f"--store {scene.store.where}")
        screen.say("  (The sites of the demo end with it: this question is here to be read.)", "dim")
    return reckon(scene, interruption, ended, write_report(scene.store, scene.run, report))


def _keep(scene: Scene, interruption: Interruption, headed: bool) -> Ended:
    """Keep the run until it ends or waits; the demo says yes to the mails, by its name."""
    options = replace(
        load().options(kill_at=interruption.kill_at),
        headed=headed,
        keep_looking=_KEEP_LOOKING_SECONDS,
        on_question=(),  # its questions are here to be read
    )
    while True:
        ended = keep(scene.store, scene.run, options, scene.screen.tell)
        scene.screen.ended()
        asked = [question for question in _open(scene, ended) if question.kind is QuestionKind.APPROVAL]
        if not asked:
            return ended
        for question in asked:
            scene.store.inbox.answer(question.id, PersonAnswer(Answer.APPROVE, "demo", "the demo says yes"))
            words = (
                f"{question.words} ({len(json.loads(question.reasons))} calls): the demo says yes, by the name demo."
            )
            scene.screen.tell(Event("approved", words, scene.run, ended.attempts))
        options = replace(options, kill_at=None)  # each keeper counts gestures anew, and one death was announced


def _open(scene: Scene, ended: Ended) -> list[QuestionRow]:
    return [scene.store.inbox.question(question) for question in ended.questions]


# what the world says


def reckon(scene: Scene, interruption: Interruption, ended: Ended, report: Path) -> Exit:
    """Show the sites' own ledger, and say whether it is exactly right for this ending."""
    invoices = [effect.values for effect in scene.books.ledger.effects if effect.kind == "invoice"]
    mails = [effect.values for effect in scene.mail.ledger.effects if effect.kind == "mail"]
    done = scene.books.shipments if interruption.finishes else scene.books.shipments[:THE_SECOND]
    emailed = done if interruption.finishes else []
    expected_state = RunState.FINISHED if interruption.finishes else RunState.WAITING
    right = (
        ended.state is expected_state
        and Counter(invoice["reference"] for invoice in invoices) == Counter(shipment.id for shipment in done)
        and Counter(mail["to"] for mail in mails) == Counter(shipment.email for shipment in emailed)
    )
    gestures = scene.store.journal.gestures(scene.run)
    facts: dict[str, Any] = {
        "expected": len(done),
        "effects": len(invoices),
        "attempts": len(scene.store.leases.attempts(scene.run)),
        "gestures": len(gestures),
        "outcomes": dict(Counter(str(gesture.state) for gesture in gestures)),
        "report": str(report),
        "store": str(scene.store.where),
    }
    scene.screen.table(_ledger(scene.books.shipments, invoices, mails))
    _sum_up(scene, facts, len(mails), right)
    scene.screen.document(facts)
    return Exit.FINISHED if right else Exit.RAISED


def _ledger(shipments: list[Shipment], invoices: list[Mapping[str, str]], mails: list[Mapping[str, str]]) -> Table:
    table = Table("Shipment", "Customer", "Invoices", "Mails", title="\nThe sites' own ledger", title_justify="left")
    for shipment in shipments:
        numbers = [invoice["number"] for invoice in invoices if invoice["reference"] == shipment.id]
        sent = [mail["id"] for mail in mails if mail["to"] == shipment.email]
        table.add_row(shipment.id, shipment.customer, ", ".join(numbers) or "-", ", ".join(sent) or "-")
    return table


def _sum_up(scene: Scene, facts: Mapping[str, Any], mails: int, right: bool) -> None:
    outcomes = ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in facts["outcomes"].items())
    screen = scene.screen
    screen.say(f"{facts['attempts']} attempts, {facts['gestures']} gestures: {outcomes}.")
    if right:
        screen.say(f"{facts['effects']} invoices, none made twice, none lost; {mails} mails.", "bold green")
    else:
        screen.say(f"NOT as it should be: {facts['expected']} invoices were expected.", "bold red")
    screen.say(f"Report: {facts['report']}")
    screen.say(f"Store:  {scene.store.where}; every command shows its runs with --store, such as:")
    screen.say(f"        browser-agent show {scene.run} --store {scene.store.where}")
    screen.say(
        f"All of it lies in {Path(scene.store.where).parent}; to remove it: rm -r {Path(scene.store.where).parent}",
        "dim",
    )
