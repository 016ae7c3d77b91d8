"""The page about testing is true: its files are a suite that passes, by two processes with one store, and reports."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from browser_agent.store import Store
from browser_agent.testing.suite.kill_points import WORDS
from tests.fix_matrix import chosen
from tests.fix_plugin import PAGE, Suite, blocks

OTHERS = 1 + 1 + 1 + 3
"""The tests of its suite besides the one that is run once for each point; and that one, undisturbed."""


@pytest.mark.parametrize("points", chosen(["released"], others=[[*WORDS]]), ids=len)
def test_its_files_are_a_suite_that_passes_and_its_runs_are_reported(
    suite: Suite, page: Page, points: list[str]
) -> None:
    tests = OTHERS + len(points)
    suite.write(**{name.removesuffix(".py"): text for name, text in blocks().items()})
    places = ["--agent-store=shared.db", "--agent-report=reports", "--html=page.html", "--alluredir=allure"]
    left_out = " or ".join(f"(whatever and {word.split()[0]})" for word in WORDS if word not in points)
    result = suite.run("-n", "2", *places, "-k", f"not ({left_out})" if left_out else "")
    result.assert_outcomes(passed=tests)

    with Store(suite.folder / "shared.db") as store:
        runs = store.leases.runs()
        assert store.verify().broken == ()
    assert len(runs) == tests

    reports = {path.name for path in (suite.folder / "reports").glob("*.html")}
    assert len(reports) == tests + 1
    page.goto((suite.folder / "reports" / "index.html").as_uri())
    rows = page.locator("tbody tr")
    assert rows.count() == tests
    row = rows.filter(has_text="test_one_invoice_whatever_is_killed[killed after released]")
    assert row.get_by_role("cell").all_inner_texts()[1:4] == ["passed", "happened", "0"]
    row.get_by_role("link", name="test_one_invoice_whatever_is_killed").click()
    assert page.get_by_text("post an invoice for S-7").count() > 0

    in_html = {test: [each["name"] for each in extras] for test, extras in in_pytest_html(suite.folder).items()}
    in_allure = attached_in_allure(suite.folder)
    assert len(in_html) == len(in_allure) == tests
    for attached in (*in_html.values(), *in_allure.values()):
        assert "browser-agent report" in attached and "before gesture 1: post an invoice for S-7" in attached


def in_pytest_html(folder: Path) -> dict[str, Any]:
    """The extras of each test on pytest-html's page."""
    told = re.search(r'data-jsonblob="([^"]*)"', (folder / "page.html").read_text(encoding="utf-8"))
    assert told is not None
    tests: dict[str, Any] = json.loads(unescape(told[1]))["tests"]
    return {test: goes[0]["extras"] for test, goes in tests.items()}


def attached_in_allure(folder: Path) -> dict[str, list[str]]:
    """What each test's fixtures have attached in its end, as Allure shows it beside the test."""
    attached: dict[str, list[str]] = {}
    for path in (folder / "allure").glob("*-container.json"):
        container = json.loads(path.read_text(encoding="utf-8"))
        names = [each["name"] for after in container.get("afters", ()) for each in after.get("attachments", ())]
        if names:
            attached.setdefault(container["children"][0], []).extend(names)
    return attached


def test_it_names_every_point_and_every_option() -> None:
    for word in (*WORDS, "agent_report", "agent_store", "--agent-report", "--agent-store", "may_ask", "gestures="):
        assert word in PAGE
