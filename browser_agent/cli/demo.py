"""The demo: a run that posts invoices and sends mails is interrupted and resumed; then the sites' ledgers are shown.

The sites are practice sites on this machine. It uses the same interruptions as the tests: `Faults` and `KillAt`.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from browser_agent.cli import question_text
from browser_agent.cli.desk import offer_key
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.screen import Screen
from browser_agent.errors import Misuse, installing
from browser_agent.keeper.keeper import keep
from browser_agent.keeper.launch import submit
from browser_agent.keeper.preflight import check_attended
from browser_agent.options import Ended, Event, KillAt, Options
from browser_agent.reporting.html_report import write_report
from browser_agent.script.task_file import load_task
from browser_agent.settings_sources import load
from browser_agent.states import Answer, Point, QuestionKind, RunState, Victim
from browser_agent.store import PersonAnswer, Store
from browser_agent.store.records import QuestionRow

if TYPE_CHECKING:
    from browser_agent.testing.faults import Faults
    from browser_agent.testing.sites.books import Books, Shipment
    from browser_agent.testing.sites.mail import Mail

DEFAULT = "killed_after_commit"
SECOND = 2
"""The second invoice is interrupted, so that one step is finished and others are left to do."""
INVOICE = "POST /invoices"
_KEEP_LOOKING_SECONDS = 3.0


@dataclass(frozen=True)
class Scene:
    """What one demo uses: its store, run, screen and sites."""

    store: Store
    run: str
    screen: Screen
    books: Books
    mail: Mail

    def on_event(self, event: Event) -> None:
        """Show an event; after a kill, also show the site's ledger at that moment."""
        self.screen.print_event(event)
        if event.kind == "fault_injected":
            numbers = ", ".join(invoice.number for invoice in self.books.invoices)
            self.screen.progress(f"  At this moment the site's ledger holds: {numbers}")


@dataclass(frozen=True)
class Interruption:
    """One way in which the second invoice goes wrong.

    Args:
        words: what goes wrong, as the viewer reads it.
        kill_at: what is killed, and when.
        install: installs the network faults before the run starts.
        finishes: whether the run finishes; otherwise it ends with an open question.
    """

    words: str
    kill_at: KillAt | None = None
    install: Callable[[Faults, Books], None] | None = None
    finishes: bool = True


def _lose_request(faults: Faults, books: Books) -> None:
    faults.lose_request(INVOICE, site=books.name, after=SECOND - 1)


def _drop_connection(faults: Faults, books: Books) -> None:
    faults.drop_connection(INVOICE, site=books.name, after=SECOND - 1)


def _sign_out(faults: Faults, books: Books) -> None:
    """End all sessions as soon as the site has committed the second invoice, before it answers."""

    def committed() -> None:
        if len(books.invoices) == SECOND:
            books.expire_sessions()

    faults.proxy(books.name).when("committed", committed, INVOICE)


INTERRUPTIONS: Mapping[str, Interruption] = {
    DEFAULT: Interruption(
        "the worker is killed after the site has committed the second invoice, before its answer was recorded",
        KillAt(Point.ANSWERED, SECOND),
    ),
    "never_committed": Interruption(
        "the request of the second invoice is lost before it reaches the site, and the worker is killed",
        KillAt(Point.RELEASED, SECOND),
        _lose_request,
    ),
    "killed_before_release": Interruption(
        "the worker is killed while the request of the second invoice is held at the gate",
        KillAt(Point.PAUSED, SECOND),
    ),
    "answer_lost": Interruption(
        "the site commits the second invoice, and the connection is reset before any answer; the worker lives",
        install=_drop_connection,
    ),
    "chromium_killed": Interruption(
        "Chromium is killed after the site has committed the second invoice; the worker lives",
        KillAt(Point.ANSWERED, SECOND, Victim.BROWSER),
    ),
    "question": Interruption(
        "the worker is killed after the site has committed the second invoice, and the session ends: nothing that "
        "could prove it can be read any more",
        KillAt(Point.ANSWERED, SECOND),
        _sign_out,
        finishes=False,
    ),
}


