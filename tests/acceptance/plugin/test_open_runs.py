"""`agent_run` in a suite: cut where it matters, and what a test is told that cannot be proven there."""

from __future__ import annotations

import pytest

from browser_agent.store import Store
from tests.fix_matrix import chosen
from tests.fix_plugin import CONFTEST, Suite

TESTS = """
import pytest
from playwright.sync_api import Error
from invoice import posting
from browser_agent import OutcomeUnknown


def sign_in(page, agent_site):
    page.goto(agent_site / "invoices/new")
    if page.get_by_label("Password").count() == 0:
        return 0
    page.get_by_label("Account").fill("acme")
    page.get_by_label("Password").fill("open sesame")
    page.get_by_role("button", name="Sign in").click()
    return 1


@pytest.mark.every_interruption(points=POINTS, may_ask=True)
@pytest.mark.parametrize("order", ["S-7"])
def test_crossed(order, page, context, agent_run, agent_site, agent_audit, practice_books, told):
    told.setdefault("lives", lambda: len(lives))
    told.setdefault("invoices", lambda: len(practice_books.invoices))
    told.setdefault("outcomes", lambda: list(agent_audit.outcomes))
    told.setdefault("signed_in", lambda: sum(lives))
    if not told.get("began"):
        told["began"] = lambda: True
        lives.clear()
        practice_books.require_login()
    assert page.context is context
    lives.append(sign_in(page, agent_site))
    assert agent_run.make(posting(page, order)) == "INV-1"


lives = []


@pytest.mark.every_interruption(points=["paused"])
def test_asks(page, agent_run):
    agent_run.make(posting(page, "S-7"))


def test_differs(page, agent_run, agent_faults, agent_audit):
    agent_faults.lose_request("POST /invoices")
    with pytest.raises(OutcomeUnknown):
        agent_run.make(posting(page, "S-7"))
    assert agent_audit.outcomes == ["happened", "happened"]


def test_nothing_met(page, agent_run, agent_faults):
    agent_faults.lose_answer("POST /orders")
    agent_run.make(posting(page, "S-7"))


def test_a_crash(page, agent_run, agent_faults, agent_audit, practice_books, told):
    agent_faults.kill_browser(after="answered")
    assert agent_run.make(posting(page, "S-7")) == "INV-1"
    assert not agent_audit.questions
    with pytest.raises(Error, match="crashed"):
        page.wait_for_timeout(1)
    kinds = [entry["kind"] for entry in agent_audit.entries]
    assert kinds.index("intent") < kinds.index("dispatch") < kinds.index("verdict")
    told["invoices"] = lambda: len(practice_books.invoices)
"""

DIFFERENT = ("intent", "paused", "answered")
"""Where a cut ends in different ways: refused and made, unknown, happened."""

# point -> lives, invoices, outcomes of the gestures
CROSSED = {
    "undisturbed": (1, 1, ["happened"]),
    "killed after intent": (2, 1, ["refused", "happened"]),
    "killed after dispatch": (2, 0, ["unknown"]),
    "killed after paused": (2, 0, ["unknown"]),
    "killed after answered": (2, 1, ["happened"]),
}


@pytest.mark.parametrize("points", chosen(["answered"], others=[[*DIFFERENT, "dispatch", "released"]]), ids=len)
def test_a_cut_run_goes_on_by_looking_and_its_tests_say_what_is_known(suite: Suite, points: list[str]) -> None:
    suite.write(conftest=CONFTEST, test_it=TESTS.replace("POINTS", repr(points)))
    result = suite.run("-vv")
    result.assert_outcomes(passed=1 + len(points) + 1 + 1, failed=3)
    crossed = {name: line for name, line in suite.told.items() if name.startswith("test_crossed")}
    for point in ("undisturbed", *(f"killed after {word}" for word in points if word != "released")):
        (line,) = [line for name, line in crossed.items() if f"-{point}" in name or f"{point}-" in name]
        assert (line["lives"], line["invoices"], line["outcomes"]) == CROSSED[point], point
        assert line["signed_in"] == 1, "the second life has the cookies of the first"
    for name, line in crossed.items():
        if "released" in name:  # it may have left before the page died
            assert (line["invoices"], line["outcomes"]) in [(1, ["happened"]), (1, ["unknown"]), (0, ["unknown"])]
    assert len(crossed) == 1 + len(points)
    assert suite.told["test_a_crash[chromium]"]["invoices"] == 1

    said = result.stdout.str()
    assert "Did this happen: post an invoice for S-7?" in said and "or say may_ask=True" in said
    assert 'lose_answer("POST /orders") at books was not triggered by any request' in said
    result.stdout.fnmatch_lines(
        [
            "*outcomes ?'unknown'? == ?'happened', 'happened'?*",
            "*gesture 1: expected happened, seen unknown: post an invoice for S-7",
            "*question q-* waits: Did this happen: post an invoice for S-7?",
            "*browser-agent answer q-* happened --by NAME --reason TEXT --store *",
            "*why: it is unknown how long ago the browser that made the gesture died",
            "*on the wire: POST */invoices: *",
            "*gesture 2: expected happened, seen nothing",
        ]
    )


IN_A_DATABASE = """
from invoice import posting


def test_one(page, agent_run):
    assert agent_run.make(posting(page, "S-7")) == "INV-1"
"""


def test_its_runs_may_lie_in_a_database(suite: Suite, postgres_url: str) -> None:
    suite.write(conftest=CONFTEST, test_database=IN_A_DATABASE)
    result = suite.run(f"--agent-store={postgres_url}", "--agent-report=reports")
    result.assert_outcomes(passed=1)
    with Store(postgres_url) as store:
        assert [str(run.state) for run in store.leases.runs()] == ["finished"]
