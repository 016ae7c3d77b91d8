"""The page about testing is true: its files are a suite that passes, by two processes with one store, and reports."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page

from browser_agent.store import Store
from browser_agent.testing.suite.points import WORDS
from tests.fix_plugin import PAGE, Suite, blocks

TESTS = 1 + len(WORDS) + 1 + 1 + 3


def test_its_files_are_a_suite_that_passes_and_its_runs_are_reported(suite: Suite, page: Page) -> None:
    suite.write(**{name.removesuffix(".py"): text for name, text in blocks().items()})
    places = ["--agent-store=shared.db", "--agent-report=reports", "--html=page.html", "--alluredir=allure"]
    result = suite.run("-n", "2", *places)
    result.assert_outcomes(passed=TESTS)

    with Store(suite.folder / "shared.db") as store:
        runs = store.leases.runs()
        assert store.verify().broken == ()
    assert len(runs) == TESTS

    reports = {path.name for path in (suite.folder / "reports").glob("*.html")}
    assert len(reports) == TESTS + 1
    page.goto((suite.folder / "reports" / "index.html").as_uri())
    rows = page.locator("tbody tr")
    assert rows.count() == TESTS
    row = rows.filter(has_text="test_one_invoice_whatever_is_killed[killed after released]")
    assert row.get_by_role("cell").all_inner_texts()[1:4] == ["passed", "happened", "0"]
    row.get_by_role("link").click()
    assert page.get_by_text("post an invoice for S-7").count() > 0

    html = (suite.folder / "page.html").read_text(encoding="utf-8")
    told = re.search(r'data-jsonblob="([^"]*)"', html)
    assert told is not None and told[1].count("browser-agent report") == TESTS
    assert "before gesture 1: post an invoice for S-7" in told[1]
    results = [json.loads(path.read_text()) for path in (suite.folder / "allure").glob("*-result.json")]
    attached = {each["name"]: {one["name"] for one in each.get("attachments", ())} for each in results}
    assert "browser-agent report" in attached["test_a_lost_answer_makes_no_second_invoice"], attached
    assert any("after gesture 1" in name for name in attached["test_what_is_dropped_is_not_sent_again"])


def test_it_names_every_point_and_every_option() -> None:
    for word in (*WORDS, "agent_report", "agent_store", "--agent-report", "--agent-store", "may_ask", "gestures="):
        assert word in PAGE