def main(*, fault: str | None = None, report: Path | None = None, headed: bool = False, as_json: bool = False) -> Exit:
    """Show one interruption, and what the sites' ledgers hold at the end.

    Args:
        fault: a name in `INTERRUPTIONS`, with underscores or dashes.
        report: where to write the run's report; by default next to the demo's store.
        headed: show the browser.
        as_json: one JSON document on stdout, progress on stderr.

    Returns:
        `FINISHED` if the run and the ledgers are exactly as they should be after that interruption, else `RAISED`.

    Raises:
        Misuse: there is no such interruption, the practice sites or the task are missing, or a headed browser has no
            display.
    """
    name = (fault or DEFAULT).replace("-", "_")
    if name not in INTERRUPTIONS:
        raise Misuse(f"The demo has no interruption {fault!r}; it has: {', '.join(INTERRUPTIONS)}.")
    check_attended(Options(headed=headed))
    make_books, make_mail, put_faults, task_file = _source()
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-demo-"))
    screen = Screen(as_json)
    offer_key(screen, folder)
    with ExitStack() as stack:
        store = stack.enter_context(Store(folder / "runs.db"))
        books, mail = stack.enter_context(make_books()), stack.enter_context(make_mail())
        task = load_task(str(task_file))
        task.sites[books.name].bind(books.url, books.account)
        task.sites[mail.name].bind(mail.url, mail.account)
        faults = stack.enter_context(put_faults(task.sites.values()))
        if (install := INTERRUPTIONS[name].install) is not None:
            install(faults, books)
        run = submit(store, task, {"day": f"{books.day}"}).id
        scene = Scene(store, run, screen, books, mail)
        return _show(scene, INTERRUPTIONS[name], report or folder / "report.html", headed)


def _source() -> tuple[type[Books], type[Mail], type[Faults], Path]:
    """Import the sites and the faults, which need an extra, and find the task."""
    try:
        from browser_agent.testing import Books, Faults, Mail
    except ImportError as error:
        raise Misuse(f"The demo needs the practice sites; {installing('testing')} ({error}).") from error
    return Books, Mail, Faults, find_task(Path(__file__).parents[1])


def find_task(package: Path) -> Path:
    """Find the file of the demo's task: in the installed package, or next to it in a source checkout.

    Raises:
        Misuse: it is in neither.
    """
    places = [folder / "examples" / "invoices.py" for folder in (package, package.parent)]
    for place in places:
        if place.is_file():
            return place
    raise Misuse(f"The demo's task is missing: there is neither {places[0]} nor {places[1]}. Nothing was started.")


def _show(scene: Scene, interruption: Interruption, report: Path, headed: bool) -> Exit:
    screen = scene.screen
    screen.say(
        "Every weekday: find the shipments without an invoice, post the invoices, show them, email the customers."
    )
    screen.say(f"Today there are {len(scene.books.shipments)}, and this goes wrong: {interruption.words}.\n", "bold")
    ended = _keep(scene, interruption, headed)
    screen.say(f"\n{ended.state.capitalize()}: {ended.words}", "bold")
    for question in _open(scene, ended):
        question_text.put(screen, question, f"--store {scene.store.where}")
        screen.say("  (An example: it can't be answered, since the demo's sites end with the demo.)", "dim")
    return reckon(scene, interruption, ended, write_report(scene.store, scene.run, report))


def _keep(scene: Scene, interruption: Interruption, headed: bool) -> Ended:
    """Keep the run until it ends or waits. The demo approves the mails itself, as "demo"."""
    options = replace(
        load().options(kill_at=interruption.kill_at),
        headed=headed,
        keep_looking=_KEEP_LOOKING_SECONDS,
        on_question=(),  # no notifications from a demo
    )
    while True:
        ended = keep(scene.store, scene.run, options, scene.on_event)
        scene.screen.ended()
        asked = [question for question in _open(scene, ended) if question.kind is QuestionKind.APPROVAL]
        if not asked:
            return ended
        for question in asked:
            scene.store.inbox.answer(question.id, PersonAnswer(Answer.APPROVE, "demo", "the demo approves its mails"))
            words = f"{question.words} ({len(json.loads(question.reasons))} calls): approved by the demo."
            scene.on_event(Event("approved", words, scene.run, ended.attempts))
        options = replace(options, kill_at=None)  # one interruption is enough


def _open(scene: Scene, ended: Ended) -> list[QuestionRow]:
    return [scene.store.inbox.question(question) for question in ended.questions]


def reckon(scene: Scene, interruption: Interruption, ended: Ended, report: Path) -> Exit:
    """Show the sites' ledgers, and whether they are exactly as they should be after this interruption."""
    invoices = [effect.values for effect in scene.books.ledger.effects if effect.kind == "invoice"]
    mails = [effect.values for effect in scene.mail.ledger.effects if effect.kind == "mail"]
    done = scene.books.shipments if interruption.finishes else scene.books.shipments[:SECOND]
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
    table = Table("Shipment", "Customer", "Invoices", "Mails", title="\nThe sites' own ledgers", title_justify="left")
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
        screen.say(f"WRONG: the ledgers should hold {facts['expected']} invoices, each once.", "bold red")
    screen.say(f"Report: {facts['report']}")
    screen.say(f"Store:  {scene.store.where}. To look into it:")
    screen.say(f"        browser-agent show {scene.run} --store {scene.store.where}")
    screen.say(
        f"To delete all of it: rm -r {Path(scene.store.where).parent}",
        "dim",
    )
