"""Each ending of the demo through the real command line: what the sites' ledger holds, and a report that shows it."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request

from browser_agent.cli import demo
from browser_agent.cli.exit_codes import Exit
from browser_agent.cli.screen import Screen
from browser_agent.options import Ended
from browser_agent.states import RunState
from browser_agent.store import Store
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.mail import Mail
from tests.fix_matrix import chosen

COMMAND = Path(sysconfig.get_path("scripts")) / "browser-agent"
DEADLINE_SECONDS = 600
SIX_HAPPENED = {"happened": 6}
ONE_AGAIN = {"happened": 6, "not_happened": 1}

# ending -> invoices in the ledger, attempts, outcomes of the gestures
ENDINGS = {
    "killed_after_commit": (3, 3, SIX_HAPPENED),
    "never_committed": (3, 3, ONE_AGAIN),
    "killed_before_release": (3, 3, ONE_AGAIN),
    "answer_lost": (3, 2, SIX_HAPPENED),
    "chromium_killed": (3, 2, SIX_HAPPENED),
    "question": (2, 2, {"happened": 1, "asked": 1}),
}


def run_demo(fault: str, report: Path, *more: str) -> subprocess.CompletedProcess[str]:
    arguments = [str(COMMAND), "demo", "--fault", fault, "--report", str(report), *more]
    return subprocess.run(
        arguments, check=False, capture_output=True, text=True, timeout=DEADLINE_SECONDS, cwd=report.parent
    )


@pytest.mark.parametrize("fault", chosen("question", others=[each for each in ENDINGS if each != "question"]))
def test_the_ledger_is_exactly_right_after(fault: str, tmp_path: Path, page: Page) -> None:
    invoices, attempts, outcomes = ENDINGS[fault]
    report = tmp_path / "run.html"
    ended = run_demo(fault, report, "--json")
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert said.pop("attempts") >= attempts  # a busy machine may cost one more
    assert Path(said.pop("store")).is_file()
    assert said == {
        "expected": invoices,
        "effects": invoices,
        "gestures": sum(outcomes.values()),
        "outcomes": outcomes,
        "report": str(report),
    }
    asked, pictures = opened(page, report)
    assert asked == [report.as_uri()], "the report asks for nothing but itself"
    assert pictures and all(width > 0 for width in pictures)


def test_every_interruption_has_a_row_here() -> None:
    assert set(ENDINGS) == set(demo.INTERRUPTIONS)


def test_an_unknown_interruption_is_one_clear_sentence_and_nothing_is_started(tmp_path: Path) -> None:
    ended = run_demo("lightning", tmp_path / "run.html")
    assert ended.returncode == Exit.MISUSE
    assert "killed_after_commit" in ended.stderr and "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


# the reckoning, without a browser: the ledger is filled by hand


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[demo.Scene]:
    with Store(tmp_path / "runs.db") as store, Books() as books, Mail() as mail:
        run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}")
        yield demo.Scene(store, run.id, Screen(as_json=True), books, mail)


def all_done(scene: demo.Scene) -> None:
    for shipment in scene.books.shipments:
        invoice = scene.books.enter(customer=shipment.customer, amount=shipment.amount, reference=shipment.id)
        scene.mail.enter(to=shipment.email, subject=f"Invoice {invoice.number} for {shipment.id}")


def reckoned(scene: demo.Scene, state: RunState = RunState.FINISHED, fault: str = demo.DEFAULT) -> Exit:
    ended = Ended(scene.run, state, "")
    return demo.reckon(scene, demo.INTERRUPTIONS[fault], ended, Path("run.html"))


def test_a_complete_ledger_is_a_good_ending(scene: demo.Scene, capsys: pytest.CaptureFixture[str]) -> None:
    all_done(scene)
    assert reckoned(scene) is Exit.FINISHED
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (told["expected"], told["effects"]) == (3, 3)


def test_an_invoice_made_twice_is_no_good_ending(scene: demo.Scene) -> None:
    all_done(scene)
    scene.books.enter(customer="Contoso Ltd", amount="380.00", reference="S-102")
    assert reckoned(scene) is Exit.RAISED


def test_a_mail_sent_twice_is_no_good_ending(scene: demo.Scene) -> None:
    all_done(scene)
    scene.mail.enter(to=scene.books.shipments[0].email, subject="Invoice INV-1 for S-101")
    assert reckoned(scene) is Exit.RAISED


def test_a_lost_invoice_is_no_good_ending_even_if_the_run_says_finished(scene: demo.Scene) -> None:
    assert reckoned(scene) is Exit.RAISED


def test_a_run_that_finished_where_a_question_was_due_is_no_good_ending(scene: demo.Scene) -> None:
    for shipment in scene.books.shipments[:2]:
        scene.books.enter(customer=shipment.customer, amount=shipment.amount, reference=shipment.id)
    assert reckoned(scene, RunState.WAITING, "question") is Exit.FINISHED
    assert reckoned(scene, RunState.FINISHED, "question") is not Exit.FINISHED


def opened(page: Page, report: Path) -> tuple[list[str], list[int]]:
    """Open the report: the addresses that it asked for, and the widths of all its pictures."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith("data:"):
            asked.append(request.url)

    page.on("request", note)
    page.goto(report.as_uri())
    widths: list[int] = page.evaluate(
        """async () => {
            document.querySelectorAll('details').forEach(part => part.open = true);
            const pictures = [...document.images];
            for (const picture of pictures) { picture.loading = 'eager'; await picture.decode(); }
            return pictures.map(picture => picture.naturalWidth);
        }"""
    )
    return asked, widths
